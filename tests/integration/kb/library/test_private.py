"""Who may read a library: real folders and rights, under the umask that most machines have."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.library.library import Library
from kb.library.store import FILE
from kb.sources.folder import Metadata, keep_file


def _rights(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Under it a new file is everybody's to read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def _opened(folder: Path) -> None:
    Library(folder).close()


def test_a_new_library_is_its_owners_alone(tmp_path: Path) -> None:
    """With the parents that it made, the log beside the database, and the folder of files that people added."""
    folder, paper = tmp_path / "data" / "kb", tmp_path / "paper.txt"
    paper.write_text("Nobody has published this.", "utf-8")
    library = Library(folder)
    made = [place for place in folder.iterdir() if place.name.startswith(FILE)]
    assert {_rights(place) for place in made} == {0o600}
    assert len(made) > 1
    assert (_rights(folder), _rights(folder.parent)) == (0o700, 0o700)
    library.close()
    assert _rights(keep_file(folder, paper, Metadata()).parent) == 0o700


def test_what_is_there_keeps_its_rights(tmp_path: Path) -> None:
    """A folder that is used for other things, too, stays open to those who use it; the library in it is not."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o755)
    _opened(folder)
    assert (_rights(folder), _rights(folder / FILE)) == (0o755, 0o600)
