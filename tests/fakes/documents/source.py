"""A source of documents in memory, and a reader for it: a page for each form feed, a paragraph for each line."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from core.errors import DocumentRefused, SourceUnavailable
from core.models import TargetGroup
from kb.documents import FetchedFile, ListedDocument, ListingPage, Page, ParsedFile, Selection, Span

AT = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def listed(number: int | str, **changes: Any) -> ListedDocument:
    values: dict[str, Any] = {
        "id": f"fake:{number}",
        "source": "fake",
        "url": f"https://example.org/{number}.txt",
        "page": f"https://example.org/{number}",
        "title": f"Report {number}",
        "publisher": "Example",
        "type": "report",
        "year": 2020,
        "language": "en",
        "target_groups": frozenset({TargetGroup.WOMEN}),
    }
    return ListedDocument(**(values | changes))


class FakeSource:
    """Lists ``pages`` of documents under one or more listings, and serves ``texts`` by id.

    ``dies_after`` requests it does not answer any more.
    """

    name = "fake"

    def __init__(
        self, listings: dict[str, list[list[ListedDocument]]], texts: dict[str, str], dies_after: int | None = None
    ) -> None:
        self._listings = listings
        self.texts = texts
        self.dies_after = dies_after
        self.asked: list[str] = []

    def listings(self, wanted: Selection) -> list[str]:
        return list(self._listings)

    async def list(self, listing: str, cursor: str | None) -> ListingPage:
        self._answer(f"{listing}[{cursor or 0}]")
        at = int(cursor or 0)
        pages = self._listings[listing]
        return ListingPage(tuple(pages[at]), str(at + 1) if at + 1 < len(pages) else None)

    async def fetch(self, document: ListedDocument) -> FetchedFile:
        self._answer(document.id)
        if document.id not in self.texts:
            raise DocumentRefused("The file is missing.")
        return FetchedFile(self.texts[document.id].encode(), "text/plain", AT)

    def _answer(self, what: str) -> None:
        if self.dies_after is not None and len(self.asked) >= self.dies_after:
            raise SourceUnavailable("The source does not answer.")
        self.asked.append(what)


async def parse(fetched: FetchedFile, language: str | None) -> ParsedFile:
    """A page for each form feed."""
    pages = fetched.data.decode().split("\f")
    return ParsedFile(tuple(Page(number, text) for number, text in enumerate(pages, start=1)))


def cut(pages: Sequence[Page], language: str | None) -> tuple[Span, ...]:
    """A paragraph for each line that is not empty."""
    spans = []
    for page in pages:
        start = 0
        for line in page.text.split("\n"):
            if line:
                spans.append(Span(page.number, start, start + len(line)))
            start += len(line) + 1
    return tuple(spans)
