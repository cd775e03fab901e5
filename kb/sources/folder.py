"""A folder of files as a source, for documents that an organisation or a community has itself.

A file ``x.pdf`` may have a sidecar ``x.pdf.toml``, in which people describe it; each line of a ``.jsonl`` file is a
document with the same fields and its ``text``. A document with a defect is listed too, and refused with the defect when
it is fetched, so that a person is told. Title and publisher that nobody wrote down are left empty: then the file itself
is asked (``kb.ingest``). Files that a person adds by themselves are copied into the library's own folder.
"""

from __future__ import annotations

import asyncio
import filecmp
import json
import os
import shutil
import tomllib
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, BinaryIO, Final
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from core.errors import BadInput, DocumentRefused, IndexUnavailable, SourceUnavailable
from core.models import TargetGroup
from kb.documents import FetchedFile, ListedDocument, ListingPage, Selection
from kb.library.store import make_private
from kb.sources import MAX_DOCUMENT_BYTES
from kb.sources.listing import is_wanted, wanted_key, wanted_of

_LOCAL: Final = "local"
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_EXPECTED: Final = {
    "url": "an address that begins with http:// or https://",
    "year": "a year from 1000 to 2999, without quotes",
    "language": "two small letters, ISO 639-1, such as es",
    "expires": "a date without quotes in TOML, such as 2027-12-31",
    "target_groups": f"a list of: {', '.join(TargetGroup)}",
}
"""What a field takes, where that is more than some text."""
MEDIA_TYPES: Final = {
    ".pdf": "application/pdf",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".txt": "text/plain",
    ".md": "text/markdown",
}
"""The media type of a file by the end of its name."""
LINES: Final = ".jsonl"
KINDS: Final = "PDF, HTML, DOCX, Markdown, TXT or JSONL"
"""What a folder takes, for people."""
_PAGE_SIZE: Final = 200
_PIECE_BYTES: Final = 2**16
_MAX_SIDECAR_BYTES: Final = 2**16


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a person says about their own document; the file is asked for what they leave out."""

    title: str | None = None
    publisher: str | None = None
    url: str | None = None
    year: int | None = None
    language: str | None = None
    jurisdiction: str | None = None
    licence: str | None = None
    expires: date | None = None
    target_groups: tuple[TargetGroup, ...] = ()


def own_folder(library: Path) -> Path:
    """Where a library keeps the files that people added by themselves."""
    return (library / _LOCAL).resolve()


def keep_file(library: Path, file: Path, about: Metadata) -> Path:
    """Copy a file, with what is said about it, into the library's own folder; returns its place there.

    The same file, or one with the address of the one that is there, takes its place. Any other of the same name is kept
    beside it.

    Raises:
        BadInput: there is no such file, or what is said about it is wrong.
        DocumentRefused: it is of a kind that is not read.
        IndexUnavailable: it cannot be written.
    """
    if not file.is_file():
        raise BadInput(f"There is no file {file}.", remedy=f"Name a {KINDS} file.")
    if not is_readable(file):
        raise DocumentRefused(f"{file.name} is not a {KINDS} file.", remedy="Save it as one of these, and add that.")
    description = _description(about)
    folder = own_folder(library)
    try:
        make_private(folder)
        place = _place(folder, file, about.url)
        _write(place.with_name(f"{place.name}.toml"), description)
        if file.resolve() != place.resolve():
            shutil.copyfile(file, place)
    except OSError as err:
        raise IndexUnavailable(f"{file} cannot be kept: {err}.", remedy="Free some space, and try again.") from err
    return place


def forget_file(folder: Path, url: str) -> None:
    """Remove a file of the own folder and what was said about it. A line is removed with its file only."""
    name, _, line = url.partition("#")
    if not line:
        place = folder / unquote(name, errors="surrogateescape")
        for path in (place, place.with_name(f"{place.name}.toml")):
            path.unlink(missing_ok=True)


def _description(about: Metadata) -> str:
    """The description beside the file. Raises ``BadInput`` where a field is wrong."""
    fields = {key: value for key, value in asdict(about).items() if value not in (None, ())}
    if groups := fields.get("target_groups"):
        fields["target_groups"] = [group.value for group in groups]
    try:
        Sidecar.model_validate(fields)
    except ValidationError as err:
        raise BadInput(
            f"The document was not added: {defects(err)}.", remedy="Correct the option of that name, and add it again."
        ) from err
    lines = (
        f"{key} = {value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)}\n"
        for key, value in fields.items()
    )
    return "".join(lines).replace("\x7f", "\\u007f")


def _place(folder: Path, file: Path, url: str | None) -> Path:
    place, number = folder / file.name, 1
    while place.exists() and not filecmp.cmp(file, place, shallow=False) and not (url and _url_of(place) == url):
        number += 1
        place = folder / f"{file.stem}-{number}{file.suffix}"
    return place


def _url_of(place: Path) -> object:
    try:
        return tomllib.loads(place.with_name(f"{place.name}.toml").read_text(encoding="utf-8")).get("url")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    """Replace a small file at once, so that none is ever half written."""
    beside = path.with_name(f".{path.name}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


class Sidecar(BaseModel):
    """What a sidecar or a line says about a document; everything may be left out."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    title: _Text | None = None
    publisher: _Text | None = None
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+\S*$")] | None = None
    year: Annotated[int, Field(ge=1000, le=2999)] | None = None
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")] | None = None
    jurisdiction: _Text | None = None
    licence: _Text | None = None
    expires: date | None = None
    type: _Text | None = None
    document: _Text | None = None
    target_groups: list[Annotated[TargetGroup, Field(strict=False)]] = []


class ListedLine(Sidecar):
    """A document of a ``.jsonl`` file. Without an ``id`` its line number names it; of equal ids the first counts."""

    text: _Text
    id: _Text | None = None


def defects(err: ValidationError) -> str:
    """What is wrong, field by field."""
    return "; ".join(dict.fromkeys(_defect(error["type"], error["loc"], error["msg"]) for error in err.errors()))


def _defect(kind: str, place: tuple[int | str, ...], message: str) -> str:
    field = str(place[0]) if place else "the line"
    if kind == "extra_forbidden":
        fields = list(Sidecar.model_fields)
        near = get_close_matches(field, fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(fields)}"
        return f"{field} is not a field; {hint}"
    if kind == "missing":
        return f"{field} is missing"
    if field in ("the line", ""):
        return f"the line: {message[:1].lower()}{message[1:]}"
    return f"{field} must be {_EXPECTED.get(field, 'some text in quotes')}"


@dataclass(frozen=True, slots=True)
class _FolderPlace:
    """The place of a document: a file below the folder, and for a line its offset in bytes and its number from 1."""

    path: str
    offset: int = 0
    line: int = 0

    def __str__(self) -> str:
        path = quote(self.path, errors="surrogateescape")
        return f"{path}#{self.offset}:{self.line}" if self.line else path

    @classmethod
    def of(cls, text: str) -> _FolderPlace:
        path, _, line = text.partition("#")
        offset, _, number = line.partition(":")
        return cls(unquote(path, errors="surrogateescape"), int(offset or 0), int(number or 0))

    def named(self, key: str) -> str:
        """The file's name in a form that is safe in any text, with the key of a line."""
        path = self.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return f"{path}#{key}" if self.line else path


class Folder:
    """The PDF, HTML, DOCX, Markdown, TXT and JSONL files below a folder, without hidden ones and links to elsewhere.

    Args:
        name: with what its documents' ids begin: the name of the source, with "/" and one of its own where there are
            several folders.
        publisher: of documents that name none.
        only: the name of the one file that is taken; ``""`` takes all.
        max_bytes: the largest size of a file or a line.

    Raises:
        BadInput: it is not a folder that can be read.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str = "folder",
        publisher: str = "",
        only: str = "",
        page_size: int = _PAGE_SIZE,
        max_bytes: int = MAX_DOCUMENT_BYTES,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if not folder.is_dir() or not os.access(folder, os.R_OK | os.X_OK):
            raise BadInput(f"{folder} is not a folder that can be read.", remedy="Name a folder of documents.")
        self._folder, self._name, self._only = folder.resolve(), name, only
        self._publisher = publisher
        self._page_size, self._max_bytes, self._now = page_size, max_bytes, now

    @property
    def name(self) -> str:
        """What the source is called."""
        return self._name

    @property
    def path(self) -> Path:
        """Where the folder is."""
        return self._folder

    def called(self, name: str) -> Folder:
        """The same folder, with ids that begin with another name."""
        called = copy(self)
        called._name = name
        return called

    def left_out(self) -> list[str]:
        """The files that are not taken, since they are of another kind; a description is one of no document."""
        return sorted(self._others())

    def listings(self, wanted: Selection) -> list[str]:
        """The one listing of all files, in the order of their names."""
        return [wanted_key(wanted)]

    async def list(self, listing: str, cursor: str | None) -> ListingPage:
        """The documents after the cursor that are wanted; one that does not say what it is about counts as wanted.

        Raises:
            SourceUnavailable: the folder cannot be read.
        """
        wanted = wanted_of(listing)
        try:
            return await asyncio.to_thread(self._page, wanted, None if cursor is None else _FolderPlace.of(cursor))
        except OSError as err:
            raise SourceUnavailable(f"{self._folder} cannot be read: {err.strerror}.") from err

    async def fetch(self, document: ListedDocument) -> FetchedFile:
        """The file, or the line's text.

        Raises:
            SourceUnavailable: the folder has changed since it was listed.
            DocumentRefused: the file is missing or too large, or its description has a defect.
        """
        return await asyncio.to_thread(self._fetch, document)

    def _page(self, wanted: Selection, after: _FolderPlace | None) -> ListingPage:
        documents: list[ListedDocument] = []
        last = None
        for number, place in enumerate(self._places(after)):
            if number == self._page_size:
                return ListingPage(tuple(documents), str(last))
            document = self._listed(place)
            if is_wanted(document, wanted):
                documents.append(document)
            last = place
        return ListingPage(tuple(documents), None)

    def _places(self, after: _FolderPlace | None) -> Iterator[_FolderPlace]:
        """The places of documents, in a fixed order, after one of them."""
        for path in sorted(self._paths()):
            if after is not None and path < after.path:
                continue
            if not path.lower().endswith(LINES):
                if after is None or path != after.path:
                    yield _FolderPlace(path)
            elif after is None or path != after.path:
                yield from self._lines(_FolderPlace(path, 0, 1), skips=False)
            else:
                yield from self._lines(after, skips=True)

    def _paths(self) -> Iterator[str]:
        for path in self._files():
            name = path.relative_to(self._folder).as_posix()
            if is_readable(path) and self._only in ("", name) and self._inside(path) is not None:
                yield name

    def _others(self) -> Iterator[str]:
        for path in self._files():
            describes = path.suffix == ".toml" and is_readable(path.with_suffix("")) and path.with_suffix("").exists()
            if not is_readable(path) and not describes:
                yield path.relative_to(self._folder).as_posix()

    def _files(self) -> Iterator[Path]:
        for root, folders, files in os.walk(self._folder, onerror=_raise):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from (Path(root, file) for file in files if not file.startswith("."))

    def _inside(self, path: Path) -> Path | None:
        """The file that a path leads to, if it is one inside the folder."""
        real = path.resolve()
        return real if real.is_relative_to(self._folder) and real.is_file() else None

    def _lines(self, start: _FolderPlace, *, skips: bool) -> Iterator[_FolderPlace]:
        """The lines of a file from one on, or after it; blank ones are left out."""
        with (self._folder / start.path).open("rb") as file:
            file.seek(start.offset)
            offset, number = start.offset, start.line
            for length, is_blank in _lengths(file):
                if not is_blank and not (skips and number == start.line):
                    yield _FolderPlace(start.path, offset, number)
                offset, number = offset + length, number + 1

    def _listed(self, place: _FolderPlace) -> ListedDocument:
        """A document with the description beside it; without the description if that has a defect."""
        try:
            described, key = self._described(place)
        except DocumentRefused:
            described, key = Sidecar(), str(place.line)
        document = f"{self._name}:{place.named(key)}"
        return ListedDocument(
            id=document,
            source=self._name.partition("/")[0],
            url=str(place),
            page=described.url or document,
            title=described.title or "",
            publisher=described.publisher or self._publisher,
            type=described.type or "document",
            year=described.year,
            language=described.language,
            target_groups=frozenset(described.target_groups),
            document=described.document,
            licence=described.licence,
            jurisdiction=described.jurisdiction,
            expires=described.expires,
        )

    def _described(self, place: _FolderPlace) -> tuple[Sidecar, str]:
        """The description of a document, and the key of a line within its file.

        Raises:
            DocumentRefused: the description cannot be read, or a field is wrong.
        """
        if place.line:
            line = self._line(place)
            return line, line.id or str(place.line)
        name = f"{place.path}.toml"
        if not os.path.lexists(self._folder / name):
            return Sidecar(), ""
        sidecar = self._inside(self._folder / name)
        if sidecar is None:
            raise DocumentRefused(f"{name} is not a file of this folder.")
        try:
            return Sidecar.model_validate(tomllib.loads(_read(sidecar, _MAX_SIDECAR_BYTES).decode())), ""
        except ValidationError as err:
            raise DocumentRefused(f"{name}: {defects(err)}.", remedy="Correct the file beside it.") from err
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as err:
            raise DocumentRefused(f"{name} is not TOML: {err}.", remedy="Correct the file beside it.") from err

    def _line(self, place: _FolderPlace) -> ListedLine:
        path = self._inside(self._folder / place.path)
        if path is None:
            raise DocumentRefused(f"{place.path} is missing.")
        where = f"{place.path}, line {place.line}"
        with path.open("rb") as file:
            file.seek(place.offset)
            raw = file.readline(self._max_bytes + 1)
        if len(raw) > self._max_bytes:
            raise DocumentRefused(f"{where} is longer than {self._max_bytes:,} bytes.")
        try:
            return ListedLine.model_validate_json(raw)
        except ValidationError as err:
            raise DocumentRefused(f"{where}: {defects(err)}.", remedy="Correct that line.") from err

    def _fetch(self, document: ListedDocument) -> FetchedFile:
        place = _FolderPlace.of(document.url)
        try:
            if place.line:
                line = self._line(place)
                if document.id != f"{self._name}:{place.named(line.id or str(place.line))}":
                    raise SourceUnavailable(
                        f"{place.path} has changed since it was listed.", remedy="Build again when nobody writes to it."
                    )
                return FetchedFile(line.text.encode(), "text/plain", self._now(), charset="utf-8")
            self._described(place)
            path = self._inside(self._folder / place.path)
            if path is None:
                raise DocumentRefused(f"{place.path} is missing.")
            return FetchedFile(_read(path, self._max_bytes), MEDIA_TYPES[path.suffix.lower()], self._now())
        except OSError as err:
            raise DocumentRefused(f"{place.path} cannot be read: {err.strerror}.") from err


def is_readable(path: Path) -> bool:
    """Whether a file is of a kind that is taken, by the end of its name."""
    return path.suffix.lower() in MEDIA_TYPES or path.suffix.lower() == LINES


def _read(path: Path, max_bytes: int) -> bytes:
    """A file's bytes, up to the largest size allowed."""
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise DocumentRefused(f"{path.name} is larger than {max_bytes:,} bytes.")
    return data


def _lengths(file: BinaryIO) -> Iterator[tuple[int, bool]]:
    """The length of each line in bytes, and whether it is blank; long lines are read in pieces."""
    while piece := file.readline(_PIECE_BYTES):
        length, is_blank = len(piece), not piece.strip()
        while not piece.endswith(b"\n") and (piece := file.readline(_PIECE_BYTES)):
            length, is_blank = length + len(piece), is_blank and not piece.strip()
        yield length, is_blank


def _raise(err: OSError) -> None:
    raise err
