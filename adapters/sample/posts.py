"""The thread of the sample community: an ordinary afternoon on a town's server, with three hateful posts in it.

All texts are invented. The hateful ones are mild in wording, name no person and hold no slur, and make a claim that
evidence can answer. Only under the last one does a prepared reply surely fit: it says one plain thing of one people.
Most posts are not like that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SamplePost:
    """A message of the sample community; ``in_reply_to`` is the id of the one that it answers."""

    id: str
    author: str
    text: str
    in_reply_to: str | None = None


SAMPLE_THREAD: Final[tuple[SamplePost, ...]] = (
    SamplePost(
        "101",
        "ferry_rower",
        "Reminder: on Saturday the market stands on the old quay, because the square is being repaved.",
    ),
    SamplePost("102", "tinkers_lane", "Thanks! Does anybody know whether the cheese stall will be there?", "101"),
    SamplePost(
        "103",
        "north_gate_74",
        "Enjoy the market while it lasts. The harbour hostel is full of migrants again, and they only come here to "
        "live off our welfare. They take and take and never pay a cent into the pot.",
    ),
    SamplePost(
        "104",
        "mill_pond",
        "The cheese stall opens at eight. The library also needs two more people for Thursday's reading hour, "
        "if anyone has time!",
        "102",
    ),
    SamplePost(
        "105",
        "grey_heron",
        "So the bakery has hired somebody in a wheelchair. Good luck with that. Disabled people cannot do a proper "
        "day's work, they only cost an employer money and everybody else has to carry them.",
    ),
    SamplePost("106", "rye_and_salt", "I can do the reading hour. Should I bring my own books?", "104"),
    SamplePost(
        "107",
        "slate_roof",
        "If you go to the market, lock your bikes: the Roma are back behind the mill. Roma people are thieves, all of "
        "them.",
    ),
    SamplePost(
        "108",
        "ferry_rower",
        "Bring one that you like, the shelves have the rest. And it will rain on Saturday, so bring boots too.",
        "106",
    ),
)

SAMPLE_FLAGS: Final[tuple[str, str, str]] = ("103", "105", "107")
