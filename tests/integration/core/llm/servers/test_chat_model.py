"""The client's translation of a server's answers and errors, over the wire."""

from __future__ import annotations

import asyncio
import json
import math
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from bench.measuring.model_server import MODEL, StandIn
from core.errors import ModelAway, ModelUnavailable
from core.llm.backends.servers.calls import Call
from core.llm.backends.servers.chat import ChatModel
from core.llm.backends.servers.faults import ServerFault, Trouble
from core.llm.backends.servers.protocol import Writer
from core.llm.short_prompts import Task
from core.ports import Generation, Message

POST = "canary-post-text"
ASK = [Message("system", "Answer briefly."), Message("user", POST)]


@dataclass
class FakeServer:
    """Answers every request alike, and remembers what it was asked."""

    status: int = 200
    body: bytes = b"{}"
    content_type: str = "application/json"
    hangs: bool = False
    drops: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    arrivals: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    released: threading.Event = field(default_factory=threading.Event)
    names: list[str] | None = None
    url: str = ""

    def answers(self, *texts: str, tokens: int = 0, logprobs: list[dict[str, Any] | None] | None = None) -> None:
        choices = [
            {
                "index": index,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
                "logprobs": logprobs[index] if logprobs else None,
            }
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 7, "completion_tokens": tokens, "total_tokens": 7 + tokens}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
        self.body = json.dumps(answer | {"usage": usage}).encode()

    def fails(self, status: int, **error: str) -> None:
        self.status = status
        self.body = json.dumps({"error": {"message": f"the prompt was {POST}", **error}}).encode()


def token(text: str, share: float, **more: Any) -> dict[str, Any]:
    return {"token": text, "logprob": math.log(share), "bytes": None, "top_logprobs": [], **more}


def first_token(*likely: tuple[str, float]) -> list[dict[str, Any] | None]:
    return [{"content": [token(*likely[0], top_logprobs=[token(*each) for each in likely])], "refusal": None}]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A server on a free port."""
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fake.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            fake.keys.append(self.headers["Authorization"])
            fake.arrived.set()
            fake.arrivals.release()
            if fake.hangs:
                fake.released.wait()
                return
            if len(fake.asked) <= fake.drops:
                self.close_connection = True
                return
            self.send_response(fake.status)
            self.send_header("Content-Type", fake.content_type)
            self.send_header("Content-Length", str(len(fake.body)))
            self.end_headers()
            self.wfile.write(fake.body)

        def do_GET(self) -> None:
            known = fake.names or []
            body = json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in known]}).encode()
            self.send_response(404 if fake.names is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield fake
    fake.released.set()
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
async def model(server: FakeServer) -> AsyncIterator[ChatModel]:
    """The client of that server."""
    chat = ChatModel(server.url, "sk-canary", "m")
    yield chat
    await chat.close()


async def refusal(model: ChatModel, timeout_seconds: float = 30) -> ModelUnavailable:
    """The error of a generation. It must never repeat the post or the key."""
    with pytest.raises(ModelUnavailable) as caught:
        await model.generate(ASK, Generation(max_tokens=5), timeout_seconds)
    assert caught.value.__cause__ is not None
    assert "canary" not in str(caught.value)
    assert caught.value.remedy
    return caught.value


async def test_request_says_what_was_asked(server: FakeServer, model: ChatModel):
    """Seed, stop and schema reach the server under the protocol's names, and the key as a bearer token."""
    server.answers("one", "two", tokens=9)
    schema = {"type": "object"}
    how = Generation(max_tokens=5, temperature=0.5, n=2, seed=3, stop=("\n",), schema=schema)
    answer = await model.generate(ASK, how, 30)
    assert (answer.texts, answer.prompt_tokens, answer.completion_tokens) == (("one", "two"), 7, 9)
    asked = server.asked[0]
    assert asked["messages"][1] == {"role": "user", "content": POST}
    assert [asked[key] for key in ("model", "max_tokens", "n", "seed", "stop")] == ["m", 5, 2, 3, ["\n"]]
    assert asked["response_format"]["json_schema"]["schema"] == schema
    assert server.keys == ["Bearer sk-canary"]


async def test_an_adapter_is_asked_by_its_own_name_and_only_where_it_takes_part(server: FakeServer):
    """As vLLM serves it: an adapter is a model of another name."""
    server.answers("!")
    writers = {name: Writer(frozenset(Task), {"model": f"writer-{name or 'ours'}"}) for name in ("", "theirs")}
    chat = ChatModel(server.url, "k", "m", writers=writers)
    try:
        for is_adapted, name in ((True, ""), (True, "theirs"), (False, "theirs")):
            await chat.generate(ASK, Generation(max_tokens=5, is_adapted=is_adapted, writer=name), 30)
        await chat.choose(ASK, ["Yes", "No"], 30)
        assert [asked["model"] for asked in server.asked] == ["writer-ours", "writer-theirs", "m", "m"]
        server.names = ["m"]
        server.fails(404)
        with pytest.raises(ModelUnavailable, match="does not know the model 'writer-ours'"):
            await chat.check_model()
    finally:
        await chat.close()


async def test_tokens_of_all_choices_count(server: FakeServer, model: ChatModel):
    """llama.cpp reports the first choice's tokens only; a budget must not be overdrawn for that."""
    three = {"content": [token("a", 1.0)] * 3, "refusal": None}
    server.answers("aaa", "aaa", tokens=3, logprobs=[three, three])
    assert (await model.generate(ASK, Generation(max_tokens=5, n=2), 30)).completion_tokens == 6


async def test_choose_sums_spellings_and_normalises(server: FakeServer, model: ChatModel):
    """A vote is a distribution over the options, read from one token."""
    server.answers("A", tokens=1, logprobs=first_token(("A", 0.5), (" a", 0.1), ("B", 0.2), ("The", 0.1)))
    shares, answer = await model.choose(ASK, ["A", "B", "C"], 30)
    assert shares == pytest.approx({"A": 0.75, "B": 0.25, "C": 0.0})
    assert answer.completion_tokens == 1
    assert (server.asked[0]["max_tokens"], server.asked[0]["temperature"]) == (1, 0)


@pytest.mark.parametrize("likely", [(("The", 0.9), ("It", 0.05)), (("The", 0.9), ("A", 0.04))])
async def test_choose_says_nothing_where_the_model_does_not(server: FakeServer, model: ChatModel, likely):
    """Noise below 5 % must not be blown up into a verdict."""
    server.answers("The", tokens=1, logprobs=first_token(*likely))
    assert (await model.choose(ASK, ["A", "B"], 30))[0] is None


async def test_choose_without_log_probabilities(server: FakeServer, model: ChatModel):
    """A server that gives none gives no verdict."""
    server.answers("A", tokens=1)
    assert (await model.choose(ASK, ["A", "B"], 30))[0] is None


@pytest.mark.parametrize(
    ("status", "is_away"),
    [(status, True) for status in (401, 403, 404, 429, 502, 503, 504)] + [(status, False) for status in (400, 500)],
)
async def test_a_status_says_whether_anybody_gets_an_answer(
    server: FakeServer, model: ChatModel, status: int, is_away: bool
):
    """What is refused for everybody is not held against the post; what may be the post's fault is."""
    server.fails(status)
    assert isinstance(await refusal(model), ModelAway) is is_away


@pytest.mark.parametrize(
    ("status", "error", "message", "remedy"),
    [
        (401, {}, "refuses the API key", "ANTIPHON__LLM__API_KEY"),
        (403, {}, "refuses the API key", "ANTIPHON__LLM__API_KEY"),
        (404, {}, "does not know the model 'm'", "llm.model"),
        (400, {"type": "exceed_context_size_error"}, "exceed_context_size_error", "llm.context_tokens"),
        (500, {}, "status 500", "log"),
        (429, {}, "status 429", "try again"),
    ],
)
async def test_statuses(server: FakeServer, model: ChatModel, status: int, error, message: str, remedy: str):
    """Each failure says what to do, is not sent again, and does not repeat the server's text, which holds the post."""
    server.fails(status, **error)
    err = await refusal(model)
    assert message in err.message
    assert remedy in err.remedy
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "said", "trouble", "seconds"),
    [
        (429, "3", Trouble.BUSY, 3),
        (429, None, Trouble.BUSY, None),
        (429, "soon", Trouble.BUSY, None),
        (429, "-1", Trouble.BUSY, None),
        (503, "7", Trouble.BUSY, 7),
        (503, None, Trouble.BROKEN, None),
        (429, "Wed, 21 Oct 2015 07:28:00 GMT", Trouble.BUSY, 0),
        (429, "Wed, 21 Oct 2015 07:28:00 -0000", Trouble.BUSY, None),  # of no zone
    ],
)
async def test_how_long_a_busy_server_asks_to_be_left_alone(
    status: int, said: str | None, trouble: Trouble, seconds: float | None
):
    """By Retry-After, in seconds or as a date; what is neither says nothing."""
    headers = {} if said is None else {"Retry-After": said}
    async with StandIn(trouble=status, headers=headers).running() as busy:
        chat = ChatModel(busy.url, "", MODEL)
        err = await refusal(chat)
        await chat.close()
    assert isinstance(err, ServerFault)
    assert (err.trouble, err.wait_seconds) == (trouble, seconds)


async def test_calls_are_told_with_what_they_cost(server: FakeServer):
    """One for each that was sent, also where it was sent twice or failed; none for one that found no place in time."""
    told = list[Call]()
    chat = ChatModel(server.url, "sk-canary", "m", concurrency=1, on_call=told.append)
    server.answers("one", "two", tokens=9)
    await chat.generate(ASK, Generation(max_tokens=5, n=2), 30)
    server.fails(500)
    await refusal(chat)
    server.hangs = True
    hanging = asyncio.create_task(refusal(chat, timeout_seconds=0.5))
    for _ in range(3):
        await asyncio.to_thread(server.arrivals.acquire)
    await refusal(chat, timeout_seconds=0.1)
    await hanging
    await chat.close()
    assert [(call.prompt_tokens, call.answer_tokens, call.failed) for call in told] == [
        (7, 9, None), (0, 0, Trouble.BROKEN), (0, 0, Trouble.LATE),
    ]  # fmt: skip
    assert {call.server for call in told} == {server.url}
    assert all(call.seconds > 0 for call in told)


async def test_bad_request_without_a_body(server: FakeServer, model: ChatModel):
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
        (b'{"choices": []}', "application/json"),
        (b'{"choices": [{}]}', "application/json"),
        (b'{"choices": 3}', "application/json"),
        (b'{"choices": [{"message": {}, "logprobs": {"content": 1}}], "usage": 4}', "application/json"),
    ],
)
async def test_answers_of_something_else(server: FakeServer, model: ChatModel, body: bytes, content_type: str):
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


async def test_model_that_the_server_lists_is_known(server: FakeServer, model: ChatModel):
    """Nothing is asked of it."""
    server.names = ["other", "m"]
    await model.check_model()
    assert server.asked == []


@pytest.mark.parametrize(("status", "message"), [(404, "does not know the model 'm'"), (401, "refuses the API key")])
async def test_model_that_the_server_lacks_is_told_at_the_start(
    server: FakeServer, model: ChatModel, status: int, message: str
):
    """Before anybody waits for a draft."""
    server.names = ["other"]
    server.fails(status)
    with pytest.raises(ModelUnavailable, match=message):
        await model.check_model()
    assert [request["max_tokens"] for request in server.asked] == [1]


async def test_server_that_takes_other_names_than_it_lists(server: FakeServer, model: ChatModel):
    """llama.cpp takes any name; only an answer tells."""
    server.names = ["file.gguf"]
    server.answers("!")
    await model.check_model()
    assert len(server.asked) == 1


async def test_model_is_not_looked_for_where_there_is_no_list(server: FakeServer, model: ChatModel):
    """That the route for drafts is there is enough: it refuses a request without messages."""
    server.fails(400)
    await model.check_model()
    assert server.asked == [{"model": "m"}]


async def test_server_that_is_away_is_left_to_the_first_call(caplog: pytest.LogCaptureFixture):
    """It may come up later; that nobody answers is in the log."""
    away = ChatModel("http://127.0.0.1:9/v1", "", "m")
    await away.check_model()
    await away.close()
    assert "http://127.0.0.1:9/v1 does not answer yet" in caplog.text


async def test_dropped_connection_is_tried_once_more(server: FakeServer, model: ChatModel):
    """A server that restarts, or closed an idle connection, costs no draft."""
    server.answers("one", tokens=1)
    server.drops = 1
    assert (await model.generate(ASK, Generation(max_tokens=5), 30)).texts == ("one",)
    server.asked.clear()
    server.drops = 2
    assert "cannot be reached" in (await refusal(model)).message
    assert len(server.asked) == 2


async def test_hanging_server_ends_in_time(server: FakeServer, model: ChatModel):
    """The caller's deadline holds whatever the server does, and nothing is sent twice."""
    server.hangs = True
    assert "within 0.2 seconds" in (await refusal(model, timeout_seconds=0.2)).message
    assert len(server.asked) == 1


async def test_longest_call_is_the_settings(server: FakeServer):
    """``llm.timeout_seconds`` bounds a call that a long profile would let wait for an hour."""
    server.hangs = True
    chat = ChatModel(server.url, "", "m", timeout_seconds=0.2)
    assert "within 0.2 seconds" in (await refusal(chat, timeout_seconds=3600)).message
    await chat.close()


async def test_one_of_a_kind_waits_for_the_other_and_not_for_other_kinds(server: FakeServer):
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


async def test_cancelling_passes(server: FakeServer, model: ChatModel):
    """A shutdown cancels a generation; that is no error of the model."""
    server.hangs = True
    task = asyncio.create_task(model.generate(ASK, Generation(max_tokens=5), 30))
    await asyncio.to_thread(server.arrived.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
