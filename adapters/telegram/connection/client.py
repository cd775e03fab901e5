"""One bot account of Telegram: how it is asked, and who hears its updates.

``look`` asks about an account before it is served. It never logs a token, nor what anybody wrote.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import Counter, OrderedDict, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

import httpx
from telegram import CallbackQuery, Message, Update
from telegram.constants import ChatType
from telegram.error import ChatMigrated
from telegram.ext import ExtBot
from telegram.request import HTTPXRequest

from adapters.common.desk_access import DeskAccess
from adapters.common.words.labels import language_for
from adapters.telegram.connection.error_meanings import FAULTS, TOKEN, of_connection
from adapters.telegram.connection.limiter import TelegramLimiter
from adapters.telegram.connection.refs import NAME
from core.desk.communities.governance import Governance
from core.desk.review.casework import Casework
from core.errors import BadSettings
from core.i18n.sentences import sentence

_GROUPS: Final = (ChatType.GROUP, ChatType.SUPERGROUP)
_MOST_CHATS: Final = 1000
_MOST_PEOPLE: Final = 500
_Kept = TypeVar("_Kept")
_LOG = logging.getLogger(__name__)
UNREADABLE: Final = "antiphon_unreadable"
"""Marks a message of which the library could not read all (``Message.api_kwargs``)."""
PUBLIC_API: Final = "https://api.telegram.org"
_CONNECT_SECONDS, _CALL_SECONDS, _POLL_EXTRA_SECONDS = 5.0, 10.0, 10.0
_LIBRARY_LOGGERS: Final = ("telegram", "httpx", "httpcore")
MoveListener: TypeAlias = Callable[[int, int], None]
"""Hears that a group, named first, is the supergroup that is named second from now on."""


@dataclass(frozen=True, slots=True)
class TelegramAccount:
    """A bot account.

    Attributes:
        name: as people write it, with the @.
        webhook: where Telegram sends its updates; "" where they are asked for.
    """

    name: str
    webhook: str


async def look(token: str, api_url: str = PUBLIC_API) -> TelegramAccount:
    """Ask who the bot is, and where its updates go.

    Raises:
        BadSettings: Telegram does not accept the token, or it has not a token's form.
        PlatformUnavailable: Telegram cannot be reached.
    """
    async with _client_of(token, api_url) as client:
        info = await client.bot.get_webhook_info()
    return TelegramAccount(f"@{client.bot.username}", info.url)


async def groups_told_of(token: str, api_url: str = PUBLIC_API) -> dict[int, str]:
    """The groups that waiting updates tell of, such as one that the bot was added to: their titles by their ids.

    Telegram gives the oldest hundred updates, which go on waiting.

    Raises:
        BadSettings: Telegram does not accept the token, or it has not a token's form.
        PlatformUnavailable: Telegram cannot be reached, or the updates go to another program.
    """
    async with _client_of(token, api_url) as client:
        updates = await client.bot.get_updates(timeout=0)
    chats = [update.effective_chat for update in updates]
    return {chat.id: chat.title or "" for chat in chats if chat is not None and chat.type in _GROUPS}


@asynccontextmanager
async def _client_of(token: str, api_url: str) -> AsyncIterator[TelegramClient]:
    client = TelegramClient(TelegramOptions(token, api_url))
    try:
        await client.open()
        yield client
    except FAULTS as err:
        raise of_connection(err) from err
    finally:
        await client.close()


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


def _keep_latest(latest: OrderedDict[int, _Kept], newest: int, most: int) -> None:
    latest.move_to_end(newest)
    if len(latest) > most:
        latest.popitem(last=False)


@dataclass(frozen=True, slots=True)
class TelegramOptions:
    """What the operator decides.

    Attributes:
        token: the bot's, from @BotFather.
        api_url: the Bot API server, without a slash at its end.
        poll_seconds: how long Telegram may hold one question for updates.
    """

    token: str
    api_url: str = PUBLIC_API
    poll_seconds: int = 30


@dataclass(frozen=True, slots=True)
class UpdateEvent:
    """One update, as it is handed to the listeners.

    Attributes:
        update: as the library reads it.
        raw: as Telegram sent it, with what the library does not know yet.
        received_at: when it was committed.
        is_late: it was written more than ten minutes before it was handed out, as after an outage.
        unfinished: what a listener leaves to be done beside the updates that come next; this one is dealt with once all
            of it has ended, and waits for the next start where some of it was cancelled.
    """

    update: Update
    raw: dict[str, Any]
    received_at: datetime
    is_late: bool = False
    unfinished: list[asyncio.Future[None]] = field(default_factory=list)


Listener: TypeAlias = Callable[[UpdateEvent], Awaitable[bool]]
"""Hears an update of one kind; ``True`` if it dealt with it, so that the listeners after it do not hear it."""


class _Bot(ExtBot[int]):
    """The library's bot, which also gives out updates as Telegram sent them, with what the library cannot read.

    It tells of a group that Telegram says has become another chat, whatever was asked about it.
    """

    _tell_moved: MoveListener | None = None

    async def _post(self, endpoint: str, data: dict[str, Any] | None = None, **how: Any) -> Any:
        try:
            return await super()._post(endpoint, data, **how)
        except ChatMigrated as err:
            chat = (data or {}).get("chat_id")
            if isinstance(chat, int) and self._tell_moved is not None:
                self._tell_moved(chat, err.new_chat_id)
            raise

    async def raw_updates(self, offset: int | None, kinds: Sequence[str], seconds: int) -> list[dict[str, Any]]:
        """Ask for updates; raises ``TelegramError``."""
        query = {"offset": offset, "timeout": seconds, "allowed_updates": list(kinds)}
        updates: list[dict[str, Any]] = await self._post("getUpdates", query)
        return updates


class TelegramClient:
    """One bot account.

    Args:
        options: what the operator decides.
        casework: what people can do with cases.
        governance: what people can do with communities.
        limiter: how fast Telegram may be asked.

    Raises:
        BadSettings: there is no token, or it has not a token's form.
    """

    def __init__(
        self,
        options: TelegramOptions,
        casework: Casework | None = None,
        governance: Governance | None = None,
        limiter: TelegramLimiter | None = None,
    ) -> None:
        number, _, secret = options.token.partition(":")
        if not number.isdecimal() or not secret.strip():
            raise BadSettings(
                sentence("There is no token for Telegram, or it is not one."),
                remedy=sentence("Ask {bot} for it with {command}, and set {key}.", **TOKEN),
            )
        self.options = options
        self.desk = DeskAccess(NAME, casework, governance)
        calls = HTTPXRequest(
            connection_pool_size=32,
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_CALL_SECONDS,
            write_timeout=_CALL_SECONDS,
            pool_timeout=_CONNECT_SECONDS,
            httpx_kwargs={"verify": _trusted()},
        )
        polls = HTTPXRequest(
            connection_pool_size=1,
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=options.poll_seconds + _POLL_EXTRA_SECONDS,
            httpx_kwargs={"verify": _trusted()},
        )
        self.bot = _Bot(
            options.token,
            base_url=f"{options.api_url}/bot",
            request=calls,
            get_updates_request=polls,
            rate_limiter=limiter or TelegramLimiter(),
        )
        self.keeps_whispers = True
        """Whether ephemeral messages are tried: not any more once Telegram showed one to everybody."""
        self.shared_languages = SharedLanguages()
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        _keep_words_out_of_logs()

    async def open(self) -> None:
        """Log in, and warn the person who runs Antiphon of guest mode.

        Raises:
            BadSettings: Telegram does not accept the token, or what stands at the address is no Bot API server.
            PlatformUnavailable: Telegram cannot be reached.
        """
        try:
            await self.bot.initialize()
        except FAULTS as err:
            await self.close()
            raise of_connection(err) from err
        except (TypeError, ValueError, LookupError, AttributeError) as err:  # the library could not read the answer
            await self.close()
            raise BadSettings(
                sentence("What answers at {key} is no Bot API server of Telegram.", key="telegram.api_url"),
                remedy=sentence(
                    "Correct {key} in config.toml, or take it out for Telegram's own server.", key="telegram.api_url"
                ),
            ) from err
        if self.bot.bot.supports_guest_queries:
            _LOG.warning(
                "Guest mode is on for @%s, and Antiphon answers no guest: the only answer is a public post that nobody "
                "approved. Switch guest mode off at @BotFather.",
                self.bot.username,
            )

    async def close(self) -> None:
        await self.bot.shutdown()

    def own_id(self) -> str:
        """Our account's id, which the token begins with."""
        return self.options.token.partition(":")[0]

    async def title_of(self, chat: int) -> str | None:
        """What a group is called; ``None`` where Antiphon is no longer in it, or Telegram does not answer."""
        try:
            return (await self.bot.get_chat(chat)).title or ""
        except FAULTS:
            return None

    async def name_of(self, community: str, channel: str) -> str:
        """What people call a group, or the chat of a channel asked for without it; "" for a topic of the group."""
        chat = channel.partition("/")[0] or community
        if not chat.removeprefix("-").isdecimal() or (channel and chat == community):
            return ""
        return await self.title_of(int(chat)) or ""

    def listen(self, kind: str, listener: Listener) -> None:
        """Hear the updates of a kind, such as ``message`` or ``callback_query``, after those that listen already."""
        self._listeners[kind].append(listener)

    def listen_to_moves(self, listener: MoveListener) -> None:
        """Hear of each call that failed because a group became a supergroup; once for each such call."""
        self.bot._tell_moved = listener

    def heard_kinds(self) -> frozenset[str]:
        """The kinds of update that somebody listens to."""
        return frozenset(kind for kind, listeners in self._listeners.items() if listeners)

    async def raw_updates(self, offset: int | None, kinds: Sequence[str]) -> list[dict[str, Any]]:
        """The updates from a number on, as Telegram sent them; asking confirms those before.

        Waits up to ``TelegramOptions.poll_seconds`` for the first one.

        Args:
            offset: the number of the first update; ``None`` for all that were not confirmed.
            kinds: which kinds of update Telegram is to send from now on.

        Raises:
            TelegramError: Telegram, or the way to it, is at fault; nothing was confirmed.
        """
        return await self.bot.raw_updates(offset, kinds, self.options.poll_seconds)

    async def hear(self, heard: UpdateEvent) -> bool:
        """Hand an update to its listeners in their order, until one of them deals with it; whether one did.

        A press that nobody deals with, as of a button of an earlier version, is acknowledged, so that it ends.
        """
        user, chat = heard.update.effective_user, heard.update.effective_chat
        if user is not None and chat is not None and not user.is_bot:
            self.shared_languages.hear(chat.id, user.id, user.language_code)
        for listener in tuple(self._listeners[kind_of(heard.raw)]):
            if await listener(heard):
                return True
        if heard.update.callback_query is not None:
            await self.settle(heard.update.callback_query)
        return False

    async def settle(self, query: CallbackQuery) -> None:
        """Let a pressed button wait no longer; of an old one the wheel ended by itself."""
        with suppress(*FAULTS):
            await self.bot.answer_callback_query(query.id)

    async def put_away(self, message: Message) -> None:
        """Take somebody's command out of sight; without the right to delete messages it stays."""
        with suppress(*FAULTS):
            await self.bot.delete_message(message.chat.id, message.message_id)

    async def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the Bot API that the library does not know yet, with parameters as Telegram names them.

        Raises:
            TelegramError: as the library's own methods.
        """
        return await self.bot.do_api_request(method, api_kwargs=parameters)


def kind_of(raw: dict[str, Any]) -> str:
    """What kind of update it is; "" for one that holds nothing but its number."""
    return next((kind for kind in raw if kind != "update_id"), "")


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates that a connection trusts; reading them takes as long as a request does."""
    return httpx.create_ssl_context()


def _keep_words_out_of_logs() -> None:
    """Below this level the libraries log addresses, which hold the token, and what is sent."""
    for name in _LIBRARY_LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
