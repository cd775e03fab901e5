"""The index of the facts: its vectors are made once, never mixed, and made again rather than served damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.embeddings import SentenceEmbedder
from kb.starter.fact_search import KnowledgeIndex
from kb.starter.facts import Fact


class CountingEmbedder:
    """The real embedder, and how many texts it was asked for."""

    def __init__(self, inner: SentenceEmbedder, name: str | None = None) -> None:
        self.inner, self.name, self.asked = inner, name or inner.name, 0

    @property
    def languages(self) -> frozenset[str]:
        return self.inner.languages

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += len(texts)
        return self.inner.encode(texts)


def test_cache_is_reused(facts: tuple[Fact, ...], embedder: SentenceEmbedder, tmp_path: Path) -> None:
    """Protects the start: facts are embedded once, not at every run."""
    facts = facts[:20]
    first, second = CountingEmbedder(embedder), CountingEmbedder(embedder)
    built = KnowledgeIndex(facts, first, tmp_path)
    built.open()
    again = KnowledgeIndex(facts, second, tmp_path)
    assert again.bm25("women lead", 5) == built.bm25("women lead", 5)
    assert first.asked >= len(facts)
    assert second.asked == 0


def test_a_damaged_or_missing_file_is_made_again(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, tmp_path: Path
) -> None:
    """Protects that no damaged vectors are served, whichever byte is damaged."""
    first = KnowledgeIndex(facts[:5], embedder, tmp_path)
    vector = embedder.encode(["women lead"])[0]
    wanted = first.dense(vector, 5)
    (file,) = (tmp_path / "kb").iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:-5], whole[:9] + b"?" + whole[10:], whole[:900] + b"?" + whole[901:], b""):
        file.write_bytes(damaged)
        counting = CountingEmbedder(embedder)
        assert KnowledgeIndex(facts[:5], counting, tmp_path).dense(vector, 5) == wanted
        assert counting.asked > 0
        assert file.read_bytes() == whole


def test_changed_facts_or_model_have_vectors_of_their_own(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, tmp_path: Path
) -> None:
    """Protects that vectors of old facts or another model are never mixed in."""
    few = list(facts[:5])
    KnowledgeIndex(few, embedder, tmp_path).open()
    for other, name in ((few, "another"), ([replace(few[0], text=few[0].text + " So it is."), *few[1:]], None)):
        counting = CountingEmbedder(embedder, name=name)
        KnowledgeIndex(other, counting, tmp_path).open()
        assert counting.asked >= len(few)


def test_a_cache_that_cannot_be_written_costs_time_only(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, tmp_path: Path
) -> None:
    """Protects drafts on a full disk: the vectors are made again at each start."""
    (tmp_path / "kb").write_text("A file where the folder should be.")
    assert KnowledgeIndex(facts[:5], embedder, tmp_path).bm25(facts[0].text, 1)[0][0] == 0
