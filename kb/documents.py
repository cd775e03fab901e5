"""The nouns of the library: what a source lists, what is fetched, the text of its pages, and paragraphs of it.

A paragraph is a span of a page, and its words are never changed, so that a quote can be shown in its place.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol

from core.models import Source, TargetGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDocument:
    """A document as its source lists it, before it is fetched.

    Attributes:
        id: the same in every listing, with the source in front: ``un:A/RES/76/227``, ``eurlex:32008F0913``.
        source: the name of the source: ``un``, ``eurlex``, ``fra``, ``folder``.
        url: where the file is fetched from.
        page: where people can read about the document; shown with every receipt. Without an address of the web it is
            the document's id.
        title: "" where the source does not say; then what the file says comes in (``kb.ingest``).
        publisher: "" where the source does not say, likewise.
        type: the kind of document, in the source's words: resolution, report, directive.
        language: ISO 639-1, or ``None`` where the source does not say.
        target_groups: the groups whose keywords found it.
        document: the document's own number: a symbol, a CELEX number, an ISBN.
        licence: the terms under which the source lets it be used, or ``None`` where it does not say.
        jurisdiction: where it applies: ``UN``, ``EU``, an ISO 3166 code; ``None`` where that has no meaning.
        expires: the last day on which it may be used; ``None`` for ever.
    """

    id: str
    source: str
    url: str
    page: str
    title: str
    publisher: str
    type: str
    year: int | None = None
    language: str | None = None
    target_groups: frozenset[TargetGroup] = frozenset()
    document: str | None = None
    licence: str | None = None
    jurisdiction: str | None = None
    expires: date | None = None


_OWN_FILE = "a file of this community"


def citation(document: ListedDocument, page: int | None = None, label: str = "") -> Source:
    """What people are told of where a passage stands, so that they can open it.

    A document without an address of the web is a file of the community, and is named as one.

    Args:
        label: the number that the page bears in print, where the file says so.
    """
    url = document.page if document.page.startswith(("http://", "https://")) else ""
    file = "" if url else document.id.partition(":")[2].rpartition("/")[2]
    place = f"p. {page}" if page else ""
    if page and label and label != str(page):
        place = f"p. {label} (page {page} of the file)"
    where = (document.document, place, file, "" if url or not document.publisher else _OWN_FILE)
    return Source(
        document.publisher or (document.id.partition(":")[0] if url else _OWN_FILE),
        document.title,
        document.year,
        ", ".join(str(part) for part in where if part) or None,
        url,
    )


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file as it was fetched: its bytes, its media type by the server or the file's name, and the time.

    Attributes:
        url: where it came from, after all redirects, where that is more exact than the listing.
        charset: the encoding that the server names beside the media type, by Python's name for it.
    """

    data: bytes
    media_type: str
    at: datetime
    url: str | None = None
    charset: str | None = None

    @property
    def sha256(self) -> str:
        """The hash of the bytes, in hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Page:
    """The text of one page, numbered from 1; a document without pages is one page.

    ``label`` is the number that the page bears in print, as its file says; empty where it does not.
    """

    number: int
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What a file says.

    Attributes:
        title: the document's own title, where the file holds one.
        author: who wrote or published it, as the file says.
        year: when it was made or published, as the file says.
        language: ISO 639-1, as it was detected; ``None`` where nobody looked.
        notes: what a person should know: hidden text that was taken out, pages that were read by OCR.
    """

    pages: tuple[Page, ...]
    title: str | None = None
    notes: tuple[str, ...] = field(default=())
    author: str | None = None
    year: int | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A paragraph's place: ``page.text[start:end]``, in characters."""

    page: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What to collect: documents about these groups, published in ``since`` or later."""

    target_groups: frozenset[TargetGroup] = frozenset(TargetGroup)
    since: int = 2000


@dataclass(frozen=True, slots=True)
class ListingPage:
    """One page of a listing, and the cursor of the next; ``None`` after the last."""

    documents: tuple[ListedDocument, ...]
    cursor: str | None


class DocumentSource(Protocol):
    """A place that documents come from."""

    @property
    def name(self) -> str:
        """Its name, for people and in ids."""
        ...

    def listings(self, wanted: Selection) -> list[str]:
        """The keys of all listings to walk, in a fixed order: one for each query of the source."""
        ...

    async def list(self, listing: str, cursor: str | None) -> ListingPage:
        """One page of a listing, the first for the cursor ``None``. The same question may be asked again.

        Raises:
            SourceUnavailable: the source does not answer, or not in its form, after all retries.
        """
        ...

    async def fetch(self, document: ListedDocument) -> FetchedFile:
        """The document's file.

        Raises:
            SourceUnavailable: the source does not answer after all retries.
            DocumentRefused: the file is missing for good, forbidden, or too large.
        """
        ...
