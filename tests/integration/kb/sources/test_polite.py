"""The polite client over the wire: what it asks, how often, and what it makes of every kind of answer."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from core.errors import BadSettings, DocumentRefused, SourceUnavailable
from kb.sources.web_client import PoliteClient
from tests.fakes.documents.sites import (
    PDF,
    Mishap,
    Site,
    breaks_off,
    fails,
    hangs,
    never_ends,
    redirects,
    says,
    serving,
)  # fmt: skip
from tests.fakes.machine.clock import Seconds, outlasting

CONTACT = "library@example.org"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    yield Site()


@pytest.fixture
async def url(site: Site) -> AsyncIterator[str]:
    async with serving(site) as address:
        yield address


def client(url: str, **changes: Any) -> PoliteClient:
    values: dict[str, Any] = {"contact": CONTACT, "min_interval_seconds": 0.0, "attempts": 3, "backoff_seconds": 0.0}
    return PoliteClient(url, **(values | changes))


async def test_the_file_comes_with_its_type_its_charset_and_where_it_came_from(site: Site, url: str) -> None:
    site.mishaps.append(redirects("/new/report"))
    site.mishaps.append(says("bonjour", "Text/HTML"))
    async with client(url) as polite:
        answer = await polite.get(f"{url}/report")
    assert (answer.url, answer.data) == (f"{url}/new/report", b"bonjour")
    assert (answer.media_type, answer.charset) == ("text/html", "utf-8")


async def test_the_user_agent_names_the_program_its_version_and_the_contact(site: Site, url: str) -> None:
    async with client(url) as polite:
        await polite.get(f"{url}/report")
    agents = {headers["User-Agent"] for headers in site.headers}
    assert len(agents) == 1
    name, _, contact = agents.pop().partition(" ")
    assert name.startswith("Antiphon/")
    assert contact == f"(+{CONTACT})"


@pytest.mark.parametrize(
    "contact", ["", "nobody", "a@b", "https://", "a@example.org)\r\nX-Evil: 1", "two words@example.org"]
)
def test_without_a_contact_nothing_is_asked(contact: str) -> None:
    with pytest.raises(BadSettings, match=r"\[kb\]"):
        PoliteClient("https://example.org", contact=contact)


@pytest.mark.parametrize("mishap", [fails(500), fails(503), fails(429, Retry_After="0"), breaks_off])
async def test_a_busy_server_is_asked_again_and_then_has_the_file(site: Site, url: str, mishap: Mishap) -> None:
    site.mishaps.extend([mishap, mishap])
    async with client(url) as polite:
        assert (await polite.get(f"{url}/report")).data == PDF
    assert site.count("/report") == 3


async def test_after_the_last_try_the_source_is_unavailable(site: Site, url: str) -> None:
    site.mishaps.extend([fails(500)] * 9)
    async with client(url) as polite:
        with pytest.raises(SourceUnavailable, match="status 500"):
            await polite.get(f"{url}/report")
    assert site.count("/report") == 3


async def test_a_server_that_is_gone_is_unavailable(site: Site) -> None:
    async with serving(site) as address:
        gone = address
    async with client(gone) as polite:
        with pytest.raises(SourceUnavailable, match="cannot be reached"):
            await polite.get(f"{gone}/report")


async def test_a_file_of_another_site_that_is_gone_is_refused_alone(site: Site, url: str) -> None:
    """Protects a build against one dead link of a catalogue."""
    async with client(url) as polite:
        with pytest.raises(DocumentRefused, match="cannot be reached"):
            await polite.get("http://localhost:1/report")
        assert (await polite.get(f"{url}/report")).data == PDF


async def test_a_slow_answer_is_given_up_and_asked_for_again(site: Site, url: str) -> None:
    site.mishaps.append(hangs(site))
    async with client(url, timeout_seconds=60) as polite:
        answer = await outlasting(polite.get(f"{url}/report"), 61, lambda: site.count("/report"))
    assert answer.data == PDF
    assert site.count("/report") == 2


async def test_retry_after_is_waited_for_by_every_request_to_that_host(site: Site, url: str) -> None:
    site.mishaps.append(fails(429, Retry_After="7"))
    seconds = Seconds()
    async with client(url, clock=seconds, sleep=seconds.sleep) as polite:
        await asyncio.gather(polite.get(f"{url}/one"), polite.get(f"{url}/two"))
    assert seconds.slept == [7.0]


async def test_no_server_makes_us_wait_longer_than_the_limit(site: Site, url: str) -> None:
    site.mishaps.append(fails(503, Retry_After="86400"))
    seconds = Seconds()
    async with client(url, clock=seconds, sleep=seconds.sleep, longest_wait_seconds=60.0) as polite:
        await polite.get(f"{url}/report")
    assert seconds.slept == [60.0]


async def test_requests_to_a_host_never_overlap_and_keep_their_distance(site: Site, url: str) -> None:
    seconds = Seconds()
    async with client(url, min_interval_seconds=1.5, clock=seconds, sleep=seconds.sleep) as polite:
        await asyncio.gather(*(polite.get(f"{url}/{number}") for number in range(4)))
    assert site.most_at_once == 1
    assert seconds.slept == [1.5] * 4  # robots.txt comes first, once


async def test_a_longer_crawl_delay_of_robots_txt_is_kept(site: Site, url: str) -> None:
    site.robots = "User-agent: *\nCrawl-delay: 5\n"
    seconds = Seconds()
    async with client(url, min_interval_seconds=1.0, clock=seconds, sleep=seconds.sleep) as polite:
        await polite.get(f"{url}/one")
        await polite.get(f"{url}/two")
    assert seconds.slept == [5.0, 5.0]


async def test_what_robots_txt_forbids_is_not_asked_for(site: Site, url: str) -> None:
    site.robots = "User-agent: *\nDisallow: /private/\nDisallow: /*.zip$\nAllow: /private/open\n"
    async with client(url) as polite:
        await polite.get(f"{url}/private/open")
        for path in ("/private/report", "/files/all.zip"):
            with pytest.raises(DocumentRefused, match="robots"):
                await polite.get(f"{url}{path}")
            with pytest.raises(SourceUnavailable, match="robots"):
                await polite.listing(f"{url}{path}")
    assert site.asked == ["/robots.txt", "/private/open"]


async def test_a_rule_for_us_by_name_wins_over_the_rule_for_everybody(site: Site, url: str) -> None:
    site.robots = "User-agent: *\nAllow: /\n\nUser-agent: Antiphon\nDisallow: /\n"
    async with client(url) as polite:
        with pytest.raises(DocumentRefused, match="robots"):
            await polite.get(f"{url}/report")


async def test_robots_txt_is_obeyed_where_a_redirect_leads(site: Site, url: str) -> None:
    site.robots = "User-agent: *\nDisallow: /private/\n"
    site.mishaps.append(redirects("/private/report"))
    async with client(url) as polite:
        with pytest.raises(DocumentRefused, match="robots"):
            await polite.get(f"{url}/report")
    assert site.count("/private/report") == 0


@pytest.mark.parametrize(("status", "is_allowed"), [(404, True), (410, True), (401, False), (403, False)])
async def test_a_robots_txt_that_is_not_there_allows_and_one_that_is_forbidden_forbids(
    site: Site, url: str, status: int, is_allowed: bool
) -> None:
    async def robots(request: web.Request) -> web.StreamResponse:
        site.asked.append(request.path)
        return web.Response(status=status if request.path == "/robots.txt" else 200)

    site.handle = robots  # type: ignore[method-assign]
    async with serving(site) as address, client(address) as polite:
        if is_allowed:
            await polite.get(f"{address}/report")
        else:
            with pytest.raises(DocumentRefused, match="robots"):
                await polite.get(f"{address}/report")


async def test_a_robots_txt_that_fails_stops_everything_after_its_own_tries(site: Site, url: str) -> None:
    async def robots(request: web.Request) -> web.StreamResponse:
        site.asked.append(request.path)
        return web.Response(status=500)

    site.handle = robots  # type: ignore[method-assign]
    async with serving(site) as address, client(address) as polite:
        with pytest.raises(SourceUnavailable, match=r"robots\.txt"):
            await polite.get(f"{address}/report")
    assert site.asked == ["/robots.txt"] * 3


async def test_robots_txt_is_asked_for_again_after_a_day(site: Site, url: str) -> None:
    seconds = Seconds()
    async with client(url, clock=seconds, sleep=seconds.sleep) as polite:
        await polite.get(f"{url}/one")
        await polite.get(f"{url}/two")
        assert site.count("/robots.txt") == 1
        seconds.now += 24 * 3600
        await polite.get(f"{url}/three")
    assert site.count("/robots.txt") == 2


@pytest.mark.parametrize("status", [403, 404, 406, 410, 451])
async def test_a_file_that_is_missing_or_forbidden_is_refused_at_once(site: Site, url: str, status: int) -> None:
    site.mishaps.append(fails(status))
    async with client(url) as polite:
        with pytest.raises(DocumentRefused):
            await polite.get(f"{url}/report")
    assert site.count("/report") == 1


@pytest.mark.parametrize("status", [202, 204])
async def test_a_site_that_wants_a_browser_is_unavailable_and_not_asked_again(
    site: Site, url: str, status: int
) -> None:
    """Protects against an empty answer being taken for an empty file."""
    site.mishaps.append(fails(status))
    async with client(url) as polite:
        with pytest.raises(SourceUnavailable, match=f"status {status}.*browser"):
            await polite.get(f"{url}/report")
    assert site.count("/report") == 1


@pytest.mark.parametrize("location", ["http://10.0.0.1/", "http://[fd00::1]/", "file:///etc/hosts", "http://["])
async def test_a_redirect_to_where_it_must_not_lead_is_refused_before_anything_is_asked(
    site: Site, url: str, location: str
) -> None:
    site.mishaps.append(redirects(location))
    async with client(url) as polite:
        with pytest.raises(DocumentRefused, match=r"not a public address|not an address|not a web address"):
            await polite.get(f"{url}/report")


async def test_a_source_that_is_elsewhere_never_leads_to_this_machine(site: Site, url: str) -> None:
    async with client("https://example.org") as polite:
        with pytest.raises(DocumentRefused, match="not a public address"):
            await polite.get(f"{url}/report")
        with pytest.raises(DocumentRefused, match="not a public address"):
            await polite.get(url.replace("127.0.0.1", "localhost"))
    assert site.asked == []


async def test_redirects_in_a_circle_end(site: Site, url: str) -> None:
    site.mishaps.extend([redirects("/report")] * 20)
    async with client(url) as polite:
        with pytest.raises(DocumentRefused, match="redirects more than"):
            await polite.get(f"{url}/report")
    assert site.count("/report") == 6


async def test_an_answer_without_end_is_cut_off(site: Site, url: str) -> None:
    site.mishaps.append(never_ends)
    async with client(url) as polite:
        with pytest.raises(DocumentRefused, match="larger than"):
            await polite.get(f"{url}/report", max_bytes=2**20)


async def test_an_answer_that_says_it_is_too_large_is_not_read(site: Site, url: str) -> None:
    site.mishaps.append(says("x" * 5000, "text/plain"))
    async with client(url) as polite:
        with pytest.raises(DocumentRefused, match="larger than"):
            await polite.get(f"{url}/report", max_bytes=4999)


async def test_a_small_answer_that_unpacks_to_a_large_one_is_cut_off(site: Site, url: str) -> None:
    async def bomb(request: web.Request) -> web.StreamResponse:
        return web.Response(body=gzip.compress(bytes(50 * 2**20)), headers={"Content-Encoding": "gzip"})

    site.mishaps.append(bomb)
    async with client(url) as polite:
        with pytest.raises(DocumentRefused, match="larger than"):
            await polite.get(f"{url}/report", max_bytes=2**20)
