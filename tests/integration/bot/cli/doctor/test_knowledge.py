"""Models and documents that drafts rest on: each is broken, and the doctor says what to do."""

import sqlite3
from pathlib import Path

import pytest

from bot.cli.doctor.checks import examine_knowledge
from bot.compose.library import open_library, open_source
from bot.settings import KbSettings, Settings
from kb.library.library import State
from kb.library.store import FILE
from tests.fakes.machine.doctor_faults import told

_TEXT = (
    "The survey asked four thousand people in the river towns whether they feel safe on their way home. "
    "Two in three do where the lamps are lit all night, and one in three where they are put out at ten."
)


@pytest.mark.parametrize(
    ("breakage", "settings", "checks"),
    [
        ("no embedding model", {"kb": {"embedding_model": "/missing"}}, ("embedding model",)),
        ("a scorer that cannot be loaded", {"scorers": {"nli": "/missing"}}, ("scorers",)),
        ("a reranker that cannot be loaded", {"kb": {"reranker": "/missing"}}, ("reranker",)),
        (
            "a Qdrant server that does not answer",
            {"kb": {"index": "qdrant", "qdrant_url": "http://127.0.0.1:9"}},
            ("knowledge base", "library"),
        ),
    ],
)
async def test_what_is_named_is_not_there(
    tmp_path: Path, breakage: str, settings: dict[str, dict[str, str]], checks: tuple[str, ...]
) -> None:
    named = settings | {"kb": {"folder": str(tmp_path)} | settings.get("kb", {})}
    told(breakage, await examine_knowledge(Settings.model_validate(named), *checks))


@pytest.fixture
async def library(tmp_path: Path) -> Settings:
    """A library that serves one document, with its index."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "survey.txt").write_text(_TEXT)
    settings = Settings(kb=KbSettings(folder=str(tmp_path / "kb")))
    await _add(settings, tmp_path / "files")
    return settings


async def _add(settings: Settings, folder: Path, *, is_followed: bool = True) -> None:
    async with open_library(settings) as opened, open_source(settings, "folder", folder) as source:
        await opened.add(source)
        for revision in opened.library.waiting():
            opened.library.decide(revision.revision, State.ACCEPTED, "ana")
        if is_followed:
            await opened.follow()


async def test_an_index_that_is_older_than_its_library(library: Settings, tmp_path: Path) -> None:
    """As when a machine stops between the two; the remedy that is named brings it up to date."""
    assert [one.ok for one in await examine_knowledge(library, "library")] == [True]
    (tmp_path / "files" / "second.txt").write_text(_TEXT.replace("four", "five"))
    await _add(library, tmp_path / "files", is_followed=False)
    older = told("an index that is older than its library", await examine_knowledge(library, "library"))
    assert "is older than the library" in older.detail
    async with open_library(library) as opened:
        assert await opened.faults(repair=True) == []
    assert [one.ok for one in await examine_knowledge(library, "library")] == [True]


async def test_an_index_that_is_damaged(library: Settings) -> None:
    with sqlite3.connect(library.library_folder / FILE) as opened:
        opened.execute("DELETE FROM words_data")
    damaged = told("an index of the library that is damaged", await examine_knowledge(library, "library"))
    assert "index is damaged" in damaged.detail


async def test_a_library_that_is_damaged(library: Settings) -> None:
    (library.library_folder / FILE).write_bytes(b"library" * 1000)
    told("a library that is damaged", await examine_knowledge(library, "library"))


async def test_a_library_of_another_version(library: Settings) -> None:
    with sqlite3.connect(library.library_folder / FILE) as opened:
        opened.execute("PRAGMA user_version = 99")
    told("a library of another version", await examine_knowledge(library, "library"))
