"""From a source's listings to paragraphs in the library: fetch, read, cut, keep; resumable after a kill at any moment.

The build takes one document after the other, in the order of the listings, and keeps each whole or not at all. So a
build that was killed and resumed has the same result, with the same numbers, as one that was not.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePosixPath

from core.engine.wording.injection import instructs
from core.engine.wording.language import detect
from core.errors import DocumentRefused
from kb.documents import DocumentSource, FetchedFile, ListedDocument, Page, ParsedFile, Selection, Span
from kb.library.library import Library, Revision, Says, State, Trust

MAX_PARAGRAPHS = 2000
"""The most paragraphs of one document, so that no document answers everything."""
_READ_FOR_LANGUAGE = 5000

Parse = Callable[[FetchedFile, str | None], Awaitable[ParsedFile]]
Cut = Callable[[Sequence[Page], str | None], tuple[Span, ...]]


class DocumentOutcome(StrEnum):
    """What a build did with a document that a source listed."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A document that a build refused, and why."""

    document: str
    reason: str


@dataclass
class Built:
    """What a build did so far: how many documents had each outcome, which were refused, and how many wait.

    ``accepted`` are those that were accepted at once, since their source is trusted.
    """

    outcomes: Counter[DocumentOutcome] = field(default_factory=Counter)
    waiting: int = 0
    paragraphs: int = 0
    listings: int = 0
    listings_done: int = 0
    refused: list[Refusal] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)


OnBuilt = Callable[[Built, ListedDocument | None], None]


@dataclass(frozen=True)
class Ingest:
    """Takes documents of one source into the library.

    Args:
        parse: reads a file's pages, in a sandbox (``kb.parsing``), and scans in the given language.
        cut: finds the paragraphs of pages in a language (``kb.parsing.paragraphs``).
        expected_language: the language assumed for short texts that could be in several.
        refetch: whether files that were fetched before are asked for again, to find what has changed.
    """

    source: DocumentSource
    library: Library
    parse: Parse
    cut: Cut
    expected_language: str = "en"
    refetch: bool = False

    async def build(self, wanted: Selection, on_built: OnBuilt = lambda _, __: None) -> Built:
        """Walk through all listings of what is wanted, from where the last build stopped.

        Raises:
            SourceUnavailable: the source no longer answers; what was kept stays, and the next build continues there.
            IndexUnavailable: the library cannot be written.
        """
        walk = f"{self.source.name}:{wanted.since}:{','.join(sorted(wanted.target_groups))}"
        built = Built()
        listings = self.source.listings(wanted)
        built.listings = len(listings)
        for listing in listings:
            cursor, is_done = await asyncio.to_thread(self.library.walks.cursor, walk, listing)
            while not is_done:
                page = await self.source.list(listing, cursor)
                for listed in page.documents:
                    built.outcomes[await self.take(listed, built)] += 1
                    on_built(built, listed)
                await asyncio.to_thread(self.library.walks.walked, walk, listing, page.cursor)
                cursor, is_done = page.cursor, page.cursor is None
            built.listings_done += 1
            on_built(built, None)
        await asyncio.to_thread(self.library.walks.forget, walk)
        return built

    async def once(self, wanted: Selection) -> Built:
        """Take what is wanted without a note of how far it came: for a source of a single file."""
        built = Built()
        for listing in self.source.listings(wanted):
            cursor, is_done = None, False
            while not is_done:
                page = await self.source.list(listing, cursor)
                for listed in page.documents:
                    built.outcomes[await self.take(listed, built)] += 1
                cursor, is_done = page.cursor, page.cursor is None
        return built

    async def take(self, listed: ListedDocument, built: Built) -> DocumentOutcome:
        """Fetch, read and keep one document, or refuse it and note the reason.

        A document that is kept already stays as it is when it is refused: its citation, too.
        """
        before = await asyncio.to_thread(self.library.revisions, listed.id)
        if not self.refetch and await asyncio.to_thread(self.library.is_settled, listed.id):
            await asyncio.to_thread(self._note, listed, before)
            return DocumentOutcome.KNOWN
        try:
            fetched = await self.source.fetch(listed)
            if before and before[0].sha256 == fetched.sha256:
                await asyncio.to_thread(self._note, listed, before)
                await asyncio.to_thread(self.library.refuse, listed.id, None)
                return DocumentOutcome.UNCHANGED
            if await asyncio.to_thread(self._is_copy, listed, fetched):
                return DocumentOutcome.UNCHANGED
            parsed = await self.parse(fetched, listed.language)
            parsed, spans = await asyncio.to_thread(self._cut, listed, parsed)
        except DocumentRefused as err:
            await asyncio.to_thread(self._refuse, listed, before, str(err))
            built.refused.append(Refusal(listed.id, str(err)))
            return DocumentOutcome.REFUSED
        state = State.ACCEPTED if self._is_trusted(listed, parsed) else State.QUARANTINED
        is_served = any(revision.state is State.ACCEPTED for revision in before)
        newest = None if is_served and state is State.QUARANTINED else parsed
        await asyncio.to_thread(self._note, listed, before, newest)
        await asyncio.to_thread(self.library.add, listed.id, fetched, parsed, spans, state)
        built.waiting += state is State.QUARANTINED
        built.accepted += [listed.id] if state is State.ACCEPTED else []
        built.paragraphs += len(spans)
        return DocumentOutcome.CHANGED if before else DocumentOutcome.NEW

    def _note(self, listed: ListedDocument, before: Sequence[Revision], newest: ParsedFile | None = None) -> None:
        """Store how a document is listed; what its source does not say is what its file says.

        Args:
            newest: what its file says now, unless an older revision is served.
        """
        says = Says(newest.title, newest.author, newest.year, newest.language) if newest else self._says(listed, before)
        self.library.note(_described(listed, says))

    def _says(self, listed: ListedDocument, before: Sequence[Revision]) -> Says:
        """What is known from the file of the revision that is served, or of the newest one."""
        if not before:
            return Says()
        return next((revision for revision in before if revision.state is State.ACCEPTED), before[0]).says

    def _refuse(self, listed: ListedDocument, before: Sequence[Revision], reason: str) -> None:
        if not before:
            self.library.note(_described(listed, Says()))
        self.library.refuse(listed.id, reason)

    def _is_copy(self, listed: ListedDocument, fetched: FetchedFile) -> bool:
        """Whether it is kept already from a copy of its folder; what is said about this one then counts.

        Raises:
            DocumentRefused: the same file is kept under another name.
        """
        holder = self.library.holder_of(fetched.sha256)
        if holder in (None, listed.id):
            return False
        document, _ = self.library.document(str(holder))
        if document.source != listed.source or document.id.partition(":")[2] != listed.id.partition(":")[2]:
            raise DocumentRefused(f"It is the same file as {holder}.")
        if listed.title:
            self._note(replace(listed, id=document.id), self.library.revisions(document.id))
        return True

    def _cut(self, listed: ListedDocument, parsed: ParsedFile) -> tuple[ParsedFile, tuple[Span, ...]]:
        """The paragraphs, and notes on what a person should know before accepting them."""
        text = "\n".join(page.text for page in parsed.pages)
        language = listed.language or detect(text[:_READ_FOR_LANGUAGE], self.expected_language)
        spans = self.cut(parsed.pages, language)
        if not spans:
            raise DocumentRefused(" ".join(["There is no paragraph in it.", *parsed.notes]))
        notes = list(parsed.notes)
        if len(spans) > MAX_PARAGRAPHS:
            notes.append(f"only the first {MAX_PARAGRAPHS:,} of {len(spans):,} paragraphs are used")
            spans = spans[:MAX_PARAGRAPHS]
        pages = {page.number: page.text for page in parsed.pages}
        orders = sum(instructs(pages[span.page][span.start : span.end]) for span in spans)
        if orders:
            notes.append(f"{_ORDERS}: {orders} of its paragraphs")
        return replace(parsed, notes=tuple(notes), language=language), spans

    def _is_trusted(self, listed: ListedDocument, parsed: ParsedFile) -> bool:
        """Whether a new document is accepted at once: from a trusted source, unless it speaks to a language model."""
        if any(note.startswith(_ORDERS) for note in parsed.notes):
            return False
        return self.library.trust_in(listed.source) is Trust.HIGH


_ORDERS = "it speaks to a language model"


def _described(listed: ListedDocument, says: Says) -> ListedDocument:
    """A document as people are shown it: what its source says, then its file, then its name."""
    title, author = (None if text and instructs(text) else text for text in (says.title, says.author))
    return replace(
        listed,
        title=listed.title or title or _name(listed.id),
        publisher=listed.publisher or author or "",
        year=says.year if listed.year is None else listed.year,
        language=listed.language or says.language,
    )


def _name(document: str) -> str:
    """A title out of a document's id: the name of its file."""
    return PurePosixPath(document.partition(":")[2]).stem.replace("_", " ").replace("-", " ").strip() or document
