"""The thread of the sample community: an ordinary afternoon on a town's server, with three hateful posts in it.

Owns the sample texts, all invented. The hateful ones are mild in wording, name no person and hold no slur; two of
them make a claim, the third holds nothing but contempt. A prepared reply surely fits under the first alone: it makes
one plain claim about one people. Most posts are not like that.
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
        "If you go to the market, lock your bikes: the Roma are back behind the mill. Roma people are thieves, all of "
        "them.",
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
        "They have hung the rainbow flag over the youth centre. I find those people repulsive, and I do not want to "
        "have them anywhere near decent families in this town.",
    ),
    SamplePost(
        "108",
        "ferry_rower",
        "Bring one that you like, the shelves have the rest. And it will rain on Saturday, so bring boots too.",
        "106",
    ),
)

SAMPLE_FLAGS: Final[tuple[str, str, str]] = ("103", "105", "107")
