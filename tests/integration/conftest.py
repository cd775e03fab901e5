"""What several tests share: the models and the index, loaded once; a desk and what is around it, new for each test."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import platformdirs
import pytest
from sqlalchemy import URL

from adapters.sample import SampleCommunity
from bot.compose.desk import Desk, build_casework, build_desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.drafting.worker import Worker
from core.desk.review.board import ReviewBoard
from core.desk.review.casework import Casework
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.backends.weights import PACKAGED, WeightsWanted, find_weights
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.wording.language import detect
from core.models import FlaggedPost
from kb.search import open_starter
from kb.starter.fact_search import KnowledgeIndex
from kb.starter.facts import STARTER_FACTS, Fact, load_facts
from tests.fakes.desk.boards import CHANNEL, board_of, choose_channel
from tests.fakes.desk.decisions import drafted
from tests.fakes.desk.people import PLATFORM, SECRET
from tests.fakes.desk.workers import ToldEngine, worker_of
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.remembered import share_readings
from tests.fakes.engine.weights import served_weights
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.compiled import share_compiled_statements
from tests.fakes.machine.postgres import make_templates, new_database, postgresql_server
from tests.fakes.machine.sqlite_at_once import call_at_once
from tests.fakes.ports.surface import FakeSurface

share_compiled_statements()
share_readings()

_ON_BOTH: Final = ("core/desk", "core/desk/invariants", "core/desk/store", "torture")
"""The folders whose tests run on SQLite and on PostgreSQL: what a transaction, a lock or a lease does is theirs.

Elsewhere those do that have the marker ``both_databases``: what races, and what asks something of the database that
nothing in these folders asks.
"""

# Loaded once for the session; tests must not change them


@pytest.fixture(scope="session")
def embedder() -> SentenceEmbedder:
    """The packaged model."""
    return SentenceEmbedder()


@pytest.fixture(scope="session")
def lenient(readers: Readers) -> Readers:
    """The shipped reader of posts, and a reader of drafts that finds every draft fit: for tests of other stages."""
    return replace(readers, drafts=readers_saying().drafts)


@pytest.fixture(scope="session")
def readers(embedder: SentenceEmbedder) -> Readers:
    return Readers.load(embedder)


@pytest.fixture(scope="session")
def facts() -> tuple[Fact, ...]:
    return load_facts(STARTER_FACTS)


@pytest.fixture(scope="session")
def index_cache() -> Path:
    """The user's cache, where the weights are, too: what other processes of the tests built is not built again."""
    return platformdirs.user_cache_path("antiphon")


@pytest.fixture(scope="session")
def index(facts: tuple[Fact, ...], embedder: SentenceEmbedder, index_cache: Path) -> KnowledgeIndex:
    index = KnowledgeIndex(facts, embedder, index_cache)
    index.open()
    return index


@pytest.fixture(scope="session")
def knowledge(embedder: SentenceEmbedder, index_cache: Path) -> EvidenceSource:
    """The search over the shipped facts as the application opens it, on a fixed day."""
    return open_starter(
        index_cache,
        embedder,
        clock=lambda: datetime(2026, 6, 1, tzinfo=UTC),
        language_of=lambda text: detect(text, "en"),
    )


@pytest.fixture(scope="session")
def weights() -> Path:
    """The packaged language model; joined in the user's cache if no run did so before."""
    wanted = WeightsWanted(path=None, hub_repo="", hub_file="", sha256=PACKAGED.sha256)
    return find_weights(wanted, platformdirs.user_cache_path("antiphon"))


@pytest.fixture(scope="session")
def small_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model that says nothing of sense, for what holds whatever a model says."""
    return served_weights(tmp_path_factory.mktemp("weights") / "small.gguf")


# New for each test


@pytest.fixture
def clock() -> FakeClock:
    """The clock of the database."""
    return FakeClock()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[URL]:
    with postgresql_server() as server:
        asyncio.run(make_templates(server))
        yield server


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses a database on both kinds, where the kind could matter (``_ON_BOTH``)."""
    marked = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    if "database_server" not in metafunc.fixturenames or "database_server" in marked:
        return
    if _asks_for_both(metafunc.definition.path) or metafunc.definition.get_closest_marker("both_databases"):
        metafunc.parametrize("database_server", ["sqlite", "postgresql"], indirect=True)


def _asks_for_both(file: Path) -> bool:
    return file.parent.relative_to(Path(__file__).parent).as_posix() in _ON_BOTH


@pytest.fixture
def database_server(request: pytest.FixtureRequest) -> URL | None:
    """``None`` for a SQLite file, or a real PostgreSQL server."""
    is_postgresql = getattr(request, "param", "sqlite") == "postgresql"
    return request.getfixturevalue("postgresql") if is_postgresql else None


@pytest.fixture
async def place(
    request: pytest.FixtureRequest, database_server: URL | None, settled_file: Path, tmp_path: Path
) -> AsyncIterator[Path | URL]:
    """Where the test's database is: one without tables, but where the test wants ``database``, too."""
    is_settled = "database" in request.fixturenames
    if database_server is not None:
        async with new_database(database_server, is_settled=is_settled) as address:
            yield address
        return
    file = tmp_path / "antiphon.sqlite"
    if is_settled:
        shutil.copy(settled_file, file)
    yield file


@pytest.fixture
async def database(place: Path | URL, clock: FakeClock, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """A database without cases, in which everybody has their role in the sample community.

    SQLite is asked without a thread, but where the database itself is tested (``_ON_BOTH``), and where a test
    opens it ``elsewhere``, too: the two would wait for each other.
    """
    opened = await Database.open(place, secret=SECRET, clock=clock)
    is_alone = not _asks_for_both(request.path) and "elsewhere" not in request.fixturenames
    if is_alone and not opened.is_postgresql:
        await call_at_once(opened.engine, pauses=True)
    yield opened
    await opened.close()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings with every place in a folder of the test's own."""
    file = tmp_path / "config.toml"
    places = {"database": "antiphon.db", "secret_file": "secret", "backup_folder": "backups"}
    lines = [f'{key} = "{tmp_path / place}"' for key, place in places.items()]
    file.write_text("[desk]\n" + "\n".join(lines) + "\n")
    return file


@pytest.fixture
def desk(database: Database) -> Desk:
    return build_desk(database, undo_seconds=15, platforms={PLATFORM: SampleCommunity(max_characters=300)})


@pytest.fixture
def queue(database: Database) -> DraftQueue:
    return DraftQueue(database, "worker-1")


@pytest.fixture
def post() -> FlaggedPost:
    return SampleCommunity().flag("103", "mill_pond")


@pytest.fixture
async def case(desk: Desk, post: FlaggedPost) -> Case:
    return await desk.intake.flag(post)


@pytest.fixture
async def in_review(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Case:
    return await drafted(desk, queue, post)


@pytest.fixture
def platform(clock: FakeClock) -> SampleCommunity:
    """The sample community, by the clock of the database."""
    return SampleCommunity(clock=clock)


@pytest.fixture
def outbox(database: Database, platform: SampleCommunity) -> Outbox:
    """What posts there."""
    return Outbox(database, {PLATFORM: platform})


@pytest.fixture
def front(desk: Desk, outbox: Outbox) -> Casework:
    """The front desk of that platform, on which a message has at most 300 characters."""
    return build_casework(desk, outbox)


@pytest.fixture
async def surface(database: Database) -> FakeSurface:
    """A review channel, which the sample community has chosen."""
    await choose_channel(database, CHANNEL)
    return FakeSurface()


@pytest.fixture
def board(database: Database, surface: FakeSurface) -> ReviewBoard:
    """What shows the cards there."""
    return board_of(database, surface)


@pytest.fixture
def engine() -> ToldEngine:
    """An engine that does as a test tells it; tests with the real one have an ``engine`` of their own."""
    return ToldEngine()


@pytest.fixture
def progress() -> list[object]:
    """What that engine says on the way."""
    return []


@pytest.fixture
def worker(queue: DraftQueue, desk: Desk, engine: ToldEngine, progress: list[object]) -> Worker:
    return worker_of(queue, desk.database, engine, progress)
