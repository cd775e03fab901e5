"""The review board: the cards in a platform's review channels, kept as the cases in the database are.

Owns which cards are shown, when, which of them were lost, and how long a community is left alone. Must never decide
about a case.
"""

from bot.review.board.board import ReviewBoard

__all__ = ["ReviewBoard"]
