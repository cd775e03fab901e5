"""From a source's listings to paragraphs in the library: fetch, read, cut, keep; resumable after a kill at any moment.

Owns the order of the steps and what becomes of each document. The build takes one document after the other, in the
order of the listings, and keeps each whole or not at all. So a build that was killed and resumed has the same result,
with the same numbers, as one that was not.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.errors import DocumentRefused
from core.wording.injection.injection import instructs
from core.wording.language import detect
from kb.documents import DocumentSource, Fetched, Listed, Page, Parsed, Span, Wanted
from kb.library.library import Library, State, Trust

MAX_PARAGRAPHS = 2000
"""The most paragraphs of one document, so that no document answers everything."""
_READ_FOR_LANGUAGE = 5000

Parse = Callable[[Fetched, str | None], Awaitable[Parsed]]
Cut = Callable[[Sequence[Page], str | None], tuple[Span, ...]]


class DocumentOutcome(StrEnum):
    """What a build did with a document that a source listed."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    KNOWN = "known"
    REFUSED = "refused"


@dataclass
class Built:
    """What a build did so far: how many documents had each outcome, and which of them wait for acceptance."""

    outcomes: Counter[DocumentOutcome] = field(default_factory=Counter)
    waiting: int = 0
    paragraphs: int = 0
    listings: int = 0
    listings_done: int = 0


OnBuilt = Callable[[Built, Listed | None], None]


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

    async def build(self, wanted: Wanted, on_built: OnBuilt = lambda _, __: None) -> Built:
        """Walk through all listings of what is wanted, from where the last build stopped.

        Raises:
            SourceUnavailable: the source no longer answers; what was kept stays, and the next build continues there.
            IndexUnavailable: the library cannot be written.
        """
        walk, built = _walk_name(self.source.name, wanted), Built()
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

    async def take(self, listed: Listed, built: Built) -> DocumentOutcome:
        """Fetch, read and keep one document, or refuse it and note the reason."""
        await asyncio.to_thread(self.library.note, listed)
        if not self.refetch and await asyncio.to_thread(self.library.is_settled, listed.id):
            return DocumentOutcome.KNOWN
        before = await asyncio.to_thread(self.library.revisions, listed.id)
        try:
            fetched = await self.source.fetch(listed)
            if before and before[0].sha256 == fetched.sha256:
                return DocumentOutcome.UNCHANGED
            await asyncio.to_thread(self._refuse_copy, listed, fetched)
            parsed = await self.parse(fetched, listed.language)
            parsed, spans = await asyncio.to_thread(self._cut, listed, parsed)
        except DocumentRefused as err:
            await asyncio.to_thread(self.library.refuse, listed.id, str(err))
            return DocumentOutcome.REFUSED
        state = State.ACCEPTED if self._is_trusted(listed, parsed) else State.QUARANTINED
        await asyncio.to_thread(self.library.add, listed.id, fetched, parsed, spans, state)
        built.waiting += state is State.QUARANTINED
        built.paragraphs += len(spans)
        return DocumentOutcome.CHANGED if before else DocumentOutcome.NEW

    def _refuse_copy(self, listed: Listed, fetched: Fetched) -> None:
        holder = self.library.holder_of(fetched.sha256)
        if holder not in (None, listed.id):
            raise DocumentRefused(f"It is the same file as {holder}.")

    def _cut(self, listed: Listed, parsed: Parsed) -> tuple[Parsed, tuple[Span, ...]]:
        """The paragraphs, and notes on what a person should know before accepting them."""
        text = "\n".join(page.text for page in parsed.pages)
        language = listed.language or detect(text[:_READ_FOR_LANGUAGE], self.expected_language)
        if listed.language is None and language is not None:
            self.library.note(replace(listed, language=language))
        spans = self.cut(parsed.pages, language)
        if not spans:
            raise DocumentRefused("There is no paragraph in it.")
        notes = list(parsed.notes)
        if len(spans) > MAX_PARAGRAPHS:
            notes.append(f"only the first {MAX_PARAGRAPHS:,} of {len(spans):,} paragraphs are used")
            spans = spans[:MAX_PARAGRAPHS]
        pages = {page.number: page.text for page in parsed.pages}
        orders = sum(instructs(pages[span.page][span.start : span.end]) for span in spans)
        if orders:
            notes.append(f"{_ORDERS}: {orders} of its paragraphs")
        return replace(parsed, notes=tuple(notes)), spans

    def _is_trusted(self, listed: Listed, parsed: Parsed) -> bool:
        """Whether a new document is accepted at once: from a trusted source, unless it speaks to a language model."""
        if any(note.startswith(_ORDERS) for note in parsed.notes):
            return False
        return self.library.trust_in(listed.source) is Trust.HIGH


_ORDERS = "it speaks to a language model"


def _walk_name(source: str, wanted: Wanted) -> str:
    return f"{source}:{wanted.since}:{','.join(sorted(wanted.target_groups))}"
