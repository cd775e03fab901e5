"""The index on the disk: built once, never mixed with another, and rebuilt rather than served damaged."""

from __future__ import annotations

import errno
import logging
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.llm.backends.embeddings import SentenceEmbedder
from kb.starter.facts import Fact
from kb.starter.index import KnowledgeIndex


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


def stored_files(folder: Path) -> list[Path]:
    """What an index keeps, without tantivy's hidden locks and lists."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def test_flipped_byte_is_noticed_and_rebuilt(
    facts: tuple[Fact, ...],
    embedder: SentenceEmbedder,
    index: KnowledgeIndex,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Protects that no damaged index is served, whichever file is damaged, and that the log says so without texts."""
    wanted = index.bm25("women lead", 5)
    names = [path.relative_to(index.folder) for path in stored_files(index.folder)]
    for number, name in enumerate(names):
        cache = tmp_path / str(number)
        shutil.copytree(index.folder, cache / "kb" / index.folder.name)
        damaged = cache / "kb" / index.folder.name / name
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert KnowledgeIndex(facts, embedder, cache).bm25("women lead", 5) == wanted
        assert "is built again" in caplog.text
        assert facts[0].text not in caplog.text


def test_missing_file_is_rebuilt(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, index: KnowledgeIndex, tmp_path: Path
) -> None:
    """Protects that a cache which was half deleted is made whole."""
    folder = tmp_path / "kb" / index.folder.name
    shutil.copytree(index.folder, folder)
    (folder / "vectors.faiss").unlink()
    KnowledgeIndex(facts, embedder, tmp_path).open()
    assert (folder / "vectors.faiss").is_file()


def test_changed_facts_or_model_give_another_index(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, tmp_path: Path
) -> None:
    """Protects that vectors of old facts or another model are never mixed in, and that old ones do not pile up."""
    few = list(facts[:5])
    changed = [replace(few[0], text=few[0].text + " So it is."), *few[1:]]
    old, new = KnowledgeIndex(few, embedder, tmp_path), KnowledgeIndex(changed, embedder, tmp_path)
    other = KnowledgeIndex(few, CountingEmbedder(embedder, name="another"), tmp_path)
    assert len({old.folder, new.folder, other.folder}) == 3
    old.open()
    new.open()
    assert [path for path in (tmp_path / "kb").iterdir() if path.is_dir()] == [new.folder]


def test_two_builders_make_one_good_index(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, index: KnowledgeIndex, tmp_path: Path
) -> None:
    """Protects two processes that start at once: one builds, the other waits and loads the same."""
    counting = CountingEmbedder(embedder)
    both = [KnowledgeIndex(facts, counting, tmp_path) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: one.bm25("women lead", 5), both))
    assert found[0] == found[1] == index.bm25("women lead", 5)
    assert counting.asked == len(facts) + sum(len(fact.stereotypes) for fact in facts)
    assert [path for path in (tmp_path / "kb").iterdir() if path.is_dir()] == [both[0].folder]


def test_disk_full_leaves_nothing(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects that a full disk is said, with a remedy, and leaves no half-built index; later it works."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    index = KnowledgeIndex(facts[:5], embedder, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(IndexUnavailable, match="No space left") as caught:
            index.open()
    assert caught.value.remedy
    assert not [path for path in (tmp_path / "kb").iterdir() if path.is_dir()]
    index.open()
