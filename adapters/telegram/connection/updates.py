"""Asking Telegram for updates: it is told that they arrived only after they are committed.

The library's own updater confirms updates before they are handled, and a crash would lose them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import telegram
from telegram import Update
from telegram.error import Conflict, Forbidden, InvalidToken, RetryAfter

from adapters.common.arrivals import Arrival
from adapters.telegram.connection.client import UNREADABLE, TelegramClient, UpdateEvent, kind_of
from adapters.telegram.connection.error_meanings import FAULTS, of_connection
from adapters.telegram.connection.limiter import seconds_of
from core.desk.rules.platforms import ArrivedUpdate, UpdateInbox, WaitingUpdate
from core.errors import AntiphonError, StoreUnavailable

_LOG = logging.getLogger(__name__)
KINDS: Final = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "message_reaction",
    "my_chat_member",
)
"""The kinds that are asked for in any case; Telegram sends no ``message_reaction`` that was not asked for by name."""
LATE: Final = timedelta(minutes=10)
_WRITTEN: Final = ("edit_date", "date")
_PLAIN: Final = (
    "message_id", "ephemeral_message_id", "message_thread_id", "is_topic_message", "date", "edit_date", "chat", "from",
    "sender_chat", "is_automatic_forward", "media_group_id", "text", "entities", "caption", "caption_entities",
)  # fmt: skip

Wake = Callable[[], None]
"""Says that new updates were kept."""


def wanted_kinds(client: TelegramClient) -> tuple[str, ...]:
    return tuple(sorted({*KINDS, *client.heard_kinds()}))


def inbox_update(raw: dict[str, Any]) -> ArrivedUpdate:
    """An update for the inbox.

    Raises:
        KeyError: it has no number.
    """
    return ArrivedUpdate(int(raw["update_id"]), raw, _lane(raw), _is_urgent(raw))


def inbox_updates(raws: Iterable[dict[str, Any]]) -> tuple[list[ArrivedUpdate], int]:
    """Updates for the inbox, and the number after the last of them."""
    kept = [inbox_update(raw) for raw in raws]
    return kept, max(each.number for each in kept) + 1


def heard(waiting: WaitingUpdate, client: TelegramClient) -> UpdateEvent:
    raw = waiting.update.payload
    written = written_at(raw)
    is_late = written is not None and waiting.handed_out_at - written > LATE
    return UpdateEvent(_read(raw, client.bot), raw, waiting.received_at, is_late)


def _read(raw: dict[str, Any], bot: telegram.Bot) -> Update:
    """An update as the library reads it; of a message that it cannot read as Telegram sends it, what is plain in it.

    Raises whatever the library raises where nothing of it can be read.
    """
    try:
        return Update.de_json(raw, bot)
    except (TypeError, ValueError, LookupError, AttributeError) as err:
        kind, content = kind_of(raw), _content(raw)
        if "chat" not in content:
            raise
        _LOG.warning("Parts of a message of Telegram cannot be read: %s", type(err).__name__)
        answered = content.get("reply_to_message")
        kept = {"reply_to_message": _plain(answered)} if isinstance(answered, dict) else {}
        try:
            return Update.de_json(raw | {kind: content | kept}, bot)
        except (TypeError, ValueError, LookupError, AttributeError):
            return Update.de_json(raw | {kind: _plain(content) | kept}, bot)


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """The fields of a message that every version of Telegram has, and a mark that others were left out."""
    return {name: message[name] for name in _PLAIN if name in message} | {UNREADABLE: True}


def written_at(raw: dict[str, Any]) -> datetime | None:
    """When somebody wrote, edited or reacted; ``None`` for a press of a button, of which Telegram does not say it."""
    content = _content(raw)
    seconds = next((content[name] for name in _WRITTEN if isinstance(content.get(name), int)), None)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _is_urgent(raw: dict[str, Any]) -> bool:
    """Whether somebody waits: for the answer to a press, or to an ephemeral command, which must come within 15 s."""
    return kind_of(raw) == "callback_query" or _content(raw).get("message_id") == 0


def _lane(raw: dict[str, Any]) -> str:
    """The chat that an update belongs to; presses there and what is written there do not wait for each other."""
    content = _content(raw)
    message = content.get("message")
    holder = message if isinstance(message, dict) else content
    for name in ("chat", "from", "user"):
        place = holder.get(name)
        if isinstance(place, dict) and "id" in place:
            return f"{place['id']}{'!' if _is_urgent(raw) else ''}"
    return ""


def _content(raw: dict[str, Any]) -> dict[str, Any]:
    content = raw.get(kind_of(raw))
    return content if isinstance(content, dict) else {}


_PASSING: Final[tuple[type[AntiphonError], ...]] = (StoreUnavailable,)


class TelegramDispatcher:
    platform = "Telegram"
    passing = _PASSING

    def __init__(self, client: TelegramClient) -> None:
        self._client = client

    def known_kinds(self) -> Collection[str]:
        return wanted_kinds(self._client)

    def kind_of(self, payload: dict[str, Any]) -> str:
        return kind_of(payload)

    def arrival(self, waiting: WaitingUpdate) -> Arrival:
        """An update, ready to be heard; raises whatever the library does where it cannot read one."""
        update = heard(waiting, self._client)
        return Arrival(partial(self._client.hear, update), update.unfinished)


_FINAL: Final = (Conflict, InvalidToken, Forbidden)
"""What asking again would not change."""
MOST_FAULTS: Final = 4
"""So many questions in a row may fail before the connection counts as lost."""
_LONGEST_PAUSE_SECONDS: Final = 8.0
_NUMBERED: Final = timedelta(days=6)
"""How long a number counts: Telegram may number anew after a week without any update
(core.telegram.org/bots/api, "Update", ``update_id``)."""


class UpdatePoll:
    """The updates of one bot.

    Args:
        wake: is called after new updates were kept.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: TelegramClient,
        inbox: UpdateInbox,
        wake: Wake,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._inbox, self._wake, self._sleep = client, inbox, wake, sleep

    async def open(self) -> None:
        """Take away a webhook, with which Telegram answers no questions; what waits for it there is kept."""
        try:
            await self._client.bot.delete_webhook(drop_pending_updates=False)
        except FAULTS as err:
            raise of_connection(err) from err

    async def run(self) -> None:
        """Ask, keep, and ask for the next, until cancelled.

        Raises:
            BadSettings: Telegram does not accept the token any more.
            PlatformUnavailable: another program asks for the same updates, or Telegram does not answer.
        """
        faults = 0
        while True:
            try:
                await self._step()
                faults = 0
            except RetryAfter as err:
                await self._sleep(seconds_of(err))
            except StoreUnavailable as err:
                _LOG.warning("Updates of Telegram wait there, since they cannot be kept: %s", err.message)
                faults = min(faults + 1, MOST_FAULTS)
                await self._sleep(_pause(faults))
            except FAULTS as err:
                faults += 1
                if isinstance(err, _FINAL) or faults > MOST_FAULTS:
                    raise of_connection(err) from err
                await self._sleep(_pause(faults))

    async def _step(self) -> None:
        """Ask once: what comes is committed, and confirmed by the next question."""
        cursor = await self._inbox.cursor(within=_NUMBERED)
        raws = await self._client.raw_updates(None if cursor is None else int(cursor), wanted_kinds(self._client))
        if raws:
            updates, after = inbox_updates(raws)
            await self._inbox.keep(updates, str(after))
            self._wake()


def _pause(faults: int) -> float:
    return min(2.0 ** (faults - 1), _LONGEST_PAUSE_SECONDS)
