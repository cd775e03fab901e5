"""The composition root of the desk: settings and an engine in, running objects out, and everything given back.

Beside ``bot.compose.engine``, which builds the engine, the only place where objects are built. Owns no rule of its own.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

from sqlalchemy import URL

from bot.communities.governance import CommunityGovernance
from bot.compose.chores import all_chores
from bot.compose.desk import Desk, build_casework, build_desk
from bot.compose.engine import OnPreparing, make_folder, open_engine, voice_of
from bot.compose.settings import Settings
from bot.drafting.queue import DraftQueue
from bot.drafting.request import DraftingRequest
from bot.drafting.worker import Worker, unheard, work
from bot.review.casework import FrontDesk
from bot.runtime.waiting import pause
from bot.sending.outbox import Outbox, SendLimits
from bot.store.engine.database import Database, Session
from bot.store.engine.secret import load_secret
from bot.store.people import communities, people
from bot.store.schema import Change
from bot.store.upkeep.backup import backup
from bot.upkeep.runner import Chores
from bot.upkeep.schedule import Schedule
from core.engine import Engine, OnProgress
from core.errors import AntiphonError, StoreUnavailable
from core.llm.profiles import Profile
from core.moderation.platforms import ChatPlatform, RoleSource
from core.moderation.roles import Person, Role
from core.wording import language

_LOG = logging.getLogger(__name__)
_AGAIN_SECONDS = 1.0
_CONNECT_SECONDS = 0.1
_SHORTEST_POST = 500
"""The longest reply that every platform takes: a process that only drafts does so for all of them."""


@dataclass(frozen=True)
class Application:
    """What runs over one database: decisions, drafts, sends, and what is done from time to time."""

    database: Database
    desk: Desk
    casework: FrontDesk
    worker: Worker
    outbox: Outbox
    schedule: Schedule
    chores: Chores
    governance: CommunityGovernance


def worker_name() -> str:
    """What tells this process, or one of its workers, from all others on any machine."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"


@asynccontextmanager
async def open_database(settings: Settings, path: Path | None = None) -> AsyncIterator[Database]:
    """The configured database, or another SQLite file.

    Raises:
        StoreUnavailable: the database or the installation's secret cannot be opened.
    """
    place: Path | URL = path or settings.database_place
    if isinstance(place, Path):
        make_folder(place.parent, "desk.database")
    database = await Database.open(place, secret=load_secret(settings.secret_file))
    try:
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def open_application(
    engine: Engine,
    settings: Settings,
    platform: ChatPlatform,
    profile: Profile,
    on_progress: OnProgress = unheard,
    *,
    database_path: Path | None = None,
    undo_seconds: float | None = None,
    attempts: int | None = None,
    role_sources: Mapping[str, RoleSource] | None = None,
    recovers: bool = True,
) -> AsyncIterator[Application]:
    """The application over one platform; interrupted sends of an earlier process are settled first.

    Args:
        recovers: whether to settle them at once; not before the platform is connected. ``serve`` does it then.
        attempts: how often to try a draft before a person is asked; the configured number by default, 1 where somebody
            waits for the answer.

    Raises:
        StoreUnavailable: the database cannot be opened.
    """
    wanted, name = settings.desk, worker_name()
    async with open_database(settings, database_path) as database:
        desk = build_desk(
            database,
            role_sources=role_sources,
            undo_seconds=wanted.undo_seconds if undo_seconds is None else undo_seconds,
            hold_minutes=wanted.hold_minutes,
            max_queued=wanted.max_queued,
            campaign_hours=wanted.campaign_hours,
            flags_per_hour=wanted.flags_per_hour,
            max_characters={platform.name: platform.max_characters},
        )
        outbox = Outbox(
            database,
            {platform.name: platform},
            role_sources=role_sources,
            limits=SendLimits(wanted.replies_per_hour, wanted.replies_per_day),
        )
        queue = _queue(database, settings, name, attempts)
        chores = all_chores(
            database,
            settings,
            platforms={platform.name: platform},
            put_back_lost=queue.put_back_lost,
            make_backup=partial(backup, database_path or settings.database_place),
            admit=desk.intake.admit_waiting,
        )
        drafting = DraftingRequest(database, engine, profile, voice_of(settings, platform.max_characters))
        if recovers:
            await outbox.recover()
        yield Application(
            database,
            desk,
            build_casework(desk, outbox),
            Worker(queue, drafting, on_progress),
            outbox,
            Schedule(database, chores, name),
            Chores(database, chores, name),
            CommunityGovernance(database, desk.live_roles),
        )


@asynccontextmanager
async def open_workers(
    settings: Settings, profile: str, slots: int, on_preparing: OnPreparing | None = None
) -> AsyncIterator[Sequence[Worker]]:
    """As many workers as are wanted over one engine and the configured database, and nothing else.

    Raises:
        StoreUnavailable: the database cannot be opened.
        ModelUnavailable: the weights cannot be had or loaded.
    """
    async with open_database(settings) as database, open_engine(settings, on_preparing) as engine:
        language.prepare()
        voice = voice_of(settings, _SHORTEST_POST)
        drafting = DraftingRequest(database, engine, settings.profile_named(profile), voice)
        yield [Worker(_queue(database, settings, worker_name()), drafting) for _ in range(slots)]


def _queue(database: Database, settings: Settings, name: str, attempts: int | None = None) -> DraftQueue:
    wanted = settings.desk
    return DraftQueue(
        database,
        name,
        lease_seconds=wanted.lease_seconds,
        max_attempts=attempts or wanted.attempts,
        per_community=wanted.drafts_per_community or None,
    )


async def serve(
    application: Application,
    platform: ChatPlatform,
    stop: asyncio.Event,
    drain_seconds: float,
    *,
    connected: asyncio.Event | None = None,
) -> None:
    """Take in what people flag, draft, send and do all chores, until ``stop`` is set; then end within a bounded time.

    Nothing is sent or read back before ``connected`` is set, where it is given. A post that is refused does not end
    the others; whatever else goes wrong ends all, and is raised.
    """
    running = [
        asyncio.create_task(part)
        for part in (
            work([application.worker], stop, drain_seconds),
            _send(application.outbox, stop, connected),
            application.schedule.run(stop),
            application.chores.run(stop),
        )
    ]
    flagging = asyncio.create_task(_take_in(application.desk, platform, stop))
    try:
        await asyncio.wait((*running, flagging), return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await asyncio.wait(running, timeout=drain_seconds)
    finally:
        for task in (*running, flagging):
            task.cancel()
        ended = await asyncio.gather(*running, flagging, return_exceptions=True)
    for outcome in ended:
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome


async def _send(outbox: Outbox, stop: asyncio.Event, connected: asyncio.Event | None) -> None:
    while connected is not None and not (connected.is_set() or stop.is_set()):
        await pause(stop, _CONNECT_SECONDS)
    await outbox.run(stop)


async def _take_in(desk: Desk, platform: ChatPlatform, stop: asyncio.Event) -> None:
    """Give every flagged post to the desk, again and again while the database is away; one that is refused is left.

    A platform that flags no more ends nothing else: what waits is still drafted and sent.
    """
    async for post in platform.flags():
        while True:
            try:
                await desk.intake.flag(post)
            except StoreUnavailable as err:
                _LOG.warning("a flagged post of %s waits for the database: %s", platform.name, err)
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            except AntiphonError as err:
                _LOG.warning("a flagged post of %s was refused: %s", platform.name, err)
            break
    await stop.wait()


async def admit(database: Database, platform: str, community: str, person: Person) -> None:
    """Let the person who runs Antiphon in their terminal do everything in the sample community, posting included.

    Nothing that is posted there leaves the process. Real communities begin in shadow mode.
    """

    async def let_in(session: Session) -> None:
        found = await communities.ensure(session, platform, community)
        await people.grant(session, found.id, person, {Role.ADMIN}, by="terminal")
        if not found.is_posting:
            await communities.change(session, found.id, actor="terminal", reason="posting on", what=Change.POSTING)

    await database.run("admit the operator", let_in)
