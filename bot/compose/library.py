"""The library as the application opens it: its folder, its sources, its index.

Owns which part is made with which setting. The commands decide what to do with the parts.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from bot.compose.engine import make_folder, open_embedder, open_qdrant
from bot.compose.settings import Settings
from core.errors import BadInput, IndexUnavailable
from core.models import TargetGroup
from kb.documents import DocumentSource, Wanted
from kb.ingest import Built, Ingest, OnBuilt
from kb.library.library import Library, Revision, State
from kb.parsing.paragraphs import spans
from kb.parsing.parse import parse
from kb.shelf.local import Indexed, LocalShelf
from kb.sources.eurlex import EurLex
from kb.sources.folder import Folder
from kb.sources.fra import Fra
from kb.sources.polite import PoliteClient
from kb.sources.un import UnDigitalLibrary

SOURCES: Final = ("un", "eurlex", "fra", "folder")
"""What ``kb build`` collects from."""

_LOCAL = "local"
_AROUND = 300

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a person says about their own document."""

    title: str
    publisher: str
    url: str
    year: int | None = None
    language: str | None = None
    jurisdiction: str | None = None
    licence: str | None = None
    expires: date | None = None
    target_groups: tuple[TargetGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with its surroundings: some characters of its page before and after it."""

    page: int
    before: str
    text: str
    after: str


class OpenLibrary:
    """The library and its index, as the commands use them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        make_folder(settings.library_folder, "kb.folder")
        self.library = Library(settings.library_folder)
        self._shelf = LocalShelf(self.library, open_embedder(settings))

    def close(self) -> None:
        """Close the files."""
        self.library.close()

    async def build(
        self, source: DocumentSource, wanted: Wanted, on_built: OnBuilt = lambda _, __: None, *, refetch: bool = False
    ) -> Built:
        """Collect the wanted documents. Raises ``SourceUnavailable`` and ``IndexUnavailable``."""
        ingest = Ingest(
            source,
            self.library,
            lambda fetched, language: parse(fetched, language=language),
            spans,
            expected_language=self._settings.community.language,
            refetch=refetch,
        )
        return await ingest.build(wanted, on_built)

    async def follow(self) -> Indexed:
        """Bring the index up to date. Raises ``IndexUnavailable``."""
        return await asyncio.to_thread(self._shelf.follow)

    async def embed(self, on_progress: OnProgress) -> int:
        """Embed all paragraphs that are not embedded yet; returns how many are now. Raises ``IndexUnavailable``."""

        def work() -> int:
            self._shelf.index.embed(on_progress=lambda _, done, total: on_progress(done, total))
            return self._shelf.index.embedded()

        return await asyncio.to_thread(work)

    async def push(self, settings: Settings, on_progress: OnProgress) -> int:
        """Copy all that is served to the Qdrant server; returns how many paragraphs. Raises ``IndexUnavailable``."""
        if not settings.kb.qdrant_url:
            raise BadInput("No Qdrant server is named.", remedy="Set qdrant_url in [kb].")
        shelf = open_qdrant(settings, open_embedder(settings))

        def work() -> int:
            rows = [row for _, rows in self.library.served().values() for row in rows]
            shelf.push(list(self.library.paragraphs(rows).values()), self._shelf.follow().version, on_progress)
            return shelf.count()

        return await asyncio.to_thread(work)

    async def faults(self, *, repair: bool) -> list[str]:
        """What is damaged, in words; a damaged index is built again if asked."""
        in_library = await asyncio.to_thread(self.library.faults)
        in_index = await asyncio.to_thread(self._shelf.index.verify)
        if in_index and repair and not in_library:
            await asyncio.to_thread(self._shelf.rebuild)
            in_index = await asyncio.to_thread(self._shelf.index.verify)
        return [*in_library, *in_index]

    def passage(self, document: str, number: str) -> Passage:
        """A passage with its surroundings. Raises ``BadInput`` if there is none with this number."""
        found = self.library.paragraphs([int(number)] if number.isdecimal() else [])
        paragraph = next((one for one in found.values() if one.document.id == document), None)
        if paragraph is None:
            raise BadInput(f"There is no passage {document}#{number} that is served.", remedy="See `antiphon kb show`.")
        served = next(one for one in self.library.revisions(document) if one.state is State.ACCEPTED)
        page = next(page for page in self.library.pages(served.revision) if page.number == paragraph.page)
        before, after = page.text[: paragraph.start][-_AROUND:], page.text[paragraph.end :][:_AROUND]
        return Passage(page.number, before, paragraph.text, after)

    def waiting_revision(self, document: str) -> Revision:
        """The revision of a document that waits to be accepted. Raises ``BadInput`` if none waits."""
        self.library.document(document)
        for revision in self.library.revisions(document):
            if revision.state is State.QUARANTINED:
                return revision
        raise BadInput(f"Nothing of {document} waits to be accepted.", remedy="See `antiphon kb waiting`.")


@asynccontextmanager
async def open_library(settings: Settings) -> AsyncIterator[OpenLibrary]:
    """The library that the settings name, made if it is not there. Raises ``IndexUnavailable``."""
    opened = await asyncio.to_thread(OpenLibrary, settings)
    try:
        yield opened
    finally:
        await asyncio.to_thread(opened.close)


@asynccontextmanager
async def open_source(settings: Settings, name: str, folder: Path | None) -> AsyncIterator[DocumentSource]:
    """A source by its name.

    Raises:
        BadInput: there is no source with this name, or a folder is missing or not needed.
        BadSettings: there is no contact address for its site.
    """
    if name not in SOURCES:
        raise BadInput(f"There is no source {name!r}.", remedy=f"There are: {', '.join(SOURCES)}.")
    if (name == "folder") != (folder is not None):
        raise BadInput("--folder goes with --source folder, and only with it.", remedy="Name both, or neither.")
    if folder is not None:
        yield Folder(folder)
        return
    kb = settings.kb
    base_url = {"un": kb.un_url, "eurlex": kb.eurlex_url, "fra": kb.fra_url}[name]
    async with PoliteClient(base_url, contact=kb.contact) as client:
        if name == "un":
            yield UnDigitalLibrary(client, is_approved=kb.un_approved)
        else:
            yield EurLex(client) if name == "eurlex" else Fra(client)


def keep_file(settings: Settings, file: Path, about: Metadata) -> Path:
    """Copy a file, with what is said about it, into the library's own folder of documents; returns that folder.

    Raises:
        BadInput: there is no such file.
        IndexUnavailable: it cannot be written.
    """
    if not file.is_file():
        raise BadInput(f"There is no file {file}.", remedy="Name a PDF, HTML, DOCX, TXT or JSONL file.")
    place = settings.library_folder / _LOCAL
    fields = {
        "title": about.title, "publisher": about.publisher, "url": about.url, "year": about.year,
        "language": about.language, "jurisdiction": about.jurisdiction, "licence": about.licence,
        "target_groups": [group.value for group in about.target_groups] or None,
    }  # fmt: skip
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items() if value is not None]
    lines += [f"expires = {about.expires.isoformat()}"] if about.expires else []
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{file.name}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        if file.resolve() != (place / file.name).resolve():
            shutil.copyfile(file, place / file.name)
    except OSError as err:
        raise IndexUnavailable(f"{file} cannot be kept: {err}.", remedy="Free some space, and try again.") from err
    return place
