"""One package for each chat platform; every one implements ``core.moderation.platforms.ChatPlatform``.

No adapter imports another, and none knows the database.
"""
