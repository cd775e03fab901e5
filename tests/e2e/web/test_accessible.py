"""Every page of the dashboard against WCAG 2.2 AA, in four languages, two themes and three widths.

The style sheet takes colours from the theme alone, and hides nothing by the width. What a theme, a width or a language
changes is looked at once; their products are not.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from core.i18n.catalogs import LANGUAGES
from tests.fakes.web.audit import faults, faults_of_focus, faults_of_looks, faults_of_names, is_too_wide, shape
from tests.fakes.web.chromium import forgotten, log_in, needs_chromium
from tests.fakes.web.furnished import ACCOUNT, Furnished, Stop, furnished

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="session")]
_WIDE, _PHONE = 1280, 390
_REFUSED = "Failed to load resource: the server responded with a status of 4"
"""What a browser says of each page that tells of an error."""


@dataclass
class Round:
    """A way through all pages, as somebody who is logged in and as somebody who is not; ``said``: by their consoles."""

    house: Furnished
    browser: Browser
    said: list[str] = field(default_factory=list)

    async def pages(self, language: str) -> AsyncIterator[tuple[Stop, Page]]:
        """Each page in a language, with all that can be unfolded open."""
        known, unknown = await self._page(language), await self._page(language)
        await log_in(known, self.house.web.origin, ACCOUNT)
        for stop in self.house.stops:
            page = unknown if stop.is_open else known
            await stop.go(page, self.house.web.origin)
            yield stop, page

    async def _page(self, language: str) -> Page:
        context = await self.browser.new_context(locale=language, reduced_motion="reduce")
        page = await context.new_page()
        page.on("console", lambda one: None if one.text.startswith(_REFUSED) else self.said.append(one.text))
        page.on("pageerror", lambda one: self.said.append(str(one)))
        return page


@pytest_asyncio.fixture(loop_scope="session")
async def way(desk_file: Path, browser: Browser) -> AsyncIterator[Round]:
    """The pages, and a browser that has seen none."""
    async with furnished(desk_file) as house, forgotten(browser):
        yield Round(house, browser)


async def test_no_page_has_a_fault(way: Round) -> None:
    """By axe-core; in English light and wide, with the focus on each element in turn, and what is seen on a dark phone.

    In another language the words are others: where nothing else is, no name can be missing that was there in English.
    No page has to be pushed sideways at 320 pixels.
    """
    found, shapes = dict[str, list[str]](), dict[str, str]()
    for language in LANGUAGES:
        async for stop, page in way.pages(language):
            told = [] if await page.get_attribute("html", "lang") == language else ["in another language"]
            if language == "en":
                shapes[stop.name] = await shape(page)
                await page.set_viewport_size({"width": _WIDE, "height": 800})
                await page.emulate_media(color_scheme="light")
                told += [*await faults(page), *await faults_of_focus(page)]
                await page.set_viewport_size({"width": _PHONE, "height": 800})
                await page.emulate_media(color_scheme="dark")
                told += [*await faults_of_looks(page), *await faults_of_focus(page)]
            elif await shape(page) != shapes.get(stop.name, ""):
                told += await faults_of_names(page)
            if await is_too_wide(page):
                told.append("too wide")
            if told:
                found[f"{stop.name}, {language}"] = told
    assert found == {}
    assert way.said == []


async def test_the_audit_finds_what_is_wrong(browser: Browser) -> None:
    """A page with planted faults: otherwise nothing that it does not find would say anything."""
    page = await browser.new_page(viewport={"width": _PHONE, "height": 800})
    await page.set_content(
        "<html lang=en><title>x</title><style>a {outline: none} i {position: fixed; inset: 0}</style><main><h1>x</h1>"
        "<p style='color: #aaa'>pale</p><img src=x><button style='width: 9px; height: 9px; padding: 0'>a</button>"
        "<button style='width: 9px; height: 9px; padding: 0'>b</button><a href=#>c</a>"
        "<p style='width: 400px'>wide</p><i></i>"
    )
    told = {one.partition(":")[0] for one in await faults(page)}
    assert {"color-contrast", "image-alt", "target-size"} <= told
    assert {one.partition(":")[0] for one in await faults_of_looks(page)} == {"color-contrast", "target-size"}
    assert {one.partition(":")[0] for one in await faults_of_names(page)} == {"image-alt"}
    told_of_focus = await faults_of_focus(page)
    assert any(one.startswith("focus is not seen: <a") for one in told_of_focus)
    assert any(one.startswith("focus is covered: <button") for one in told_of_focus)
    assert await is_too_wide(page)
    shapes = list[str]()
    for one, other, button in (("a", "b", "c"), ("x", "y", "z"), ("x", "x", "z"), ("x", "y", ""), ("x", "", "z")):
        await page.set_content(
            f"<nav aria-label='{one}'></nav><nav aria-label='{other}'></nav><button>{button}</button>"
        )
        shapes.append(await shape(page))
    assert shapes[0] == shapes[1]
    assert len(set(shapes)) == 4
    await page.close()
