"""A stand-in for vLLM that is started as a process, and servers that look at it often."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from bot.serving.vllm.options import ServerOptions
from bot.serving.vllm.server import Rhythm, VllmServer
from tests.fakes.vllm.standing_in import StandIn

KEY = "key-of-the-test"
OFTEN = Rhythm(start=60, look=0.02, health=0.02, measure=0.02, canary=0.02, stop=3)


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "program")


@pytest.fixture
def told() -> list[str]:
    """What was told to the person who runs the worker."""
    return []


@pytest.fixture
async def make(tmp_path: Path, told: list[str]) -> AsyncIterator[Callable[..., VllmServer]]:
    """Makes servers; all are stopped at the end."""
    made: list[VllmServer] = []

    def make(options: ServerOptions, rhythm: Rhythm = OFTEN, **more: Any) -> VllmServer:
        made.append(VllmServer(options, KEY, tmp_path / "kept", told.append, rhythm, **more))
        return made[-1]

    yield make
    for server in made:
        await server.stop()
