"""``python -m tools.pages.card`` draws docs/samples/card.svg: a card of the review channel, with its real words.

The words come from the layout that is sent to Discord, for an invented case. The look does not: no app was
photographed.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape  # nosec B406 # it escapes, and reads nothing

from adapters.discord.review.items import card_layout
from tests.fakes.discord.messages import read_as_discord_shows
from tests.fakes.ports.cards import REVIEWED

PICTURE: Final = Path(__file__).parent.parent.parent / "docs" / "samples" / "card.svg"
_WIDTH, _MARGIN, _LINE, _LETTER, _BOLD_LETTER = 760, 24, 21, 7.4, 8.6
_MOST: Final = int((_WIDTH - 2 * _MARGIN) / _LETTER)
_SHOWN: Final = (
    (re.compile(r"\[([^\]]*)\]\(https?://\S*\)"), r"\1"),
    (re.compile(r"<t:\d+:R>"), "2 minutes ago"),
    (re.compile(r"<#\d+>"), "#general"),
    (re.compile(r"\|\|.*?\|\|"), "▒" * 24),
)
"""How a reader has what Discord draws itself: links, times, channels, covered text."""
_BOLD: Final = re.compile(r"^\*\*(.+?)\*\*")
_STYLE: Final = (
    "text{font:14px system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;fill:#23252b}"
    ".b{font-weight:600}.k{fill:#fff;font-weight:600}"
)


def picture() -> str:
    shapes, bottom = list[str](), float(_MARGIN + 8)
    for component in card_layout(REVIEWED, "en").to_components()[0]["components"]:
        drawn, bottom = _drawn(component, bottom)
        shapes += drawn
    height = int(bottom + _MARGIN / 2)
    frame = f'<rect x="1" y="1" width="{_WIDTH - 2}" height="{height - 2}" rx="8" fill="#f6f6f8" stroke="#c9cad1"/>'
    inside = "\n".join([f"<style>{_STYLE}</style>", frame, *shapes])
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n{inside}\n</svg>\n'


def lines_of(content: str) -> Iterator[tuple[str, str]]:
    """A text's lines as a reader has them, each with its bold beginning apart."""
    for pattern, text in _SHOWN:
        content = pattern.sub(text, content)
    for line in read_as_discord_shows(content).splitlines():
        bold = _BOLD.match(line)
        start = bold[1] if bold else ""
        for piece in textwrap.wrap(start + line[bold.end() if bold else 0 :], _MOST):
            yield (start, piece[len(start) :]) if start else ("", piece)
            start = ""


def _drawn(component: dict[str, Any], top: float) -> tuple[list[str], float]:
    """A part of the card below ``top``, and where it ends."""
    match component["type"]:
        case 10:
            return _text(component["content"], top)
        case 14:
            rule = f'<path d="M{_MARGIN} {top:g}H{_WIDTH - _MARGIN}" stroke="#d9dae0"/>'
            return [rule], top + _LINE
        case 1:
            return _buttons(component["components"], top)
    return [], top


def _text(content: str, top: float) -> tuple[list[str], float]:
    shapes = []
    for bold, rest in lines_of(content):
        start = f'<tspan class="b">{escape(bold)}</tspan>' if bold else ""
        shapes.append(f'<text x="{_MARGIN}" y="{top:g}" xml:space="preserve">{start}{escape(rest)}</text>')
        top += _LINE
    return shapes, top


def _buttons(buttons: list[dict[str, Any]], top: float) -> tuple[list[str], float]:
    shapes, left, top = list[str](), float(_MARGIN), top + _LINE / 3
    for button in buttons:
        label, is_first = button["label"], button["style"] == 1
        wide = len(label) * _BOLD_LETTER + 18
        fill, kind = ("#4752c4", "k") if is_first else ("#e3e4e9", "b")
        shapes.append(f'<rect x="{left:g}" y="{top - 14:g}" width="{wide:g}" height="30" rx="6" fill="{fill}"/>')
        shapes.append(
            f'<text class="{kind}" x="{left + wide / 2:g}" y="{top + 6:g}" text-anchor="middle">{escape(label)}</text>'
        )
        left += wide + 8
    return shapes, top + 1.6 * _LINE


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
