"""Numbers, record, library and a platform's login in Chromium: one way through each, under the policy of the pages."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person, Role
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.web.browsing import Dashboard, dashboard
from tests.fakes.web.chromium import forgotten, log_in, needs_chromium
from tests.fakes.web.strict_platform import strict_platform

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="session")]


@dataclass
class Office:
    """The pages with a case that is closed, and browsers of people; ``said`` is what their consoles said."""

    web: Dashboard
    browser: Browser
    said: list[str] = field(default_factory=list)

    async def somebody(self, name: str, role: Role) -> Page:
        """The page of somebody who is logged in."""
        who = Person("discord", f"7{len(self.browser.contexts)}9", name)
        self.web.desk.roles[who.user] = role
        await self.web.account(name, who)
        context = await self.browser.new_context(viewport={"width": 1280, "height": 800})
        page = await context.new_page()
        page.on("console", lambda one: self.said.append(one.text))
        page.on("pageerror", lambda one: self.said.append(str(one)))
        await log_in(page, self.web.origin, name)
        return page


@pytest_asyncio.fixture(loop_scope="session")
async def office(desk_file: Path, browser: Browser) -> AsyncIterator[Office]:
    """The pages in Chromium."""
    async with dashboard(desk_file) as web, forgotten(browser):
        card = await web.desk.case(REVIEWED)
        await web.desk.casework.close(card.case_id, card.version, web.desk.ane, CloseReason.SILENCE)
        made = Office(web, browser)
        yield made
        assert made.said == []


async def test_numbers_have_a_name_that_can_be_read_out_and_a_table(office: Office) -> None:
    """A plot is one picture with all that it shows in its name; its table opens without a script."""
    page = await office.somebody("mikel", Role.MODERATOR)
    await page.click("nav >> text=Numbers")
    plots = page.locator("svg[role=img]")
    name = await plots.first.locator("title").text_content()
    assert name
    assert f'img "{name}"' in await page.locator("main").aria_snapshot()
    table = page.locator("figure.plot table").first
    assert not await table.is_visible()
    await page.locator("figure.plot summary").first.click()
    assert await table.is_visible()


async def test_the_log_is_checked_and_somebody_erased(office: Office) -> None:
    """An export is saved as a file; the words are gone after the second step, and not before."""
    page, desk = await office.somebody("mikel", Role.ADMIN), office.web.desk
    await page.click("nav >> text=Record")
    await page.click("text=Check the log")
    assert "every line is as it was written" in await page.inner_text("div.note")
    async with page.expect_download() as saving:
        await page.click("text=Download")
    saved = await (await saving.value).path()
    assert desk.case_id in saved.read_text(encoding="utf-8")
    await page.fill("#user", POST.author)
    await page.click("text=Show what is kept")
    await page.wait_for_selector("text=Erase this person for ever")
    assert (await desk.now()).post.text == POST.text
    await page.click("text=Erase this person for ever")
    await page.wait_for_selector(".done")
    assert (await desk.now()).post.text == ""


async def test_a_card_is_written_by_one_and_accepted_by_another(office: Office) -> None:
    """From the form to a card from which drafts start."""
    writer = await office.somebody("mikel", Role.MANAGER)
    await writer.click("nav >> text=Library")
    await writer.click("text=Write a card")
    await writer.fill("#id", "jobs-at-the-mill")
    await writer.fill("#argument", "A job that somebody takes up is work that somebody needed done.")
    await writer.select_option("#stereotype", "migrants/jobs")
    await writer.fill("#reply-positive", "Whoever works beside us is one of us.")
    await writer.click("text=Propose it")
    assert "reviewed by nobody yet" in await writer.inner_text("article")
    reader = await office.somebody("itziar", Role.MANAGER)
    await reader.goto(f"{office.web.origin}/library/cards?own=1")
    await reader.click("text=Accept this version")
    await reader.wait_for_selector(".done")
    assert "accepted by itziar" in await reader.inner_text("article")


async def test_somebody_comes_back_from_a_platform(desk_file: Path, browser: Browser) -> None:
    """From another site, whose way back carries no cookie that is ours alone; nothing is pressed after it."""
    async with (
        strict_platform("localhost") as platform,
        dashboard(desk_file, providers=platform.providers) as web,
        forgotten(browser),
    ):
        await web.desk.case(REVIEWED)
        await web.account("ane", web.desk.ane)
        platform.redirects, platform.who = {f"{web.origin}/login/discord/back"}, web.desk.ane.user
        page = await browser.new_page()
        said = list[str]()
        page.on("console", lambda one: said.append(one.text))
        await page.goto(f"{web.origin}/login")
        await page.click("text=Log in through Discord")
        await page.wait_for_selector("#queue")
        assert (page.url, said) == (f"{web.origin}/", [])
