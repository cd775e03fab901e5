"""One package for each chat platform, over ``common``, which holds what they share and knows none of them.

Every platform implements ``core.moderation.platforms.ChatPlatform``. No platform imports another, and none knows the
database.
"""
