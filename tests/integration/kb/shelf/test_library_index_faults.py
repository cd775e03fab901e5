"""What the library's index survives: kills at any moment, and every kind of damage to what is stored."""

from __future__ import annotations

import errno
import random
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core.errors import IndexUnavailable
from kb.shelf.index.library_index import LibraryIndex, Tuning
from kb.shelf.index.versions import Versions
from tests.fakes.documents.paragraphs import BatchEmbedder, entries, stored, text_of, texts
from tests.torture.builds import build, builds_with_kills

ROWS = range(1, 301)
TUNING = Tuning(exact_up_to=200)
VECTOR = BatchEmbedder().encode([text_of(7)])[0]


def opened(folder: Path) -> LibraryIndex:
    return LibraryIndex(folder, BatchEmbedder(), texts, tuning=TUNING)


def answers(index: LibraryIndex) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    return index.bm25(text_of(7), 10), index.dense(VECTOR, 10)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with a version before the current one, and vectors in the log; tests damage copies of it."""
    folder = tmp_path_factory.mktemp("whole") / "index"
    index = opened(folder)
    index.update(entries(range(1, 280)))
    (folder / "old").write_text((folder / "current").read_text())
    index.update(entries(range(280, 295)))
    index.embed()
    index.update(entries(range(295, 301)))
    index.vectors([300, 299])
    return folder


def test_builds_that_are_killed_end_in_the_same_bytes(tmp_path: Path) -> None:
    """Protects resumption: five random kills leave no trace; ``python -m tests.torture.builds`` does more."""
    build(tmp_path / "whole")
    done = builds_with_kills(tmp_path, times=5, seed=time.time_ns())
    assert all(stored(folder) == stored(tmp_path / "whole") for folder in done)


def flip(path: Path, _: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def truncate(path: Path, _: Path, chance: random.Random) -> None:
    with path.open("rb+") as file:
        file.truncate(chance.randrange(path.stat().st_size))


def delete(path: Path, _: Path, __: random.Random) -> None:
    path.unlink()


def swap(path: Path, other: Path, _: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)


def test_no_damage_is_served(whole: Path, tmp_path: Path) -> None:
    """Protects evidence: 200 kinds of damage to any stored byte are all noticed before an answer is given."""
    chance = random.Random(1)
    name = (whole / "current").read_text().strip()
    version = whole / "versions" / name
    files = sorted(path for path in version.rglob("*") if path.is_file() and path.suffix != ".lock")
    names = [path.relative_to(whole) for path in (*files, whole / "current", whole / "versions" / f"{name}.published")]
    for number in range(200):
        copy = tmp_path / "copy"
        shutil.copytree(whole, copy)
        damage = chance.choice([flip, flip, truncate, delete, swap])
        victim, other = chance.sample([one for one in names if one.suffix != ".published" or damage is not delete], 2)
        before = [(copy / one).read_bytes() for one in (victim, other)]
        damage(copy / victim, copy / other, chance)
        if damage is not swap or before[0] != before[1]:
            with pytest.raises(IndexUnavailable) as caught:
                answers(opened(copy))
            assert caught.value.remedy, (number, damage, victim)
            assert opened(copy).verify()
        shutil.rmtree(copy)


def test_an_old_version_is_not_taken_for_the_current_one(whole: Path, tmp_path: Path) -> None:
    """Protects from a file ``current`` that a backup brought back."""
    shutil.copytree(whole, tmp_path / "index")
    index = opened(tmp_path / "index")
    stale = (tmp_path / "index" / "current").read_text()
    index.update([], removed=[7])
    (tmp_path / "index" / "current").write_text(stale)
    with pytest.raises(IndexUnavailable, match="replaced since"):
        opened(tmp_path / "index").open()
    (tmp_path / "index" / "current").write_text((whole / "old").read_text())
    with pytest.raises(IndexUnavailable, match="names no version"):
        opened(tmp_path / "index").open()


def test_damage_to_an_open_index_is_noticed(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects from a disk or a person that changes files under a running process."""
    shutil.copytree(whole, tmp_path / "index")
    index = opened(tmp_path / "index")
    wanted = answers(index)
    monkeypatch.setattr("kb.shelf.index.opened._LOOKS_EVERY_SECONDS", 0.0)
    assert answers(index) == wanted
    victim = next((tmp_path / "index" / "versions" / index.version).glob("words/*.term"))
    content = bytearray(victim.read_bytes())
    content[9] ^= 1
    victim.write_bytes(content)
    for _ in range(2):
        with pytest.raises(IndexUnavailable):
            answers(index)


@pytest.mark.parametrize(
    ("damaged", "lost"),
    [
        ("current", 0),
        ("versions/*.published", 0),
        ("versions/*/manifest.json", 294),
        ("versions/{current}/manifest.json", 0),  # the version before has the vectors
        ("versions/{current}/words/*.idx", 0),
        ("versions/*/entries-*", 0),
        ("versions/*/vectors-*", 294),
    ],
)
def test_repair_embeds_only_what_was_lost(whole: Path, tmp_path: Path, damaged: str, lost: int) -> None:
    """Protects repair: it ends in the index that was there, whatever was damaged, and uses what is whole."""
    folder = tmp_path / "index"
    shutil.copytree(whole, folder)
    for victim in folder.glob(damaged.format(current=opened(whole).version)):
        victim.write_bytes(b"nothing")
    embedder = BatchEmbedder()
    index = LibraryIndex(folder, embedder, texts, tuning=TUNING)
    assert index.verify()
    index.rebuild(entries(ROWS))
    assert index.verify() == []
    assert index.embedded() == 296 - lost  # all but four had a vector, two of them in the log
    index.embed()
    assert len(embedder.asked) == lost + 4
    assert index.bm25(text_of(7), 10) == opened(whole).bm25(text_of(7), 10)


def test_verify_finds_texts_that_are_not_what_was_indexed(whole: Path) -> None:
    """Protects receipts: the index and the library must speak of the same paragraphs."""

    def other(rows: Sequence[int]) -> dict[int, str]:
        return {row: "Another." if row == 5 else text_of(row) for row in rows if row != 9}

    index = LibraryIndex(whole, BatchEmbedder(), other, tuning=TUNING)
    assert index.verify() == ["Paragraph 5 is another one in the library.", "Paragraph 9 is missing from the library."]
    assert opened(whole).verify() == []


def test_what_was_never_built_is_said(tmp_path: Path) -> None:
    """Protects the first run: the remedy is to build."""
    index = opened(tmp_path)
    with pytest.raises(IndexUnavailable, match="never indexed") as caught:
        index.bm25("anything", 3)
    assert "antiphon kb build" in caught.value.remedy
    assert index.verify() == ["The library was never indexed."]


def test_a_full_disk_leaves_the_index_as_it_was(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects searches while an update fails, and the update after that."""

    def full(*_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    shutil.copytree(whole, tmp_path / "index")
    index = opened(tmp_path / "index")
    before = index.version, answers(index)
    with monkeypatch.context() as patched:
        patched.setattr(Versions, "assemble", full)
        with pytest.raises(IndexUnavailable, match="No space left") as caught:
            index.update(entries([301]))
    assert "space" in caught.value.remedy
    assert (index.version, answers(index)) == before
    assert opened(tmp_path / "index").version == before[0]
    index.update(entries([301]))
    assert index.bm25("own301x", 1)[0][0] == 301


def test_who_builds_waits_for_nobody_for_ever(whole: Path, tmp_path: Path) -> None:
    """Protects long embedding: a second process is told at once."""
    shutil.copytree(whole, tmp_path / "index")
    first, second = opened(tmp_path / "index"), opened(tmp_path / "index")
    refused: list[str] = []

    def progress(*_: object) -> None:
        if not refused:
            with pytest.raises(IndexUnavailable) as caught:
                second.embed()
            refused.append(caught.value.message)

    first.embed(on_progress=progress)
    assert refused == ["Another process works on the library's index."]
    assert np.isfinite(first.vectors([300])).all()
