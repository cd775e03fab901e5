"""``python -m tools.discord_cards`` writes docs/discord-cards.md: each card of Discord as a person sees it.

It shows every component in reading order, from the same layouts that are sent, for sample cases that are invented.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel import Locale

from adapters.discord.review.layout import card_layout
from core.i18n.catalogs import LANGUAGES
from tests.fakes.discord.messages import proposal_layout, read_as_discord_shows
from tests.fakes.ports.cards import PROPOSAL, REVIEWED, samples

PAGE = Path(__file__).parent.parent / "docs" / "discord-cards.md"
_HEAD = """# The cards of Discord

What moderators see in the review channel, as text: one line for each line of a message, buttons in brackets, what is
covered until somebody opens it between `||`, times as Discord's marks, which each reader sees in words. Written by
`python -m tools.discord_cards` from the layouts that are sent; the cases are invented. Other languages show the
sentences that are translated in `core/i18n/locale`.

On a phone with 40 characters a line, a card with four drafts, their receipts and a note has 28 lines; the first
approval stands on line 25 and closing on line 27. While all drafts stood on the card it had 101 lines, with the
first approval on line 36 and declining on line 100. `tests/unit/adapters/discord/review/test_layout.py` counts them;
no app was photographed. A draft of more than about 250 characters needs more, since a draft is never cut.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    parts += [_section(name, card_layout(card, "en").to_components()) for name, card in samples().items()]
    parts.append(_section("A new card, before its words are filled in", _covered()))
    parts.append(_section("Before an approval, to one person", proposal_layout(PROPOSAL, "en")[0].to_components()))
    for language in LANGUAGES[1:]:
        name = Locale.parse(language).get_display_name("en") or language
        parts.append(_section(f"In review, in {name}", card_layout(REVIEWED, language).to_components()))
    return "\n".join(parts)


def _covered() -> list[dict[str, Any]]:
    components: list[dict[str, Any]] = card_layout(REVIEWED, "en", covers_all=True).to_components()
    return components


def _section(name: str, components: list[dict[str, Any]]) -> str:
    lines = "\n".join(line for component in components for line in _lines(component))
    return f"## {name}\n\n````text\n{lines}\n````\n"


def _lines(component: dict[str, Any]) -> Iterator[str]:
    kind = component["type"]
    if kind == 10:
        yield from read_as_discord_shows(component["content"]).splitlines()
    elif kind == 14:
        yield "-" * 40
    elif kind == 1:
        yield " ".join(f"[{child['label']}]" for child in component["components"] if child["type"] == 2)
    for child in component.get("components") or () if kind != 1 else ():
        yield from _lines(child)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
