"""Where cards may be shown: a private group of moderators, a topic in it, or one person's private chat.

Cases of another platform are shown in groups alone: nobody there says whose private chat it is.
What Telegram says of a chat is remembered for a minute at most. Where it does not say what a chat is, nothing of a case
is written there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from telegram import ChatFullInfo
from telegram.constants import ChatType
from telegram.error import BadRequest, Forbidden

from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS
from adapters.telegram.connection.refs import NAME, numbers_of
from adapters.telegram.review.refusals import chat_gone, chat_of_one, chat_open, is_watched_itself, not_a_place, of_card
from core.errors import PlatformUnavailable
from core.models import PostRef

_KEPT_SECONDS: Final = 60.0
_MOST_KEPT: Final = 2000
_CLOSED: Final = (ChatType.PRIVATE, ChatType.GROUP, ChatType.SUPERGROUP)


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """A chat, and a topic of it, where cards are shown."""

    chat: int
    topic: int | None


def place_of(channel: str) -> ReviewPlace:
    """What ``CommunityPolicy.review_channel`` names.

    Raises:
        PlatformUnavailable: no chat of Telegram's.
    """
    try:
        numbers = numbers_of(PostRef(NAME, "", channel, "1"))
    except PlatformUnavailable as err:
        raise not_a_place() from err
    return ReviewPlace(numbers.chat, numbers.topic)


def shared_language(client: TelegramClient, community: str, channel: str) -> str:
    """The language of a community's cards in a place ("" for none), where it chose none.

    That of most people who were heard in its group and in the place; English before anybody was.
    """
    chats = list[int]()
    for named in (community, channel):
        with suppress(PlatformUnavailable):
            chats.append(place_of(named).chat)
    return client.shared_languages.of(*chats) or "en"


class ReviewPlaces:
    """Looks what the review chats are.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, client: TelegramClient, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._seconds_now = seconds_now
        self._open: dict[int, tuple[float, bool]] = {}

    async def require_closed(self, community: str, channel: str) -> ReviewPlace:
        """Refuse a place that others than moderators can read.

        Raises:
            PlatformUnavailable: it is open, gone, the watched group itself, or a private chat for another platform.
            PlatformBusy: Telegram does not say what it is.
            StoreUnavailable: nobody can say whether the cases of the group are reviewed elsewhere.
        """
        place = self.require_known_closed(community, channel)
        if is_of_other_platform(community):
            policy = await self._client.desk.policies.surely_of(str(place.chat))
            if policy.review_channel:  # the group has members, and its own cases are shown elsewhere
                raise is_watched_itself()
        remembered = self._open.get(place.chat)
        if remembered is None or self._seconds_now() >= remembered[0]:
            if len(self._open) >= _MOST_KEPT:
                self._open.clear()
            self._open[place.chat] = (self._seconds_now() + _KEPT_SECONDS, await self._is_open(place.chat))
        return self.require_known_closed(community, channel)

    def require_known_closed(self, community: str, channel: str) -> ReviewPlace:
        """The same by what is known without asking; raises ``PlatformUnavailable`` alone."""
        place = place_of(channel)
        if str(place.chat) == community:
            raise is_watched_itself()
        if is_of_other_platform(community) and place.chat > 0:
            raise chat_of_one()
        if self._open.get(place.chat, (0.0, False))[1]:
            raise chat_open()
        return place

    def forget(self, chat: int) -> None:
        """Ask again at the next use: something changed there."""
        self._open.pop(chat, None)

    async def _is_open(self, chat: int) -> bool:
        try:
            return _can_be_read_by_others(await self._client.bot.get_chat(chat))
        except (BadRequest, Forbidden) as err:
            raise chat_gone() from err
        except FAULTS as err:
            raise of_card(err) from err


def is_of_other_platform(community: str) -> bool:
    """Whether a community is no chat, so that its cases are those of another platform; "" is none."""
    return bool(community) and not community.removeprefix("-").isdecimal()


def _can_be_read_by_others(chat: ChatFullInfo) -> bool:
    """Whether it is a channel, can be found by a name, or discusses a channel, so that anybody can join it."""
    has_name = chat.type != ChatType.PRIVATE and bool(chat.username or chat.active_usernames)
    return chat.type not in _CLOSED or has_name or chat.linked_chat_id is not None
