"""The library as the application opens it: its folder, its sources, its index.

The index, its model and the sites are imported where they are used: most commands need the documents only, and should
begin at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import BadInput, DocumentRefused, SourceUnavailable
from kb.documents import DocumentSource, ListedDocument, Selection
from kb.library.library import Library, Revision, State
from kb.sources.folder import Folder, forget_file, own_folder

if TYPE_CHECKING:
    from bot.settings import Settings
    from kb.ingest import Built, Ingest, OnBuilt
    from kb.shelf.local import IndexUpdate, LocalShelf

SOURCES: Final = ("un", "eurlex", "fra", "folder")
"""What ``kb build`` collects from."""

_EVER = 0
_AROUND = 300

OnProgress = Callable[[int, int], None]


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
        self.library = Library(settings.library_folder)

    @cached_property
    def _shelf(self) -> LocalShelf:
        from bot.compose.engine import open_embedder
        from kb.shelf.local import LocalShelf

        return LocalShelf(self.library, open_embedder(self._settings))

    def close(self) -> None:
        self.library.close()

    async def build(
        self,
        source: DocumentSource,
        wanted: Selection,
        on_built: OnBuilt = lambda _, __: None,
        *,
        refetch: bool = False,
    ) -> Built:
        """Collect the wanted documents. Raises ``SourceUnavailable`` and ``IndexUnavailable``."""
        ingest = self._ingest(await self._named(source), refetch=refetch)
        return await ingest.build(wanted, on_built)

    async def add(self, source: DocumentSource) -> Built:
        """Take a file of one's own, whatever its age; nothing is kept of one that is refused."""
        built = await self._ingest(await self._named(source), refetch=True).once(Selection(since=_EVER))
        for refusal in built.refused:
            if not self.library.revisions(refusal.document):
                self.remove(refusal.document)
        return built

    def _ingest(self, source: DocumentSource, *, refetch: bool) -> Ingest:
        from kb.ingest import Ingest
        from kb.parsing.paragraphs import spans
        from kb.parsing.process import parse

        return Ingest(
            source,
            self.library,
            lambda fetched, language: parse(fetched, language=language),
            spans,
            expected_language=self._settings.community.language,
            refetch=refetch,
        )

    async def _named(self, source: DocumentSource) -> DocumentSource:
        """The source; a folder has the name that the library keeps for it."""
        if not isinstance(source, Folder):
            return source

        async def holds(listed: ListedDocument, hashes: frozenset[str]) -> bool:
            try:
                fetched = await source.called(listed.id.partition(":")[0]).fetch(listed)
            except (DocumentRefused, SourceUnavailable):
                return False
            return fetched.sha256 in hashes

        return source.called(await self.library.folders.name_of(source.path, holds))

    def remove(self, document: str) -> None:
        """Remove a document, and the copy of a file that was added by itself. Raises ``BadInput``."""
        listed, _ = self.library.document(document)
        place = self.library.folders.path_of(document)
        self.library.remove(document)
        if place == own_folder(self.library.folder):
            forget_file(place, listed.url)

    def check_source(self, name: str) -> None:
        """Raises ``BadInput``, with the sources that there are, for a name that is none of them."""
        names = list(dict.fromkeys([*SOURCES, *self.library.counts()]))
        if name not in names:
            raise BadInput(f"There is no source {name!r}.", remedy=f"There are: {', '.join(names)}.")

    async def follow(self) -> IndexUpdate:
        """Bring the index up to date. Raises ``IndexUnavailable``."""
        return await asyncio.to_thread(self._shelf.follow)

    async def embed(self, on_progress: OnProgress) -> int:
        """Embed all paragraphs that are not embedded yet; returns how many are now. Raises ``IndexUnavailable``."""

        def work() -> int:
            self._shelf.embed(on_progress=lambda _, done, total: on_progress(done, total))
            return self._shelf.count()[1]

        return await asyncio.to_thread(work)

    async def push(self, settings: Settings, on_progress: OnProgress) -> int:
        """Copy all that is served to the Qdrant server; returns how many paragraphs. Raises ``IndexUnavailable``."""
        if not settings.kb.qdrant_url:
            raise BadInput("No Qdrant server is named.", remedy="Set qdrant_url in [kb].")
        from bot.compose.engine import open_embedder, open_qdrant

        shelf = open_qdrant(settings, open_embedder(settings))

        def work() -> int:
            rows = [row for _, rows in self.library.served().values() for row in rows]
            shelf.push(list(self.library.paragraphs(rows).values()), self._shelf.follow().version, on_progress)
            return shelf.count()

        return await asyncio.to_thread(work)

    async def faults(self, *, repair: bool) -> list[str]:
        """What is damaged, in words; if asked, a damaged index is built again, and an old one brought up to date."""
        in_library = await asyncio.to_thread(self.library.faults)
        in_index = await asyncio.to_thread(self._shelf.faults)
        if repair and not in_library:
            await asyncio.to_thread(self._shelf.rebuild if in_index else self._shelf.follow)
            in_index = await asyncio.to_thread(self._shelf.faults)
        return [*in_library, *in_index]

    def passage(self, document: str, number: str) -> Passage:
        """A passage with its surroundings. Raises ``BadInput`` if there is none with this number."""
        paragraphs = self.library.paragraphs([int(number)] if number.isdecimal() else [])
        paragraph = next((each for each in paragraphs.values() if each.document.id == document), None)
        if paragraph is None:
            raise BadInput(f"There is no passage {document}#{number} that is served.", remedy="See `antiphon kb show`.")
        served = next(revision for revision in self.library.revisions(document) if revision.state is State.ACCEPTED)
        page = next(page for page in self.library.pages(served.revision) if page.number == paragraph.page)
        before, after = page.text[: paragraph.start][-_AROUND:], page.text[paragraph.end :][:_AROUND]
        return Passage(page.number, before, paragraph.text, after)

    def document_of(self, named: str) -> str:
        """The id of a document, which is named by it or by the number that `kb waiting` shows. Raises ``BadInput``."""
        if not named.isdecimal():
            return self.library.document(named)[0].id
        revision = self.library.revision(int(named))
        if revision is None:
            raise BadInput(f"Nothing has the number {named}.", remedy="See `antiphon kb waiting`.")
        return revision.document

    def waiting_revision(self, named: str) -> Revision:
        """What waits to be accepted of a document, by its id or its number. Raises ``BadInput`` if nothing waits."""
        document = self.document_of(named)
        if named.isdecimal():
            numbered = self.library.revision(int(named))
            if numbered is not None and numbered.state is State.QUARANTINED:
                return numbered
            raise BadInput(f"Number {named} does not wait to be accepted.", remedy="See `antiphon kb waiting`.")
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
async def open_source(
    settings: Settings, name: str, folder: Path | None, only: str = ""
) -> AsyncIterator[DocumentSource]:
    """A source by its name; of a folder all files, or ``only`` one.

    Raises:
        BadInput: there is no source with this name, or a folder is missing or not needed.
        BadSettings: there is no contact address for its site.
    """
    if name not in SOURCES:
        raise BadInput(f"There is no source {name!r}.", remedy=f"There are: {', '.join(SOURCES)}.")
    if (name == "folder") != (folder is not None):
        raise BadInput("--folder goes with --source folder, and only with it.", remedy="Name both, or neither.")
    if folder is not None:
        yield Folder(folder, only=only)
        return
    from kb.sources.eurlex import EurLex
    from kb.sources.fra import Fra
    from kb.sources.un import UnDigitalLibrary
    from kb.sources.web_client import PoliteClient

    kb = settings.kb
    base_url = {"un": kb.un_url, "eurlex": kb.eurlex_url, "fra": kb.fra_url}[name]
    async with PoliteClient(base_url, contact=kb.contact) as client:
        if name == "un":
            yield UnDigitalLibrary(client, is_approved=kb.un_approved)
        else:
            yield EurLex(client) if name == "eurlex" else Fra(client)
