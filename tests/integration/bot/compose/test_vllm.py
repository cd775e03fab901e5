"""The server of ``antiphon worker --serve`` as a process: waited for, kept up, and gone at the end."""

import asyncio
import os
import signal
import socket
import stat
from pathlib import Path
from typing import Any

import psutil
import pytest

from bot.compose.vllm import Rhythm, open_server
from bot.settings import Settings
from core.errors import ModelUnavailable, StoreUnavailable
from tests.fakes.machine.patience import until
from tests.fakes.vllm.standing_in import StandIn, kill

OFTEN = Rhythm(health=0.02, misses=3, stop=30, pauses=(0.01, 0.02))


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "program")


@pytest.fixture
def told() -> list[str]:
    """What was told to the person who runs the worker."""
    return []


def settings_of(stand_in: StandIn, **more: Any) -> Settings:
    cache = {"cache_folder": str(stand_in.folder.parent / "cache")}
    return Settings.model_validate({"vllm": stand_in.settings(**more), "kb": cache})


async def test_the_engine_asks_what_was_started(stand_in: StandIn, told: list[str]) -> None:
    """With a key that was made for this start and stands in the server's environment alone; no process is left."""
    stand_in.does(has_child=True)  # its engine is a process of its own that ignores SIGTERM
    settings = settings_of(stand_in)
    async with open_server(settings, told.append, OFTEN) as asking:
        started, llm = stand_in.starts[0], asking.llm
        key = llm.api_key.get_secret_value()
        assert (llm.backend, llm.model) == ("server", "small")
        assert llm.base_url == f"http://127.0.0.1:{settings.vllm.port}/v1"
        assert (key == started["environment"]["VLLM_API_KEY"], len(key) > 40) == (True, True)
        assert key not in " ".join([*told, *psutil.Process(started["pid"]).cmdline()])
        assert "is ready" in told[-1]
        log = settings.cache_folder / "vllm" / f"server-{settings.vllm.port}.log"
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        assert stand_in.is_left()
    await until(stand_in.is_gone)


async def test_a_server_that_ends_is_started_again(stand_in: StandIn, told: list[str]) -> None:
    """Also where it does not start at once; with pauses, and by the same address and key."""
    async with open_server(settings_of(stand_in), told.append, OFTEN):
        stand_in.does(exits=3)
        kill(stand_in.starts[0]["pid"])
        await until(lambda: asyncio.sleep(0, len(stand_in.starts) >= 4))
        stand_in.does()
        await until(lambda: asyncio.sleep(0, "is ready" in told[-1] and len(stand_in.starts) >= 5))
    assert f"ended with the code {-signal.SIGKILL}." in told[2]
    assert any("ended with the code 3" in one and "Its log says why" in one for one in told)
    assert {one["environment"]["VLLM_API_KEY"] for one in stand_in.starts} == {
        stand_in.starts[0]["environment"]["VLLM_API_KEY"]
    }
    await until(stand_in.is_gone)


async def test_a_server_that_is_not_healthy_is_started_again(stand_in: StandIn, told: list[str]) -> None:
    """Its engine is dead, or it takes connections and never answers."""
    async with open_server(settings_of(stand_in), told.append, OFTEN):
        stand_in.does(health=503)
        await until(lambda: asyncio.sleep(0, "The model server is not healthy." in told))
        stand_in.does()
        await until(lambda: asyncio.sleep(0, "is ready" in told[-1]))
        told.clear()
        os.kill(stand_in.starts[-1]["pid"], signal.SIGSTOP)
        await until(lambda: asyncio.sleep(0, "The model server is not healthy." in told))
        os.kill(stand_in.starts[-1]["pid"], signal.SIGCONT)
        await until(lambda: asyncio.sleep(0, "is ready" in told[-1]))
    await until(stand_in.is_gone)


async def test_a_start_that_is_cancelled_leaves_nothing(stand_in: StandIn, told: list[str]) -> None:
    """Ctrl-C while the model is loaded; what ignores SIGTERM is killed."""
    stand_in.does(start_seconds=3600, has_child=True, ignores_sigterm=True)

    async def open_it() -> None:
        async with open_server(settings_of(stand_in), told.append, Rhythm(health=0.02, stop=0.1)):
            pytest.fail("it was opened")

    opening = asyncio.create_task(open_it())
    await until(lambda: asyncio.sleep(0, bool(stand_in.starts)))
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await until(stand_in.is_gone)


@pytest.mark.parametrize(
    ("does", "more", "says"),
    [
        ({"exits": 7, "prints": "no memory\n"}, {}, "ended with the code 7"),
        ({"health": 500}, {"start_minutes": 0.01}, "not ready within 0.01 minutes"),
        ({}, {"program": "/nowhere/vllm"}, "/nowhere/vllm cannot be started"),
    ],
)
async def test_a_server_that_does_not_start_says_so(
    stand_in: StandIn, told: list[str], does: dict[str, Any], more: dict[str, Any], says: str
) -> None:
    """And where its log is, which has the reason."""
    stand_in.does(**does)
    settings = settings_of(stand_in, **more)
    with pytest.raises(ModelUnavailable, match=says) as caught:
        async with open_server(settings, told.append, OFTEN):
            pytest.fail("it was opened")
    assert caught.value.remedy
    await until(stand_in.is_gone)
    if "prints" in does:
        log = settings.cache_folder / "vllm" / f"server-{settings.vllm.port}.log"
        assert str(log) in caught.value.remedy
        assert "no memory" in log.read_text()


async def test_a_port_that_is_taken_is_not_another_server_s(stand_in: StandIn, told: list[str]) -> None:
    """Whoever listens there is not asked in its place."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        settings = settings_of(stand_in, port=other.getsockname()[1])
        with pytest.raises(ModelUnavailable, match="the port is taken") as caught:
            async with open_server(settings, told.append, OFTEN):
                pytest.fail("it was opened")
    assert "vllm.port" in caught.value.remedy
    assert stand_in.starts == []


async def test_a_log_that_cannot_be_written_is_told(stand_in: StandIn, told: list[str]) -> None:
    (stand_in.folder.parent / "cache").write_text("a file, and no folder")
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        async with open_server(settings_of(stand_in), told.append, OFTEN):
            pytest.fail("it was opened")
    assert stand_in.starts == []
