"""Links to messages, as people copy them from Discord.

Owns their form. Reads no message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_LINK: Final = re.compile(
    r"<?https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/channels/"
    r"(?P<guild>\d{1,20}|@me)/(?P<channel>\d{1,20})/(?P<message>\d{1,20})/?(?:\?\S*)?>?",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MessageLink:
    """Where a link leads; ``guild`` is ``None`` for a direct message."""

    guild: int | None
    channel: int
    message: int


def message_link(text: str) -> MessageLink | None:
    """The link that a text consists of; ``None`` where it is anything else, such as words with a link in them."""
    found = _LINK.fullmatch(text.strip())
    if found is None:
        return None
    guild = None if found["guild"].lower() == "@me" else int(found["guild"])
    return MessageLink(guild, int(found["channel"]), int(found["message"]))
