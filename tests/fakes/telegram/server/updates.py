"""What the bot has still to be told, until it says that it knows.

Owns the numbers of updates, which kinds the bot wants, and offsets: an update is confirmed when a higher one is asked
for.
"""

import asyncio
import copy
import itertools
from typing import Any, Final

JSON = dict[str, Any]
MOST_AT_ONCE: Final = 100
ON_REQUEST: Final = ("chat_member", "message_reaction", "message_reaction_count")
"""Kinds that come only to who names them."""


class UpdateQueue:
    """The updates of one bot.

    Attributes:
        allowed: the kinds that the bot named last; empty for all but those on request.
        made: every update that was made, in order, confirmed or not.
        odd: the numbers of updates whose content no description knows.
        unwanted: updates that were not made because the bot did not name their kind.
        changed: is set, and replaced by another, when there is something new for who waits.
    """

    def __init__(self) -> None:
        self.allowed: list[str] = []
        self.made: list[JSON] = []
        self.odd: set[int] = set()
        self.unwanted: list[JSON] = []
        self.changed = asyncio.Event()
        self._waiting: list[JSON] = []
        self._numbers = itertools.count(1000)

    def add(self, kind: str, content: JSON) -> int | None:
        """Make an update; its number, or ``None`` where the bot does not want its kind."""
        if (kind in ON_REQUEST and kind not in self.allowed) or (self.allowed and kind not in self.allowed):
            self.unwanted.append({kind: content})
            return None
        return self._make({kind: content})

    def add_odd(self, content: JSON) -> int:
        """Make an update of any content, such as a kind that is newer than this server; its number."""
        number = self._make(content)
        self.odd.add(number)
        return number

    def _make(self, content: JSON) -> int:
        update = copy.deepcopy({"update_id": next(self._numbers)} | content)
        self.made.append(update)
        self._waiting.append(update)
        self.tell()
        return int(update["update_id"])

    def tell(self) -> None:
        """Wake who waits."""
        before, self.changed = self.changed, asyncio.Event()
        before.set()

    def repeat(self, number: int) -> None:
        """Send an update once more, as after a fault of Telegram."""
        self._waiting.append(next(update for update in self.made if update["update_id"] == number))
        self.tell()

    def restart_at(self, number: int) -> None:
        """Number the updates from here on, as Telegram does after a week without any."""
        self._numbers = itertools.count(number)

    def confirm(self, offset: int) -> None:
        """Forget what is below an offset; a negative one keeps so many of the last."""
        if offset < 0:
            self._waiting = self._waiting[offset:]
        elif offset > 0:
            self._waiting = [update for update in self._waiting if update["update_id"] >= offset]

    def waiting(self, limit: int = MOST_AT_ONCE) -> list[JSON]:
        """What is not confirmed, oldest first."""
        return self._waiting[: max(1, min(limit, MOST_AT_ONCE))]

    def forget(self, update: JSON) -> None:
        self._waiting = [each for each in self._waiting if each is not update]

    def drop_all(self) -> None:
        self._waiting.clear()
