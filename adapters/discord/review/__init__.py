"""Review on Discord: cards in a private channel, and what people do with them."""
