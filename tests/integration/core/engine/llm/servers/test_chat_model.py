"""What the client asks of a server, and what it makes of the answers, over the wire."""

import asyncio

import pytest

from core.engine.ports import Generation
from core.engine.servers.chat import ChatModel
from core.engine.servers.errors import Trouble
from core.engine.servers.protocol import Call
from core.errors import ModelUnavailable
from tests.fakes.engine.servers.alike import ASK, POST, AlikeServer, first_token, refusal, token
from tests.fakes.machine.clock import outlasting


async def test_request_says_what_was_asked(server: AlikeServer, model: ChatModel):
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


async def test_tokens_of_all_choices_count(server: AlikeServer, model: ChatModel):
    """llama.cpp reports the first choice's tokens only; a budget must not be overdrawn for that."""
    three = {"content": [token("a", 1.0)] * 3, "refusal": None}
    server.answers("aaa", "aaa", tokens=3, logprobs=[three, three])
    assert (await model.generate(ASK, Generation(max_tokens=5, n=2), 30)).completion_tokens == 6


async def test_choose_sums_spellings_and_normalises(server: AlikeServer, model: ChatModel):
    """A vote is a distribution over the options, read from one token."""
    server.answers("A", tokens=1, logprobs=first_token(("A", 0.5), (" a", 0.1), ("B", 0.2), ("The", 0.1)))
    shares, answer = await model.choose(ASK, ["A", "B", "C"], 30)
    assert shares == pytest.approx({"A": 0.75, "B": 0.25, "C": 0.0})
    assert answer.completion_tokens == 1
    assert (server.asked[0]["max_tokens"], server.asked[0]["temperature"]) == (1, 0)


@pytest.mark.parametrize("likely", [(("The", 0.9), ("It", 0.05)), (("The", 0.9), ("A", 0.04))])
async def test_choose_says_nothing_where_the_model_does_not(server: AlikeServer, model: ChatModel, likely):
    """Noise below 5 % must not be blown up into a verdict."""
    server.answers("The", tokens=1, logprobs=first_token(*likely))
    assert (await model.choose(ASK, ["A", "B"], 30))[0] is None


async def test_choose_without_log_probabilities(server: AlikeServer, model: ChatModel):
    """The answers themselves are counted, and what holds no letter gives no verdict."""
    server.answers("A", tokens=1)
    shares, answer = await model.choose(ASK, ["A", "B"], 30)
    assert shares == pytest.approx({"A": 5 / 6, "B": 1 / 6})
    assert answer.is_stated
    server.answers("Neither.", tokens=1)
    assert (await model.choose(ASK, ["A", "B"], 30))[0] is None


async def test_calls_are_told_with_what_they_cost(server: AlikeServer):
    """One for each that was sent, also where it was sent twice or failed; none for one that found no place in time."""
    told = list[Call]()
    chat = ChatModel(server.url, "sk-canary", "m", concurrency=1, on_call=told.append)
    server.answers("one", "two", tokens=9)
    await chat.generate(ASK, Generation(max_tokens=5, n=2), 30)
    server.fails(500)
    await refusal(chat)
    server.hangs = True
    hanging = asyncio.create_task(refusal(chat, timeout_seconds=60))
    for _ in range(3):
        await asyncio.to_thread(server.arrivals.acquire)
    await outlasting(refusal(chat, timeout_seconds=60), 61, lambda: True)
    await hanging
    await chat.close()
    assert [(call.prompt_tokens, call.answer_tokens, call.failed) for call in told] == [
        (7, 9, None), (0, 0, Trouble.BROKEN), (0, 0, Trouble.LATE),
    ]  # fmt: skip
    assert {call.server for call in told} == {server.url}
    assert all(call.seconds > 0 for call in told)


async def test_model_that_the_server_lists_is_known(server: AlikeServer, model: ChatModel):
    """Nothing is asked of it."""
    server.names = ["other", "m"]
    await model.check_model()
    assert server.asked == []


@pytest.mark.parametrize(("status", "message"), [(404, "does not know the model 'm'"), (401, "refuses the API key")])
async def test_model_that_the_server_lacks_is_told_at_the_start(
    server: AlikeServer, model: ChatModel, status: int, message: str
):
    """Before anybody waits for a draft."""
    server.names = ["other"]
    server.fails(status)
    with pytest.raises(ModelUnavailable, match=message):
        await model.check_model()
    assert [request["max_tokens"] for request in server.asked] == [1]


async def test_server_that_takes_other_names_than_it_lists(server: AlikeServer, model: ChatModel):
    """llama.cpp takes any name; only an answer tells."""
    server.names = ["file.gguf"]
    server.answers("!")
    await model.check_model()
    assert len(server.asked) == 1


async def test_model_is_not_looked_for_where_there_is_no_list(server: AlikeServer, model: ChatModel):
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
