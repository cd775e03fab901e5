"""Hidden states of the embedded model, beside the conversations that it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelUnavailable
from core.llm.backends.llamacpp import EmbeddedServer
from core.llm.backends.prompt_cache import warm
from core.llm.backends.servers.chat import ChatModel
from core.llm.backends.states import EmbeddedStates
from core.ports import Generation, Message
from core.scoring.readers.probe import PROBE, Probe, belongs_to, read_outputs

HATEFUL, HARMLESS = "Women are too stupid to vote, they ruin every country.", "The choir meets on Tuesday at seven."
HINT = "Mira qué casualidad, siempre son los mismos los que viven de las ayudas."


@pytest.fixture(scope="module")
def server(weights: Path) -> Iterator[EmbeddedServer]:
    """The model that ships."""
    with EmbeddedServer(weights, context_tokens=1024, parallel=2, threads=2) as running:
        yield running


def _says(server: EmbeddedServer) -> str:
    async def ask() -> str:
        chat = ChatModel(server.base_url, server.api_key, server.model, timeout_seconds=300)
        try:
            asked = [Message("user", "Name three colours, in one line.")]
            return (await chat.generate(asked, Generation(max_tokens=12), 300)).texts[0]
        finally:
            await chat.close()

    return asyncio.run(ask())


def test_states_are_of_the_text_alone(server: EmbeddedServer) -> None:
    """What was asked before changes neither them nor the answers."""
    states, before = EmbeddedStates(server), _says(server)
    first, other, again = states.of(HATEFUL), states.of(HARMLESS), states.of(HATEFUL)
    assert first is not None
    assert other is not None
    assert again is not None
    width = len(read_outputs(PROBE)[1]["mean"])
    assert first.shape == other.shape == (width,)
    np.testing.assert_allclose(first, again, rtol=0.02, atol=0.2)
    assert not np.allclose(first, other, rtol=0.02, atol=0.2)
    assert _says(server) == before


def test_while_an_answer_is_written_they_are_the_same(server: EmbeddedServer) -> None:
    """One server does both, in one batch."""
    states = EmbeddedStates(server)
    quiet = states.of(HATEFUL)
    with ThreadPoolExecutor(1) as beside:
        saying = beside.submit(_says, server)
        busy = [states.of(HATEFUL) for _ in range(3)]
        assert saying.result()
    assert quiet is not None
    for one in busy:
        assert one is not None
        np.testing.assert_allclose(quiet, one, rtol=0.05, atol=0.5)


def test_a_long_text_has_none(server: EmbeddedServer) -> None:
    assert EmbeddedStates(server).of("word " * 200) is None


def test_prepared_beginnings_stay_where_they_are(weights: Path, tmp_path: Path) -> None:
    """However many posts are read: a beginning that is pushed out has to be read again, which takes seconds."""
    begun = [Message("system", "You name three colours, in one line, with commas between them, and nothing else.")]
    turns = [{"role": "system", "content": begun[0].content}, {"role": "user", "content": "Go."}]
    with EmbeddedServer(weights, context_tokens=1024, parallel=3, threads=2, slots_folder=tmp_path) as running:
        warm(running, weights, [begun])
        states = EmbeddedStates(running)
        for text in (HATEFUL, HARMLESS, HINT, f"{HARMLESS} {HINT}", "bread", f"{HATEFUL} {HARMLESS}"):
            assert states.of(text) is not None
        said = running.call("/v1/chat/completions", 120, messages=turns, max_tokens=1)
    assert said["usage"]["prompt_tokens_details"]["cached_tokens"] > 15


async def test_the_shipped_probe_reads_them(server: EmbeddedServer, weights: Path, tmp_path: Path) -> None:
    """It tells hate from talk where the small reader says nothing either way, in the languages that it names."""
    assert belongs_to(weights, tmp_path)
    probe = Probe(EmbeddedStates(server))
    hateful, harmless = [await probe.read(text, "en", 60) for text in (HATEFUL, HARMLESS)]
    assert hateful is not None
    assert harmless is not None
    assert hateful.pooled(0.5).hateful > 0.5 > harmless.pooled(0.5).hateful
    assert await probe.read(HINT, "es", 60) is not None
    assert await probe.read(HINT, "eu", 60) is None


def test_a_server_that_is_gone_is_told(weights: Path) -> None:
    server = EmbeddedServer(weights, context_tokens=512, parallel=1, threads=1)
    states = EmbeddedStates(server)
    server.close()
    with pytest.raises(ModelUnavailable):
        states.of(HARMLESS)
