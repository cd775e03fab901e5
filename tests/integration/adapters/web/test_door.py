"""Who gets in: accounts, links, sessions that end, requests of other pages, and the headers of every answer."""

import pytest
from sqlalchemy import select

from adapters.web.door import MOST_BODY, POLICY, Tries
from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Person
from core.desk.schema import AccountRow, WebSessionRow
from core.desk.store import accounts as store
from core.errors import BadInput
from tests.fakes.machine.clock import Seconds
from tests.fakes.web.browsing import PASSWORD, Browser, Dashboard


async def test_nobody_sees_a_page_without_a_session(room: Dashboard) -> None:
    """Every page leads to the login; what a script asks for is refused."""
    browser = room.browser()
    for path in ("/", "/decided", "/me", f"/case/{room.desk.case_id}", f"/case/{room.desk.case_id}/post"):
        page = await browser.get(path)
        assert page.path == "/login", path
        assert room.desk.number not in page.text
    assert (await browser.get("/", HX_Request="true")).status == 401
    assert (await browser.get("/events")).status == 401
    assert (await browser.post(f"/case/{room.desk.case_id}/act", {})).status == 401


async def test_a_password_is_kept_as_a_hash_and_a_session_as_a_hash(room: Dashboard, ane: Browser) -> None:
    """Whoever reads the database can log in as nobody."""

    async def rows(session: Session) -> tuple[str, list[str]]:
        password = await session.scalar(select(AccountRow.password).filter_by(name="ane"))
        return str(password), list(await session.scalars(select(WebSessionRow.id)))

    password, sessions = await room.desk.database.run("read", rows)
    assert password.startswith("$argon2id$")
    assert PASSWORD not in password
    assert len(sessions) == 1
    assert not {cookie for cookie in ane.cookies.values() if cookie in sessions}


async def test_a_wrong_password_and_a_wrong_name_are_told_alike(room: Dashboard) -> None:
    """Nobody learns which accounts there are."""
    await room.account("ane", room.desk.ane)
    browser = room.browser()
    told = []
    for name, password in (("ane", "not the password"), ("nobody", PASSWORD)):
        await browser.get("/login")
        page = await browser.press("Log in", account=name, password=password)
        assert page.status == 403
        told.append(page.said("[role=alert]"))
    assert told[0] == told[1]
    assert "antiphon" not in browser.cookies


async def test_after_five_tries_an_account_is_closed_for_a_while(room: Dashboard) -> None:
    """A right password does not help then; after a quarter of an hour it does."""
    await room.account("ane", room.desk.ane)
    browser = room.browser()
    for _ in range(5):
        await browser.get("/login")
        await browser.press("Log in", account="ane", password="wrong wrong wrong")
    await browser.get("/login")
    page = await browser.press("Log in", account="ane", password=PASSWORD)
    assert page.status == 429
    assert 0 < int(page.headers["Retry-After"]) <= 900
    room.seconds.now += 901
    await browser.get("/login")
    assert (await browser.press("Log in", account="ane", password=PASSWORD)).path == "/"


async def test_one_address_may_not_try_many_accounts(room: Dashboard) -> None:
    """Thirty failures from one address close the door to that address."""
    browser = room.browser()
    await browser.get("/login")
    form = browser.page.form("Log in")
    for number in range(30):
        page = await browser.post("/login", form | {"account": f"a{number}", "password": "x" * 12})
        assert page.status == 403
    assert (await browser.post("/login", form | {"account": "another", "password": "x" * 12})).status == 429


async def test_a_session_begins_anew_with_each_login(room: Dashboard, ane: Browser) -> None:
    """A cookie that somebody planted before the login is worth nothing after it, and the earlier session ends (T9)."""
    before = ane.cookies["antiphon"]
    await ane.get("/login")
    await ane.press("Log in", account="ane", password=PASSWORD)
    assert ane.cookies["antiphon"] != before
    thief = room.browser()
    assert (await thief.get("/", Cookie=f"antiphon={before}")).path == "/login"
    planted = room.browser()
    planted.session.cookie_jar.update_cookies({"antiphon": "planted-by-somebody"})
    await planted.get("/login")
    await planted.press("Log in", account="ane", password=PASSWORD)
    assert planted.cookies["antiphon"] != "planted-by-somebody"


async def test_a_session_that_was_ended_cannot_be_used_again(room: Dashboard, ane: Browser) -> None:
    """Who logs out takes the cookie's worth away, wherever a copy of it is (T9)."""
    secret = ane.cookies["antiphon"]
    await ane.get("/me")
    assert (await ane.press("Log out")).path == "/login"
    assert (await room.browser().get("/", Cookie=f"antiphon={secret}")).path == "/login"


async def test_a_session_ends_when_it_is_idle_and_when_it_is_old(room: Dashboard, ane: Browser) -> None:
    """Half an hour without an act, twelve hours in any case; what the page asks by itself is no act (T9)."""
    for _ in range(4):
        room.desk.clock.advance(20 * 60)
        assert (await ane.get("/")).path == "/"
    room.desk.clock.advance(20 * 60)
    assert (await ane.get("/", X_Antiphon_Background="1")).path == "/"
    room.desk.clock.advance(20 * 60)
    assert (await ane.get("/")).path == "/login"
    again = await room.logged_in("ane", room.desk.ane)
    for _ in range(35):
        room.desk.clock.advance(20 * 60)
        assert (await again.get("/")).path == "/"
    room.desk.clock.advance(20 * 60)
    assert (await again.get("/")).path == "/login"


async def test_a_right_that_goes_ends_the_session_at_once(room: Dashboard, ane: Browser) -> None:
    """The platform takes the role away; the next request that asks it finds nobody, and the session is over."""
    await ane.get(f"/case/{room.desk.case_id}")
    del room.desk.roles[room.desk.ane.user]
    page = await ane.press("Not hateful")
    assert page.status == 403
    assert (await room.desk.now()).state is CaseState.IN_REVIEW
    assert (await ane.get("/")).path == "/login"


async def test_an_account_that_goes_ends_its_sessions_at_once(room: Dashboard, ane: Browser) -> None:
    """So does a new password."""
    jon = await room.logged_in("jon", room.desk.jon)
    assert await room.accounts.remove("ane")
    assert (await ane.get("/")).path == "/login"
    await room.account("jon", room.desk.jon)
    assert (await jon.get("/")).path == "/login"


async def test_an_erased_person_has_no_account(room: Dashboard, ane: Browser) -> None:
    """An account that is nobody's is deleted with the last of its people."""

    async def forget(session: Session) -> int:
        return await store.forget_person(session, "discord", room.desk.ane.user)

    assert await room.desk.database.run("forget", forget) == 1
    assert (await ane.get("/")).path == "/login"
    assert await room.accounts.listed() == []


async def test_a_link_logs_in_once_and_not_by_being_looked_at(room: Dashboard) -> None:
    """A preview that opens the address uses nothing up; a second use, or one too late, is refused."""
    await room.accounts.keep("ane", "", (room.desk.ane,))
    link = await room.accounts.link("ane")
    browser, other = room.browser(), room.browser()
    await other.get(f"/link/{link}")
    await browser.get(f"/link/{link}")
    assert (await browser.press("Log in with this link")).path == "/"
    assert (await other.press("Log in with this link")).status == 403
    late = await room.accounts.link("ane")
    room.desk.clock.advance(601)
    await other.get(f"/link/{late}")
    assert (await other.press("Log in with this link")).status == 403
    assert "antiphon" not in other.cookies


async def test_a_link_is_no_session(room: Dashboard) -> None:
    """The secret of a link as a cookie lets nobody in."""
    await room.accounts.keep("ane", "", (room.desk.ane,))
    link = await room.accounts.link("ane")
    assert (await room.browser().get("/", Cookie=f"antiphon={link}")).path == "/login"


async def test_who_has_no_role_is_not_let_in(room: Dashboard) -> None:
    """An account alone gives no right."""
    await room.account("stranger", Person("discord", "999"))
    browser = room.browser()
    await browser.get("/login")
    page = await browser.press("Log in", account="stranger", password=PASSWORD)
    assert page.status == 403
    assert "no role" in page.words


@pytest.mark.parametrize("password", ["short", "x" * 1001])
async def test_a_poor_password_is_refused(room: Dashboard, password: str) -> None:
    """With what helps."""
    with pytest.raises(BadInput, match="too"):
        await room.accounts.keep("ane", password, (room.desk.ane,))


async def test_a_change_that_another_page_asks_for_is_refused(room: Dashboard, ane: Browser) -> None:
    """Even with the right token: the browser says where a request is from (T8)."""
    await ane.get(f"/case/{room.desk.case_id}")
    form = ane.page.form("Not hateful")
    action = form.pop("action")
    for headers in (
        {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "https://evil.example", "Sec_Fetch_Site": ""},
        {"Origin": "null", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "null", "Sec_Fetch_Site": ""},
        {"Origin": "", "Sec_Fetch_Site": ""},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "http://127.0.0.1:1", "Sec_Fetch_Site": ""},
    ):
        page = await ane.post(action, form, **headers)
        assert page.status == 403, headers
        assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_a_change_without_the_token_of_its_session_is_refused(room: Dashboard, ane: Browser) -> None:
    """No token, and the token of somebody else's session (T8)."""
    jon = await room.logged_in("jon", room.desk.jon)
    await jon.get(f"/case/{room.desk.case_id}")
    other = jon.page.form("Not hateful")["csrf"]
    await ane.get(f"/case/{room.desk.case_id}")
    form = ane.page.form("Not hateful")
    action = form.pop("action")
    for token in ("", "0" * 64, other):
        assert (await ane.post(action, form | {"csrf": token})).status == 403
    assert (await room.desk.now()).state is CaseState.IN_REVIEW
    page = await ane.post(action, form | {"csrf": ""}, X_CSRF_Token=form["csrf"])
    assert page.status == 200
    assert (await room.desk.now()).state is CaseState.NO_REPLY


async def test_no_page_changes_anything_by_being_looked_at(room: Dashboard, ane: Browser) -> None:
    """What changes something takes no GET."""
    for path in (f"/case/{room.desk.case_id}/act", f"/case/{room.desk.case_id}/check", "/logout"):
        assert (await ane.get(path)).status == 405
    assert (await ane.get("/")).path == "/"


async def test_another_name_of_this_machine_is_refused(room: Dashboard, ane: Browser) -> None:
    """A page elsewhere whose name was turned to this machine reads nothing."""
    page = await ane.get("/", Host="evil.example")
    assert page.status == 403
    assert room.desk.number not in page.text


async def test_every_answer_has_the_headers(ane: Browser) -> None:
    """Also those of errors; no page can be framed, kept or guessed at (T7, T10)."""
    assert "unsafe" not in POLICY
    for path in ("/", "/login", "/nowhere", "/static/dashboard.css", "/case/none", "/me", "/decided"):
        page = await ane.get(path)
        assert page.headers["Content-Security-Policy"] == POLICY, path
        assert page.headers["X-Content-Type-Options"] == "nosniff", path
        assert page.headers["Referrer-Policy"] == "no-referrer", path
        assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin", path
        assert page.headers["Cache-Control"] == "no-store", path
        assert not page.dom.css("[style], style, script:not([src])"), path
        assert not page.dom.css("[src^=http], link[href^=http], script[src^=http]"), path


async def test_the_cookie_is_for_the_server_alone(room: Dashboard) -> None:
    """No script reads it, and no other site sends it."""
    await room.account("ane", room.desk.ane)
    browser = room.browser()
    await browser.get("/login")
    form = browser.page.form("Log in") | {"account": "ane", "password": PASSWORD}
    sent = {"Origin": room.origin, "Sec-Fetch-Site": "same-origin"}
    async with browser.session.post(room.origin + "/login", data=form, headers=sent, allow_redirects=False) as answer:
        morsel = answer.cookies["antiphon"]
    assert morsel["httponly"]
    assert morsel["samesite"] == "Strict"
    assert morsel["path"] == "/"


async def test_a_body_that_is_too_large_is_refused(room: Dashboard, ane: Browser) -> None:
    """Nobody fills the memory."""
    await ane.get(f"/case/{room.desk.case_id}")
    form = ane.page.form("Not hateful")
    page = await ane.post(form.pop("action"), form | {"text": "x" * (MOST_BODY + 1)})
    assert page.status == 413
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


def test_failures_are_forgotten_where_there_are_very_many() -> None:
    """Names that a program makes up fill no memory, and the newest count still."""
    seconds = Seconds()
    tries = Tries(seconds)
    for number in range(3_000):
        tries.failed(f"made up {number}", f"address {number}")
        seconds.now += 0.001
    for _ in range(5):
        tries.failed("ane", "somewhere")
    assert len(tries._failed) <= 5002
    assert tries.seconds_left("ane", "elsewhere") > 0
    seconds.now += 901
    assert tries.seconds_left("ane", "elsewhere") == 0
