"""``python -m tools.discord_cards`` writes docs/platforms/discord-cards.md: what people see in each state of a case.

Every message comes out of one run of the whole application (``tests.fakes.discord.every_state``). Owns how the page
shows it: ids and case numbers are replaced, since they differ from run to run; nothing else is.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.fakes.discord.every_state import Story, every_state
from tests.fakes.discord.messages import phone_lines, read_as_discord_shows

PAGE = Path(__file__).parent.parent / "docs" / "platforms" / "discord-cards.md"
_HEAD = """# The cards of Discord

What people see in each state of a case, as text: one line for each line of a message, buttons in brackets, what is
covered until somebody opens it between `||`, times as Discord's marks, which each reader sees in words. Written by
`python -m tools.discord_cards` from one run of the whole application on SimCord, a simulation of Discord: the posts are
invented, the drafts come from the project's cards and a fake model, and only the run moves the clock. Ids and case
numbers are replaced. `tests/integration/adapters/discord/test_cards_page.py` makes the same run and compares. Other
languages show the sentences that are translated in `core/i18n/locale`.

Not in the run, and so not shown: a case that nobody decided in time, words that were brought by `/counter`, advice to
report, words of support, and the notice on the rules as first draft.

## Lines and taps

Before is Discord as it was tried on 22 November 2026; now is counted in the run. A phone has 40 characters a line; no
app was photographed. A draft is never cut, so that a long one needs more lines. With four drafts, their receipts and a
note the card has 31 lines (`tests/unit/adapters/discord/review/test_layout.py`).

| lines on a phone | before | now |
|---|---|---|
"""
_LINES: Final = {"an open card": "40 to 114", "its first approval": "27 to 45", "its first way to close": "up to 114"}
_TAPS: Final = {
    "flag a post, see drafts": "3",
    "approve a draft": "2",
    "approve one's own words": "3",
    "dismiss a false alarm": "2, and typing",
    "close for a reason": "2",
    "close for something else": "2, and typing",
    "take a posted reply back": "3, and typing",
    "undo an approval": "not counted",
    "undo a closing": "not counted",
}
"""What each errand took before; typing was counted by the way."""
_TYPED: Final = frozenset({"approve one's own words", "close for something else"})
_ID: Final = re.compile(r"\b[0-9]{15,20}\b")
_NUMBER: Final = re.compile(r"((?<=\*\*)\w+ |\b[Cc]ase )[0-9A-F]{5}\b")


def page(story: Story) -> str:
    """The whole page."""
    lines = [f"| {name} | {before} | {_lines_now(story)[name]} |" for name, before in _LINES.items()]
    closed = len(phone_lines(story.pictures["Closed: posted"]))
    lines.append(f"| a closed card, with the text that was posted | as long as open | {closed} |")
    taps = ["| taps | before | now |", "|---|---|---|"]
    for name, before in _TAPS.items():
        taps.append(f"| {name} | {before}{_typing(name, before)} | {story.taps[name]}{_typing(name, '')} |")
    table = "\n".join([*lines, "", *taps])
    sections = [_section(name, components) for name, components in story.pictures.items()]
    return "\n".join([_HEAD + table + "\n", *sections])


def _typing(name: str, said: str) -> str:
    return ", and typing" if name in _TYPED and "typing" not in said else ""


def _lines_now(story: Story) -> dict[str, int]:
    shown = phone_lines(story.pictures["In review"])
    starts = ("[Approve", "[Not")
    found = [next(number for number, line in enumerate(shown, start=1) if start in line) for start in starts]
    return dict(zip(_LINES, [len(shown), *found], strict=True))


def _section(name: str, components: list[dict[str, Any]]) -> str:
    lines = "\n".join(line for component in components for line in _lines(component))
    return f"## {name}\n\n````text\n{_settled(lines)}\n````\n"


def _settled(text: str) -> str:
    """The text without what differs from run to run: ids are numbered by their order in it."""
    known: dict[str, str] = {}
    text = _ID.sub(lambda found: known.setdefault(found[0], str(111 * (len(known) + 1))), text)
    return _NUMBER.sub(r"\g<1>01234", text)


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


def main() -> None:
    """Make the run, and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(page(asyncio.run(every_state(Path(folder)))), encoding="utf-8")


if __name__ == "__main__":
    main()
