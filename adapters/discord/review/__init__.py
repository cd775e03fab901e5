"""Review on Discord: cards in a private channel, and what people do with them."""

from adapters.discord.review.installing import install
from adapters.discord.review.surface import DiscordReviewSurface

__all__ = ["DiscordReviewSurface", "install"]
