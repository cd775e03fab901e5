"""What several tests share: the models and the index, loaded once; a desk and its database, new for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import platformdirs
import pytest

from adapters.sample.community import SampleCommunity
from bot.desk import Desk
from bot.store.cases import Case
from bot.store.database import Database
from core.backends.embeddings import SentenceEmbedder
from core.backends.weight_files import PACKAGED
from core.backends.weights import WeightsWanted, find_weights
from core.heads import Heads
from core.language import detect
from core.models import FlaggedPost
from core.ports import EvidenceSource
from kb.facts import STARTER_FACTS, Fact, load_facts
from kb.index import KnowledgeIndex
from kb.search import open_starter
from tests.fakes import suggestion_for
from tests.fakes.clock import FakeClock

# Loaded once for the session; tests must not change them


@pytest.fixture(scope="session")
def embedder() -> SentenceEmbedder:
    """The packaged model."""
    return SentenceEmbedder()


@pytest.fixture(scope="session")
def heads(embedder: SentenceEmbedder) -> Heads:
    """The shipped heads on the packaged embedding model."""
    return Heads.load(embedder)


@pytest.fixture(scope="session")
def facts() -> tuple[Fact, ...]:
    """The facts that ship with Antiphon."""
    return load_facts(STARTER_FACTS)


@pytest.fixture(scope="session")
def index_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that tests share and do not damage."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def index(facts: tuple[Fact, ...], embedder: SentenceEmbedder, index_cache: Path) -> KnowledgeIndex:
    """The built index of the shipped facts."""
    index = KnowledgeIndex(facts, embedder, index_cache)
    index.open()
    return index


@pytest.fixture(scope="session")
def knowledge(embedder: SentenceEmbedder, tmp_path_factory: pytest.TempPathFactory) -> EvidenceSource:
    """The search over the shipped facts as the application opens it, on a fixed day."""
    return open_starter(
        tmp_path_factory.mktemp("knowledge"),
        embedder,
        clock=lambda: datetime(2026, 6, 1, tzinfo=UTC),
        language_of=lambda text: detect(text, "en"),
    )


# New for each test


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database in a real file."""
    opened = await Database.open(tmp_path / "antiphon.sqlite")
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> FakeClock:
    """The clock of the desk."""
    return FakeClock()


@pytest.fixture
def desk(database: Database, clock: FakeClock) -> Desk:
    """A desk over the test's database."""
    return Desk(database, clock, undo_seconds=15)


@pytest.fixture
def post() -> FlaggedPost:
    """A post of the sample community, flagged by a person."""
    return SampleCommunity().flag("103", "mill_pond")


@pytest.fixture
async def in_review(desk: Desk, post: FlaggedPost) -> Case:
    """That post's case, with drafts, before a moderator."""
    await desk.flag(post)
    case = await desk.take_next()
    assert case is not None
    return await desk.store_suggestion(case.id, case.version, suggestion_for(post))


@pytest.fixture(scope="session")
def weights() -> Path:
    """The packaged language model; joined in the user's cache if no run did so before."""
    wanted = WeightsWanted(path=None, hub_repo="", hub_file="", sha256=PACKAGED.sha256)
    return find_weights(wanted, platformdirs.user_cache_path("antiphon"))
