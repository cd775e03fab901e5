"""The United Nations Digital Library, through its search interface (Invenio, ``of=xm``).

The search crosses keywords, collections and years (RAG paper, section 3). The Library's terms of use allow automated
downloads only with its approval, so the operator of Antiphon has to declare that they have it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final
from xml.etree.ElementTree import Element, ParseError  # nosec B405 # the names only: defusedxml does the reading

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException
from yarl import URL

from core.errors import BadSettings, DocumentRefused, SourceUnavailable
from kb.documents import FetchedFile, ListedDocument, ListingPage, Selection
from kb.sources.listing import groups_of, key_of, keywords_for, once_each, parts_of, phrases_of
from kb.sources.web_client import PoliteClient

_TOTAL = re.compile(rb"<!--\s*Search-Engine-Total-Number-Of-Results:\s*(\d+)\s*-->")


class NotMarcXml(ValueError):
    """A text that is not a collection of MARC records."""


@dataclass(frozen=True, slots=True)
class Field:
    """A data field: its tag, and its subfields in their order, each with its code and its text."""

    tag: str
    subfields: tuple[tuple[str, str], ...]

    def values(self, code: str) -> list[str]:
        return [text for subfield_code, text in self.subfields if subfield_code == code]

    def first(self, code: str) -> str | None:
        return next(iter(self.values(code)), None)


@dataclass(frozen=True, slots=True)
class MarcRecord:
    """A record: its number in the catalogue (field 001), and its data fields."""

    number: str
    fields: tuple[Field, ...]

    def tagged(self, tag: str) -> Iterator[Field]:
        return (field for field in self.fields if field.tag == tag)

    def values(self, tag: str, code: str) -> list[str]:
        return [text for field in self.tagged(tag) for text in field.values(code)]

    def first(self, tag: str, code: str) -> str | None:
        return next(iter(self.values(tag, code)), None)


def read_collection(data: bytes) -> tuple[list[MarcRecord], int | None]:
    """The records in the answer to a search, and how many the search found in all, if it says so.

    Raises:
        NotMarcXml: it is something else, or breaks off.
    """
    try:
        root: Element = ElementTree.fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as err:
        raise NotMarcXml(str(err)) from err
    if _name(root) != "collection":
        raise NotMarcXml(f"its root is <{_name(root)}>")
    total = _TOTAL.search(data)
    return [_record(element) for element in root if _name(element) == "record"], int(total[1]) if total else None


def _record(element: Element) -> MarcRecord:
    numbers = (_text(child) for child in element if _name(child) == "controlfield" and child.get("tag") == "001")
    fields = (_field(child) for child in element if _name(child) == "datafield")
    return MarcRecord(next(numbers, ""), tuple(field for field in fields if field.subfields))


def _field(element: Element) -> Field:
    subfields = ((child.get("code", ""), _text(child)) for child in element if _name(child) == "subfield")
    return Field(element.get("tag", ""), tuple((code, text) for code, text in subfields if text))


def _name(element: Element) -> str:
    """The name without its namespace, which some catalogues leave out."""
    return str(element.tag).rpartition("}")[2]


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


BASE_URL: Final = "https://digitallibrary.un.org"
COLLECTIONS: Final = (
    "Resolutions and Decisions", "Reports", "Treaties and Agreements", "NGO Written Statements", "Publications",
    "Concluding Observations and Recommendations",
)  # fmt: skip
"""The Library's names for the kinds of document that are searched."""
TERMS: Final = "United Nations terms of use: https://www.un.org/en/about-us/terms-of-use"
_PAGE_SIZE: Final = 100
_NOT_PUNCTUATED: Final = " /:;,=."
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_LANGUAGES: Final = {
    "EN": "en", "FR": "fr", "ES": "es", "RU": "ru", "AR": "ar", "ZH": "zh", "DE": "de",
    "ENGLISH": "en", "FRANÇAIS": "fr", "ESPAÑOL": "es", "РУССКИЙ": "ru", "العربية": "ar", "中文": "zh", "DEUTSCH": "de",
    "ENG": "en", "FRE": "fr", "SPA": "es", "RUS": "ru", "ARA": "ar", "CHI": "zh", "GER": "de",
}  # fmt: skip
"""How the Library writes a language: at the end of a file's name, beside a link, and in field 041."""
_WEB: Final = re.compile(r"https?://[^/\s]+/")
_SUFFIX: Final = re.compile(r"-([A-Z]{2})\.\w+$")


@dataclass(frozen=True, slots=True)
class _File:
    url: str
    language: str | None
    is_pdf: bool


class UnDigitalLibrary:
    """Documents of the UN Digital Library.

    Args:
        client: asks the Library, at its base URL.
        is_approved: whether the Library has approved automated downloads by the operator of this Antiphon.
        collections: the kinds of document to search for, by the Library's names.

    Raises:
        BadSettings: there is no approval.
    """

    name = "un"

    def __init__(
        self,
        client: PoliteClient,
        *,
        is_approved: bool,
        collections: Sequence[str] = COLLECTIONS,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        if not is_approved:
            raise BadSettings(
                "The UN Digital Library allows automated downloads only with its approval.",
                remedy=f"Read {BASE_URL}/pages/?page=tos, ask for approval, and set un_approved = true in [kb].",
            )
        self._client, self._collections, self._today = client, tuple(collections), today

    def listings(self, wanted: Selection) -> list[str]:
        """Every keyword of the groups with every collection and every year, as the paper crosses them."""
        return [
            key_of(keyword=keyword, collection=collection, year=year)
            for keyword in keywords_for(wanted.target_groups)
            for collection in self._collections
            for year in range(wanted.since, self._today().year + 1)
        ]

    async def list(self, listing: str, cursor: str | None) -> ListingPage:
        """One page of a search, newest records first: records added meanwhile move others back and hide none.

        Raises:
            SourceUnavailable: the Library does not answer, or not with records.
        """
        keyword, collection, year = parts_of(listing, "keyword", "collection", "year")
        start = int(cursor or 1)
        answer = await self._client.listing(self._search(keyword, collection, year, start))
        try:
            records, total = read_collection(answer.data)
        except NotMarcXml as err:
            raise SourceUnavailable(
                f"The UN Digital Library answered with {answer.media_type} that holds no records: {err}.",
                remedy="Try again later; where it wants a browser, ask the Library to let your contact's address pass.",
            ) from err
        documents = (self._listed(record, collection, keyword) for record in records)
        return ListingPage(once_each(documents), _next_start(start, len(records), total))

    async def fetch(self, document: ListedDocument) -> FetchedFile:
        answer = await self._client.get(document.url, {"Accept": "application/pdf,*/*;q=0.8"})
        if answer.media_type == "text/html" and document.url.partition("?")[0].lower().endswith(".pdf"):
            raise DocumentRefused(f"{document.url} is a web page instead of the PDF.")
        return answer.fetched(datetime.now(UTC))

    def _search(self, keyword: str, collection: str, year: str, start: int) -> URL:
        phrases = " AND ".join(f'"{phrase}"' for phrase in phrases_of(keyword))
        return URL(self._client.base_url) / "search" % {
            "ln": "en", "cc": collection, "c": collection, "p": f"{phrases} AND year:{year}", "of": "xm",
            "rg": str(_PAGE_SIZE), "jrec": str(start),
        }  # fmt: skip

    def _listed(self, record: MarcRecord, collection: str, keyword: str) -> ListedDocument | None:
        """What a record says; ``None`` for records without a file or a title."""
        title, file = _title(record), _best_file(record)
        if file is None or not title:
            return None
        symbol = _symbol(record)
        return ListedDocument(
            id=f"un:{symbol}" if symbol else f"un:record/{record.number}",
            source=self.name,
            url=file.url,
            page=f"{self._client.base_url}/record/{record.number}",
            title=title,
            publisher=_publisher(record),
            type=record.first("989", "c") or record.first("989", "b") or collection,
            year=_year(record),
            language=file.language,
            target_groups=groups_of(keyword),
            document=symbol,
            licence=record.first("540", "a") or TERMS,
            jurisdiction="UN",
        )


def _next_start(start: int, records: int, total: int | None) -> str | None:
    """Where the next page starts. A page may hold fewer records than were asked for: the Library has its own limit."""
    if total is None:
        return str(start + records) if records == _PAGE_SIZE else None
    following = start + (records or _PAGE_SIZE)
    return str(following) if following <= total else None


def _symbol(record: MarcRecord) -> str | None:
    """The document's symbol; catalogued texts without one have dots or stars in its place."""
    symbols = record.values("191", "a") + record.values("791", "a")
    return next((symbol for symbol in symbols if any(map(str.isalnum, symbol))), None)


def _title(record: MarcRecord) -> str:
    field = next(record.tagged("245"), None)
    parts = [] if field is None else [text for code, text in field.subfields if code in "ab"]
    return " ".join(parts).rstrip(_NOT_PUNCTUATED)


def _year(record: MarcRecord) -> int | None:
    dates = (record.first("269", "a"), record.first("260", "c"), record.first("992", "a"))
    matches = (_YEAR.search(text) for text in dates if text)
    return next((int(year[0]) for year in matches if year), None)


def _publisher(record: MarcRecord) -> str:
    publisher = (record.first("260", "b") or "").strip(_NOT_PUNCTUATED + "[]")
    return "United Nations" if publisher.upper() in ("", "UN", "UNITED NATIONS") else publisher


def _best_file(record: MarcRecord) -> _File | None:
    """The file to read: in English rather than another language, a PDF rather than another form."""
    return min(_files(record), key=lambda file: (file.language != "en", not file.is_pdf), default=None)


def _files(record: MarcRecord) -> list[_File]:
    """The files of fields 856 and FFT; a link's own text or its file name tells the language, else field 041 does."""
    codes = {_LANGUAGES.get(text.upper()) for text in record.values("041", "a")}
    only = codes.pop() if len(codes) == 1 else None
    files = []
    for tag, code, labels in (("856", "u", "y3"), ("FFT", "a", "dn")):
        for field in record.tagged(tag):
            url, names = field.first(code), [text for label in labels for text in field.values(label)]
            if url is not None and _WEB.match(url) and "Thumbnail" not in names:
                files.append(_file(url, names, only))
    return files


def _file(url: str, names: list[str], only: str | None) -> _File:
    paths = (url.partition("?")[0], *names)
    suffixes = (_SUFFIX.search(path) for path in paths)
    marks = [match[1] for match in suffixes if match] + [name.upper() for name in names]
    language = next((_LANGUAGES[mark] for mark in marks if mark in _LANGUAGES), only)
    return _File(url, language, any(path.lower().endswith(".pdf") for path in paths))
