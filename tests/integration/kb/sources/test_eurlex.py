"""EUR-Lex over the wire: the query for works, and the forms of a document."""

import pytest

from core.errors import DocumentRefused, SourceUnavailable
from core.models import TargetGroup
from kb.documents import ListedDocument, Selection
from kb.sources.eurlex import EurLex
from kb.sources.web_client import PoliteClient
from tests.fakes.documents.asking import WOMEN, asking, first_page, walk
from tests.fakes.documents.sites import Cellar, Work, says


def small_pages(client: PoliteClient) -> EurLex:
    return EurLex(client, page_size=3)


async def test_a_listing_for_every_keyword_and_type() -> None:
    async with asking(Cellar([]), EurLex) as source:
        listings = source.listings(WOMEN)
    assert len(listings) == len(set(listings)) == 12 * 7
    assert listings[0] == "keyword=sexism&type=directive&since=2014"


async def test_every_work_is_listed_once_in_the_order_of_its_number() -> None:
    works = [Work(f"32015L{number:04}", f"On women, part {number}", date="2015-03-02") for number in range(10)]
    async with asking(Cellar(works), small_pages) as source:
        found = await walk(source, WOMEN)
        assert [each.document for each in found] == [work.celex for work in works]
        assert await walk(source, WOMEN) == found


async def test_all_that_cellar_says_arrives() -> None:
    work = Work("62015CJ0001", "Judgment of the Court.#A v B.#Case C-1/15.", "JUDG", "2015-05-06", ["sexism"])
    async with asking(Cellar([work]), EurLex) as source:
        (found,) = await walk(source, WOMEN)
    base = found.url.removesuffix("/resource/celex/62015CJ0001")
    assert base.startswith("http://127.0.0.1:")
    assert found == ListedDocument(
        id="eurlex:62015CJ0001",
        source="eurlex",
        url=f"{base}/resource/celex/62015CJ0001",
        page="https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:62015CJ0001",
        title="Judgment of the Court – A v B – Case C-1/15",
        publisher="European Union (EUR-Lex)",
        type="judgment",
        year=2015,
        language="en",
        target_groups=frozenset({TargetGroup.WOMEN}),
        document="62015CJ0001",
        licence="Reuse with acknowledgement of the source: Commission Decision 2011/833/EU",
        jurisdiction="EU",
    )


async def test_words_are_whole_and_marks_inside_them_do_no_harm() -> None:
    """Protects the full-text query against apostrophes, plus signs and slashes of the published keywords."""
    works = [
        Work("32015L0001", "Rights of women in the workplace", date="2015-01-01"),
        Work("32015L0002", "On engaged workers", date="2015-01-01"),
        Work("32015L0003", "On LGBTQIA persons", date="2015-01-01"),
    ]
    async with asking(Cellar(works), EurLex) as source:
        found = await walk(source, Selection(frozenset({TargetGroup.WOMEN, TargetGroup.LGBT}), 2014))
    assert {each.document for each in found} == {"32015L0001", "32015L0003"}


async def test_works_before_the_year_are_not_listed() -> None:
    works = [Work("32013L0001", "On women", date="2013-12-31"), Work("32014L0001", "On women", date="2014-01-01")]
    async with asking(Cellar(works), EurLex) as source:
        assert {each.year for each in await walk(source, WOMEN)} == {2014}


@pytest.mark.parametrize(
    ("form", "media_type"),
    [
        ("application/xhtml+xml", "application/xhtml+xml"),
        ("text/html", "text/html"),
        ("application/pdf;type=pdfa1a", "application/pdf"),
    ],
)
async def test_the_document_comes_in_the_first_form_that_cellar_has(form: str, media_type: str) -> None:
    site = Cellar([Work("32015L0001", "On women", date="2015-01-01", form=form)])
    async with asking(site, EurLex) as source:
        (document,) = await walk(source, WOMEN)
        fetched = await source.fetch(document)
    assert (fetched.data, fetched.media_type) == (b"<p>On women</p>", media_type)
    assert fetched.url is not None
    assert fetched.url.endswith("/resource/cellar/32015L0001")


async def test_a_work_without_an_english_text_is_refused() -> None:
    site = Cellar([Work("32015L0001", "On women", date="2015-01-01", form=None)])
    async with asking(site, EurLex) as source:
        (document,) = await walk(source, WOMEN)
        with pytest.raises(DocumentRefused, match="no English text of 32015L0001"):
            await source.fetch(document)


@pytest.mark.parametrize(
    "body",
    [
        '{"results": {"bindings": [{"celex": {"value": "3',
        "<html>Virtuoso S1T00 Error</html>",
        '{"head": {}}',
        '{"results": {"bindings": [{"celex": {"value": "32015L0001"}}]}}',
        '{"results": {"bindings": [{"celex": {"value": "x\\" }"}, "date": {"value": "2015-01-01"},'
        ' "title": {"value": "t"}}]}}',
        '{"results": {"bindings": [{"celex": {"value": "32015L0001"}, "date": {"value": "soon"},'
        ' "title": {"value": "t"}}]}}',
    ],
    ids=["truncated", "html", "no results", "no title", "a quote in a number", "no date"],
)
async def test_what_is_no_sparql_answer_makes_the_source_unavailable(body: str) -> None:
    site = Cellar([])
    site.mishaps.append(says(body, "application/json"))
    async with asking(site, EurLex) as source:
        with pytest.raises(SourceUnavailable, match="form that is not its own"):
            await first_page(source)
