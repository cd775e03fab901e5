"""The UN Digital Library over the wire: every keyword, collection and year; what a catalogue record tells."""

import pytest

from core.errors import BadSettings, DocumentRefused, SourceUnavailable
from core.models import TargetGroup
from kb.documents import ListedDocument, Selection
from kb.sources.un import TERMS, UnDigitalLibrary
from kb.sources.web_client import PoliteClient
from tests.fakes.documents.asking import WOMEN, asking, first_page, un, walk
from tests.fakes.documents.sites import PDF, UnLibrary, UnRecord, fails, says


def reports(count: int) -> list[UnRecord]:
    """Records that the first listing for women finds."""
    return [
        UnRecord(number, f"Report {number}", ("sexism",), date="2014-05-06", symbol=f"A/70/{number}")
        for number in range(1, count + 1)
    ]


def field(tag: str, code: str, text: str) -> str:
    return f'<datafield tag="{tag}"><subfield code="{code}">{text}</subfield></datafield>'


async def test_a_listing_for_every_keyword_collection_and_year() -> None:
    async with asking(UnLibrary([]), un) as source:
        listings = source.listings(WOMEN)
    assert len(listings) == len(set(listings)) == 12 * 2 * 2
    assert listings[0] == "keyword=sexism&collection=Reports&year=2014"
    assert listings == source.listings(WOMEN)


@pytest.mark.parametrize("limit", [200, 30])
async def test_every_record_is_listed_once_whatever_the_site_gives_at_once(limit: int) -> None:
    site = UnLibrary(reports(230), limit)
    async with asking(site, un) as source:
        found = await walk(source, WOMEN)
        assert [each.id for each in found] == [f"un:A/70/{number}" for number in range(230, 0, -1)]
        assert await walk(source, WOMEN) == found


async def test_all_that_the_catalogue_says_arrives() -> None:
    record = UnRecord(
        77,
        "Equal access to public office",
        ("violence against women",),
        "Resolutions and Decisions",
        "2015-12-17",
        "A/RES/70/500",
        [("A_RES_70_500-FR.pdf", "Français"), ("A_RES_70_500-EN.pdf", "English")],
    )
    async with asking(UnLibrary([record]), un) as source:
        (found,) = await walk(source, WOMEN)
    base = found.page.removesuffix("/record/77")
    assert found == ListedDocument(
        id="un:A/RES/70/500",
        source="un",
        url=f"{base}/record/77/files/A_RES_70_500-EN.pdf",
        page=f"{base}/record/77",
        title="Equal access to public office : a neutral text",
        publisher="United Nations",
        type="Resolutions and Decisions",
        year=2015,
        language="en",
        target_groups=frozenset({TargetGroup.WOMEN}),
        document="A/RES/70/500",
        licence=TERMS,
        jurisdiction="UN",
    )


async def test_a_record_found_by_several_keywords_has_one_id() -> None:
    record = UnRecord(5, "Report", ("sexism", "women", "religion"))
    async with asking(UnLibrary([record]), un) as source:
        found = await walk(source, Selection(frozenset({TargetGroup.WOMEN, TargetGroup.MUSLIMS}), 2014))
    assert {each.id for each in found} == {"un:record/5"}
    assert [each.target_groups for each in found] == [
        frozenset({TargetGroup.WOMEN}), frozenset({TargetGroup.WOMEN}), frozenset({TargetGroup.MUSLIMS}),
    ]  # fmt: skip


async def test_without_english_another_language_is_taken_and_without_a_file_nothing() -> None:
    records = [
        UnRecord(1, "In French only", ("sexism",), files=[("a-FR.pdf", "Français")]),
        UnRecord(2, "No file", ("sexism",), files=[]),
        UnRecord(3, "A picture", ("sexism",), files=[("cover.jpg", "Thumbnail")]),
        UnRecord(4, "As the record says", ("sexism",), files=[("d.pdf", "")], more=field("041", "a", "spa")),
    ]
    async with asking(UnLibrary(records), un) as source:
        found = await walk(source, WOMEN)
    assert [(each.id, each.language) for each in found] == [("un:record/4", "es"), ("un:record/1", "fr")]


async def test_fields_of_older_records_are_understood() -> None:
    more = (
        field("260", "b", "UNICEF,") + field("540", "a", "CC BY 3.0 IGO") + field("191", "a", "[***]")
        + field("FFT", "a", "https://files.example.org/x") + field("989", "c", "Annual Reports")
    )  # fmt: skip
    record = UnRecord(8, "Report", ("sexism",), files=[], more=more)
    async with asking(UnLibrary([record]), un) as source:
        (found,) = await walk(source, WOMEN)
    assert (found.publisher, found.licence, found.type) == ("UNICEF", "CC BY 3.0 IGO", "Annual Reports")
    assert (found.id, found.document) == ("un:record/8", None)


async def test_the_file_is_fetched() -> None:
    async with asking(UnLibrary(reports(1)), un) as source:
        (document,) = await first_page(source)
        fetched = await source.fetch(document)
    assert (fetched.data, fetched.media_type, fetched.url) == (PDF, "application/pdf", document.url)


async def test_a_file_that_is_gone_is_refused() -> None:
    site = UnLibrary(reports(1))
    async with asking(site, un) as source:
        (document,) = await first_page(source)
        site.mishaps.append(fails(404))
        with pytest.raises(DocumentRefused, match="not there"):
            await source.fetch(document)


async def test_a_web_page_in_place_of_a_pdf_is_refused() -> None:
    site = UnLibrary(reports(1))
    async with asking(site, un) as source:
        (document,) = await first_page(source)
        site.mishaps.append(says("<p>Please log in</p>", "text/html"))
        with pytest.raises(DocumentRefused, match="web page"):
            await source.fetch(document)


async def test_the_approval_of_the_library_has_to_be_stated() -> None:
    with pytest.raises(BadSettings, match="approval"):
        UnDigitalLibrary(PoliteClient("https://example.org", contact="a@example.org"), is_approved=False)


@pytest.mark.parametrize(
    "body",
    [
        '<collection xmlns="http://www.loc.gov/MARC21/slim"><record><controlfield tag="001">1</con',
        "<!DOCTYPE html><html><body>An error</body></html>",
        '<!DOCTYPE a [<!ENTITY b "c">]><collection><record>&b;</record></collection>',
        "<html xmlns='http://www.w3.org/1999/xhtml'/>",
        "",
    ],
    ids=["truncated", "html", "entities", "xhtml", "empty"],
)
async def test_what_is_not_marcxml_makes_the_source_unavailable(body: str) -> None:
    site = UnLibrary(reports(1))
    site.mishaps.append(says(body, "text/xml"))
    async with asking(site, un) as source:
        with pytest.raises(SourceUnavailable, match="holds no records"):
            await first_page(source)
        assert len(await first_page(source)) == 1  # the same question may be asked again
