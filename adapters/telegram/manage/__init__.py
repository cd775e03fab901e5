"""What managers do with Antiphon on Telegram: panels and reports in their private chat with the bot."""
