"""Settings, library, record, numbers and what a form says back, full of texts that would act: none does (T7)."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser, Page

from core.desk.database.connection import Session
from core.desk.rules.closures import CloseReason
from core.desk.rules.own_cards import WrittenCard
from core.desk.rules.policy import MAX_KEYWORD, MAX_KEYWORDS
from core.desk.rules.roles import Person, Role
from core.desk.store import communities, own_cards
from core.engine.cards.bank import OwnReply
from core.engine.ports import EvidenceQuery, SearchResult
from core.models import Draft, Evidence, Intent, Scores, Source, TargetGroup
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.web.browsing import Dashboard, dashboard
from tests.fakes.web.chromium import forgotten, log_in, needs_chromium
from tests.fakes.web.payloads import PAYLOADS, SHAPES

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="session")]
_PLACE = f"discord/{POST.ref.community}"
_STORED = PAYLOADS[: 4 * SHAPES]
_TYPED = tuple(" ".join(PAYLOADS[at : at + 3]) for at in range(0, SHAPES, 3))
"""Every shape, three in one text: each acts alone if it is not escaped, and no page cuts off so short a text."""
_WHO = Person("discord", "731", PAYLOADS[0])
_FORMS = (
    ("/library/cards/new", "button.first", ("#id", "#argument", "#gist", "#wordings", "#fact")),
    ("/library/replies/new", "button.first", ("#text",)),
    ("/record", "form[action='/record/person'] button", ("#user",)),
    (f"/settings/{_PLACE}", "button[formaction$=preview]", ("#time_zone", "#tone", "#keywords_0")),
)
"""Where each is, what sends it, and its fields; most stand again, as they were filled, on the page that answers."""
_QUERIES = dict.fromkeys(("/library/evidence", "/library/cards"), _TYPED)
_QUERIES |= dict.fromkeys(("/numbers", "/record", "/"), (" ".join(_TYPED),))
"""The texts in an address. The last three pages show nothing of it, and get all shapes at once."""


class _Shelf:
    """Evidence whose every word is such a text."""

    async def search(self, query: EvidenceQuery) -> SearchResult:
        found = tuple(
            Evidence(one, one, one, Source(one, one, 2024, None, "javascript:alert(1)"), caution=one)
            for one in PAYLOADS[:SHAPES]
        )
        return SearchResult(found, PAYLOADS[SHAPES : SHAPES + 3])


def _card(number: int) -> WrittenCard:
    """A card of such texts alone, which no form would take."""
    some = list(PAYLOADS[number * SHAPES : (number + 1) * SHAPES])
    return WrittenCard.model_validate(
        {
            "id": f"card-{number}",
            "language": "en",
            "argument": some[0],
            "own_stereotype": {"group": "migrants", "gist": some[1], "wordings": some[2:8]},
            "no_fact": "needs none",
            "caution": some[8],
            "replies": {"positive": some[9:14], "informative": some[14:19], "empathetic": some[19:]},
        }
    )


async def _fill(session: Session) -> None:
    """Put the texts where the pages find them, past the checks of the forms."""
    identity = (await communities.load(session, _PLACE)).id
    for number in range(len(_STORED) // SHAPES):
        await own_cards.keep_card(session, identity, _card(number), PAYLOADS[number], PAYLOADS[number])
    for one in _STORED:
        await own_cards.add_reply(session, identity, OwnReply("en", TargetGroup.MIGRANTS, Intent.POSITIVE, one, None))
        await communities.change(session, identity, actor=one, reason=one, note=one)
    policy = {
        "keywords": [one for one in PAYLOADS if len(one) <= MAX_KEYWORD][:MAX_KEYWORDS],
        "forbidden": [one for one in PAYLOADS if len(one) <= MAX_KEYWORD][-MAX_KEYWORDS:],
        "publishers": list(PAYLOADS[200:220]),
        "watched_channels": list(PAYLOADS[220:240]),
        "tone": PAYLOADS[240],
        "norm_notice": {"en": PAYLOADS[241], "eu": PAYLOADS[242]},
    }
    await communities.change(session, identity, actor="test", reason="fill", policy=policy)


async def _decide(web: Dashboard) -> None:
    """Cases whose drafts were written by models of such names, closed with such notes."""
    for number in range(0, SHAPES, 4):
        some = PAYLOADS[number : number + 4]
        drafts = tuple(
            Draft(rank, "Most newcomers work.", Intent.POSITIVE, Scores(), writer=one)
            for rank, one in enumerate(some, start=1)
        )
        ref = replace(POST.ref, message=f"8{number}", channel=f"8{number}")
        await web.desk.case(replace(REVIEWED, post=replace(POST, ref=ref, author=f"9{number}"), drafts=drafts))
        version = (await web.desk.now()).version
        await web.desk.casework.close(web.desk.case_id, version, web.desk.ane, CloseReason.OTHER, some[0])


async def _every_page(page: Page, path: str) -> int:
    """Go through a list to its end; how many pages it has."""
    count, further = 1, page.locator("main a").get_by_text("Next page").or_(page.get_by_text("Earlier lines"))
    await page.goto(path)
    while await further.count():
        await further.first.click()
        await page.wait_for_load_state()
        count += 1
    return count


async def _send(page: Page, button: str, fields: Mapping[str, str]) -> None:
    """Send a form with what a browser would not let somebody leave out or make so long."""
    for selector, value in fields.items():
        await page.eval_on_selector(selector, "(one, value) => { one.value = value }", value)
    async with page.expect_navigation():
        await page.eval_on_selector(button, "one => { one.form.noValidate = true; one.click() }")


async def _nothing_ran(page: Page) -> None:
    assert await page.evaluate("document.body.dataset.ran") is None
    assert await page.title() != "ran"


async def test_no_text_of_others_acts_on_the_pages_of_the_office(desk_file: Path, browser: Browser) -> None:
    """What is stored, what a form gives back, what stands in an address: inert, and the policy was never needed."""
    configured = dict.fromkeys(PAYLOADS[:9], PAYLOADS[9])
    async with dashboard(desk_file, poll_seconds=1.0, knowledge=_Shelf(), configured=configured) as web:
        await web.desk.case(REVIEWED)
        await _decide(web)
        await web.desk.database.run("fill", _fill)
        web.desk.roles[_WHO.user] = Role.ADMIN
        await web.account("mikel", _WHO)
        async with forgotten(browser):
            context = await browser.new_context(base_url=web.origin)
            page, said, asked = await context.new_page(), list[str](), list[str]()
            page.on("console", lambda one: None if "status of 4" in one.text else said.append(one.text))
            page.on("pageerror", lambda one: said.append(str(one)))
            page.on("dialog", lambda one: said.append(one.message))
            page.on("request", lambda one: asked.append(one.url))
            await page.add_init_script(
                "document.addEventListener('securitypolicyviolation', e => console.error('CSP ' + e.violatedDirective))"
            )
            await log_in(page, web.origin, "mikel")
            assert await _every_page(page, "/library/replies?own=1&language=") == -(-len(_STORED) // 30)
            assert await _every_page(page, "/record?lines=community") > 1
            for path in (
                "/library/cards?own=1&language=", "/library/cards/new?card=card-1", "/library/evidence?words=x",
                "/library/coverage", f"/library/delete?what=card&id=card-2&place={_PLACE}", "/record?check=1",
                "/numbers?days=365", "/decided", "/me", "/me/data", "/settings", f"/settings/{_PLACE}",
            ):  # fmt: skip
                answer = await page.goto(path)
                assert answer is not None
                assert answer.status == 200, path
                if path.startswith("/numbers"):
                    assert PAYLOADS[0] in await page.inner_text("main")
            for path, button, fields in _FORMS:
                for one in _TYPED:
                    if not await page.locator(fields[0]).count():
                        await page.goto(path)
                    await _send(page, button, dict.fromkeys(fields, one))
                    if path == "/library/cards/new":
                        assert await page.input_value("#argument") == one.strip()
                    await _nothing_ran(page)
            for path, texts in _QUERIES.items():
                for one in texts:
                    query = dict.fromkeys(("place", "words", "language", "group", "lines", "days"), one)
                    await page.goto(f"{path}?{urlencode(query)}")
                    await _nothing_ran(page)
        assert said == []
        assert [url for url in asked if not url.startswith(web.origin)] == []
