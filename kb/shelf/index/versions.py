"""Versions of an index on the disk: folders that never change, named by their content; one of them is current.

Owns how a version is assembled from pieces, made current, checked and dropped. It does not know what the pieces hold.

    current                    the name of the version that searches open versions/<name>/           manifest.json with
    the checksum of every file; its own hash is the name versions/<name>.published  a number that grows: the version was
    current once, and no later one was current before building/<piece>/          finished pieces of a build that was not
    finished .lock                      held by the process that writes

A piece is a few files with a name that says what they were made from. A version that needs a piece of an earlier one
gets hard links to its files, so that an update writes only what has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb.files import checksums, faults, sync, write_durably

_MANIFEST, _CURRENT, _VERSIONS, _BUILDING, _PUBLISHED, _DONE = (
    "manifest.json", "current", "versions", "building", ".published", ".done",
)  # fmt: skip
_NEW = ".new"
_NAME_LENGTH = 32

Files = Mapping[str, tuple[int, str]]
"""The bytes and the sha256 of each file, by its path in the version."""


class DamageError(Exception):
    """What is stored is not what was written."""


@dataclass(frozen=True, slots=True)
class IndexPiece:
    """Files that are made together, and their folder."""

    folder: Path
    files: Files


@dataclass(frozen=True, slots=True)
class Version:
    """A version as its manifest describes it; ``header`` is what was given to ``Versions.assemble``."""

    name: str
    folder: Path
    header: Mapping[str, Any]
    pieces: Mapping[str, IndexPiece]

    @property
    def files(self) -> dict[str, tuple[int, str]]:
        """All files but the manifest."""
        return {name: file for piece in self.pieces.values() for name, file in piece.files.items()}

    def faults(self) -> list[str]:
        """What is wrong with the files, one sentence each. Reads every byte."""
        return faults(self.folder, self.files)


class Versions:
    """The versions in ``folder``. Writing needs the lock of the folder, which the caller holds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._versions, self._building = folder / _VERSIONS, folder / _BUILDING

    # What is read

    def current_name(self) -> str | None:
        """The name of the current version, or ``None`` if nothing was ever published.

        Raises:
            DamageError: ``current`` is missing, damaged, or names an older version than was published last.
            OSError: the folder cannot be read.
        """
        published = self._published()
        try:
            name = (self._folder / _CURRENT).read_text(encoding="ascii").removesuffix("\n")
        except FileNotFoundError:
            if published:
                raise DamageError("the file 'current' is missing") from None
            return None
        except UnicodeDecodeError as err:
            raise DamageError("the file 'current' is damaged") from err
        if len(name) != _NAME_LENGTH or not (self._versions / name).is_dir():
            raise DamageError("the file 'current' names no version")
        if published.get(name, max(published.values(), default=0)) < max(published.values(), default=0):
            raise DamageError("the file 'current' names a version that was replaced since")
        return name

    def read(self, name: str) -> Version:
        """A version by its manifest. Raises ``DamageError``."""
        folder = self._versions / name
        try:
            manifest = (folder / _MANIFEST).read_bytes()
        except OSError as err:
            raise DamageError(f"the manifest cannot be read: {err.strerror}") from err
        if _name(manifest) != name:
            raise DamageError("the manifest is not what was written")
        read = json.loads(manifest)
        pieces = {
            piece: IndexPiece(folder, {file: (size, checksum) for file, (size, checksum) in files.items()})
            for piece, files in read["pieces"].items()
        }
        return Version(name, folder, read["header"], pieces)

    def sound_pieces(self) -> dict[str, IndexPiece]:
        """Every undamaged piece of every version, whatever the state of the others. Reads every byte."""
        sound: dict[str, IndexPiece] = {}
        for name in self._names():
            with suppress(DamageError):
                version = self.read(name)
                sound |= {at: piece for at, piece in version.pieces.items() if not faults(piece.folder, piece.files)}
        return sound

    # What is written

    def piece(self, name: str, make: Callable[[Path], None]) -> IndexPiece:
        """A piece that ``make`` writes into a folder, unless it was finished before.

        Raises:
            OSError: it cannot be written. And whatever ``make`` raises.
        """
        folder = self._building / name
        done = _finished(folder)
        if done is None or faults(folder, done):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            make(folder)
            done = _measured(folder)
            for file in done:
                sync(folder / file)
            write_durably(folder / _DONE, json.dumps(done).encode())
        return IndexPiece(folder, done)

    def assemble(self, header: Mapping[str, Any], pieces: Mapping[str, IndexPiece]) -> str:
        """A version of these pieces, complete on the disk but not current. Returns its name. Raises ``OSError``."""
        stored = {name: dict(pieces[name].files) for name in sorted(pieces)}
        manifest = json.dumps({"header": header, "pieces": stored}, indent=1, sort_keys=True).encode()
        name, new = _name(manifest), self._versions / _NEW
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        for piece in pieces.values():
            for file in piece.files:
                (new / file).parent.mkdir(exist_ok=True)
                _link(piece.folder / file, new / file)
        write_durably(new / _MANIFEST, manifest)
        for folder in (*(path for path in new.iterdir() if path.is_dir()), new):
            sync(folder)
        if (self._versions / name).exists():
            if not faults(self._versions / name, Version(name, new, header, pieces).files):
                shutil.rmtree(new)
                return name
            shutil.rmtree(self._versions / name)
        new.replace(self._versions / name)
        sync(self._versions)
        return name

    def publish(self, name: str) -> None:
        """Make a version current, at once; keep the one before it and drop all others. Raises ``OSError``.

        A process that has opened a dropped version can continue with it: open files outlive their names.
        """
        published = self._published()
        before = max(published, key=lambda one: published[one], default=None)
        write_durably(self._folder / _CURRENT, f"{name}\n".encode("ascii"))
        if name != before:
            number = f"{max(published.values(), default=0) + 1}"
            checked = f"{number} {_name(number.encode())}\n"
            write_durably(self._versions / f"{name}{_PUBLISHED}", checked.encode("ascii"))
            for other in self._names():
                if other not in (name, before):
                    self.drop(other)
        shutil.rmtree(self._building, ignore_errors=True)

    def drop(self, name: str) -> None:
        """Delete a version that is not current."""
        (self._versions / f"{name}{_PUBLISHED}").unlink(missing_ok=True)
        shutil.rmtree(self._versions / name, ignore_errors=True)

    def forget_damage(self) -> None:
        """Make ``publish`` possible where ``current_name`` is not."""
        for path in self._versions.glob(f"*{_PUBLISHED}"):
            try:
                _number(path)
            except DamageError:
                path.unlink()

    def _names(self) -> list[str]:
        if not self._versions.is_dir():
            return []
        return sorted(path.name for path in self._versions.iterdir() if path.is_dir() and path.name != _NEW)

    def _published(self) -> dict[str, int]:
        """The number of each version that was ever current. Raises ``DamageError``."""
        return {path.name.removesuffix(_PUBLISHED): _number(path) for path in self._versions.glob(f"*{_PUBLISHED}")}


def _name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_NAME_LENGTH]


def _number(published: Path) -> int:
    number, _, check = published.read_text(encoding="ascii", errors="replace").partition(" ")
    if check != f"{_name(number.encode())}\n":
        raise DamageError(f"{published.name} is damaged")
    return int(number)


def _finished(folder: Path) -> Files | None:
    """The files of a piece that was finished, or ``None``."""
    try:
        read = json.loads((folder / _DONE).read_bytes())
    except (OSError, ValueError):
        return None
    return {file: (size, checksum) for file, (size, checksum) in read.items()}


def _measured(folder: Path) -> Files:
    names = sorted(_relative_files(folder))
    sums = checksums(folder, names)
    return {name: ((folder / name).stat().st_size, sums[name]) for name in names}


def _relative_files(folder: Path) -> Iterable[str]:
    return (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)
