"""The dashboard in Chromium, with its scripts and its policy: keys, what changes meanwhile, what must stay inert."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Request, ViewportSize

from adapters.web.site import CSRF_HEADER
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Role
from core.models import Draft, Intent, Scores, TargetGroup, ThreadMessage
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.web.browsing import Dashboard, dashboard
from tests.fakes.web.chromium import forgotten, log_in, needs_chromium
from tests.fakes.web.payloads import PAYLOADS, SHAPES

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="session")]
on_a_phone = pytest.mark.parametrize("room", [{"width": 390, "height": 800}], ids=["phone"], indirect=True)
"""For a test that presses with a finger; the others have a wide screen. Neither scripts nor the server know a width."""


@dataclass
class Tab:
    """A page in Chromium, and what its console and its policy said."""

    page: Page
    origin: str
    said: list[str] = field(default_factory=list)

    async def go(self, path: str) -> None:
        """Open a page of ours."""
        await self.page.goto(self.origin + path)

    async def words(self) -> str:
        """All that can be seen."""
        return " ".join((await self.page.inner_text("body")).split())


@dataclass
class Room:
    """The pages, and somebody's browser who is logged in."""

    web: Dashboard
    context: BrowserContext
    tab: Tab

    async def open(self) -> Tab:
        """Another tab of the same browser."""
        tab = Tab(await self.context.new_page(), self.web.origin)
        tab.page.on("console", lambda one: tab.said.append(one.text))
        tab.page.on("pageerror", lambda one: tab.said.append(str(one)))
        return tab


@pytest_asyncio.fixture(loop_scope="session")
async def room(desk_file: Path, browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Room]:
    """A moderator at a browser, with one case in review."""
    async with dashboard(desk_file) as web, forgotten(browser):
        await web.desk.case(REVIEWED)
        await web.account("ane", web.desk.ane)
        size = getattr(request, "param", ViewportSize(width=1280, height=900))
        context = await browser.new_context(viewport=size)
        room = Room(web, context, Tab(await context.new_page(), web.origin))
        room.tab = await room.open()
        await log_in(room.tab.page, web.origin, "ane")
        yield room


async def _switch_keys(room: Room) -> None:
    """On, or off again, as somebody does on the page about themselves."""
    await room.tab.go("/")
    if await room.tab.page.locator("p#keys a").count():
        await room.tab.page.click("p#keys a")
    else:
        await room.tab.go("/me")
    await room.tab.page.click("input[name=keys]")
    await room.tab.page.click("main form button.first")
    await room.tab.page.wait_for_selector(".done")
    await room.tab.go("/")


async def test_a_case_is_decided_by_keys_alone(room: Room) -> None:
    """From the queue to an approved reply, without a mouse."""
    page = room.tab.page
    await _switch_keys(room)
    for key in ("j", "o"):
        await page.keyboard.press(key)
    await page.wait_for_selector("#case")
    await page.keyboard.press("r")
    await page.wait_for_selector("#words .turn")
    await page.keyboard.press("a")
    await page.wait_for_selector("pre.exact")
    shown = await page.locator("pre.exact").text_content()
    await page.keyboard.press("y")
    await page.wait_for_selector(".approved")
    card = await room.web.desk.now()
    assert card.approved is not None
    assert card.approved.text == shown
    await page.keyboard.press("u")
    await page.wait_for_selector("#replies-title")
    assert (await room.web.desk.now()).state is CaseState.IN_REVIEW
    assert room.tab.said == []


@pytest.mark.parametrize("room", [{"width": 1280, "height": 900}, {"width": 390, "height": 800}], indirect=True)
async def test_the_post_comes_before_what_is_decided_about_it(room: Room) -> None:
    """For the eye and for the Tab key: gist, post, drafts, decisions; nothing lies over a text while one scrolls."""
    page = room.tab.page
    await room.tab.go(f"/case/{room.web.desk.case_id}")
    wanted = [".lead", "#words a.button", "#draft-1", "button[data-key=a]", "#decide-title", "button[data-key=h]"]
    boxes = [await page.locator(one).first.bounding_box() for one in wanted]
    tops = [box["y"] for box in boxes if box is not None]
    assert len(tops) == len(wanted)
    lead, post, draft, *rest = tops
    assert lead < post and lead < draft < rest[0] < rest[1] < rest[2]
    size = page.viewport_size
    assert size is not None
    assert size["width"] > 1000 or post < draft
    await page.focus("main")
    reached = list[str]()
    for _ in range(200):
        at = str(await page.evaluate(_NAME_OF_FOCUS))
        if reached and not at:
            break
        reached += [at] if at else []
        await page.keyboard.press("Tab")
    order = [
        reached.index(one) for one in ("Show the post", "Approve draft 1…", "Edit draft 1…", "Hold", "Not hateful")
    ]
    assert order == sorted(order)
    pressed = await page.locator("main button").all_inner_texts()
    assert set(reached[: order[0]]).isdisjoint(pressed)
    fixed = "[...document.querySelectorAll('main *')].filter(e => /fixed|sticky/.test(getComputedStyle(e).position))"
    assert await page.evaluate(f"{fixed}.length") == 0


_NAME_OF_FOCUS = (
    "(at => at && at.closest('main') && at.id !== 'main' ? at.innerText.trim() : '')(document.activeElement)"
)


async def test_keys_act_while_they_are_on_and_leave_what_is_typed_alone(room: Room) -> None:
    """A letter in a field is a letter; before they are switched on, and once they are off, none acts anywhere."""
    page = room.tab.page

    async def nothing_acts() -> None:
        await page.keyboard.press("j")
        assert await page.locator("[data-case]:focus").count() == 0
        await room.tab.go(f"/case/{room.web.desk.case_id}")
        for key in ("h", "a", "?"):
            await page.keyboard.press(key)
        assert await page.locator("#help").count() == 0
        assert (await room.web.desk.now()).holder is None

    await nothing_acts()
    await _switch_keys(room)
    assert await page.locator("p#keys").count() == 0
    await room.tab.go(f"/case/{room.web.desk.case_id}/edit/0")
    await page.focus("#text")
    await page.keyboard.type("a quick question: have you asked them yourself?")
    assert await page.input_value("#text") == "a quick question: have you asked them yourself?"
    await page.keyboard.press("Escape")
    await room.tab.go("/")
    await page.keyboard.press("?")
    assert await page.locator("#help").is_visible()
    await _switch_keys(room)
    await nothing_acts()


@on_a_phone
async def test_every_request_that_is_no_get_carries_the_token(room: Room) -> None:
    """Those of htmx, too, which inherits headers only where it is told so (T8)."""
    sent: list[Request] = []
    page = room.tab.page
    page.on("request", lambda one: sent.append(one) if one.method != "GET" else None)
    await room.tab.go(f"/case/{room.web.desk.case_id}/edit/1")
    await page.focus("#text")
    await page.keyboard.type("Nobody counted 73 %. ")
    await page.wait_for_selector("#checks .diff ins")
    assert "73" in await page.inner_text("#checks")
    assert await page.evaluate("document.activeElement.id") == "text"
    await page.click("button.first")
    await page.wait_for_selector("pre.exact")
    assert len(sent) >= 2
    for request in sent:
        headers = await request.all_headers()
        assert CSRF_HEADER.lower() in headers or "csrf=" in (request.post_data or "")
    by_script = [one for one in sent if "hx-request" in await one.all_headers()]
    assert by_script
    for request in by_script:
        assert CSRF_HEADER.lower() in await request.all_headers()
    assert room.tab.said == []


async def test_two_moderators_and_a_page_that_slept(room: Room) -> None:
    """What somebody else does appears by itself; a page that was away shows what is so when it is back."""
    desk = room.web.desk
    queue, case, me = room.tab, await room.open(), await room.open()
    await me.go("/me")
    assert "Oldest case:" in await me.words()
    await case.go(f"/case/{desk.case_id}")
    await desk.casework.hold(desk.case_id, desk.jon)
    await queue.page.wait_for_selector("text=Jon holds it")
    await case.page.wait_for_selector("text=Jon holds the case")
    await room.context.set_offline(True)
    await desk.casework.release(desk.case_id, desk.jon)
    card = await desk.now()
    await desk.casework.close(desk.case_id, card.version, desk.jon, CloseReason.SILENCE)
    await room.context.set_offline(False)
    await queue.page.wait_for_selector(".empty")
    await case.page.wait_for_selector("h1:has-text('Closed')")
    assert await case.page.locator("text=Approve draft 1").count() == 0
    await me.page.wait_for_selector("#waiting:has-text('Nothing needs you now.')")


@on_a_phone
async def test_a_list_counts_the_seconds_of_an_undo_and_then_says_that_the_reply_is_posted(room: Room) -> None:
    """By itself, without being loaded again."""
    desk, page = room.web.desk, room.tab.page
    desk.clock.now = datetime.now(UTC) + timedelta(seconds=40)  # the page is there before the seconds are over
    await log_in(page, room.web.origin, "ane")
    await desk.approve(desk.ane)
    await room.tab.go("/decided")
    counted = page.locator("[data-left]")
    before = await counted.inner_text()
    assert "not sent yet: it is sent in" in before
    await page.wait_for_function("was => document.querySelector('[data-left]').innerText !== was", arg=before)
    assert "not sent yet: it is sent in" in await counted.inner_text()
    desk.clock.advance(16)
    await desk.outbox.send_due()
    await page.wait_for_selector(".chip.good:has-text('posted')")
    assert "not sent yet" not in await room.tab.words()
    assert room.tab.said == []


@on_a_phone
async def test_a_list_asks_once_what_is_so_when_the_seconds_of_an_undo_are_over(room: Room) -> None:
    """Where nothing was sent then; the page's look every half minute is left out."""
    desk, page = room.web.desk, room.tab.page
    await page.add_init_script("const own = setInterval; setInterval = (act, ms) => (ms < 30000 ? own(act, ms) : 0);")
    desk.clock.now = datetime.now(UTC)
    await log_in(page, room.web.origin, "ane")
    await desk.approve(desk.ane)
    await room.tab.go("/decided")
    await page.wait_for_selector(".chip:has-text('not sent yet: it waits')")
    assert await page.locator("[data-left]").count() == 0
    assert room.tab.said == []


@on_a_phone
async def test_a_quiet_page_asks_for_nothing_by_itself(room: Room) -> None:
    """Neither the stream nor itself, also when it is looked at again; before the choice it listened."""
    tab = room.tab
    async with tab.page.expect_request(lambda asked: "/events" in asked.url):
        await tab.go("/")
    await tab.go("/me")
    await tab.page.check("[name=keys]")
    await tab.page.check("[name=quiet]")
    await tab.page.click("main form button.first")
    await tab.page.wait_for_selector("[data-quiet]")
    asked = list[str]()
    tab.page.on("request", lambda one: asked.append(one.resource_type))
    await tab.go("/")
    await tab.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await tab.page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    await tab.page.keyboard.press("j")
    assert await tab.page.locator("[data-case]:focus").count() == 1
    assert not {"fetch", "eventsource", "xhr"} & set(asked)
    assert "document" in asked
    assert tab.said == []


@on_a_phone
async def test_a_person_who_writes_is_not_interrupted(room: Room) -> None:
    """The page says that the case changed, and leaves the text where it is."""
    desk, page = room.web.desk, room.tab.page
    await room.tab.go(f"/case/{desk.case_id}")
    await page.locator("#close > summary").click()
    await page.fill("#note", "half a sentence")
    card = await desk.now()
    await desk.casework.hold(desk.case_id, desk.jon)
    await page.wait_for_selector("#news:not([hidden])")
    assert await page.input_value("#note") == "half a sentence"
    assert card.version == (await desk.now()).version


@on_a_phone
async def test_a_manager_looks_at_last_week_and_saves_what_is_looked_for(room: Room) -> None:
    """From the list of communities over the look to the stored settings; a moderator finds none to change."""
    page, desk = room.tab.page, room.web.desk
    await room.tab.go("/settings")
    assert await page.locator("main a").count() == 0
    desk.roles[desk.ane.user] = Role.MANAGER
    await room.tab.go("/settings")
    await page.click("main a")
    await page.check("input[name=groups][value=migrants]")
    await page.fill("#keywords_0", "vermin")
    await page.select_option("#judged_pool", "answer")
    await page.click("text=Look at the last seven days")
    await page.wait_for_selector("#week")
    assert "Nothing is changed yet." in await room.tab.words()
    assert "you would answer it" in await page.inner_text("#judged_pool-outcome")
    where = (desk.chat.name, POST.ref.community)
    assert (await room.web.governance.policy(*where)).keywords == ()
    await page.fill("#keywords_0", "vermin\ninterpreters")
    await page.click("text=Save the settings")
    await page.wait_for_selector(".done")
    assert "as you want" in await page.inner_text("#judged_pool-outcome")
    found = await room.web.governance.policy(*where)
    assert (found.groups, found.keywords) == ((TargetGroup.MIGRANTS,), ("vermin", "interpreters"))
    assert await page.is_checked("input[name=groups][value=migrants]")
    await page.set_viewport_size({"width": 320, "height": 700})
    assert await page.evaluate("document.documentElement.scrollWidth") <= 320
    assert room.tab.said == []


@on_a_phone
async def test_the_post_is_not_in_the_accessibility_tree_before_it_is_asked_for(room: Room) -> None:
    """A device that reads pages out has nothing to read (T27)."""
    page = room.tab.page
    await room.tab.go(f"/case/{room.web.desk.case_id}")
    assert "benefits" not in await page.locator("body").aria_snapshot()
    assert "benefits" not in await page.content()
    await page.click("text=Show the post")
    await page.wait_for_selector("#words .turn")
    assert "benefits" in await page.locator("body").aria_snapshot()
    assert "benefits" not in await page.title()


async def test_no_text_of_others_acts_anywhere(room: Room) -> None:
    """Posts, threads, names, drafts, sources and notes, on every page: inert, and the policy was never needed (T7)."""
    desk, page = room.web.desk, room.tab.page
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    await page.add_init_script(
        "document.addEventListener('securitypolicyviolation', e => console.error('CSP ' + e.violatedDirective))"
    )
    for number, part in enumerate(range(0, 3 * SHAPES, SHAPES)):
        some = PAYLOADS[part : part + SHAPES]
        evil = "\n".join(some)
        source = replace(REVIEWED.evidence[0].source, title=evil[:300], url="javascript:alert(1)")
        like = replace(
            REVIEWED,
            post=replace(
                POST,
                ref=replace(POST.ref, message=f"9{number}"),
                text=evil,
                author_name=some[0],
                thread=tuple(ThreadMessage("x", one) for one in some),
            ),
            gist=some[1],
            is_gist_ours=False,
            evidence=(replace(REVIEWED.evidence[0], text=evil, source=source, caution=some[2]),),
            claims=tuple(some[:5]),
            argued=some[0],
            drafts=tuple(
                Draft(rank, one, Intent.INFORMATIVE, Scores(), warnings=(some[3],), caution=some[4])
                for rank, one in enumerate(some[:5], start=1)
            ),
        )
        await desk.case(like)
        for path in ("/", f"/case/{desk.case_id}", f"/case/{desk.case_id}?reveal=1", f"/case/{desk.case_id}/edit/1"):
            await room.tab.go(path)
        await page.fill("#text", evil[:900])
        await page.keyboard.type(" ")
        await page.wait_for_selector("#checks .diff, #checks .sentences")
        card = await desk.now()
        await desk.casework.close(desk.case_id, card.version, desk.ane, CloseReason.OTHER, some[5])
        await room.tab.go(f"/case/{desk.case_id}?reveal=1")
        await room.tab.go("/decided")
        assert await page.evaluate("document.body.dataset.ran") is None
    assert room.tab.said == []
    assert [url for url in asked if not url.startswith(room.web.origin)] == []


async def test_no_page_can_be_framed(room: Room) -> None:
    """A page elsewhere that shows ours in a frame gets an empty one (T10)."""
    page = room.tab.page
    await page.route("http://elsewhere.example/", lambda route: route.fulfill(
        content_type="text/html", body=f"<iframe src='{room.web.origin}/login'></iframe>"))  # fmt: skip
    await page.goto("http://elsewhere.example/")
    await page.wait_for_load_state("load")
    framed = page.frames[1]
    assert "Log in" not in await framed.content()


async def test_a_form_of_another_page_does_nothing(room: Room) -> None:
    """The browser itself sends it, with whatever cookies it sends (T8)."""
    page, desk = room.tab.page, room.web.desk
    body = (
        f"<form method=post action='{room.web.origin}/case/{desk.case_id}/act'>"
        f"<input name=act value=not_hateful><input name=version value={(await desk.now()).version}>"
        "<button>go</button></form>"
    )
    await page.route("http://elsewhere.example/", lambda route: route.fulfill(content_type="text/html", body=body))
    await page.goto("http://elsewhere.example/")
    async with page.expect_navigation() as navigation:
        await page.click("button")
    answer = await navigation.value
    assert answer is not None
    assert answer.status == 403
    assert (await desk.now()).state is CaseState.IN_REVIEW
