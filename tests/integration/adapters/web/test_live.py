"""What a page hears while it is open: which cases changed, numbered, and what it missed while it slept."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from core.desk.rules.closures import CloseReason
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.web.browsing import Browser, Dashboard


class Stream:
    """An open stream of events."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.answer = answer

    async def next(self) -> tuple[int, list[str]]:
        """The number of the next event and the cases that it names."""
        number = -1
        while True:
            async with asyncio.timeout(GUARD_SECONDS):
                line = (await self.answer.content.readline()).decode().strip()
            assert line or not self.answer.content.at_eof(), "The stream ended."
            if line.startswith("id:"):
                number = int(line.removeprefix("id:"))
            elif line.startswith("data:") and number >= 0:
                return number, list(json.loads(line.removeprefix("data:"))["cases"])

    async def waiting(self) -> str:
        """What the next event says of the oldest case."""
        async with asyncio.timeout(GUARD_SECONDS):
            while (await self.answer.content.readline()).strip() != b"event: waiting":
                assert not self.answer.content.at_eof(), "The stream ended."
            return str(json.loads((await self.answer.content.readline()).removeprefix(b"data:")))


@asynccontextmanager
async def listening(browser: Browser, since: str = "", last: str = "") -> AsyncIterator[Stream]:
    """Open the stream as a page does."""
    headers = {"Last-Event-ID": last} if last else {}
    address = f"{browser.origin}/events?since={since}"
    async with browser.session.get(address, headers=headers) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        yield Stream(answer)


def _number(browser: Browser) -> str:
    found = browser.page.dom.css_first("[data-number]")
    assert found is not None
    return str(found.attributes["data-number"])


async def test_a_page_hears_that_a_case_changed(room: Dashboard, ane: Browser) -> None:
    """From the number that the page was made at, so that nothing between the two is lost."""
    await ane.get("/")
    number = _number(ane)
    card = await room.desk.now()
    await room.desk.casework.close(card.case_id, card.version, room.desk.jon, CloseReason.SILENCE)
    async with listening(ane, since=number) as stream:
        told, cases = await stream.next()
        assert cases == [card.case_id]
        assert told > int(number)
        await room.desk.casework.undo(card.case_id, card.version + 1, room.desk.jon)
        assert (await stream.next())[1] == [card.case_id]


async def test_a_page_that_slept_hears_what_it_missed_once(room: Dashboard, ane: Browser) -> None:
    """Three changes while it was away are one event; asked again from there it hears nothing twice."""
    await ane.get("/")
    number = _number(ane)
    for _ in range(3):
        await room.desk.moved()
    async with listening(ane, since="0", last=number) as stream:
        told, cases = await stream.next()
    assert cases == [room.desk.case_id]
    async with listening(ane, last=str(told)) as stream:
        card = await room.desk.now()
        await room.desk.casework.hold(card.case_id, room.desk.jon)
        assert await stream.next() == (told, [card.case_id])


async def test_every_page_says_how_long_the_oldest_has_waited(room: Dashboard, ane: Browser) -> None:
    """In its head, and in what it hears; only of what needs a person."""
    card = await room.desk.now()
    for path in ("/", "/decided", "/me", f"/case/{card.case_id}", "/nowhere"):
        assert "Oldest case:" in (await ane.get(path)).said(".top #waiting")
    for closes, said in ((False, "Oldest case:"), (True, "Nothing needs you now.")):
        if closes:
            await room.desk.casework.close(card.case_id, card.version, room.desk.jon, CloseReason.SILENCE)
        async with listening(ane) as stream:
            assert said in await stream.waiting()
        assert said in (await ane.get("/me")).said("#waiting")


async def test_nobody_hears_of_other_communities(room: Dashboard, ane: Browser) -> None:
    """Who lost the role hears nothing of a case, and is told that it is over."""
    await ane.get("/")
    number = _number(ane)
    card = await room.desk.now()
    await room.desk.casework.close(card.case_id, card.version, room.desk.jon, CloseReason.SILENCE)
    del room.desk.roles[room.desk.ane.user]
    page = await ane.get(f"/case/{card.case_id}")
    assert page.status == 403
    assert (await ane.get(f"/events?since={number}")).status == 401
