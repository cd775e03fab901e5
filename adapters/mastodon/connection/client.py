"""One bot account on its home instance: how it is asked, and who hears what people wrote to it.

Questions are asked in threads, since the library waits for each answer.
Each thread has a session of the library for itself. Neither a token nor what anybody wrote is ever logged.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

import requests
from mastodon import Mastodon
from mastodon.errors import MastodonNetworkError, MastodonRatelimitError
from mastodon.return_types import Account, Status

from adapters.common.desk_access import DeskAccess
from adapters.mastodon.connection.error_meanings import FAULTS, NotReached, RateLimit, of_connection
from adapters.mastodon.connection.instance import Instance, read_instance
from adapters.mastodon.connection.refs import NAME
from core.desk.communities.governance import Governance
from core.desk.review.casework import Casework
from core.errors import BadSettings
from core.i18n.sentences import sentence

_T = TypeVar("_T")
_CALL_SECONDS: Final = 10.0
_THREADS: Final = 8
_NOT_OF_THE_API: Final = frozenset({"valid_policies", "valid_policies[]"})
_LIBRARY_LOGGERS: Final = ("mastodon", "urllib3", "requests")
USER_AGENT: Final = "Antiphon"
MENTION: Final = "mention"
"""The kind of what names us: in public, to followers, or to us alone."""


@dataclass(frozen=True, slots=True)
class NotificationEvent:
    """One mention, as it is handed to the listeners.

    Attributes:
        number: names it among all, the same if it is handed out again.
        status: what was written, as it reads now.
        is_late: it was written more than ten minutes before it was handed out, as after an outage.
    """

    number: int
    status: Status
    is_late: bool = False


Listener: TypeAlias = Callable[[NotificationEvent], Awaitable[bool]]
"""Hears a mention; ``True`` if it dealt with it, so that the listeners after it do not hear it.

Raises ``StoreUnavailable`` or ``PlatformBusy`` where it is to be heard again later.
"""


@dataclass(frozen=True, slots=True)
class MastodonOptions:
    """What the operator decides.

    Attributes:
        url: the home instance, such as ``https://social.example``, without a slash at its end.
        token: the bot account's access token.
        moderator_token: a token of a moderator of the instance that may read, and maybe resolve, reports; "" for none.
    """

    url: str
    token: str
    moderator_token: str = ""


class MastodonClient:
    """One bot account.

    Args:
        options: what the operator decides.
        casework: what people can do with cases.
        governance: what people can do with communities.

    Raises:
        BadSettings: there is no token, or no address of an instance.
    """

    def __init__(
        self, options: MastodonOptions, casework: Casework | None = None, governance: Governance | None = None
    ) -> None:
        if not (options.token.strip() and urlsplit(options.url).hostname):
            raise BadSettings(
                sentence("There is no token for Mastodon, or no address of the instance."),
                remedy=sentence("Run: {command}. It says what to set.", command="antiphon mastodon login"),
            )
        self.options = options
        self.desk = DeskAccess(NAME, casework, governance)
        self._listeners: list[Listener] = []
        self._sessions = threading.local()
        self._opened: list[Mastodon] = []
        self._is_closed = False
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="mastodon")
        self._account: Account | None = None
        self._instance: Instance | None = None
        _keep_words_out_of_logs()

    async def open(self) -> None:
        """Log in, and learn what the instance is.

        Raises:
            BadSettings: the instance does not accept the token.
            PlatformUnavailable: it cannot be reached.
        """
        try:
            self._account = await self.call(lambda api: api.account_verify_credentials())
            self._instance = await self.call(read_instance)
        except FAULTS as err:
            await self.close()
            raise of_connection(err) from err

    async def close(self) -> None:
        """Let the threads end, and their connections; a call that is under way ends its own. Twice does no harm."""
        self._is_closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        for api in tuple(self._opened):
            api.session.close()

    @property
    def account(self) -> Account:
        """Our account, as the instance showed it when we logged in; only after ``open``."""
        if self._account is None:
            raise _not_open()
        return self._account

    @property
    def own_id(self) -> str:
        return str(self.account.id)

    @property
    def instance(self) -> Instance:
        """What the home instance said of itself; only after ``open``."""
        if self._instance is None:
            raise _not_open()
        return self._instance

    @property
    def home(self) -> str:
        """The domain of the home instance: the community of all that we see."""
        return self.instance.domain

    def listen(self, listener: Listener) -> None:
        """Hear mentions, after those that listen already."""
        self._listeners.append(listener)

    async def hear(self, heard: NotificationEvent) -> bool:
        """Hand a mention to its listeners in their order, until one deals with it; whether one did."""
        for listener in tuple(self._listeners):
            if await listener(heard):
                return True
        return False

    async def call(self, ask: Callable[[Mastodon], _T], *, as_moderator: bool = False) -> _T:
        """Make one call of the library in a thread; no other thread uses its session meanwhile.

        Args:
            as_moderator: with the moderator's token instead of the bot's.

        Raises:
            MastodonError: the instance refused; see ``error_meanings``. The library repeats nothing.
            NotReached: no request went out.
            Halted: the instance asks to wait.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._answer, ask, as_moderator)

    def _answer(self, ask: Callable[[Mastodon], _T], as_moderator: bool) -> _T:
        api = self._session(as_moderator)
        try:
            return self._answered(ask, api)
        finally:
            if self._is_closed:
                api.session.close()

    @staticmethod
    def _answered(ask: Callable[[Mastodon], _T], api: Mastodon) -> _T:
        try:
            return ask(api)
        except MastodonRatelimitError as err:
            if err.__context__ is not None:  # it was answered, by whatever, with a time that cannot be read
                raise
            until = api.ratelimit_reset
            raise RateLimit(max(0.0, until - time.time()) if until else 0.0) from err
        except MastodonNetworkError as err:
            if isinstance(err.__context__, requests.ConnectTimeout) or _is_unconnected(err.__context__):
                raise NotReached from err
            raise

    def _session(self, as_moderator: bool) -> Mastodon:
        name = "moderator" if as_moderator else "bot"
        kept: Mastodon | None = getattr(self._sessions, name, None)
        if kept is None:
            token = self.options.moderator_token if as_moderator else self.options.token
            kept = session_for(self.options.url, token)
            self._opened.append(kept)
            setattr(self._sessions, name, kept)
        return kept


class _Session(Mastodon):
    """The library without its own word on closed feeds, on standard error: ``Instance.feeds`` is told of in its place.

    To look whether one is closed, it would ask the instance before the first question to any feed.
    """

    def timeline_is_available(self, *_: Any, **__: Any) -> bool:
        """Let every feed be asked for."""
        return True


class _Line(requests.Session):
    """The library's way to the instance, without a list of its own that it sends with ``quote_approval_policy``."""

    def request(self, method: str, url: str | bytes, *args: Any, **kwargs: Any) -> requests.Response:
        """Send what the API knows."""
        if isinstance(kwargs.get("data"), dict):
            kwargs["data"] = {name: value for name, value in kwargs["data"].items() if name not in _NOT_OF_THE_API}
        return super().request(method, url, *args, **kwargs)


def session_for(url: str, token: str | None) -> Mastodon:
    """A session of the library that neither waits for a rate limit nor repeats anything."""
    return _Session(
        access_token=token,
        api_base_url=url,
        session=_Line(),
        ratelimit_method="throw",
        version_check_mode="none",
        request_timeout=_CALL_SECONDS,
        user_agent=USER_AGENT,
    )


def _not_open() -> BadSettings:
    return BadSettings("The client of Mastodon is not logged in.", remedy="Open it first.")


def _is_unconnected(cause: BaseException | None) -> bool:
    """Whether a request failed before a byte of it left: no address, or nobody took the connection."""
    reason = cause.args[0] if isinstance(cause, requests.ConnectionError) and cause.args else None
    named = type(getattr(reason, "reason", None)).__name__
    return named in ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError")


def _keep_words_out_of_logs() -> None:
    for name in _LIBRARY_LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
