"""Discord: posts are flagged there, reviewed there and answered there, on discord.py."""
