"""Review on Discord: cards in a private channel, and what people do with them."""

from adapters.discord.review.installing import DiscordReviewSurface, install

__all__ = ["DiscordReviewSurface", "install"]
