"""The embedded model answers through the port as a server would, keeps to this process, and ends when told."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from core.engine.backends.embedded import warm
from core.engine.backends.llamacpp import EmbeddedServer
from core.engine.ports import Generation, Message
from core.engine.servers.chat import ChatModel
from core.errors import ModelUnavailable

SECONDS = 300
QUESTION = [Message("user", "Is the Universal Declaration of Human Rights from 1948? Answer Yes or No.")]
STORY = [Message("user", "Name three things that a good neighbour does.")]


@pytest.fixture(scope="module")
def server(weights: Path) -> Iterator[EmbeddedServer]:
    """The packaged model, loaded once for this module."""
    with EmbeddedServer(weights, context_tokens=2048, parallel=2, threads=1) as running:
        yield running


@pytest.fixture
async def model(server: EmbeddedServer) -> AsyncIterator[ChatModel]:
    chat = ChatModel(server.base_url, server.api_key, server.model, timeout_seconds=SECONDS, is_one_of_a_kind=True)
    yield chat
    await chat.close()


async def test_generates_the_same_for_a_seed(model: ChatModel):
    """A benchmark can be repeated."""
    how = Generation(max_tokens=12, temperature=0.8, seed=7)
    first, second = [await model.generate(STORY, how, SECONDS) for _ in range(2)]
    assert first.texts == second.texts
    assert first.texts[0].strip()
    assert (first.prompt_tokens > 10, first.completion_tokens) == (True, 12)


async def test_several_answers_are_all_counted(model: ChatModel):
    """A budget sees what two answers cost, where llama.cpp reports one."""
    answer = await model.generate(STORY, Generation(max_tokens=10, temperature=1.0, n=2, seed=1), SECONDS)
    assert len(answer.texts) == 2
    assert answer.completion_tokens == 20


async def test_schema_is_kept(model: ChatModel):
    """Even a small model gives the reading's fields, because the grammar leaves it nothing else to write."""
    kind = {"type": "string", "enum": ["women", "migrants", "other"]}
    schema = {
        "type": "object",
        "properties": {"target": kind, "severity": {"type": "integer", "minimum": 1, "maximum": 5}},
        "required": ["target", "severity"],
        "additionalProperties": False,
    }
    ask = [Message("user", "Whom does this attack, and how badly? 'Migrants are all thieves.' Answer in JSON.")]
    answer = await model.generate(ask, Generation(max_tokens=60, schema=schema), SECONDS)
    read = json.loads(answer.texts[0])
    assert set(read) == {"target", "severity"}
    assert read["target"] in {"women", "migrants", "other"}
    assert read["severity"] in range(1, 6)


async def test_choose_gives_shares(model: ChatModel):
    """One token is enough for a verdict with its uncertainty."""
    shares, answer = await model.choose(QUESTION, ["Yes", "No"], SECONDS)
    assert shares is not None
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["Yes"] > shares["No"]
    assert answer.completion_tokens == 1


async def test_options_that_nobody_would_say(model: ChatModel):
    """Options that the model does not think of are no verdict."""
    assert (await model.choose(QUESTION, ["Zebra", "Quartz"], SECONDS))[0] is None


async def test_prompt_beyond_the_context(model: ChatModel):
    """A post that is too long is an error with a remedy, not an answer to its first half."""
    with pytest.raises(ModelUnavailable, match="exceed_context_size_error") as caught:
        await model.generate([Message("user", "word " * 3000)], Generation(max_tokens=1), SECONDS)
    assert "llm.context_tokens" in caught.value.remedy


async def test_other_processes_cannot_use_it(server: EmbeddedServer):
    """Without the key of this process there is no answer, and nothing shows other people's posts or file names."""
    stranger = ChatModel(server.base_url, "guess", server.model)
    with pytest.raises(ModelUnavailable, match="refuses the API key"):
        await stranger.generate(STORY, Generation(max_tokens=1), SECONDS)
    await stranger.close()
    assert server.base_url.startswith("http://127.0.0.1:")
    for path in ("slots", "props", "metrics"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            await asyncio.to_thread(urllib.request.urlopen, f"{server.base_url.removesuffix('/v1')}/{path}")
        caught.value.close()
        assert caught.value.code in (401, 501)


def test_without_a_folder_no_prompt_is_kept(server: EmbeddedServer, weights: Path):
    """A server that was given none is left as it is."""
    assert warm(server, weights, [QUESTION]) == 0


def test_file_that_is_no_model(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """A damaged file is an error with a remedy, and llama.cpp's own messages do not fill the terminal."""
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF\x03\x00\x00\x00damaged")
    with pytest.raises(ModelUnavailable, match=r"cannot load .*damaged\.gguf"):
        EmbeddedServer(damaged)
    assert capfd.readouterr() == ("", "")
