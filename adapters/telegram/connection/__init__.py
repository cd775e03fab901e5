"""The way to Telegram and back: requests, updates, names. Knows no command and no card."""
