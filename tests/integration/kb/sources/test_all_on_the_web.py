"""What all sources on the web have in common, over the wire: sites that are busy, gone, or want to be left alone."""

from collections.abc import Callable

import pytest

from core.errors import BadInput, SourceUnavailable
from kb.documents import DocumentSource
from kb.sources.eurlex import EurLex
from kb.sources.fra import Fra
from kb.sources.web_client import PoliteClient
from tests.fakes.documents import sites
from tests.fakes.documents.asking import WOMEN, asking, first_page, un, walk
from tests.fakes.machine.clock import outlasting

SITES: list[tuple[Callable[[], sites.Site], Callable[[PoliteClient], DocumentSource]]] = [
    (lambda: sites.UnLibrary([sites.UnRecord(1, "Report", ("sexism",), date="2014-05-06")]), un),
    (lambda: sites.Cellar([sites.Work("32015L0001", "Against sexism", date="2015-01-01")]), EurLex),
    (lambda: sites.FraSite([sites.Publication(2015, "a", "Women in councils")]), Fra),
]
each_source = pytest.mark.parametrize(("site_of", "source_of"), SITES, ids=["un", "eurlex", "fra"])


@each_source
async def test_a_busy_site_is_asked_again(
    site_of: Callable[[], sites.Site], source_of: Callable[[PoliteClient], DocumentSource]
) -> None:
    site = site_of()
    site.mishaps.extend([sites.fails(500), sites.fails(429, Retry_After="0")])
    async with asking(site, source_of) as source:
        assert len(await first_page(source)) == 1
    assert len([path for path in site.asked if path != "/robots.txt"]) == 3


@each_source
@pytest.mark.parametrize(
    "mishap",
    [sites.fails(404), sites.fails(403), sites.fails(202), sites.redirects("http://10.0.0.1/")],
    ids=["gone", "forbidden", "challenge", "private"],
)
async def test_a_listing_that_cannot_be_had_makes_the_source_unavailable(
    site_of: Callable[[], sites.Site], source_of: Callable[[PoliteClient], DocumentSource], mishap: sites.Mishap
) -> None:
    site = site_of()
    site.mishaps.append(mishap)
    async with asking(site, source_of) as source:
        with pytest.raises(SourceUnavailable):
            await first_page(source)


@each_source
async def test_a_site_that_hangs_makes_the_source_unavailable(
    site_of: Callable[[], sites.Site], source_of: Callable[[PoliteClient], DocumentSource]
) -> None:
    site = site_of()
    site.mishaps.extend([sites.hangs(site)] * 9)
    async with sites.serving(site) as url:
        hasty = PoliteClient(url, contact="a@example.org", timeout_seconds=60, attempts=1, min_interval_seconds=0.0)
        async with hasty as client:
            with pytest.raises(SourceUnavailable, match="did not answer"):
                work = first_page(source_of(client))
                await outlasting(work, 61, lambda: any(path != "/robots.txt" for path in site.asked))


@each_source
async def test_a_site_that_forbids_its_listing_is_left_alone(
    site_of: Callable[[], sites.Site], source_of: Callable[[PoliteClient], DocumentSource]
) -> None:
    site = site_of()
    site.robots = "User-agent: *\nDisallow: /search\nDisallow: /webapi/\nDisallow: /en/products\n"
    async with asking(site, source_of) as source:
        with pytest.raises(SourceUnavailable, match="robots"):
            await first_page(source)
    assert site.asked == ["/robots.txt"]


@each_source
async def test_a_key_of_another_source_is_refused(
    site_of: Callable[[], sites.Site], source_of: Callable[[PoliteClient], DocumentSource]
) -> None:
    async with asking(site_of(), source_of) as source:
        with pytest.raises(BadInput, match="no listing"):
            await source.list("colour=red", None)


@pytest.mark.parametrize("source_of", [un, EurLex], ids=["un", "eurlex"])
async def test_a_search_that_finds_nothing_is_an_empty_listing(
    source_of: Callable[[PoliteClient], DocumentSource],
) -> None:
    empty = sites.UnLibrary([]) if source_of is un else sites.Cellar([])
    async with asking(empty, source_of) as source:
        assert await walk(source, WOMEN) == []
