"""A filter of watched channels that goes by single words, and by a formula for its rates."""

import asyncio

from core.errors import ScorerUnavailable

FOREIGN = "(fi) "
"""How a text in a language begins that the filter does not read."""


class WordDetector:
    """A ``HateDetector`` of English that is sure of the word "vermin", and nearly so of "rats".

    One in n ordinary messages exceeds a score of 1 - 1 / sqrt(n). A test reads what it ``read``, and sets
    ``is_broken`` and ``slow_seconds``.
    """

    languages = frozenset({"en"})

    def __init__(self) -> None:
        self.read: list[str] = []
        self.is_broken = False
        self.slow_seconds = 0.0

    async def language_of(self, text: str, expected: str | None) -> str | None:
        """English, unless the text says otherwise."""
        return None if text.startswith(FOREIGN) else "en"

    async def score(self, text: str, language: str) -> float:
        """0.99 or 0.98 with a word of these, 0.1 without."""
        if self.slow_seconds:
            await asyncio.sleep(self.slow_seconds)
        if self.is_broken:
            raise ScorerUnavailable("The filter is broken.", remedy="Mend it.")
        self.read.append(text)
        return 0.99 if "vermin" in text else 0.98 if "rats" in text else 0.1

    def threshold(self, one_in: float) -> float:
        return float(1 - one_in**-0.5)

    def false_alarms(self, threshold: float) -> float:
        return float((1 - threshold) ** 2)
