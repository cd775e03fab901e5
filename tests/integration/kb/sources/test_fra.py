"""FRA's site over the wire: the listing over all its pages, and the PDF behind a publication."""

import pytest

from core.errors import DocumentRefused, SourceUnavailable
from core.models import TargetGroup
from kb.documents import ListedDocument, Selection
from kb.sources.fra import Fra
from tests.fakes.documents.asking import WOMEN, asking, first_page, walk
from tests.fakes.documents.sites import PDF, FraSite, Publication, says

PUBLICATIONS = [
    Publication(2015, f"survey-{number}", f"Survey {number} on violence against women", "A neutral teaser.")
    for number in range(45)
]


@pytest.mark.parametrize("counts", [True, False], ids=["counted", "only numbered"])
async def test_every_publication_is_listed_once_over_all_pages(counts: bool) -> None:
    site = FraSite(PUBLICATIONS, counts=counts)
    async with asking(site, Fra) as source:
        found = await walk(source, WOMEN)
        assert [each.id for each in found] == [f"fra:2015/{each.slug}" for each in PUBLICATIONS]
        assert site.count("/en/products/search") == 3
        assert await walk(source, WOMEN) == found


async def test_all_that_the_listing_says_arrives() -> None:
    publication = Publication(2015, "two-words", "Belonging & taking part", "About Muslims and Roma in five towns.")
    async with asking(FraSite([publication]), Fra) as source:
        (found,) = await walk(source, Selection(since=2000))
    page = found.page
    assert page.startswith("http://127.0.0.1:")
    assert found == ListedDocument(
        id="fra:2015/two-words",
        source="fra",
        url=page,
        page=page,
        title="Belonging & taking part",
        publisher="European Union Agency for Fundamental Rights",
        type="publication",
        year=2015,
        language="en",
        target_groups=frozenset({TargetGroup.MUSLIMS, TargetGroup.OTHER}),
        licence="Reproduction with acknowledgement of the source; some publications for non-commercial use only",
        jurisdiction="EU",
    )


async def test_only_the_wanted_groups_and_years_are_listed() -> None:
    site = FraSite([
        Publication(2015, "a", "Women in councils"),
        Publication(2013, "b", "Women in schools"),
        Publication(2015, "c", "Asylum seekers at the border"),
        Publication(2015, "d", "Annual accounts"),
    ])  # fmt: skip
    async with asking(site, Fra) as source:
        assert [each.id for each in await walk(source, WOMEN)] == ["fra:2015/a"]
        others = await walk(source, Selection(frozenset({TargetGroup.OTHER}), 2014))
        assert [each.id for each in others] == ["fra:2015/d"]


@pytest.mark.parametrize(
    ("pdfs", "taken"),
    [
        (["fra-report_de.pdf", "fra-report_en.pdf", "fra-summary_en.pdf"], "fra-report_en.pdf"),
        (["fra-report_fr_0.pdf", "FRA-report-en_0.PDF"], "FRA-report-en_0.PDF"),
        (["fra-report_es.pdf", "fra-report-eu.pdf"], "fra-report-eu.pdf"),
    ],
)
async def test_the_english_pdf_of_the_publication_page_is_fetched(pdfs: list[str], taken: str) -> None:
    async with asking(FraSite([Publication(2015, "a", "Women in councils", pdfs=pdfs)]), Fra) as source:
        (document,) = await walk(source, WOMEN)
        fetched = await source.fetch(document)
    assert (fetched.data, fetched.media_type) == (PDF, "application/pdf")
    assert fetched.url is not None
    assert fetched.url.endswith(f"/sites/default/files/fra_uploads/{taken}")


async def test_a_publication_without_an_english_pdf_is_refused() -> None:
    site = FraSite([Publication(2015, "a", "Women in councils", pdfs=["fra-report_it.pdf"])])
    async with asking(site, Fra) as source:
        (document,) = await walk(source, WOMEN)
        with pytest.raises(DocumentRefused, match="no PDF in English"):
            await source.fetch(document)


async def test_a_page_that_is_no_listing_makes_the_source_unavailable() -> None:
    site = FraSite(PUBLICATIONS)
    site.mishaps.append(says("<p>We are rebuilding our site.</p>", "text/html"))
    async with asking(site, Fra) as source:
        with pytest.raises(SourceUnavailable, match="lists no publications"):
            await first_page(source)
