"""The chat platforms of one process: which it serves, and which of them are connected at this moment.

``bot.compose`` says what a platform is made of and how it is connected. The state of each is stored where every process
of this installation can read it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from core.desk.communities.governance import Governance
from core.desk.database.connection import Database
from core.desk.review.casework import Casework
from core.desk.rules.platforms import ChatPlatform, Notifier, ReviewSurface, RoleSource, UpdateInbox
from core.desk.rules.roles import Role
from core.desk.runtime import metrics
from core.desk.runtime.lease import pause
from core.desk.schema import PlatformState
from core.desk.views import platforms as store
from core.desk.views.platforms import PlatformStatus
from core.engine.ports import HateDetector
from core.errors import Conflict, PlatformUnavailable, StoreUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef

_LOG = logging.getLogger(__name__)
OnStanding = Callable[[PlatformStatus], object]
"""Called when a platform is being connected, is connected, or failed."""


def unwatched(_: PlatformStatus) -> None:
    """Ignore the change."""


_LEASE: Final = timedelta(seconds=60)
"""How long a process may be silent before it counts as gone; it says all again four times as often."""


class Standings:
    """The states of the platforms of one process.

    Args:
        names: the platforms that it serves.
        owner: names this process among all.
        say: is told of every change.
    """

    def __init__(self, database: Database, names: Collection[str], owner: str, say: OnStanding = unwatched) -> None:
        self._database = database
        self.owner = owner
        self._say = say
        self._now = {name: PlatformStatus(name, PlatformState.CONNECTING) for name in names}
        self._changed = asyncio.Event()

    def tell(self, standing: PlatformStatus) -> None:
        """Set the state that a platform has from now on."""
        self._now[standing.platform] = standing
        metrics.PLATFORM_CONNECTED.labels(standing.platform).set(standing.state is PlatformState.CONNECTED)
        if standing.state in (PlatformState.WAITING, PlatformState.REFUSED):
            metrics.PLATFORM_FAILURES.labels(standing.platform).inc()
        self._changed.set()
        self._say(standing)

    def are_all_refused(self) -> bool:
        """Whether no platform of this process can be served with these settings."""
        return all(standing.state is PlatformState.REFUSED for standing in self._now.values())

    async def run(self, ended: asyncio.Event) -> None:
        """Keep the states in the database until ``ended`` is set; then remove them."""
        ending = asyncio.create_task(self._wake(ended))
        try:
            while not ended.is_set():
                self._changed.clear()
                await self._keep()
                await pause(self._changed, _LEASE.total_seconds() / 4)
        finally:
            ending.cancel()
            await self._forget()

    async def _wake(self, ended: asyncio.Event) -> None:
        await ended.wait()
        self._changed.set()

    async def _keep(self) -> None:
        standings = list(self._now.values())
        try:
            await self._database.run(
                "keep how platforms stand", lambda session: store.keep(session, self.owner, standings, _LEASE)
            )
        except (StoreUnavailable, Conflict) as err:
            _LOG.warning("how the platforms stand was not kept, it is kept later: %s", err)

    async def _forget(self) -> None:
        try:
            await self._database.run("forget platforms", lambda session: store.forget(session, self.owner))
        except (StoreUnavailable, Conflict) as err:
            _LOG.warning("how the platforms stood is still kept, its lease must run out: %s", err)


@dataclass(frozen=True, slots=True)
class Services:
    """What a platform needs of Antiphon to answer the people there.

    Attributes:
        inbox: what keeps the updates of an account, given as ``PostRef.platform`` and the account's id there, until
            they are dealt with.
        address_of: where a post of any platform can be read; "" where that is not known.
    """

    casework: Casework
    governance: Governance
    detector: HateDetector
    inbox: Callable[[str, str], UpdateInbox]
    address_of: Callable[[PostRef], str]


async def unnamed(_community: str, _channel: str) -> str:
    """No name: what has an id there is called by it."""
    return ""


async def never() -> None:
    """Wait for ever: a platform inside this process never loses its connection."""
    await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Connection:
    """A platform while it is connected.

    Attributes:
        roles: who may do what by the platform's own rights; ``None`` where only roles given in Antiphon count.
        surface: what shows each case there, or follows it; ``None`` for nothing.
        notifier: calls people to cases; ``None`` where the platform cannot.
        until_lost: returns, or raises the reason, once the connection has ended for good. May be called more than once.
        note: a line for the person who runs Antiphon, such as the address that adds a bot to a server.
        everywhere: the channel for ``surface`` of each community that chose none; it only follows the cases there, and
            shows those of communities that chose a channel of another platform on that one's surface. "" where cases
            are reviewed on the platform itself.
        name_of: what people call a community, or a channel of it (``PostRef``); "" where nobody can say it now. A
            channel is asked for without its community, too.
    """

    platform: ChatPlatform
    roles: RoleSource | None = None
    surface: ReviewSurface | None = None
    notifier: Notifier | None = None
    until_lost: Callable[[], Awaitable[None]] = never
    note: str = ""
    everywhere: str = ""
    name_of: Callable[[str, str], Awaitable[str]] = unnamed


@dataclass(frozen=True, slots=True)
class ServedPlatform:
    """A platform that this process serves.

    Attributes:
        name: the ``PostRef.platform`` of its posts.
        max_characters: the longest reply that it takes.
        open: connects, and closes everything at the end of the block. It is called again after a connection was lost,
            and then makes everything again. After ``BadSettings``, which means that somebody must change the settings,
            it is not called again.
        has_roles: whether the platform has roles of its own that count here (``Connection.roles``).
        hearing_seconds: how long it may take until what a person wrote there is heard.
        asks_places: whether each place (``PostRef.channel``) must have agreed before anything is posted there.
    """

    name: str
    max_characters: int
    open: Callable[[Services], AbstractAsyncContextManager[Connection]]
    has_roles: bool = False
    asks_places: bool = False
    hearing_seconds: float = 0.0


def in_process(platform: ChatPlatform, *, roles: RoleSource | None = None) -> ServedPlatform:
    """A platform inside this process, such as the sample community; it needs no connection."""
    opened = partial(_always, Connection(platform, roles))
    return ServedPlatform(platform.name, platform.max_characters, opened, has_roles=roles is not None)


@asynccontextmanager
async def _always(connection: Connection, _: Services) -> AsyncIterator[Connection]:
    yield connection


class Platforms(Mapping[str, ChatPlatform]):
    """Of the platforms that this process serves, those that are connected at this moment, by name."""

    def __init__(self, served: Sequence[ServedPlatform]) -> None:
        self.max_characters = {each.name: each.max_characters for each in served}
        self.hearing_seconds = {each.name: each.hearing_seconds for each in served}
        self.asked_first = frozenset(each.name for each in served if each.asks_places)
        with_roles = [each.name for each in served if each.has_roles]
        self.role_sources: Mapping[str, RoleSource] = {name: _Roles(self, name) for name in with_roles}
        self._connections: dict[str, Connection] = {}
        self._faults: dict[str, asyncio.Future[None]] = {}
        self.surfaces: Mapping[str, ReviewSurface] = _Surfaces(self._connections)

    def longest(self, name: str, unknown: int) -> int:
        """The longest reply that a platform takes, as it says itself; ``unknown`` while it is not connected."""
        connected = self._connections.get(name)
        return unknown if connected is None else connected.platform.max_characters

    async def name_of(self, name: str, community: str, channel: str) -> str:
        """What people call a community of a platform, or a channel; "" where that is not known now."""
        connected = self._connections.get(name)
        return "" if connected is None else await connected.name_of(community, channel)

    def __getitem__(self, name: str) -> ChatPlatform:
        return self._connections[name].platform

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._connections))

    def __len__(self) -> int:
        return len(self._connections)

    def is_away(self, name: str) -> bool:
        """Whether a platform is not connected to this process."""
        return name not in self._connections

    @contextmanager
    def connected(self, name: str, connection: Connection) -> Iterator[asyncio.Future[None]]:
        """Make a platform reachable within the block; the future fails if a call shows that the platform is broken."""
        broken = asyncio.get_running_loop().create_future()
        self._connections[name], self._faults[name] = connection, broken
        try:
            yield broken
        finally:
            self.drop(name)
            del self._faults[name]
            if not broken.cancel() and not broken.cancelled():
                broken.exception()  # reported too late to matter

    def drop(self, name: str) -> None:
        """Record that a connection is lost: from now on nobody calls the platform."""
        self._connections.pop(name, None)

    def report(self, name: str, fault: Exception) -> None:
        """Report that a call of a platform failed in a way that its port does not allow: it must be connected again."""
        broken = self._faults.get(name)
        if broken is not None and not broken.done():
            broken.set_exception(fault)

    async def roles(self, name: str, community: str, user: str) -> frozenset[Role]:
        """The roles that a person has by a platform's own rights; ``PlatformUnavailable`` while it is not connected."""
        connection = self._connections.get(name)
        if connection is None or connection.roles is None:
            raise PlatformUnavailable(
                sentence("{platform} is not connected.", platform=name), remedy=sentence("Wait until it is.")
            )
        return await connection.roles.roles(community, user)


class _Surfaces(Mapping[str, ReviewSurface]):
    """What shows cards in channels, of the platforms that are connected at this moment and have some."""

    def __init__(self, connections: Mapping[str, Connection]) -> None:
        self._connections = connections

    def __getitem__(self, name: str) -> ReviewSurface:
        connection = self._connections[name]
        if connection.surface is None or connection.everywhere:
            raise KeyError(name)
        return connection.surface

    def __iter__(self) -> Iterator[str]:
        return (name for name in tuple(self._connections) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Roles:
    """The ``RoleSource`` of one platform, over the connection that it has when it is asked."""

    def __init__(self, platforms: Platforms, name: str) -> None:
        self._platforms, self._name = platforms, name

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        return await self._platforms.roles(self._name, community, user)
