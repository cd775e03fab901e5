"""The beginnings of prompts are read once, come from disk whole or not at all, and hold nothing of a post."""

import asyncio
import logging
import os
import time
from pathlib import Path

import pytest

from core.engine.backends.embedded import KEPT_DAYS, warm
from core.engine.backends.llamacpp import EmbeddedServer
from core.engine.ports import Generation, Message
from core.engine.servers.chat import ChatModel

RULES = [Message("system", "You name three colours, in one line, with commas between them, and nothing else at all.")]
WISHES = [Message("system", "You name three fruits, in one line, with commas between them, and nothing else at all.")]
ASKED = [*RULES, Message("user", "Go.")]


def _server(weights: Path, folder: Path) -> EmbeddedServer:
    return EmbeddedServer(weights, context_tokens=1024, parallel=2, threads=1, slots_folder=folder)


def _says(server: EmbeddedServer) -> str:
    async def ask() -> str:
        chat = ChatModel(server.base_url, server.api_key, server.model, timeout_seconds=300, is_one_of_a_kind=True)
        try:
            return (await chat.generate(ASKED, Generation(max_tokens=12, temperature=0), 300)).texts[0]
        finally:
            await chat.close()

    return asyncio.run(ask())


def test_a_second_start_reads_nothing(small_weights: Path, tmp_path: Path):
    """The state comes from disk, a damaged one is read again, and the model answers as if it had read it itself."""
    told: list[tuple[int, int]] = []
    with _server(small_weights, tmp_path) as server:
        assert warm(server, small_weights, [RULES, WISHES], on_prompt=lambda *now: told.append(now)) == 0
        fresh = _says(server)
    assert told == [(1, 2), (2, 2)]
    kept = sorted(tmp_path.iterdir())
    assert [file.suffix for file in kept] == [".bin", ".bin"]
    with _server(small_weights, tmp_path) as server:
        assert warm(server, small_weights, [RULES, WISHES]) == 2
        assert _says(server) == fresh
    stored = bytearray(kept[0].read_bytes())
    stored[len(stored) // 2] ^= 1
    kept[0].write_bytes(stored)
    with _server(small_weights, tmp_path) as server:
        assert warm(server, small_weights, [RULES, WISHES]) == 1
        assert _says(server) == fresh
    assert sorted(tmp_path.iterdir()) == kept


def test_more_beginnings_than_slots(small_weights: Path, tmp_path: Path):
    """The first ones get the slots; none is overwritten by the next. What nobody used for a month goes."""
    old = tmp_path / "old.bin"
    old.write_bytes(b"x")
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    os.utime(old, (long_ago, long_ago))
    with _server(small_weights, tmp_path) as server:
        warm(server, small_weights, [RULES, WISHES, ASKED])
    assert len(list(tmp_path.iterdir())) == 2
    assert not old.exists()


def test_a_folder_that_is_gone_costs_only_time(small_weights: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """The model works as well without; why it is slower is logged."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    with _server(small_weights, folder) as server:
        folder.rmdir()
        with caplog.at_level(logging.WARNING):
            assert warm(server, small_weights, [RULES]) == 0
        assert _says(server)
    assert "the first post will wait" in caplog.text
