"""A server that answers its first call after 40 seconds, as one that loads its model at the first question does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from core.llm.backends.servers.chat import ChatModel
from core.llm.backends.servers.faults import ServerFault, Trouble
from core.llm.profiles import LIVE
from core.ports import Generation, Message
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.servers.chat import ChatServer, serving

ASK = [Message("system", "Answer briefly."), Message("user", "Is water wet?")]
HOW = Generation(max_tokens=8)


@pytest.fixture
def cold() -> Iterator[ChatServer]:
    """A server that holds its answers back until it is released."""
    with serving(FakeModel()) as server:
        server.released.clear()
        yield server


async def _after(seconds: float, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it was asked, so much time passes on the loop's clock, and then the server answers."""
    await asyncio.to_thread(server.asked.wait)
    loop = asyncio.get_running_loop()
    usual = loop.time
    monkeypatch.setattr(loop, "time", lambda: usual() + seconds)
    await asyncio.sleep(0)


async def test_a_first_answer_after_forty_seconds_is_waited_for(
    cold: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within the deadline of ``live``; the call is sent once, and the next ones go on as usual."""
    model = ChatModel(cold.url, "", "m")
    asking = asyncio.create_task(model.generate(ASK, HOW, LIVE.deadline_seconds))
    await _after(40, cold, monkeypatch)
    assert not asking.done()
    cold.released.set()
    assert (await asking).texts == ("Yes",)
    assert (await model.generate(ASK, HOW, LIVE.deadline_seconds)).texts == ("Yes",)
    assert len(cold.requests) == 2
    await model.close()


async def test_one_that_is_not_there_within_the_deadline_is_late(
    cold: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same call, were it to take longer than the profile allows; it is not sent a second time."""
    model = ChatModel(cold.url, "", "m")
    asking = asyncio.create_task(model.generate(ASK, HOW, LIVE.deadline_seconds))
    await _after(LIVE.deadline_seconds + 1, cold, monkeypatch)
    with pytest.raises(ServerFault) as caught:
        await asking
    assert caught.value.trouble is Trouble.LATE
    assert len(cold.requests) == 1
    await model.close()
