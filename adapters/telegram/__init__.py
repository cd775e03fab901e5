"""The adapter of Telegram: what is flagged there, reviewed there, and posted there once a person approved it."""
