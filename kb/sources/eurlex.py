"""EUR-Lex, through CELLAR, the repository of the Publications Office: its SPARQL endpoint and its documents.

The query finds works by the words of their English titles and subjects. The pages of eur-lex.europa.eu are for people
and are not requested.
"""

import json
import re
from datetime import UTC, date, datetime
from typing import Any, Final
from urllib.parse import quote

from yarl import URL

from core.errors import DocumentRefused, SourceUnavailable
from kb.documents import FetchedFile, ListedDocument, ListingPage, Selection
from kb.sources.listing import groups_of, key_of, keywords_for, once_each, parts_of, phrases_of
from kb.sources.web_client import PoliteClient

TYPES: Final = {
    "directive": ("DIR", "DIR_IMPL", "DIR_DEL"),
    "regulation": ("REG", "REG_IMPL", "REG_DEL"),
    "decision": ("DEC", "DEC_IMPL", "DEC_DEL", "DEC_FRAMW", "DEC_ENTSCHEID"),
    "recommendation": ("RECO", "RECO_DEC", "RECO_RES", "RECO_RECO"),
    "communication": ("COMMUNIC",),
    "resolution": ("RES", "RES_LEGIS"),
    "judgment": ("JUDG",),
}
"""The kinds of document, each with its codes in the authority table of resource types."""
TERMS: Final = "Reuse with acknowledgement of the source: Commission Decision 2011/833/EU"
_PAGE_SIZE: Final = 200
_WORD: Final = re.compile(r"[^\W_]+")
_SAFE: Final = re.compile(r"""[^\s"'\\<>]{1,80}""")
"""What counts as a CELEX number inside a query."""
_FORMS: Final = (
    "application/xhtml+xml", "text/html", "application/pdf;type=pdfa2a", "application/pdf;type=pdfa1a",
    "application/pdf;type=pdfa1b", "application/pdf;type=pdfx", "application/pdf",
)  # fmt: skip
"""The formats that are requested, one after the other; CELLAR gives a PDF only to requests that name its kind."""
_QUERY: Final = """\
PREFIX cdm: <http://publications.europa.eu/ontology/cdm#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT DISTINCT ?celex ?date ?title WHERE {
  {
    ?expression cdm:expression_title ?title .
    ?title bif:contains "%(words)s" .
  } UNION {
    ?work cdm:work_is_about_concept_eurovoc ?concept .
    ?concept skos:prefLabel ?label .
    ?label bif:contains "%(words)s" .
    FILTER(LANG(?label) = "en")
    ?expression cdm:expression_belongs_to_work ?work .
    ?expression cdm:expression_title ?title .
  }
  ?expression cdm:expression_belongs_to_work ?work .
  ?expression cdm:expression_uses_language <http://publications.europa.eu/resource/authority/language/ENG> .
  ?work cdm:resource_legal_id_celex ?celex .
  ?work cdm:work_date_document ?date .
  ?work cdm:work_has_resource-type ?type .
  FILTER(?type IN (%(types)s))
  FILTER(?date >= "%(since)s-01-01"^^xsd:date)
  FILTER(STR(?celex) > "%(after)s")
  FILTER NOT EXISTS {
    ?work cdm:work_has_resource-type <http://publications.europa.eu/resource/authority/resource-type/CORRIGENDUM> .
  }
}
ORDER BY ?celex ?date
LIMIT %(limit)s
"""


class EurLex:
    """Documents of EUR-Lex.

    Args:
        client: asks CELLAR, at its base URL.
        page_size: rows of one answer.
    """

    name = "eurlex"

    def __init__(self, client: PoliteClient, *, page_size: int = _PAGE_SIZE) -> None:
        self._client, self._page_size = client, page_size

    def listings(self, wanted: Selection) -> list[str]:
        return [
            key_of(keyword=keyword, type=kind, since=wanted.since)
            for keyword in keywords_for(wanted.target_groups)
            for kind in TYPES
        ]

    async def list(self, listing: str, cursor: str | None) -> ListingPage:
        """The works whose CELEX numbers follow the cursor: in this order new works do not hide others.

        Raises:
            SourceUnavailable: CELLAR does not answer, or not with results.
        """
        keyword, kind, since = parts_of(listing, "keyword", "type", "since")
        url = (URL(self._client.base_url) / "webapi" / "rdf" / "sparql").with_query(
            query=_question(keyword, kind, since, cursor or "", self._page_size),
            format="application/sparql-results+json",
        )
        answer = await self._client.listing(url, {"Accept": "application/sparql-results+json"})
        rows = _rows(answer.data)
        documents = once_each(self._listed(row, kind, keyword) for row in rows)
        return ListingPage(documents, rows[-1]["celex"] if len(rows) >= self._page_size else None)

    async def fetch(self, document: ListedDocument) -> FetchedFile:
        """The document in English, as a web page where there is one, otherwise as a PDF.

        Raises:
            SourceUnavailable: CELLAR does not answer after all retries.
            DocumentRefused: there is no English text, or it is too large.
        """
        for form in _FORMS:
            answer = await self._client.get_if_there(document.url, {"Accept": form, "Accept-Language": "eng"})
            if answer is not None:
                return answer.fetched(datetime.now(UTC))
        raise DocumentRefused(f"CELLAR has no English text of {document.document}.")

    def _listed(self, row: dict[str, str], kind: str, keyword: str) -> ListedDocument:
        celex = row["celex"]
        return ListedDocument(
            id=f"eurlex:{celex}",
            source=self.name,
            url=f"{self._client.base_url}/resource/celex/{quote(celex, safe='()')}",
            page=f"https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:{celex}",
            title=_title(row["title"]),
            publisher="European Union (EUR-Lex)",
            type=kind,
            year=int(row["date"][:4]),
            language="en",
            target_groups=groups_of(keyword),
            document=celex,
            licence=TERMS,
            jurisdiction="EU",
        )


def _question(keyword: str, kind: str, since: str, after: str, limit: int) -> str:
    """The query for one page; no value in it can end a literal."""
    types = ", ".join(
        f"<http://publications.europa.eu/resource/authority/resource-type/{code}>" for code in TYPES[kind]
    )
    values = {"words": _words(keyword), "types": types, "since": int(since), "after": _safe(after) if after else ""}
    return _QUERY % (values | {"limit": limit})


def _words(keyword: str) -> str:
    """A keyword for Virtuoso's full-text search: as a phrase, or as its words where it has a punctuation mark."""
    parts = []
    for phrase in phrases_of(keyword):
        words = _WORD.findall(phrase)
        is_plain = " ".join(words) == phrase
        parts += [f"'{phrase}'"] if is_plain else [f"'{word}'" for word in words if len(word) > 1]
    return " AND ".join(parts)


def _rows(data: bytes) -> list[dict[str, str]]:
    """The rows of a SPARQL answer in JSON, each a value by its variable."""
    try:
        bindings: list[dict[str, Any]] = json.loads(data)["results"]["bindings"]
        rows = [{name: str(row[name]["value"]) for name in ("celex", "date", "title")} for row in bindings]
        for row in rows:
            row["celex"], row["date"] = _safe(row["celex"]), date.fromisoformat(row["date"][:10]).isoformat()
    except (KeyError, TypeError, ValueError) as err:
        raise SourceUnavailable(
            "CELLAR answered its query in a form that is not its own.", remedy="Try again later."
        ) from err
    return rows


def _safe(text: str) -> str:
    if not _SAFE.fullmatch(text):
        raise ValueError(f"{text!r} is not a CELEX number")
    return text


def _title(text: str) -> str:
    """A title; judgments have several, with # between them."""
    return " – ".join(part.strip(" .") for part in text.split("#") if part.strip(" ."))
