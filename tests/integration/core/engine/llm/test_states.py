"""Hidden states of the embedded model, beside the conversations that it holds."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.engine.backends.embedded import EmbeddedStates
from core.engine.backends.llamacpp import EmbeddedServer
from core.engine.ports import Generation, Message
from core.engine.readers.probe import ADAPTER, PROBE, Probe, adapter_for, read_outputs
from core.engine.servers.chat import ChatModel
from core.errors import ModelUnavailable
from tests.fakes.machine.patience import GUARD_SECONDS

HATEFUL, HARMLESS = "Women are too stupid to vote, they ruin every country.", "The choir meets on Tuesday at seven."
HINT = "Mira qué casualidad, siempre son los mismos los que viven de las ayudas."


@pytest.fixture(scope="module")
def server(weights: Path) -> Iterator[EmbeddedServer]:
    """The model that ships, as the probe reads with it."""
    with EmbeddedServer(weights, threads=1, adapter=ADAPTER, reads_only=True) as running:
        yield running


@pytest.fixture(scope="module")
def writing(weights: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(weights, context_tokens=1024, parallel=2, threads=1) as running:
        yield running


def _says(server: EmbeddedServer) -> str:
    async def ask() -> str:
        chat = ChatModel(server.base_url, server.api_key, server.model, timeout_seconds=300, is_one_of_a_kind=True)
        try:
            asked = [Message("user", "Name three colours, in one line.")]
            return (await chat.generate(asked, Generation(max_tokens=12), 300)).texts[0]
        finally:
            await chat.close()

    return asyncio.run(ask())


def test_states_are_of_the_text_alone(server: EmbeddedServer) -> None:
    """What was asked before does not change them."""
    states = EmbeddedStates(server, GUARD_SECONDS)
    first, other, again = states.of(HATEFUL), states.of(HARMLESS), states.of(HATEFUL)
    assert first is not None
    assert other is not None
    assert again is not None
    width = len(read_outputs(PROBE)[1]["mean"])
    assert first.shape == other.shape == (width,)
    np.testing.assert_allclose(first, again, rtol=0.02, atol=0.2)
    assert not np.allclose(first, other, rtol=0.02, atol=0.2)


def test_while_an_answer_is_written_they_are_the_same(server: EmbeddedServer, writing: EmbeddedServer) -> None:
    """Two servers over the same file, at the same time."""
    states = EmbeddedStates(server, GUARD_SECONDS)
    quiet = states.of(HATEFUL)
    with ThreadPoolExecutor(1) as beside:
        saying = beside.submit(_says, writing)
        busy = [states.of(HATEFUL) for _ in range(2)]
        assert saying.result()
    assert quiet is not None
    for one in busy:
        assert one is not None
        np.testing.assert_allclose(quiet, one, rtol=0.05, atol=0.5)


def test_a_long_text_has_none(server: EmbeddedServer) -> None:
    assert EmbeddedStates(server, GUARD_SECONDS).of("word " * 200) is None


def test_the_memory_of_the_weights_is_shared(writing: EmbeddedServer, weights: Path) -> None:
    """A server that reads keeps no weights of its own: they are two thirds of a gigabyte. One that is gone is told."""
    before = _own_memory()
    with EmbeddedServer(weights, threads=1, adapter=ADAPTER, reads_only=True) as running:
        states = EmbeddedStates(running, GUARD_SECONDS)
        assert states.of(HARMLESS) is not None
        grown = _own_memory() - before
    assert grown < 400_000_000
    with pytest.raises(ModelUnavailable):
        states.of(HARMLESS)


def _own_memory() -> int:
    """The bytes of this process that stand in no file."""
    return int(psutil.Process().memory_info().rss - psutil.Process().memory_info().shared)


async def test_the_shipped_probe_reads_them(server: EmbeddedServer, weights: Path, tmp_path: Path) -> None:
    """It tells hate from talk where the small reader says nothing either way, in the languages that it names."""
    assert adapter_for(weights, tmp_path) == ADAPTER
    probe = Probe(EmbeddedStates(server, GUARD_SECONDS))
    hateful, harmless = [await probe.read(text, "en", 60) for text in (HATEFUL, HARMLESS)]
    assert hateful is not None
    assert harmless is not None
    assert hateful.pooled(0.5).hateful > 0.5 > harmless.pooled(0.5).hateful
    assert await probe.read(HINT, "es", 60) is not None
    assert await probe.read(HINT, "eu", 60) is not None
    assert await probe.read(HINT, "de", 60) is None
