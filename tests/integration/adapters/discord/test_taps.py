"""The taps that each decision takes, counted in a run of the whole application from a flag to each end of a case."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.discord.every_state import every_state
from tests.fakes.discord.messages import phone_lines

GOALS = {
    "flag a post, see drafts": 3,
    "approve a draft": 2,
    "dismiss a false alarm": 1,
    "close for a reason": 2,
    "take a posted reply back": 2,
    "undo an approval": 1,
    "undo a closing": 1,
}
_MOST_LINES = 25
"""Before the first approval of an open card where posting is on; shadow mode adds a sentence."""


async def test_the_commonest_acts_are_the_cheapest(tmp_path: Path) -> None:
    """From a flag to each end of a case; each tap of a person is counted as it is made."""
    story = await every_state(tmp_path)
    assert {name: story.taps[name] for name in GOALS} == GOALS
    shown = phone_lines(story.pictures["Undone, in review again"])
    assert next(number for number, line in enumerate(shown) if "[Approve" in line) < _MOST_LINES
