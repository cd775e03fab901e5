"""Sources that ask sites on this machine, and walks through all that they list."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from typing import Any

from core.models import TargetGroup
from kb.documents import DocumentSource, ListedDocument, Selection
from kb.sources.un import UnDigitalLibrary
from kb.sources.web_client import PoliteClient
from tests.fakes.documents.sites import Site, serving

WOMEN = Selection(frozenset({TargetGroup.WOMEN}), since=2014)
TODAY = date(2015, 12, 31)


@asynccontextmanager
async def asking(site: Site, source: Callable[[PoliteClient], DocumentSource]) -> AsyncIterator[DocumentSource]:
    """A source of a site on this machine, which does not wait between its requests."""
    async with serving(site) as url:
        kept: dict[str, Any] = {"min_interval_seconds": 0.0, "attempts": 3, "backoff_seconds": 0.0}
        async with PoliteClient(url, contact="library@example.org", **kept) as client:
            yield source(client)


def un(client: PoliteClient) -> UnDigitalLibrary:
    collections = ("Reports", "Resolutions and Decisions")
    return UnDigitalLibrary(client, is_approved=True, collections=collections, today=lambda: TODAY)


async def walk(source: DocumentSource, wanted: Selection) -> list[ListedDocument]:
    """All documents of all listings, in their order."""
    found: list[ListedDocument] = []
    for listing in source.listings(wanted):
        cursor, is_done = None, False
        while not is_done:
            page = await source.list(listing, cursor)
            found += page.documents
            cursor, is_done = page.cursor, page.cursor is None
    return found


async def first_page(source: DocumentSource, wanted: Selection = WOMEN) -> tuple[ListedDocument, ...]:
    return (await source.list(source.listings(wanted)[0], None)).documents
