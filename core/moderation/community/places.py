"""What holds for single places of a community that decide for themselves, as the instances of the fediverse do.

Owns the rules for a place and their limits. Knows no platform: a place is a ``PostRef.channel``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.errors import BadInput
from core.i18n.sentences import Sentence, sentence

REPLIES_A_DAY: Final = 5
"""What some instances allow automated accounts (design notes on the fediverse's etiquette)."""
MOST_REPLIES_A_DAY: Final = 100
MAX_CONSENT: Final = 500
_HASHTAG: Final = re.compile(r"#\w*[^\W\d_]\w*")


@dataclass(frozen=True, slots=True)
class PlaceRules:
    """What holds for replies to people of one place.

    Attributes:
        consent: who of the place said yes to replies, where and when, in words; "" for nobody, and then none is posted.
        replies_a_day: how many replies may reach the place in a day.
        hashtag: what stands below each reply, where the place asks automated accounts for it; "" for nothing.
        mentions_author: whether a reply begins with its addressee's name, so that they are told of it.
    """

    consent: str = ""
    replies_a_day: int = REPLIES_A_DAY
    hashtag: str = ""
    mentions_author: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.replies_a_day <= MOST_REPLIES_A_DAY:
            raise BadInput(
                sentence("{count} replies a day are out of range.", count=self.replies_a_day),
                remedy=sentence("Name a number from {least} to {most}.", least=1, most=MOST_REPLIES_A_DAY),
            )
        if self.hashtag and not _HASHTAG.fullmatch(self.hashtag):
            raise BadInput(
                sentence("{hashtag} is not a hashtag.", hashtag=self.hashtag),
                remedy=sentence("Write # and one word, such as #bot."),
            )
        if len(self.consent) > MAX_CONSENT:
            raise BadInput(
                sentence("The note on the consent is too long."),
                remedy=sentence("Use at most {most} characters.", most=MAX_CONSENT),
            )


NO_RULES: Final = PlaceRules()
"""What holds where nothing was set: nothing is posted."""


def without_consent(place: str) -> Sentence:
    """Why nothing is posted in a place of which nobody said yes."""
    return sentence("Nobody who runs {place} has agreed to replies there.", place=place)
