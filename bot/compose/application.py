"""The composition root of the desk: settings and an engine in, an application out, and everything closed at the end."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final
from uuid import uuid4

from sqlalchemy import URL

from bot.compose.desk import Desk, all_chores, build_casework, build_desk
from bot.compose.engine import OnPreparing, make_folder, open_engine
from bot.compose.models import voice_of
from bot.compose.operations import counted, model_answers
from bot.compose.platforms import address_of
from bot.serve.platforms import OnStanding, Platforms, ServedPlatform, Services, Standings, unwatched
from bot.serve.status import Status
from bot.serve.supervision import DeskProcess, Patience, Supervisor
from bot.settings import Settings
from core.desk.communities.governance import Governance
from core.desk.database.connection import Database, Session, check_there
from core.desk.database.secret import load_secret
from core.desk.drafting.precedence import Precedence
from core.desk.drafting.queue import Backoff, DraftQueue
from core.desk.drafting.request import DraftingRequest
from core.desk.drafting.worker import Worker, unheard
from core.desk.review.casework import Casework
from core.desk.rules.roles import Person, Role
from core.desk.schema import Change
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.store import communities, people
from core.desk.store.cases import Case
from core.desk.store.inbox import StoredInbox
from core.desk.upkeep.backups import backup
from core.desk.upkeep.chores import Chores
from core.desk.upkeep.schedule import Schedule
from core.engine.llm.budget import Profile
from core.engine.pipeline import Engine, OnProgress
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import DraftReader, PostReader
from core.engine.request import Voice
from core.engine.scoring.check import ReplyReading, read_drafts
from core.engine.wording import language

_REMEMBERED: Final = 64
"""Texts. The same one comes back within minutes: it is shown again, or a second person approves it."""


class RememberingReader:
    """``core.engine.scoring.check.EditReader`` by the reader of drafts. Safe to share between threads."""

    def __init__(self, drafts: DraftReader) -> None:
        self._drafts = drafts
        self._lock = Lock()
        self._known = OrderedDict[bytes, ReplyReading | None]()

    def read(self, post: str, text: str, language: str) -> ReplyReading | None:
        """What a text does under a post; ``None`` in a language that the reader does not know. Blocking.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        key = sha256(repr((post, text, language)).encode()).digest()
        with self._lock:
            if key not in self._known:
                self._known[key] = read_drafts(self._drafts, post, [text], language)[0]
            self._known.move_to_end(key)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
            return self._known[key]


_FIRST_PAUSE_SECONDS: Final = 2.0
_LONGEST_PAUSE_SECONDS: Final = 300.0
_TRANSACTION_SECONDS: Final = (15.0, 60.0)
"""What a transaction has at least, however short the leases are, since chores read a lot; and at most."""
SHORTEST_POST: Final = 430
"""A length of reply that platforms take as a rule, with what they put around one; for cases that say none."""


@dataclass(frozen=True, kw_only=True)
class Application(DeskProcess):
    """What runs over one database, and the desk that people work at."""

    database: Database
    desk: Desk
    casework: Casework
    governance: Governance
    knowledge: EvidenceSource
    detector: PostDetector


class PostDetector:
    """``core.engine.ports.HateDetector`` by the reader of posts.

    Args:
        expected: the configured language, for short texts of communities that chose none.
    """

    def __init__(self, posts: PostReader, expected: str) -> None:
        self._posts = posts
        self._expected = expected

    @property
    def languages(self) -> frozenset[str]:
        return self._posts.watched

    async def language_of(self, text: str, expected: str | None) -> str | None:
        """The language of a text, if the reader knows it."""
        detected = await asyncio.to_thread(language.detect, text, expected or self._expected)
        return detected if detected in self._posts.watched else None

    async def score(self, text: str, language: str) -> float:
        return float((await asyncio.to_thread(self._posts.hateful, [text], language))[0])

    def threshold(self, one_in: float) -> float:
        """The score that one in so many ordinary messages exceeds."""
        return self._posts.threshold(one_in)

    def false_alarms(self, threshold: float) -> float:
        return self._posts.false_alarms(threshold)


def worker_name() -> str:
    """A name for this process, or for one of its workers, that no other one has on any machine."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"


@asynccontextmanager
async def open_database(
    settings: Settings,
    path: Path | None = None,
    *,
    creates: bool = False,
    clock: Callable[[], datetime] | None = None,
    works_under_leases: bool = False,
) -> AsyncIterator[Database]:
    """The configured database, or another SQLite file; ``clock`` stands in for the database's own.

    Args:
        creates: whether the database and the installation's secret are made where they are missing. A mistyped place
            would otherwise look like an installation that knows nobody.
        works_under_leases: whether others take over what this process does when it is lost.

    Raises:
        BadInput: the database or the secret is missing, and is not to be made.
        StoreUnavailable: the database or the installation's secret cannot be opened.
    """
    place: Path | URL = path or settings.database_place
    if not creates:
        check_there(place)
    elif isinstance(place, Path):
        make_folder(place.parent, "desk.database")
    secret = load_secret(settings.secret_file, creates=creates)
    least, most = _TRANSACTION_SECONDS
    lease = min(most, max(least, settings.desk.lease_seconds)) if works_under_leases else None
    database = await Database.open(place, secret=secret, creates=creates, clock=clock, lease_seconds=lease)
    try:
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def open_application(
    engine: Engine,
    settings: Settings,
    served: Sequence[ServedPlatform],
    profile: Profile,
    on_progress: OnProgress = unheard,
    *,
    database_path: Path | None = None,
    undo_seconds: float | None = None,
    attempts: int | None = None,
    on_standing: OnStanding = unwatched,
    patience: Patience | None = None,
    clock: Callable[[], datetime] | None = None,
) -> AsyncIterator[Application]:
    """The application over its platforms, which ``bot.serve.supervision`` connects later.

    Args:
        attempts: how often to try a draft before a person is asked; the configured number by default, 1 where somebody
            waits for the answer.
        on_standing: is told of each change of a platform's state.
        patience: how long to wait for the platforms.
        clock: the time, where it is not the database's own.

    Raises:
        StoreUnavailable: the database cannot be opened.
        BadSettings: two platforms have the same name.
    """
    wanted, name, platforms = settings.desk, worker_name(), Platforms(served)
    limits = SendLimits(wanted.replies_per_hour, wanted.replies_per_day, platforms.asked_first)
    async with open_database(settings, database_path, creates=True, clock=clock, works_under_leases=True) as database:
        desk = build_desk(
            database,
            role_sources=platforms.role_sources,
            undo_seconds=wanted.undo_seconds if undo_seconds is None else undo_seconds,
            hold_minutes=wanted.hold_minutes,
            max_queued=wanted.max_queued,
            campaign_hours=wanted.campaign_hours,
            flags_per_hour=wanted.flags_per_hour,
            platforms=platforms,
            limits=limits,
            hearing_seconds=platforms.hearing_seconds,
            edit_reader=RememberingReader(engine.readers.drafts),
        )
        outbox = Outbox(
            database, platforms, role_sources=platforms.role_sources, limits=limits, on_fault=platforms.report
        )
        queue = _queue(database, settings, name, attempts)
        chores = all_chores(
            database,
            settings,
            platforms=platforms,
            put_back_lost=queue.put_back_lost,
            make_backup=partial(backup, database_path or settings.database_place),
            admit=desk.intake.admit_waiting,
        )

        voice = cache(partial(voice_of, settings))

        def voice_for(case: Case) -> Voice:
            return voice(platforms.longest(case.post.ref.platform, case.most_characters or SHORTEST_POST))

        drafting = DraftingRequest(database, engine, profile, voice_for)
        casework, governance = build_casework(desk, outbox), Governance(database, desk.live_roles)
        detector = PostDetector(engine.readers.posts, settings.community.language)
        inbox, of_post = partial(StoredInbox, database, owner=name), partial(address_of, settings.mastodon.url)
        services = Services(casework, governance, detector, inbox, of_post)
        standings = Standings(database, platforms.max_characters, name, on_standing)
        waiting = patience or Patience(Backoff(name, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS))
        yield Application(
            database=database,
            desk=desk,
            casework=casework,
            governance=governance,
            knowledge=engine.evidence,
            detector=detector,
            worker=Worker(queue, drafting, on_progress),
            outbox=outbox,
            schedule=Schedule(database, chores, name),
            chores=Chores(database, chores, name),
            platforms=platforms,
            supervisors=[
                Supervisor(each, services, platforms, standings, database, outbox, name, waiting) for each in served
            ],
            standings=standings,
        )


@asynccontextmanager
async def open_workers(
    settings: Settings, profile: str, slots: int, status: Status, on_preparing: OnPreparing | None = None
) -> AsyncIterator[Sequence[Worker]]:
    """Workers, as many as asked for, over one engine and the configured database, and nothing else.

    Args:
        status: is told what must be so for this process to be ready.

    Raises:
        StoreUnavailable: the database cannot be opened.
        ModelUnavailable: the weights cannot be had or loaded.
    """
    async with (
        open_database(settings, works_under_leases=True) as database,
        open_engine(settings, on_preparing, on_call=counted(settings)) as engine,
    ):
        await engine.ready()
        async with status.working(database, {"model": model_answers(settings)}):
            language.prepare()
            voice = cache(partial(voice_of, settings))
            drafting = DraftingRequest(
                database,
                engine,
                settings.profile_named(profile),
                lambda case: voice(case.most_characters or SHORTEST_POST),
            )
            queues = [_queue(database, settings, worker_name()) for _ in range(slots)]
            precedence = Precedence(queues[0].look)
            yield [Worker(queue, drafting, precedence=precedence) for queue in queues]


def _queue(database: Database, settings: Settings, name: str, attempts: int | None = None) -> DraftQueue:
    wanted = settings.desk
    return DraftQueue(
        database,
        name,
        lease_seconds=wanted.lease_seconds,
        max_attempts=attempts or wanted.attempts,
        per_community=wanted.drafts_per_community or None,
    )


async def admit(database: Database, platform: str, community: str, person: Person) -> None:
    """Let the person who runs Antiphon in their terminal do everything in the sample community, posting included.

    Nothing that is posted there leaves the process. Real communities begin in shadow mode.
    """

    async def let_in(session: Session) -> None:
        place = await communities.ensure(session, platform, community)
        await people.grant(session, place.id, person, {Role.ADMIN}, by="terminal")
        if not place.is_posting:
            await communities.change(session, place.id, actor="terminal", reason="posting on", what=Change.POSTING)

    await database.run("admit the operator", let_in)
