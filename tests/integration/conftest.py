"""The built-in models, loaded once for all tests that need them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.backends.embeddings import SentenceEmbedder
from core.heads import Heads
from core.language import detect
from core.ports import EvidenceSource
from kb.search import open_starter


@pytest.fixture(scope="session")
def heads() -> Heads:
    """The shipped heads on the packaged embedding model."""
    return Heads.load(SentenceEmbedder())


@pytest.fixture(scope="session")
def knowledge(heads: Heads, tmp_path_factory: pytest.TempPathFactory) -> EvidenceSource:
    """The search over the shipped facts as the application opens it, on a fixed day."""
    embedder = heads.embedder
    assert isinstance(embedder, SentenceEmbedder)
    return open_starter(
        tmp_path_factory.mktemp("knowledge"),
        embedder,
        clock=lambda: datetime(2026, 6, 1, tzinfo=UTC),
        language_of=lambda text: detect(text, "en"),
    )
