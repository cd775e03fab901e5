"""Several model servers behind one setting, over the wire: real servers on loopback, some of them in trouble."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

import pytest

from bench.measuring.model_server import MODEL, Reset, Silence, StandIn
from core.errors import ModelAway, ModelUnavailable
from core.llm.backends.servers import reaching
from core.llm.backends.servers.breaker import State
from core.llm.backends.servers.calls import Call
from core.llm.backends.servers.chat import ChatModel
from core.llm.backends.servers.choosing import preferred
from core.llm.backends.servers.faults import ServerFault, Trouble
from core.llm.backends.servers.pool import ChatPool, open_chat
from core.llm.backends.servers.pooled import Patience
from core.ports import Answer, Generation, Message

KINDS = tuple(f"You do task {number}." for number in range(24))
POST = "canary-post-text"
QUICK = Patience(look=0.3, doubt=1.0, probe=1.0, first_pause=0.2, longest_pause=1.0, rest=0.2)
PARALLEL = 8


@dataclass
class Three:
    """Three servers, the pool over them, and what it told of its calls."""

    servers: list[StandIn]
    pool: ChatPool
    told: list[Call] = field(default_factory=list)
    answered: int = 0

    async def ask(self, number: int = 0, seconds: float = 30) -> Answer:
        """One call, of the kind of that number."""
        kind = KINDS[number % len(KINDS)]
        answer = await self.pool.generate([Message("system", kind), Message("user", POST)], Generation(4), seconds)
        self.answered += 1
        return answer

    async def ask_all(self, calls: int, at_once: int = 12) -> list[Answer]:
        """Many calls of all kinds."""
        free = asyncio.Semaphore(at_once)

        async def one(number: int) -> Answer:
            async with free:
                return await self.ask(number)

        return await asyncio.gather(*map(one, range(calls)))

    def asked(self, server: int) -> int:
        """The calls that reached a server, without the pool's own questions."""
        return sum(call["messages"][0]["content"] in KINDS for call in self.servers[server].calls)

    def state(self, server: int) -> State:
        """Whether a server is asked."""
        return self.pool.states[self.servers[server].url]

    async def until(self, server: int, state: State) -> None:
        """Go on with calls until a server is in that state."""
        while self.state(server) is not state:
            await self.ask_all(6)
            await asyncio.sleep(0.02)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A short limit for a list of models: the tests wait for it."""
    monkeypatch.setattr(reaching, "SECONDS", 0.7)
    yield


@pytest.fixture
async def three() -> AsyncIterator[Three]:
    """Three servers that work 10 ms on a call."""
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(StandIn(lambda: 0.01).running()) for _ in range(3)]
        told = list[Call]()
        pool = open_chat(
            [s.url for s in servers], "sk-canary", MODEL, parallel=PARALLEL, patience=QUICK, on_call=told.append
        )
        assert isinstance(pool, ChatPool)
        stack.push_async_callback(pool.close)
        yield Three(servers, pool, told)


@pytest.mark.parametrize(
    "trouble", [Silence.ALL, Silence.ENGINE, Reset.EACH, 503, 401], ids=lambda trouble: f"{trouble}"
)
async def test_one_of_three_in_trouble(three: Three, trouble: int | Silence | Reset, caplog: pytest.LogCaptureFixture):
    """All calls are answered by the others; the bad one is left out, probed, and taken in again when it is well."""
    caplog.set_level(logging.INFO, "core.llm")
    bad = three.servers[0]
    await three.ask_all(24)  # what an answer takes is known
    bad.trouble = trouble
    before, sent = [three.asked(server) for server in range(3)], len(bad.calls)
    three.answered = 0
    answers = await three.ask_all(60)
    assert [answer.texts for answer in answers] == [("A",)] * 60
    await three.until(0, State.OPEN)
    good = sum(three.asked(server) - before[server] for server in (1, 2))
    assert good == three.answered  # nobody was answered twice
    lost = three.asked(0) - before[0]
    told = sum(call.failed is not None and call.server == bad.url for call in three.told)
    assert 0 < lost <= told <= len(bad.calls) - sent  # the rest are the pool's own questions
    assert lost <= 3 * PARALLEL

    probes = len(bad.calls)
    while len(bad.calls) == probes:  # a pause is over
        await three.ask_all(6)
        await asyncio.sleep(0.02)
    assert three.asked(0) - before[0] == lost  # nobody's call was the probe
    bad.trouble = None
    await three.until(0, State.CLOSED)
    again = three.asked(0)
    await three.ask_all(48)
    assert three.asked(0) - again >= 4
    assert caplog.text.count(f"{bad.url} is left out until it answers") == 1
    assert caplog.text.count(f"{bad.url} answers again") == 1
    assert "canary" not in caplog.text


async def test_four_troubles_at_once(three: Three):
    """A black hole, a server that resets, one that is not there and one that refuses: the only good one answers all."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        async with StandIn(trouble=503).running() as refusing:
            three.servers[0].trouble, three.servers[1].trouble = Silence.ALL, Reset.EACH
            urls = [*(server.url for server in three.servers), nobody, refusing.url]
            pool = open_chat(urls, "", MODEL, parallel=PARALLEL, patience=QUICK)
            assert isinstance(pool, ChatPool)
            three.pool, old = pool, three.pool
            answers = await three.ask_all(60)
            three.pool = old
            await pool.close()
    assert [answer.texts for answer in answers] == [("A",)] * 60
    assert three.asked(2) == 60


async def test_load_is_spread_and_beginnings_are_kept(three: Three):
    """No server gets far more than another, and most calls go where their beginning was read before."""
    await three.ask_all(180)
    shares = [three.asked(server) / 180 for server in range(3)]
    assert min(shares) > 0.15
    assert max(shares) < 0.55
    urls = [server.url for server in three.servers]
    kept = sum(
        count for server in three.servers for kind, count in server.begun.items() if preferred(kind, urls) == server.url
    )
    assert kept / 180 > 0.5


async def test_a_quiet_pool_keeps_every_beginning(three: Three):
    """One call after the other: each kind has one server, and three servers cost no more calls than one."""
    for number in range(48):
        await three.ask(number)
    assert sum(three.asked(server) for server in range(3)) == 48
    homes = {kind: sum(kind in server.begun for server in three.servers) for kind in KINDS}
    assert set(homes.values()) == {1}


async def test_each_server_gets_as_many_calls_as_it_takes(three: Three):
    """What is more waits for any of them, and all are used."""
    for server in three.servers:
        server.seconds = lambda: 0.05
    await three.ask_all(90, at_once=90)
    assert [server.most for server in three.servers] == [PARALLEL] * 3


async def test_a_refused_request_goes_to_no_other(three: Three):
    """It would be refused there too; no server is blamed."""
    for server in three.servers:
        server.trouble = 400
    for number in range(12):
        with pytest.raises(ServerFault, match="refuses the request"):
            await three.ask(number)
    assert sum(three.asked(server) for server in range(3)) == 12
    assert set(three.pool.states.values()) == {State.CLOSED}


async def test_a_request_that_breaks_every_server_is_to_blame_itself(three: Three):
    """Each is tried once, and none is left out: other calls are still answered."""
    for server in three.servers:
        server.trouble = 500
    for number in range(6):
        with pytest.raises(ModelUnavailable, match="status 500") as caught:
            await three.ask(number)
        assert not isinstance(caught.value, ModelAway)
    assert [three.asked(server) for server in range(3)] == [6, 6, 6]
    for server in three.servers:
        server.trouble = None
    await three.ask_all(12)
    assert sum(three.asked(server) for server in range(3)) == 18 + 12


async def test_when_all_are_away_it_is_said_at_once(three: Three):
    """The remedy is kept, and no more requests are sent until a pause is over."""
    for server in three.servers:
        server.trouble = 401
    with pytest.raises(ModelAway, match="refuses the API key"):
        await three.ask()
    assert set(three.pool.states.values()) == {State.OPEN}
    with pytest.raises(ModelAway) as caught:
        await three.ask()
    assert "ANTIPHON__LLM__API_KEY" in caught.value.remedy
    assert [three.asked(server) for server in range(3)] == [1, 1, 1]
    three.servers[1].trouble = None
    while three.state(1) is not State.CLOSED:
        with suppress(ModelAway):
            await three.ask()
        await asyncio.sleep(0.02)


async def test_a_busy_server_is_left_alone_for_as_long_as_it_asks(three: Three):
    """The others go on meanwhile; it is no failure, so that it is asked again without a probe."""
    busy = three.servers[0]
    busy.trouble, busy.headers = 429, {"Retry-After": "1"}
    await three.ask_all(60)
    assert three.state(0) is State.CLOSED
    assert 1 <= three.asked(0) <= PARALLEL  # those that were on their way when it said so
    assert three.asked(1) + three.asked(2) == 60
    busy.trouble = None
    asked = len(busy.calls)
    while len(busy.calls) == asked:
        await three.ask_all(6)
        await asyncio.sleep(0.05)
    assert three.asked(0) == len(busy.calls)


async def test_busy_servers_are_waited_for_only_if_there_is_time(three: Three):
    """All say to come back in 1 second: a call with more time waits for that, one with less is told at once."""
    for server in three.servers:
        server.trouble, server.headers = 429, {"Retry-After": "1"}
    with pytest.raises(ModelAway, match="status 429"):
        await three.ask(seconds=0.5)
    with pytest.raises(ModelAway, match="status 429"):
        await three.ask(seconds=0.5)
    assert [three.asked(server) for server in range(3)] == [1, 1, 1]
    for server in three.servers:
        server.trouble = None
    assert (await three.ask(seconds=30)).texts == ("A",)
    assert sum(three.asked(server) for server in range(3)) == 4


async def test_a_late_call_is_not_sent_again(three: Three):
    """Its server may still work on it, and its time is over."""
    for server in three.servers:
        server.seconds = lambda: 60.0
    with pytest.raises(ServerFault, match=r"within 0\.3 seconds") as caught:
        await three.ask(seconds=0.3)
    assert caught.value.trouble is Trouble.LATE
    assert sum(three.asked(server) for server in range(3)) == 1


async def test_a_call_that_found_no_room_in_time_is_late(three: Three):
    """It waits for any of them, and for no longer than it may."""
    for server in three.servers:
        server.seconds = lambda: 60.0
    full = [asyncio.create_task(three.ask(number)) for number in range(3 * PARALLEL)]
    for server in three.servers:
        await server.is_here(PARALLEL)
    with pytest.raises(ServerFault, match=r"within 0\.2 seconds"):
        await three.ask(seconds=0.2)
    for task in full:
        task.cancel()
    await asyncio.gather(*full, return_exceptions=True)
    for server in three.servers:
        server.seconds = lambda: 0.01
    await three.ask_all(24)  # what was cancelled holds no place
    assert max(three.asked(server) for server in range(3)) < 24 + PARALLEL


async def test_a_slow_server_that_lists_its_models_is_not_left(three: Three):
    """It answers each look; that one answer takes long is no silence."""
    for server in three.servers:
        server.seconds = lambda: 1.0
    await three.ask_all(12)
    assert set(three.pool.states.values()) == {State.CLOSED}
    assert sum(server.looks for server in three.servers) > 3
    assert sum(three.asked(server) for server in range(3)) == 12


async def test_calls_are_told(three: Three):
    """By server, with tokens, and with what was wrong."""
    three.servers[0].trouble = 503
    await three.ask_all(24)
    good = [call for call in three.told if call.failed is None]
    assert len(good) == 24
    assert {(call.prompt_tokens, call.answer_tokens) for call in good} == {(7, 1)}
    assert {call.server for call in good} == {server.url for server in three.servers[1:]}
    assert {call.failed for call in three.told if call.server == three.servers[0].url} == {Trouble.BROKEN}


async def test_at_the_start_one_that_is_away_is_left_out(three: Three, caplog: pytest.LogCaptureFixture):
    """It is told; the others know the model, and get all calls until it comes."""
    three.servers[0].trouble = Reset.EACH
    await three.pool.check_model()
    assert list(three.pool.states.values()) == [State.OPEN, State.CLOSED, State.CLOSED]
    assert f"{three.servers[0].url} is left out" in caplog.text
    await three.ask_all(24)
    assert three.asked(0) == 0


async def test_at_the_start_each_must_know_the_model(three: Three):
    """A server of another model would write in its name."""
    three.servers[1].models, three.servers[1].trouble = ("another",), 404
    with pytest.raises(ModelUnavailable, match=f"{three.servers[1].url} does not know the model"):
        await three.pool.check_model()


async def test_at_the_start_all_away_is_left_to_the_first_call(three: Three, caplog: pytest.LogCaptureFixture):
    """As with one server: they may come up later."""
    for server in three.servers:
        server.trouble = Reset.EACH
    await three.pool.check_model()
    assert caplog.text.count("does not answer yet") == 3
    assert set(three.pool.states.values()) == {State.CLOSED}
    with pytest.raises(ModelAway, match="cannot be reached"):
        await three.ask()


async def test_one_server_has_no_pool_above_it():
    """It is asked as it always was, and only for what callers want."""
    async with StandIn(lambda: 0.02).running() as server:
        chat = open_chat([server.url], "", MODEL, parallel=2)
        assert isinstance(chat, ChatModel)
        asks = [Message("system", KINDS[0]), Message("user", POST)]
        await asyncio.gather(*(chat.generate(asks, Generation(4), 30) for _ in range(8)))
        await chat.close()
    assert (len(server.calls), server.looks, server.most) == (8, 0, 2)
