"""A folder of files as a source, for documents that an organisation or a community has itself.

A file ``x.pdf`` may have a sidecar ``x.pdf.toml``, in which people describe it. A document with a defect is listed
too, and refused with the defect when it is fetched, so that a person is told. Title and publisher that nobody wrote
down are left empty: then the file itself is asked (``kb.ingest``). Files that a person adds by themselves are copied
into the library's own folder.
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
from typing import Annotated, Final
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
KINDS: Final = "PDF, HTML, DOCX, Markdown or TXT"
"""What a folder takes, for people."""
_PAGE_SIZE: Final = 200
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
    place = folder / _path_in(url)
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
    """What a sidecar says about a document; everything may be left out."""

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


def defects(err: ValidationError) -> str:
    """What is wrong, field by field."""
    return "; ".join(dict.fromkeys(_defect(error["type"], error["loc"]) for error in err.errors()))


def _defect(kind: str, place: tuple[int | str, ...]) -> str:
    field = str(place[0]) if place else "the file"
    if kind == "extra_forbidden":
        fields = list(Sidecar.model_fields)
        near = get_close_matches(field, fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(fields)}"
        return f"{field} is not a field; {hint}"
    return f"{field} must be {_EXPECTED.get(field, 'some text in quotes')}"


class Folder:
    """The PDF, HTML, DOCX, Markdown and TXT files below a folder, without hidden ones and links to elsewhere.

    Args:
        name: with what its documents' ids begin: the name of the source, with "/" and one of its own where there are
            several folders.
        publisher: of documents that name none.
        only: the name of the one file that is taken; ``""`` takes all.
        max_bytes: the largest size of a file.

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
        self.path, self.name, self._only = folder.resolve(), name, only
        self._publisher = publisher
        self._page_size, self._max_bytes, self._now = page_size, max_bytes, now

    def called(self, name: str) -> Folder:
        """The same folder, with ids that begin with another name."""
        called = copy(self)
        called.name = name
        return called

    def left_out(self) -> list[str]:
        """The files that are not taken, since they are of another kind; a description is one of no document."""
        return sorted(
            path.relative_to(self.path).as_posix()
            for path in self._files()
            if not is_readable(path) and not _describes(path)
        )

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
            return await asyncio.to_thread(self._page, wanted, None if cursor is None else _path_in(cursor))
        except OSError as err:
            raise SourceUnavailable(f"{self.path} cannot be read: {err.strerror}.") from err

    async def fetch(self, document: ListedDocument) -> FetchedFile:
        """The file.

        Raises:
            DocumentRefused: the file is missing or too large, or its description has a defect.
        """
        return await asyncio.to_thread(self._fetch, document)

    def _page(self, wanted: Selection, after: str | None) -> ListingPage:
        paths = [path for path in sorted(self._paths()) if after is None or path > after]
        page = paths[: self._page_size]
        documents = tuple(document for path in page if is_wanted(document := self._listed(path), wanted))
        return ListingPage(documents, _address_of(page[-1]) if len(paths) > len(page) else None)

    def _paths(self) -> Iterator[str]:
        for path in self._files():
            name = path.relative_to(self.path).as_posix()
            if is_readable(path) and self._only in ("", name) and self._inside(path) is not None:
                yield name

    def _files(self) -> Iterator[Path]:
        for root, folders, files in os.walk(self.path, onerror=_raise):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from (Path(root, file) for file in files if not file.startswith("."))

    def _inside(self, path: Path) -> Path | None:
        """The file that a path leads to, if it is one inside the folder."""
        real = path.resolve()
        return real if real.is_relative_to(self.path) and real.is_file() else None

    def _listed(self, path: str) -> ListedDocument:
        """A document with the description beside it; without the description if that has a defect."""
        try:
            described = self._described(path)
        except DocumentRefused:
            described = Sidecar()
        document = f"{self.name}:{path.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')}"
        return ListedDocument(
            id=document,
            source=self.name.partition("/")[0],
            url=_address_of(path),
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

    def _described(self, path: str) -> Sidecar:
        """The description of a document.

        Raises:
            DocumentRefused: the description cannot be read, or a field is wrong.
        """
        name = f"{path}.toml"
        if not os.path.lexists(self.path / name):
            return Sidecar()
        sidecar = self._inside(self.path / name)
        if sidecar is None:
            raise DocumentRefused(f"{name} is not a file of this folder.")
        try:
            return Sidecar.model_validate(tomllib.loads(_read(sidecar, _MAX_SIDECAR_BYTES).decode()))
        except ValidationError as err:
            raise DocumentRefused(f"{name}: {defects(err)}.", remedy="Correct the file beside it.") from err
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as err:
            raise DocumentRefused(f"{name} is not TOML: {err}.", remedy="Correct the file beside it.") from err

    def _fetch(self, document: ListedDocument) -> FetchedFile:
        path = _path_in(document.url)
        try:
            self._described(path)
            file = self._inside(self.path / path)
            if file is None:
                raise DocumentRefused(f"{path} is missing.")
            return FetchedFile(_read(file, self._max_bytes), MEDIA_TYPES[file.suffix.lower()], self._now())
        except OSError as err:
            raise DocumentRefused(f"{path} cannot be read: {err.strerror}.") from err


def _address_of(path: str) -> str:
    """The address of a file below the folder, whatever bytes its name has."""
    return quote(path, errors="surrogateescape")


def _path_in(address: str) -> str:
    return unquote(address, errors="surrogateescape")


def is_readable(path: Path) -> bool:
    """Whether a file is of a kind that is taken, by the end of its name."""
    return path.suffix.lower() in MEDIA_TYPES


def _describes(path: Path) -> bool:
    """Whether a file is the description of a document beside it."""
    document = path.with_suffix("")
    return path.suffix == ".toml" and is_readable(document) and document.exists()


def _read(path: Path, max_bytes: int) -> bytes:
    """A file's bytes, up to the largest size allowed."""
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise DocumentRefused(f"{path.name} is larger than {max_bytes:,} bytes.")
    return data


def _raise(err: OSError) -> None:
    raise err
