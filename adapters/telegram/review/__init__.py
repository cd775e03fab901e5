"""Review on Telegram: cards in a private chat of moderators, and what people do with them."""
