"""Debian's Chromium, for tests of pages that need a real browser; without it they are left out."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.web.browsing import PASSWORD

_PROGRAM: Final = shutil.which("chromium")
needs_chromium: Final = pytest.mark.skipif(
    _PROGRAM is None, reason="Chromium is not installed: apt-get install chromium"
)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The browser, until the block ends. Where the machine is busy it waits for a page as long as any test waits."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=_PROGRAM, args=["--no-sandbox", "--disable-gpu"])
        browser.on("context", lambda context: context.set_default_timeout(1000 * GUARD_SECONDS))
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def forgotten(browser: Browser) -> AsyncIterator[None]:
    """Close what was opened in a browser that several tests share when the block ends."""
    try:
        yield
    finally:
        for context in browser.contexts:
            await context.close()


async def log_in(page: Page, origin: str, account: str) -> None:
    """Log in at the page of a dashboard, as an account of ``tests.fakes.web.browsing``."""
    await page.goto(f"{origin}/login")
    await page.fill("#account", account)
    await page.fill("#password", PASSWORD)
    await page.click("main button")
    await page.wait_for_selector("#queue")
