"""Logging in through a platform, with an account and without, and what somebody in between could try (T11)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import func, select

from adapters.web.door import UnderWay
from core.desk.database.connection import Session
from core.desk.rules.roles import Person
from core.desk.schema import WebSessionRow
from core.errors import NotAllowed
from tests.fakes.machine.clock import Seconds
from tests.fakes.ports.cards import REVIEWED
from tests.fakes.web.browsing import Browser, Dashboard, Page, dashboard
from tests.fakes.web.strict_platform import CLIENT, StrictPlatform, strict_platform

_PLATFORMS = ("discord", "mastodon")


@dataclass
class Hall:
    """The dashboard, the platform that plays both, and what a person does by hand between the two."""

    room: Dashboard
    platform: StrictPlatform

    async def away(self, browser: Browser, name: str = "discord") -> str:
        """Where the dashboard sends a browser."""
        async with browser.session.get(f"{browser.origin}/login/{name}", allow_redirects=False) as answer:
            assert answer.status == 303
            return answer.headers["Location"]

    async def allowed(self, browser: Browser, name: str = "discord") -> str:
        """The path that the platform sends a browser back to."""
        where = await self.away(browser, name)
        async with browser.session.get(where, allow_redirects=False) as answer:
            assert answer.status == 302, self.platform.refused
            return answer.headers["Location"].removeprefix(browser.origin)

    async def sessions(self) -> int:
        """How many sessions there are."""

        async def count(session: Session) -> int:
            return int(await session.scalar(select(func.count()).select_from(WebSessionRow)) or 0)

        return await self.room.desk.database.run("count", count)

    async def refused(self, page: Page, browser: Browser, status: int, words: str) -> None:
        """Nobody is logged in, and the page says why and how to go on."""
        assert (page.status, await self.sessions()) == (status, 0), page.words
        assert words in page.said("[role=alert]")
        assert page.form("Log in")
        assert "antiphon" not in browser.cookies
        assert (await browser.get("/")).path == "/login"


@pytest.fixture
async def hall(desk_file: Path) -> AsyncIterator[Hall]:
    """With one account, which is somebody on both platforms, and has a role on one."""
    async with strict_platform() as platform, dashboard(desk_file, providers=platform.providers) as room:
        await room.desk.case(REVIEWED)
        await room.account("ane", room.desk.ane, Person("mastodon", "109", "Ane"))
        platform.redirects = {f"{room.origin}/login/{name}/back" for name in _PLATFORMS}
        platform.who = room.desk.ane.user
        yield Hall(room, platform)


@pytest.mark.parametrize("name", _PLATFORMS)
async def test_somebody_with_an_account_gets_in(hall: Hall, name: str) -> None:
    """By a button of the login page; the platform found everything exact, and its token is not kept."""
    hall.platform.who = {"discord": hall.room.desk.ane.user, "mastodon": "109"}[name]
    browser = hall.room.browser()
    page = await browser.get("/login")
    assert f"Log in through {name.capitalize()}" in page.buttons
    page = await browser.get(f"/login/{name}")
    assert (page.status, page.said("h1")) == (200, "You are logged in."), page.words
    assert page.headers["Refresh"] == "0; url=/"
    assert (await browser.get("/")).path == "/"
    assert (hall.platform.refused, hall.platform.codes, hall.platform.tokens) == ([], {}, {})
    assert set(browser.cookies) == {"antiphon"}


async def test_the_button_is_there_only_where_it_is_set(desk_file: Path) -> None:
    """Without it the addresses are no pages."""
    async with dashboard(desk_file) as room:
        browser = room.browser()
        assert "through" not in (await browser.get("/login")).words
        for path in ("/login/discord", "/login/discord/back?code=a&state=b", "/login/sample"):
            assert (await browser.get(path)).status == 404


async def test_what_is_asked_is_no_more_than_an_id_and_bound_to_one_login(hall: Hall) -> None:
    """A new state and challenge each time; the cookie is out of reach of scripts, and short-lived."""
    browser = hall.room.browser()
    asked = [parse_qs(urlsplit(await hall.away(browser)).query) for _ in range(2)]
    assert {name: value for name, value in asked[0].items() if name not in ("state", "code_challenge")} == {
        "response_type": ["code"],
        "client_id": [CLIENT],
        "redirect_uri": [f"{hall.room.origin}/login/discord/back"],
        "scope": ["identify"],
        "code_challenge_method": ["S256"],
    }
    assert asked[0]["state"] != asked[1]["state"]
    assert asked[0]["code_challenge"] != asked[1]["code_challenge"]
    async with browser.session.get(f"{browser.origin}/login/discord", allow_redirects=False) as answer:
        cookie = answer.headers["Set-Cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=600"))


async def test_who_has_no_account_is_told_how_to_get_one(hall: Hall) -> None:
    """With the id, which the command needs."""
    hall.platform.who = "777"
    browser = hall.room.browser()
    page = await browser.get("/login/discord")
    await hall.refused(page, browser, 403, "antiphon web account NAME discord/777")


async def test_an_id_of_one_platform_is_nobody_on_another(hall: Hall) -> None:
    """Mastodon's 109 is Ane; Discord's is not."""
    hall.platform.who = "109"
    browser = hall.room.browser()
    await hall.refused(await browser.get("/login/discord"), browser, 403, "Nobody with an account is discord/109.")


async def test_another_browsers_answer_logs_nobody_in(hall: Hall) -> None:
    """Somebody gets another to open the answer to their own login: with no login under way there, and with one."""
    attacker, victim = hall.room.browser(), hall.room.browser()
    stolen = await hall.allowed(attacker)
    await hall.refused(await victim.get(stolen), victim, 403, "not begun in this browser")
    await hall.away(victim)
    await hall.refused(await victim.get(stolen), victim, 403, "not begun in this browser")
    assert len(hall.platform.codes) == 1, "the code was not even given back"


async def test_a_state_that_is_missing_or_made_up_logs_nobody_in(hall: Hall) -> None:
    """Also where the browser keeps one that is under way."""
    for state in ("", "state=", "state=made-up", "state=%ED%A0%80", "state=made-up&state={state}"):
        browser = hall.room.browser()
        path, _, query = (await hall.allowed(browser)).partition("?")
        said = {name: value[0] for name, value in parse_qs(query).items()}
        answer = f"{path}?code={said['code']}&{state.format(state=said['state'])}"
        await hall.refused(await browser.get(answer), browser, 403, "not begun in this browser")


async def test_a_state_that_somebody_chose_logs_nobody_in(hall: Hall) -> None:
    """The cookie and the answer say the same, and the dashboard never gave it out."""
    browser = hall.room.browser()
    code = parse_qs(urlsplit(await hall.allowed(hall.room.browser())).query)["code"][0]
    for chosen in ("", "chosen-by-somebody"):
        browser.session.cookie_jar.update_cookies({"antiphon-state": chosen})
        page = await browser.get(f"/login/discord/back?code={code}&state={chosen}")
        await hall.refused(page, browser, 403, "not begun in this browser")


async def test_an_answer_counts_once(hall: Hall) -> None:
    """With the same cookie put back, it logs nobody in again."""
    browser, thief = hall.room.browser(), hall.room.browser()
    answer = await hall.allowed(browser)
    kept = browser.cookies["antiphon-state"]
    assert (await browser.get(answer)).said("h1") == "You are logged in."
    page = await thief.get(answer, Cookie=f"antiphon-state={kept}")
    assert (page.status, await hall.sessions()) == (403, 1)
    assert "not begun in this browser" in page.said("[role=alert]")


async def test_an_answer_that_failed_counts_too(hall: Hall) -> None:
    """A code that the platform refuses uses the state up."""
    browser = hall.room.browser()
    answer = await hall.allowed(browser)
    kept = browser.cookies["antiphon-state"]
    wrong = answer.replace("code=", "code=x")
    await hall.refused(await browser.get(wrong), browser, 503, "Discord did not say who you are.")
    again = await browser.get(answer, Cookie=f"antiphon-state={kept}")
    await hall.refused(again, browser, 403, "not begun in this browser")


async def test_one_platforms_answer_is_not_anothers(hall: Hall) -> None:
    """A mix-up: the state of a login through one, brought back as if it were of the other."""
    browser = hall.room.browser()
    answer = (await hall.allowed(browser, "mastodon")).replace("/login/mastodon/", "/login/discord/")
    await hall.refused(await browser.get(answer), browser, 403, "not begun in this browser")
    assert len(hall.platform.codes) == 1, "the code was not given to the other"


async def test_a_code_of_another_login_is_worth_nothing(hall: Hall) -> None:
    """Injected into one's own login, it was bound to another verifier."""
    attacker, victim = hall.room.browser(), hall.room.browser()
    stolen = parse_qs(urlsplit(await hall.allowed(victim)).query)["code"][0]
    state = parse_qs(urlsplit(await hall.allowed(attacker)).query)["state"][0]
    page = await attacker.get(f"/login/discord/back?code={stolen}&state={state}")
    await hall.refused(page, attacker, 503, "Discord did not say who you are.")
    assert hall.platform.refused == ["invalid_grant"]


async def test_a_login_is_over_after_ten_minutes(hall: Hall) -> None:
    """And holds until then."""
    browser = hall.room.browser()
    late = await hall.allowed(browser)
    hall.room.seconds.now += 600
    await hall.refused(await browser.get(late), browser, 403, "too old")
    in_time = await hall.allowed(browser)
    hall.room.seconds.now += 599
    assert (await browser.get(in_time)).said("h1") == "You are logged in."


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [("access_denied", 403, "You did not allow Discord"), ("server_error", 503, "Discord did not say who you are.")],
)
async def test_an_error_of_the_platform_is_told_in_our_words(hall: Hall, error: str, status: int, words: str) -> None:
    """None of the platform's: anybody could write them into a link."""
    hall.platform.error = f"{error}&error_description=Call%20555"
    browser = hall.room.browser()
    page = await browser.get("/login/discord")
    await hall.refused(page, browser, status, words)
    assert "555" not in page.text


async def test_a_platform_that_fails_or_names_no_id_logs_nobody_in(hall: Hall) -> None:
    """A redirect is not followed: our secret would go elsewhere."""
    known, well = hall.platform.who, hall.platform.token_status
    fails = [(status, known) for status in (302, 307, 401, 500)]
    for hall.platform.token_status, hall.platform.who in fails + [(well, who) for who in ("", "1/2", "1 2", "x" * 65)]:
        browser = hall.room.browser()
        await hall.refused(await browser.get("/login/discord"), browser, 503, "Discord did not say who you are.")


async def test_nobody_is_sent_elsewhere(hall: Hall) -> None:
    """Whatever is added to the addresses."""
    browser = hall.room.browser()
    async with browser.session.get(
        f"{browser.origin}/login/discord?next=https://elsewhere.example&redirect_uri=https://elsewhere.example",
        allow_redirects=False,
    ) as answer:
        assert "elsewhere" not in answer.headers["Location"]
    page = await browser.get(await hall.allowed(browser) + "&next=https://elsewhere.example")
    assert page.headers["Refresh"] == "0; url=/"


def test_very_many_logins_that_nobody_ends_are_forgotten() -> None:
    """The oldest first."""
    under_way = UnderWay(Seconds())
    states = [under_way.begin("discord")[0] for _ in range(5001)]
    with pytest.raises(NotAllowed):
        under_way.end("discord", states[0], states[0])
    assert under_way.end("discord", states[1], states[1])
