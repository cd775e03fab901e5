"""A server that answers its first call after 40 seconds, as one that loads its model at the first question does."""

import asyncio
from collections.abc import Iterator

import pytest

from core.engine.llm.budget import LIVE
from core.engine.ports import Generation, Message
from core.engine.servers.chat import ChatModel
from core.engine.servers.errors import ServerFault, Trouble
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.servers.chat import ChatServer, serving
from tests.fakes.machine.clock import let_pass, outlasting

ASK = [Message("system", "Answer briefly."), Message("user", "Is water wet?")]
HOW = Generation(max_tokens=8)


@pytest.fixture
def cold() -> Iterator[ChatServer]:
    """A server that holds its answers back until it is released."""
    with serving(FakeModel()) as server:
        server.released.clear()
        yield server


async def test_a_first_answer_after_forty_seconds_is_waited_for(cold: ChatServer) -> None:
    """Within the deadline of ``live``; the call is sent once, and the next ones go on as usual."""
    model = ChatModel(cold.url, "", "m")
    asking = asyncio.create_task(model.generate(ASK, HOW, LIVE.deadline_seconds))
    await asyncio.to_thread(cold.asked.wait)
    let_pass(40)
    await asyncio.sleep(0)
    assert not asking.done()
    cold.released.set()
    assert (await asking).texts == ("Yes",)
    assert (await model.generate(ASK, HOW, LIVE.deadline_seconds)).texts == ("Yes",)
    assert len(cold.requests) == 2
    await model.close()


async def test_one_that_is_not_there_within_the_deadline_is_late(cold: ChatServer) -> None:
    """The same call, were it to take longer than the profile allows; it is not sent a second time."""
    model = ChatModel(cold.url, "", "m")
    asking = model.generate(ASK, HOW, LIVE.deadline_seconds)
    with pytest.raises(ServerFault) as caught:
        await outlasting(asking, LIVE.deadline_seconds + 1, cold.asked.is_set)
    assert caught.value.trouble is Trouble.LATE
    assert len(cold.requests) == 1
    await model.close()
