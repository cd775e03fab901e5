"""``antiphon run``: the page of the sample community, as a person meets it first."""

import asyncio
import re
import signal
import subprocess

import aiohttp
import pytest

from adapters.sample import SAMPLE_FLAGS
from tests.e2e.conftest import GUARD_SECONDS, Antiphon, check_quiet
from tests.fakes.machine.patience import until
from tests.fakes.web.browsing import Browser

PASTED = "Refugees get everything for nothing.\n\nAnd they never say thank you."


def _link(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Where the page is, and the way in, once it says so."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"(http://[^/\s]+)(/link/\S+)", line):
            return found[1], found[2]
    raise AssertionError(f"It said no link: {process.communicate()}")


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


async def test_a_reply_is_approved_on_the_page_and_posted_in_the_town(drafter: Antiphon) -> None:
    """From the link that is printed to the thread that is printed at the end; a post of one's own is drafted for."""
    undo = drafter.having(ANTIPHON__DESK__UNDO_SECONDS="0")
    with undo.started("run") as process:
        origin, link = await asyncio.to_thread(_link, process)
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            browser = Browser(session, origin)
            await browser.get(link)
            page = await browser.press("Log in with this link")
            assert page.path == "/"

            async def has_drafts() -> bool:
                rows = (await browser.get("/")).dom.css("a[data-case]")
                return len(rows) == len(SAMPLE_FLAGS) and all(re.search(r"[1-9] drafts?", row.text()) for row in rows)

            await until(has_drafts)
            shown, path = "", ""
            for row in browser.page.dom.css("a[data-case]"):
                path = str(row.attributes["href"])
                await browser.get(path)
                page = await browser.press("Approve draft 1…")
                if "Yes, post this reply" in page.buttons:
                    shown = page.said("pre.exact")
                    await browser.press("Yes, post this reply")
                    break
            assert shown

            async def is_posted() -> bool:
                return "The reply is posted." in (await browser.get(path)).said("h1")

            await until(is_posted)
            await browser.get("/")
            page = await browser.press("Ask for drafts", post=PASTED)
            assert page.path.startswith("/case/")
            assert PASTED.partition("\n")[0] in (await browser.get(f"{page.path}?reveal=1")).words
            await browser.get("/")
            assert (await browser.press("Ask for drafts", post="   ")).status == 422
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.to_thread(process.communicate, timeout=GUARD_SECONDS)
    assert process.returncode == 0, err
    assert _letters(shown) in _letters(out)  # the thread is a table, which breaks lines


@pytest.mark.parametrize("is_open", [False, True], ids=["while it starts", "once the page is open"])
async def test_ctrl_c_at_once_and_several_times_ends_without_a_traceback(drafter: Antiphon, *, is_open: bool) -> None:
    """The transactions under way are finished, and nothing is shown but that it stops."""
    with drafter.started("run") as process:
        if is_open:
            await asyncio.to_thread(_link, process)
        else:
            await until(lambda: asyncio.to_thread(lambda: any(drafter.home.rglob("*.db-wal"))))
        for _ in range(5):
            process.send_signal(signal.SIGINT)
            await asyncio.sleep(0.03)
        out, err = await asyncio.to_thread(process.communicate, timeout=GUARD_SECONDS)
    check_quiet(out + err)
    # The last signal may find a process whose work has ended, and which Python no longer lets hear any.
    assert process.returncode in (0, 130, -signal.SIGINT), err
