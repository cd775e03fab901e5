"""Model servers that refuse or differ: what a request is sent with again, and what is said where nothing helps."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from core.engine.ports import Generation, Message
from core.engine.servers.abilities import THOUGHT_TOKENS
from core.engine.servers.chat import ChatModel
from core.engine.servers.errors import ServerFault, Trouble
from core.errors import ModelAway
from tests.fakes.engine.servers.quirks import REPLIES, THOUGHT, QuirkyServer, quirky

ASK = [Message("system", "Answer briefly."), Message("user", "Migrants only come here to live off our welfare.")]
HARMLESS = [ASK[0], Message("user", "Is water wet?")]
SCHEMA = {"type": "object", "properties": {"wet": {"enum": ["yes", "no"]}}}


@asynccontextmanager
async def _over(name: str, thinking: str = "off") -> AsyncIterator[tuple[QuirkyServer, ChatModel, list[float]]]:
    """A server with a quirk, its client, and for how many seconds that one waited."""
    waited = list[float]()

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    with quirky(name) as server:
        chat = ChatModel(server.url, "", "m", pause=pause, thinking=thinking)
        yield server, chat, waited
        await chat.close()


async def _fault(name: str, messages: list[Message] = ASK) -> ServerFault:
    async with _over(name) as (_, chat, _waited):
        with pytest.raises(ServerFault) as caught:
            await chat.generate(messages, Generation(max_tokens=60, temperature=0.7), 30)
    assert "context_tokens" not in caught.value.remedy
    assert "Migrants" not in str(caught.value)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("max_completion_tokens", "max_tokens"),
        ("no temperature", "temperature"),
        ("extra fields forbidden", "seed"),
        ("extra fields forbidden", "n"),
        ("extra fields forbidden", "top_logprobs"),
        ("n refused", "n"),
        ("neither logprobs nor schema", "logprobs"),
        ("no format", "response_format"),
    ],
)
async def test_what_a_server_refuses_is_left_out_and_not_sent_again(name: str, left: str) -> None:
    """All kinds of calls are answered, and later ones do not meet the refusal a second time."""
    async with _over(name) as (server, chat, _):
        several = Generation(max_tokens=60, temperature=0.7, n=3, seed=5)
        for how in (several, Generation(max_tokens=60, temperature=0.0, schema=SCHEMA)):
            answer = await chat.generate(ASK, how, 30)
            assert len(answer.texts) == how.n
            assert all(answer.texts)
        await chat.choose(ASK, ["A", "B"], 30)
        met = len(server.asked)
        await chat.generate(ASK, several, 30)
        await chat.choose(ASK, ["A", "B"], 30)
    assert all(left not in asked for asked in server.asked[met:])
    assert any(left in asked for asked in server.asked[:met])


async def test_the_words_of_the_system_go_into_the_users_turn() -> None:
    """A template without that role gets the same words, once."""
    async with _over("no system role") as (server, chat, _):
        assert (await chat.generate(ASK, Generation(max_tokens=60), 30)).texts[0] in REPLIES
    assert [turn["role"] for turn in server.asked[-1]["messages"]] == ["user"]
    assert server.asked[-1]["messages"][0]["content"] == f"{ASK[0].content}\n\n{ASK[1].content}"
    assert chat.abilities.lacking()


async def test_as_many_likely_tokens_as_the_server_gives() -> None:
    """Five are enough for Yes, No and letters."""
    async with _over("at most 5 likely tokens") as (server, chat, _):
        shares, _answer = await chat.choose(ASK, ["A", "B"], 30)
    assert shares == pytest.approx({"A": 0.55 / 0.75, "B": 0.2 / 0.75})
    assert [asked["top_logprobs"] for asked in server.asked] == [20, 5]


async def test_json_without_a_schema_is_asked_for_where_a_schema_is_refused() -> None:
    async with _over("objects only") as (server, chat, _):
        for _again in range(2):
            assert json.loads((await chat.generate(ASK, Generation(60, schema=SCHEMA), 30)).texts[0]) == (
                "It says that migrants come to live on benefits."
            )
    assert [asked["response_format"]["type"] for asked in server.asked] == [
        "json_schema", "json_object", "json_object",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["n refused", "n ignored", "extra fields forbidden"])
async def test_several_texts_are_asked_for_singly(name: str) -> None:
    """As many as were wanted, each with a seed of its own where the server takes one."""
    async with _over(name) as (server, chat, _):
        answer = await chat.generate(ASK, Generation(max_tokens=60, n=3, seed=5), 30)
        assert len(answer.texts) == 3
        assert set(answer.texts) <= set(REPLIES)
        assert chat.abilities.answers_singly
    seeds = [asked["seed"] for asked in server.asked if "seed" in asked and asked.get("n", 1) == 1]
    assert len(set(seeds)) == len(seeds)


async def test_a_list_of_parts_is_joined_without_the_thoughts() -> None:
    """As reasoning models of some hosts answer."""
    async with _over("content in parts") as (_, chat, _waited):
        assert (await chat.generate(ASK, Generation(max_tokens=60), 30)).texts[0] in REPLIES


@pytest.mark.parametrize(
    "name",
    [
        "thinks in a tag",
        "closes a tag only",
        "thinks in brackets",
        "thinks in a channel",
        "thinks in a bare channel",
        "told by its template",
        "told by think",
        "told by its effort",
        "thinks on",
        "thinks on and refuses",
        "refuses for want of room",
    ],
)
@pytest.mark.parametrize("thinking", ["off", "low", "model"])
async def test_a_thought_reaches_no_draft_and_takes_no_answer(name: str, thinking: str) -> None:
    """The reply after it does, letters are read, and JSON too, however much the model may think."""
    async with _over(name, thinking) as (_, chat, _waited):
        assert (await chat.choose(ASK, ["A", "B"], 30))[0]
        for how in (Generation(max_tokens=60), Generation(max_tokens=60, n=3, seed=1)):
            answer = await chat.generate(ASK, how, 30)
            assert len(answer.texts) == how.n
            assert set(answer.texts) <= set(REPLIES)
        assert json.loads((await chat.generate(ASK, Generation(60, schema=SCHEMA), 30)).texts[0]) == {"wet": "yes"}
        assert chat.abilities.thinks


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("told by its template", {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}),
        ("told by think", {"think": False}),
        ("told by its effort", {"reasoning_effort": "minimal"}),
    ],
)
async def test_a_model_that_can_be_told_not_to_think_is_told_so(name: str, told: dict[str, Any]) -> None:
    """From the first thought on, in what its server takes; letters are read by their log-probabilities then."""
    async with _over(name) as (server, chat, _):
        await chat.generate(ASK, Generation(max_tokens=60), 30)
        met = len(server.asked)
        shares, answer = await chat.choose(ASK, ["A", "B"], 30)
        assert shares == pytest.approx({"A": 0.55 / 0.75, "B": 0.2 / 0.75})
        assert not answer.is_stated
        assert not chat.abilities.thinks_on
        assert len(server.asked) == met + 1
    assert told.items() <= server.asked[-1].items()
    assert not set(server.asked[0]) & {"chat_template_kwargs", "think", "reasoning_effort"}


async def test_fields_about_thinking_that_a_server_refuses_are_forgotten() -> None:
    """Though it does not say which one it refuses; answers get room for thoughts instead."""
    async with _over("thinks on and refuses") as (server, chat, _):
        assert (await chat.generate(ASK, Generation(max_tokens=60), 30)).texts[0] in REPLIES
        met = len(server.asked)
        assert (await chat.generate(ASK, Generation(max_tokens=60), 30)).texts[0] in REPLIES
        assert chat.abilities.thinks_on
    assert len(server.asked) == met + 1
    assert server.asked[-1]["max_tokens"] == 60 + THOUGHT_TOKENS
    assert not set(server.asked[-1]) & {"chat_template_kwargs", "think", "reasoning_effort"}


async def test_a_model_that_may_think_little_is_told_so() -> None:
    """Low is sent as such, and nothing that would switch thinking off."""
    async with _over("thinks on", "low") as (server, chat, _):
        await chat.generate(ASK, Generation(max_tokens=60), 30)
    assert server.asked[-1]["reasoning_effort"] == "low"
    assert not set(server.asked[-1]) & {"chat_template_kwargs", "think"}


async def test_a_model_that_thinks_as_it_likes_is_told_nothing() -> None:
    """It has the room from the first thought on."""
    async with _over("thinks on", "model") as (server, chat, _):
        await chat.generate(ASK, Generation(max_tokens=60), 30)
    assert [asked["max_tokens"] for asked in server.asked] == [60, 60 + THOUGHT_TOKENS]
    assert not any(set(asked) & {"chat_template_kwargs", "think", "reasoning_effort"} for asked in server.asked)


@pytest.mark.parametrize("name", ["never stops thinking", "thinks apart"])
async def test_thoughts_without_an_answer_are_told(name: str) -> None:
    """They are neither a draft nor a refusal, with more room neither."""
    fault = await _fault(name)
    assert "thinks aloud" in fault.message
    assert THOUGHT not in str(fault)


async def test_an_answer_that_is_cut_is_asked_for_once_more_with_more_room() -> None:
    """A text and JSON alike, and what both tries cost is counted."""
    async with _over("cut") as (server, chat, _):
        answer = await chat.generate(ASK, Generation(max_tokens=60), 30)
        assert answer.texts[0] in REPLIES
        assert (answer.is_cut, answer.prompt_tokens) == (False, 200)
        assert json.loads((await chat.generate(ASK, Generation(60, schema=SCHEMA), 30)).texts[0]) == {"wet": "yes"}
    assert [asked["max_tokens"] for asked in server.asked] == [60, 240, 60, 240]


async def test_an_answer_that_comes_to_no_end_is_told() -> None:
    """A text stands, and says that it is cut; JSON is worth nothing."""
    async with _over("never ends") as (server, chat, _):
        answer = await chat.generate(ASK, Generation(max_tokens=60), 30)
        assert answer.is_cut
        assert answer.texts[0].endswith("and so on")
        with pytest.raises(ServerFault, match="no end of its answer"):
            await chat.generate(ASK, Generation(60, schema=SCHEMA), 30)
    assert len(server.asked) == 4


async def test_an_empty_answer_is_asked_for_once_more() -> None:
    async with _over("empty at first") as (server, chat, _):
        assert (await chat.generate(ASK, Generation(max_tokens=60), 30)).texts[0] in REPLIES
    assert len(server.asked) == 2


@pytest.mark.parametrize("name", ["no logprobs", "neither logprobs nor schema", "extra fields forbidden"])
async def test_letters_are_asked_for_in_json_where_there_are_no_log_probabilities(name: str) -> None:
    """Twice, since both answers are the same; what is found says that it is stated, and the server is known for it."""
    async with _over(name) as (server, chat, _):
        for _again in range(2):
            shares, answer = await chat.choose(ASK, ["A", "B"], 30)
        assert answer.is_stated
        assert not chat.abilities.reads_letters
    if name == "no logprobs":
        assert shares == pytest.approx({"A": 2.5 / 3, "B": 0.5 / 3})
        assert sum(asked["max_tokens"] == 1 for asked in server.asked) == 1
        assert '{"answer": "A"} or {"answer": "B"}' in server.asked[-1]["messages"][-1]["content"]


async def test_the_probability_of_a_field_is_read_from_its_token() -> None:
    """Of each that is wanted, where the server tells it; no field of JSON that is not yes or no has one."""
    wanted = Generation(60, schema=SCHEMA, read=("wet", "missing"))
    async with _over("as it should") as (_, chat, _waited):
        assert (await chat.generate(ASK, wanted, 30)).chances == pytest.approx({"wet": 0.75})
    for name in ("no logprobs", "no logprobs of JSON"):
        async with _over(name) as (_, chat, _waited):
            answer = await chat.generate(ASK, wanted, 30)
            assert (answer.chances, json.loads(answer.texts[0])) == ({}, {"wet": "yes"})
            _shares, letter = await chat.choose(ASK, ["A", "B"], 30)
            assert letter.is_stated == (name == "no logprobs")


async def test_the_fence_around_json_is_taken_off_and_that_around_a_text_is_not() -> None:
    async with _over("fenced") as (_, chat, _waited):
        assert json.loads((await chat.generate(ASK, Generation(60, schema=SCHEMA), 30)).texts[0]) == {"wet": "yes"}


@pytest.mark.parametrize("name", ["content filter", "moderated", "filtered answer", "refusal field"])
async def test_a_refused_post_is_told_from_a_server_that_is_away(name: str) -> None:
    """Others may be taken, so that it is no fault of key, model or address."""
    fault = await _fault(name)
    assert fault.trouble is Trouble.POST
    assert not isinstance(fault, ModelAway)
    assert "refused this post" in fault.message
    assert "API key" not in fault.message


@pytest.mark.parametrize("name", ["content filter", "moderated"])
async def test_a_filter_takes_another_post(name: str) -> None:
    """The filter looks at what is asked."""
    async with _over(name) as (_, chat, _waited):
        assert (await chat.generate(HARMLESS, Generation(max_tokens=60), 30)).texts


@pytest.mark.parametrize(
    ("name", "said", "trouble"),
    [
        ("no choice", "answered without a single text", Trouble.BROKEN),
        ("error as an answer", "failed with status 502", Trouble.BROKEN),
        ("event stream", "stream of events", Trouble.FOREIGN),
        ("always busy", "takes no more requests for now", Trouble.BUSY),
        ("too long", "maximum context length is 512 tokens", Trouble.REQUEST),
        ("quotes the prompt", "invalid_request_error", Trouble.REQUEST),
    ],
)
async def test_what_cannot_be_helped_is_told_as_it_is(name: str, said: str, trouble: Trouble) -> None:
    """In the server's own words, where they hold nothing of the prompt."""
    fault = await _fault(name)
    assert said in fault.message
    assert fault.trouble is trouble


async def test_a_busy_server_is_waited_for_as_long_as_it_asks() -> None:
    """Each call is answered in the end."""
    async with _over("one at a time") as (server, chat, waited):
        for _ in range(3):
            assert (await chat.generate(ASK, Generation(max_tokens=60), 30)).texts
    assert waited == [1.0, 1.0, 1.0]
    assert len(server.asked) == 6


async def test_a_busy_server_is_not_waited_for_beyond_the_callers_time() -> None:
    """What is told is that it is busy, at once."""
    async with _over("one at a time") as (server, chat, waited):
        with pytest.raises(ServerFault) as caught:
            await chat.generate(ASK, Generation(max_tokens=60), 0.9)
    assert caught.value.trouble is Trouble.BUSY
    assert (waited, len(server.asked)) == ([], 1)


async def test_a_server_as_it_should_be_is_asked_once_and_lacks_nothing() -> None:
    """Nothing of this costs a good one a call."""
    async with _over("as it should") as (server, chat, _):
        answer = await chat.generate(ASK, Generation(max_tokens=60, n=3, seed=1), 30)
        assert set(answer.texts) == set(REPLIES)
        assert (await chat.choose(ASK, ["A", "B"], 30))[0]
        assert chat.abilities.lacking() == []
    assert len(server.asked) == 2
