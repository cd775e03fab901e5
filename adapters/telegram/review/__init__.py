"""Review on Telegram: cards in a private chat of moderators, and what people do with them."""

from adapters.telegram.review.layout import card_message
from adapters.telegram.review.notices import TelegramNotifier
from adapters.telegram.review.presses import install
from adapters.telegram.review.surface import TelegramReviewSurface

__all__ = ["TelegramNotifier", "TelegramReviewSurface", "card_message", "install"]
