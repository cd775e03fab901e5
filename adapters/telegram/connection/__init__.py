"""The way to Telegram and back: requests, updates, names."""
