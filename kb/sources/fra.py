"""The publications of the European Union Agency for Fundamental Rights, through the pages of its web site.

The pages are read by the form of the addresses that they link to, which changes less often than the layout.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode
from yarl import URL

from core.errors import DocumentRefused, SourceUnavailable
from core.models import TargetGroup
from kb.documents import FetchedFile, ListedDocument, ListingPage, Selection
from kb.sources.listing import groups_in, is_wanted, once_each, wanted_key, wanted_of
from kb.sources.web_client import MAX_LISTING_BYTES, PoliteClient, Response, parsed

BASE_URL: Final = "https://fra.europa.eu"
PUBLISHER: Final = "European Union Agency for Fundamental Rights"
TERMS: Final = "Reproduction with acknowledgement of the source; some publications for non-commercial use only"
_PUBLICATION: Final = re.compile(r"/en/publications?/(?P<year>(?:19|20)\d\d)/(?P<slug>[^/?#]+)/?")
_DISPLAYING: Final = re.compile(r"Displaying\s+(\d+)\s*[-–]\s*(\d+)\s+of\s+(\d+)", re.IGNORECASE)
_TEASERS: Final = frozenset({"li", "article"})
_ENGLISH_FILE: Final = re.compile(r"[_-]en(?:[_-]\d+)?\.pdf", re.IGNORECASE)
_OTHER_FILE: Final = re.compile(
    r"[_-](?:bg|cs|da|de|el|es|et|fi|fr|ga|hr|hu|it|lt|lv|mk|mt|nl|pl|pt|ro|sk|sl|sq|sr|sv)(?:[_-]\d+)?\.pdf",
    re.IGNORECASE,
)


class Fra:
    """Publications of FRA. Its site lists all of them; the words of their teasers show those about the wanted groups.

    Args:
        client: asks the site, at its base URL.
    """

    name = "fra"

    def __init__(self, client: PoliteClient) -> None:
        self._client = client

    def listings(self, wanted: Selection) -> list[str]:
        return [wanted_key(wanted)]

    async def list(self, listing: str, cursor: str | None) -> ListingPage:
        """One page of the listing, counted from 0 as the site does.

        Raises:
            SourceUnavailable: the site does not answer, or not with a listing.
        """
        wanted, number = wanted_of(listing), int(cursor or 0)
        page = (URL(self._client.base_url) / "en" / "products" / "search").with_query(page=str(number))
        tree = _tree(await self._client.listing(page, {"Accept": "text/html"}))
        documents = list(self._publications(tree))
        is_last = _is_last(tree, number)
        if not documents and is_last and number == 0:
            raise SourceUnavailable(
                f"{page} lists no publications.", remedy="If FRA's site has changed, look for a newer Antiphon."
            )
        listed = once_each(document for document in documents if is_wanted(document, wanted))
        return ListingPage(listed, None if is_last else str(number + 1))

    async def fetch(self, document: ListedDocument) -> FetchedFile:
        """The PDF that the publication's page links to.

        Raises:
            SourceUnavailable: the site does not answer after all retries.
            DocumentRefused: there is no PDF in English, or it is missing for good, forbidden, or too large.
        """
        answer = await self._client.get(document.url, {"Accept": "text/html"}, MAX_LISTING_BYTES)
        file = _english_pdf(_tree(answer), parsed(answer.url))
        if file is None:
            raise DocumentRefused(f"{document.page} links to no PDF in English.")
        return (await self._client.get(file, {"Accept": "application/pdf"})).fetched(datetime.now(UTC))

    def _publications(self, tree: LexborHTMLParser) -> Iterator[ListedDocument]:
        """The publications that a page links to; several links to one of them make one, with the longest text."""
        links: dict[tuple[str, str], list[LexborNode]] = {}
        for node, url in _links(tree, URL(self._client.base_url)):
            match = _PUBLICATION.fullmatch(url.path)
            if match is not None and url.host == URL(self._client.base_url).host:
                links.setdefault((match["year"], match["slug"]), []).append(node)
        for (year, slug), nodes in links.items():
            title = max((_text(node) for node in nodes), key=len)
            if title:
                yield self._listed(int(year), slug, title, " ".join(_teaser(node) for node in nodes))

    def _listed(self, year: int, slug: str, title: str, teaser: str) -> ListedDocument:
        page = f"{self._client.base_url}/en/publication/{year}/{slug}"
        return ListedDocument(
            id=f"fra:{year}/{slug}",
            source=self.name,
            url=page,
            page=page,
            title=title,
            publisher=PUBLISHER,
            type="publication",
            year=year,
            language="en",
            target_groups=groups_in(f"{title} {teaser}") or frozenset({TargetGroup.OTHER}),
            licence=TERMS,
            jurisdiction="EU",
        )


def _tree(answer: Response) -> LexborHTMLParser:
    return LexborHTMLParser(answer.data.decode(answer.charset or "utf-8", errors="replace"))


def _links(tree: LexborHTMLParser, base: URL) -> Iterator[tuple[LexborNode, URL]]:
    """The links of a page, resolved, without those that are not addresses."""
    for node in tree.css("a[href]"):
        try:
            yield node, base.join(URL((node.attributes["href"] or "").strip()))
        except ValueError:
            continue


def _is_last(tree: LexborHTMLParser, number: int) -> bool:
    """Whether this is the last page: by the count that the page shows, or else by the numbers that it links to."""
    displaying = _DISPLAYING.search(_text(tree.root) if tree.root is not None else "")
    if displaying is not None:
        return int(displaying[2]) >= int(displaying[3])
    pages = (url.query.get("page", "") for _, url in _links(tree, URL(BASE_URL)))
    return not any(page.isdecimal() and int(page) > number for page in pages)


def _teaser(node: LexborNode) -> str:
    """The text of the entry around a link."""
    while node.parent is not None and node.tag not in _TEASERS:
        node = node.parent
    return _text(node) if node.tag in _TEASERS else ""


def _english_pdf(tree: LexborHTMLParser, page: URL) -> URL | None:
    """The first PDF whose name or link says English; without any, the first whose name says no other language."""
    pdfs = [(node, url) for node, url in _links(tree, page) if url.path.lower().endswith(".pdf")]
    english = [url for node, url in pdfs if _ENGLISH_FILE.search(url.name) or _says_english(node)]
    unmarked = [url for node, url in pdfs if not _OTHER_FILE.search(url.name) and not node.attributes.get("hreflang")]
    return next(iter(english or unmarked), None)


def _says_english(node: LexborNode) -> bool:
    marks = (node.attributes.get("hreflang"), node.attributes.get("lang"))
    return "en" in marks or _text(node).lower() in ("english", "en")


def _text(node: LexborNode) -> str:
    return " ".join(node.text(deep=True, separator=" ").split())
