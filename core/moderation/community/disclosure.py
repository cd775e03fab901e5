"""The sentence under a reply that says who wrote it (AI Act, Art. 50; reliability, T23 and T25).

Owns the wording in each language, and how a reply and its footer become one text. Each community decides whether it
discloses; leaving it out needs a recorded reason. This module does not know communities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.moderation.approval import text_hash

_GAP: Final = "\n\n"
_FOOTERS: Final = {
    "en": "Drafted with Antiphon, checked and approved by a moderator.",
    "es": "Redactado con Antiphon, revisado y aprobado por una persona del equipo de moderación.",
    "it": "Scritto con Antiphon, controllato e approvato da una persona della moderazione.",
    "eu": "Antiphon-ekin idatzia, moderatzaile batek berrikusi eta onartua.",
}


@dataclass(frozen=True, slots=True)
class Rendered:
    """The whole text that would be posted, and the hash of what stands there; ``footer`` is its end, "" for none.

    ``quote``: the words of the post above it, which the hash binds, too; "" for none.
    """

    text: str
    footer: str
    sha256: str
    quote: str = ""


def footer_in(language: str | None) -> str:
    """The footer in a language; in English where that language has none."""
    return _GAP + _FOOTERS.get(language or "en", _FOOTERS["en"])


def longest_footer() -> int:
    """How many characters a reply must leave free for the footer."""
    return max(len(footer_in(language)) for language in _FOOTERS)


def render(reply: str, language: str | None, *, discloses: bool, quote: str = "") -> Rendered:
    """The reply as it would be posted, below ``quote``, if any."""
    footer = footer_in(language) if discloses else ""
    text = reply.strip() + footer
    return Rendered(text, footer, text_hash(text, quote), quote)
