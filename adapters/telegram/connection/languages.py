"""The languages of the people in a chat, as far as they are known.

Owns how many are remembered. Decides nothing.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Final, TypeVar

from adapters.common.words.languages import language_for

_MOST_CHATS: Final = 1000
_MOST_PEOPLE: Final = 500
_Kept = TypeVar("_Kept")


class SharedLanguages:
    """The languages of the apps of those who did something in a chat of late, as far as this process heard.

    Telegram says a person's language only with what the person does. Nothing of it is kept beyond the process.
    """

    def __init__(self) -> None:
        self._chats: OrderedDict[int, OrderedDict[int, str]] = OrderedDict()

    def hear(self, chat: int, person: int, locale: str | None) -> None:
        """Remember the language of the app of somebody who did something in a chat; ``None`` says nothing."""
        if not locale:
            return
        people = self._chats.setdefault(chat, OrderedDict())
        people[person] = language_for(locale, None)
        _keep_latest(people, person, _MOST_PEOPLE)
        _keep_latest(self._chats, chat, _MOST_CHATS)

    def of(self, *chats: int) -> str | None:
        """The language, one of ours, of most people in these chats together; ``None`` before anybody was heard.

        Where two languages have as many, the one that comes first in the alphabet, so that a card does not change.
        """
        people = {person: spoken for chat in chats for person, spoken in self._chats.get(chat, {}).items()}
        counted = Counter(people.values())
        return min(counted, key=lambda spoken: (-counted[spoken], spoken), default=None)


def _keep_latest(found: OrderedDict[int, _Kept], newest: int, most: int) -> None:
    found.move_to_end(newest)
    if len(found) > most:
        found.popitem(last=False)
