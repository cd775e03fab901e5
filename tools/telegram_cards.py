"""``python -m tools.telegram_cards`` writes docs/platforms/telegram-cards.md: a card in each state of a case.

Owns how the page shows a message: words as Telegram shows them, what is covered between ``||``, buttons in brackets.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from adapters.telegram.review.layout import Written, card_message
from adapters.telegram.speech.markup import BREAK
from core.models import PostRef
from core.moderation.cards import Card
from tests.fakes.ports.cards import samples

PAGE: Final = Path(__file__).parent.parent / "docs" / "platforms" / "telegram-cards.md"
_HEAD: Final = """# The cards of Telegram

What moderators see in their chat in each state of a case, as text: what is covered until somebody opens it stands
between `||`, each row of buttons in brackets, and times in UTC, where the apps show each reader's own. Cards of deleted
posts are left out, since Telegram tells no bot of a deletion. How to use them: [telegram.md](telegram.md). Written by
`python -m tools.telegram_cards` from cases with invented words. `tests/unit/adapters/telegram/review/test_page.py`
compares. Other languages show the sentences that are translated in `core/i18n/locale`.
"""
_COVER: Final = re.compile(r"</?tg-spoiler>")
_TAG: Final = re.compile(r"<[^<>]*>")
_GROUP, _MESSAGE, _REPLY = "-1001", "333", "334"


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for name, card in samples().items():
        if card.is_original_gone:
            continue
        lines = "\n".join(_shown(card_message(_on_telegram(card), "en")))
        parts.append(f"## {name}\n\n````text\n{lines}\n````\n")
    return "\n".join(parts)


def _on_telegram(card: Card) -> Card:
    post = replace(card.post, ref=PostRef("telegram", _GROUP, _GROUP, _MESSAGE))
    reply = None if card.reply is None else PostRef("telegram", _GROUP, _GROUP, _REPLY)
    return replace(card, post=post, reply=reply)


def _shown(written: Written) -> Iterator[str]:
    words = html.unescape(_TAG.sub("", _COVER.sub("||", written.text))).replace(BREAK, "")
    yield from words.split("\n")
    for row in written.keyboard.inline_keyboard if written.keyboard is not None else ():
        yield " ".join(f"[{button.text}]" for button in row)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
