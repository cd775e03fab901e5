"""Hidden states of the embedded model, beside the conversations that it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelUnavailable
from core.llm.backends.llamacpp import EmbeddedServer
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
    """What was asked before, or meanwhile, changes neither them nor the answers."""
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


def test_a_long_text_has_none(server: EmbeddedServer) -> None:
    assert EmbeddedStates(server).of("word " * 200) is None


def test_the_shipped_probe_reads_them(server: EmbeddedServer, weights: Path, tmp_path: Path) -> None:
    """It tells hate from talk where the small reader says nothing either way, in the languages that it names."""
    assert belongs_to(weights, tmp_path)
    probe = Probe(EmbeddedStates(server))
    said = {text: probe.on_hate(text, "en", 0.5) for text in (HATEFUL, HARMLESS)}
    hateful, harmless = said[HATEFUL], said[HARMLESS]
    assert hateful is not None
    assert harmless is not None
    assert hateful.hateful > 0.5 > harmless.hateful
    assert probe.on_hate(HINT, "es", 0.5) is not None
    assert probe.on_hate(HINT, "eu", 0.5) is None


def test_a_server_that_is_gone_is_told(weights: Path) -> None:
    server = EmbeddedServer(weights, context_tokens=512, parallel=1, threads=1)
    states = EmbeddedStates(server)
    server.close()
    with pytest.raises(ModelUnavailable):
        states.of(HARMLESS)
