"""One server as a process: ready only when it answers rightly, watched, and gone when it is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bot.serving.vllm import guard as guard_program
from bot.serving.vllm.adapters import read_adapter
from bot.serving.vllm.asking import ASK_SECONDS
from bot.serving.vllm.failures import ServerFailed
from bot.serving.vllm.measures import Measures
from bot.serving.vllm.server import VllmServer
from tests.fakes.machine.clock import let_pass
from tests.fakes.machine.patience import until
from tests.fakes.vllm.standing_in import StandIn, adapter_in, kill
from tests.integration.bot.serving.vllm.conftest import KEY, OFTEN

Make = Callable[..., VllmServer]


async def test_a_server_starts_is_watched_and_leaves_nothing(
    make: Make, stand_in: StandIn, told: list[str], tmp_path: Path
) -> None:
    """Its engine is a process of its own that ignores SIGTERM; the key is in its environment, not on its line."""
    stand_in.does(has_child=True)
    server = make(stand_in.options())
    await server.start()
    started = stand_in.starts[0]
    assert started["environment"]["VLLM_API_KEY"] == KEY
    assert KEY not in " ".join(psutil.Process(started["pid"]).cmdline())
    assert "is ready after" in told[-1]
    log = tmp_path / "kept" / f"server-{server.options.port}.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    await server.stop()
    assert not stand_in.is_left()


async def test_a_server_that_ignores_its_end_is_killed(make: Make, stand_in: StandIn) -> None:
    stand_in.does(ignores_sigterm=True, has_child=True)
    server = make(stand_in.options(), replace(OFTEN, stop=0.2))
    await server.start()
    await server.stop()
    assert not stand_in.is_left()


async def test_a_start_that_is_cancelled_leaves_nothing(make: Make, stand_in: StandIn) -> None:
    """Ctrl-C while the model is loaded."""
    stand_in.does(start_seconds=60, has_child=True)
    starting = asyncio.create_task(make(stand_in.options()).start())
    await until(lambda: asyncio.sleep(0, bool(stand_in.starts)))
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    assert not stand_in.is_left()


async def test_nothing_is_left_of_a_server_whose_worker_was_killed(stand_in: StandIn, tmp_path: Path) -> None:
    """By kill -9, after which it can do nothing any more."""
    stand_in.does(has_child=True)
    worker = f"""
import asyncio
from pathlib import Path
from bot.serving.vllm.options import ServerOptions
from bot.serving.vllm.server import Rhythm, VllmServer

async def main():
    options = ServerOptions(model="m", name="m", port={stand_in.options().port}, program={str(stand_in.path)!r})
    server = VllmServer(options, "key", Path({str(tmp_path)!r}), print, Rhythm(look=0.02, stop=1))
    await server.start()
    print("ready", flush=True)
    await server.watch()

asyncio.run(main())
"""
    root = Path(__file__).parents[5]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", worker, cwd=root, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    while (await process.stdout.readline()).strip() != b"ready":
        assert not process.stdout.at_eof()
    process.kill()
    await process.communicate()
    await until(lambda: asyncio.sleep(0, not stand_in.is_left()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent was killed")
async def test_a_server_ends_with_what_stands_between(make: Make, stand_in: StandIn) -> None:
    """The guard itself is killed, as by a shortage of memory: the server must not keep the GPU."""
    server = make(stand_in.options())
    await server.start()
    (guard,) = (one for one in psutil.Process().children() if guard_program.__file__ in one.cmdline())
    guard.kill()
    await until(lambda: asyncio.sleep(0, not stand_in.is_left()))
    await server.stop()


async def test_a_start_that_fails_shows_the_end_of_its_log(make: Make, stand_in: StandIn) -> None:
    stand_in.does(prints="INFO loading\nRuntimeError: Failed to infer device type\n", exits=1)
    with pytest.raises(ServerFailed, match=r"INFO loading\n.*Failed to infer") as caught:
        await make(stand_in.options()).start()
    assert caught.value.is_final
    assert "nvidia-smi" in caught.value.remedy


async def test_a_program_that_is_not_there_is_named(make: Make, stand_in: StandIn) -> None:
    with pytest.raises(ServerFailed, match="no-such-vllm cannot be started: No such file") as caught:
        await make(stand_in.options(program="no-such-vllm")).start()
    assert caught.value.is_final


async def test_a_port_that_another_program_has_is_told_before_anything_starts(make: Make, stand_in: StandIn) -> None:
    """What listens there would otherwise be taken for the server, and get its key."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(ServerFailed, match="port is taken"):
            await make(stand_in.options(port=other.getsockname()[1])).start()
    assert stand_in.starts == []


async def test_a_server_that_is_not_ready_in_time_is_ended(make: Make, stand_in: StandIn) -> None:
    stand_in.does(health=500)
    with pytest.raises(ServerFailed, match="not ready within") as caught:
        await make(stand_in.options(), replace(OFTEN, start=0.5)).start()
    assert "start_minutes" in caught.value.remedy
    assert not stand_in.is_left()


async def test_a_server_that_is_too_old_is_not_used(make: Make, stand_in: StandIn) -> None:
    stand_in.does(version="0.11.2")
    with pytest.raises(ServerFailed, match=r"version 0\.11\.2") as caught:
        await make(stand_in.options()).start()
    assert caught.value.is_final
    assert not stand_in.is_left()


async def test_a_server_that_ends_says_so_at_once(make: Make, stand_in: StandIn) -> None:
    server = make(stand_in.options(), replace(OFTEN, health=3600))
    await server.start()
    kill(stand_in.starts[0]["pid"])
    with pytest.raises(ServerFailed, match=f"code {128 + signal.SIGKILL}") as caught:
        await server.watch()
    assert not caught.value.is_wrong
    assert not server.is_running


@pytest.mark.parametrize(("health", "why"), [(503, "engine is dead"), (500, "not answered 3 times")])
async def test_a_server_without_an_engine_or_an_answer_is_not_well(
    make: Make, stand_in: StandIn, health: int, why: str
) -> None:
    server = make(stand_in.options())
    await server.start()
    stand_in.does(health=health)
    with pytest.raises(ServerFailed, match=why):
        await server.watch()


async def test_a_server_that_hangs_is_not_well(make: Make, stand_in: StandIn) -> None:
    """It takes connections, and never answers."""
    server = make(stand_in.options())
    await server.start()
    os.kill(stand_in.starts[0]["pid"], signal.SIGSTOP)
    watching = asyncio.create_task(server.watch())
    while not watching.done():
        await asyncio.sleep(0.02)
        let_pass(ASK_SECONDS)
    with pytest.raises(ServerFailed, match="not answered 3 times"):
        await watching


async def test_other_answers_than_those_that_were_kept_are_found(make: Make, stand_in: StandIn, tmp_path: Path) -> None:
    """Within the noise all is well; beyond it the server is not to be trusted, also at its next start."""
    options = stand_in.options()
    server = make(options)
    await server.start()
    stand_in.does(shift=0.1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await server.watch()
    stand_in.does(shift=0.3)
    with pytest.raises(ServerFailed, match=r"answers otherwise than before: .* 0\.30 nats on average") as caught:
        await server.watch()
    assert caught.value.is_wrong
    await server.stop()
    with pytest.raises(ServerFailed, match="remove"):
        await make(options).start()
    for kept in (tmp_path / "kept" / "canary").iterdir():
        kept.unlink()
    await make(options).start()


async def test_an_adapter_that_changes_nothing_was_not_applied(make: Make, stand_in: StandIn, tmp_path: Path) -> None:
    adapter = read_adapter(adapter_in(tmp_path / "writer"))
    stand_in.does(adapter_effect=0.0)
    with pytest.raises(ServerFailed, match=f"{adapter.name} changes nothing"):
        await make(stand_in.options(adapters=(adapter,))).start()
    stand_in.does()
    await make(stand_in.options(adapters=(adapter,))).start()


async def test_what_a_server_does_is_measured(make: Make, stand_in: StandIn) -> None:
    """And requests whose scores are no numbers end its work."""
    seen: list[tuple[Measures, Measures]] = []
    server = make(stand_in.options(), on_measured=lambda _, now, before: seen.append((now, before)))
    await server.start()
    stand_in.does(counters={"vllm:generation_tokens_total": 500.0, "vllm:corrupted_requests_total": 2.0})
    with pytest.raises(ServerFailed, match="2 requests had scores that are no numbers") as caught:
        await server.watch()
    assert caught.value.is_wrong
    now, before = seen[-1]
    assert (now.generated - before.generated, now.waiting) == (500, 2)
