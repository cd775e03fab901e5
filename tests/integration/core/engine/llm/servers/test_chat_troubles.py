"""The client's translation of a server's errors, silence and nonsense, over the wire."""

import asyncio
import socket

import pytest

from core.engine.ports import Generation, Message
from core.engine.servers.chat import ChatModel
from core.engine.servers.errors import ServerFault, Trouble
from core.errors import ModelAway
from tests.fakes.engine.servers.alike import ASK, AlikeServer, no_pause, refusal
from tests.fakes.machine.clock import outlasting
from tests.fakes.machine.model_server import MODEL, StandIn


@pytest.mark.parametrize(
    ("status", "error", "message", "remedy", "is_away"),
    [
        (401, {}, "refuses the API key", "ANTIPHON__LLM__API_KEY", True),
        (403, {}, "refuses the API key", "ANTIPHON__LLM__API_KEY", True),
        (404, {}, "does not know the model 'm'", "llm.model", True),
        (400, {"type": "exceed_context_size_error"}, "exceed_context_size_error", "longer context", False),
        (422, {}, "refuses the request", "antiphon doctor", False),
        *((status, {}, f"status {status}", "log", False) for status in (500, 502, 503, 504)),
        (429, {}, "status 429", "Try again", False),
    ],
)
async def test_a_status_says_what_to_do_and_whether_anybody_gets_an_answer(
    server: AlikeServer, model: ChatModel, status: int, error, message: str, remedy: str, *, is_away: bool
):
    """None is sent again but that of a busy server, and none repeats the server's text, which holds the post."""
    server.fails(status, **error)
    err = await refusal(model)
    assert isinstance(err, ModelAway) is is_away
    assert message in err.message
    assert remedy in err.remedy
    assert len(server.asked) == (4 if status == 429 else 1)


@pytest.mark.parametrize(
    ("status", "said", "trouble", "seconds"),
    [
        (429, "3", Trouble.BUSY, 3),
        (429, None, Trouble.BUSY, None),
        (429, "soon", Trouble.BUSY, None),
        (429, "-1", Trouble.BUSY, None),
        (503, "7", Trouble.BUSY, 7),
        (503, None, Trouble.BROKEN, None),
        (429, "Wed, 21 Oct 2015 07:28:00 -0000", Trouble.BUSY, None),  # of no zone
    ],
)
async def test_how_long_a_busy_server_asks_to_be_left_alone(
    status: int, said: str | None, trouble: Trouble, seconds: float | None
):
    """By Retry-After, in seconds or as a date; what is neither says nothing."""
    headers = {} if said is None else {"Retry-After": said}
    async with StandIn(trouble=status, headers=headers).running() as busy:
        chat = ChatModel(busy.url, "", MODEL, pause=no_pause)
        err = await refusal(chat, timeout_seconds=2)
        await chat.close()
    assert isinstance(err, ServerFault)
    assert (err.trouble, err.wait_seconds) == (trouble, seconds)


async def test_bad_request_without_a_body(server: AlikeServer, model: ChatModel):
    """A proxy's bare 400 is still an error in words."""
    server.status, server.body = 400, b""
    assert "status 400" in (await refusal(model)).message


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"{not json", "application/json"),
        (b"<html>", "text/html"),
        (b"[]", "application/json"),
        (b"null", "application/json"),
        (b"{}", "application/json"),
        (b'{"choices": [{}]}', "application/json"),
        (b'{"choices": 3}', "application/json"),
        (b'{"choices": [{"message": {}, "logprobs": {"content": 1}}], "usage": 4}', "application/json"),
    ],
)
async def test_answers_of_something_else(server: AlikeServer, model: ChatModel, body: bytes, content_type: str):
    """A wrong address must not look like a model that says nothing."""
    server.body, server.content_type = body, content_type
    assert "not an OpenAI-compatible server" in (await refusal(model)).message


async def test_refused_connection_names_the_address():
    """A person sees where nothing listens, and how to start it."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        chat = ChatModel(url, "", "m", remedy="Run: vllm serve m")
        err = await refusal(chat)
        await chat.close()
    assert url in err.message
    assert err.remedy == "Run: vllm serve m"
    assert isinstance(err, ModelAway)


async def test_dropped_connection_is_tried_once_more(server: AlikeServer, model: ChatModel):
    """A server that restarts, or closed an idle connection, costs no draft."""
    server.answers("one", tokens=1)
    server.drops = 1
    assert (await model.generate(ASK, Generation(max_tokens=5), 30)).texts == ("one",)
    server.asked.clear()
    server.drops = 2
    assert "cannot be reached" in (await refusal(model)).message
    assert len(server.asked) == 2


async def test_hanging_server_ends_in_time(server: AlikeServer, model: ChatModel):
    """The caller's deadline holds whatever the server does, and nothing is sent twice."""
    server.hangs = True
    err = await outlasting(refusal(model, timeout_seconds=60), 61, lambda: server.asked)
    assert "within 60 seconds" in err.message
    assert len(server.asked) == 1


async def test_longest_call_is_the_settings(server: AlikeServer):
    """``llm.timeout_seconds`` bounds a call that a long profile would let wait for an hour."""
    server.hangs = True
    chat = ChatModel(server.url, "", "m", timeout_seconds=60)
    err = await outlasting(refusal(chat, timeout_seconds=3600), 61, lambda: server.asked)
    assert "within 60 seconds" in err.message
    await chat.close()


async def test_one_of_a_kind_waits_for_the_other_and_not_for_other_kinds(server: AlikeServer):
    """Two calls that begin alike follow one another; beside them goes one that begins otherwise."""
    server.hangs = True
    chat = ChatModel(server.url, "", "m", is_one_of_a_kind=True)
    others = [Message("system", "Answer in verse."), ASK[1]]
    tasks = [asyncio.create_task(chat.generate(ask, Generation(max_tokens=5), 30)) for ask in (ASK, ASK, others)]
    for _ in range(2):
        await asyncio.to_thread(server.arrivals.acquire)
    await asyncio.sleep(0.1)  # a third would be here by now
    assert {asked["messages"][0]["content"] for asked in server.asked} == {ASK[0].content, others[0].content}
    assert len(server.asked) == 2
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    server.hangs = False
    server.answers("Fine.")
    assert (await chat.generate(ASK, Generation(max_tokens=5), 30)).texts == ("Fine.",)
    await chat.close()


async def test_cancelling_passes(server: AlikeServer, model: ChatModel):
    """A shutdown cancels a generation; that is no error of the model."""
    server.hangs = True
    task = asyncio.create_task(model.generate(ASK, Generation(max_tokens=5), 30))
    await asyncio.to_thread(server.arrived.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
