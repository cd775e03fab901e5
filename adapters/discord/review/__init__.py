"""Review on Discord: cards in a private channel, and what people do with them."""

from adapters.discord.review.items import card_layout
from adapters.discord.review.notices import DiscordNotifier
from adapters.discord.review.presses import install
from adapters.discord.review.surface import DiscordReviewSurface

__all__ = ["DiscordNotifier", "DiscordReviewSurface", "card_layout", "install"]
