"""Telegram on loopback: a Bot API server with people, chats and messages behind it, and every request checked."""
