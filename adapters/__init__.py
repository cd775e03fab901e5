"""One package for each chat platform, over ``common``, which holds what they share and does not know any of them.

Every platform implements ``core.desk.rules.platforms.ChatPlatform``. No platform imports another, and none reaches the
database.
"""
