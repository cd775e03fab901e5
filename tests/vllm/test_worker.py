"""``antiphon worker --serve`` with a real vLLM that is killed in the middle of a case."""

import asyncio
import os
import re
import signal
import time
import urllib.request
from pathlib import Path

import psutil

from tests.e2e.conftest import Antiphon
from tests.e2e.serving.test_worker_command import when_reviewed
from tests.fakes.machine.installation import flag_in
from tests.fakes.vllm.standing_in import cache_in
from tests.vllm.conftest import settings_for

GUARD_SECONDS = 3600.0


def running(port: int) -> float:
    """How many calls the server answers just now; 0 while it is not there."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            said = re.search(r"^vllm:num_requests_running\{.*\} (\S+)$", answer.read().decode(), re.MULTILINE)
            return float(said[1]) if said else 0
    except OSError:
        return 0


def is_healthy(port: int) -> bool:
    """Whether the server is ready."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def servers_of(worker: int) -> list[psutil.Process]:
    """The processes of a worker's server: vLLM and its engine."""
    return psutil.Process(worker).children(recursive=True)


def test_a_case_is_finished_though_vllm_is_killed_meanwhile(tmp_path: Path) -> None:
    """With what there was, or from its beginning. The server is started again; nothing of it outlives the worker."""
    (home := tmp_path / "home").mkdir()
    options = settings_for()
    worker = Antiphon(home).having(
        VLLM_CPU_KVCACHE_SPACE="1",
        ANTIPHON__KB__CACHE_FOLDER=str(cache_in(home / "cache")),
        ANTIPHON__PROFILES__LIVE__DEADLINE_SECONDS="300",
        ANTIPHON__LLM__TIMEOUT_SECONDS="300",
        ANTIPHON__VLLM__MODEL=options.model,
        ANTIPHON__VLLM__SERVED_NAME=options.served_name,
        ANTIPHON__VLLM__PROGRAM=options.program,
        ANTIPHON__VLLM__PORT=str(options.port),
        ANTIPHON__VLLM__MAX_MODEL_LEN=str(options.max_model_len),
        ANTIPHON__VLLM__ARGUMENTS=",".join(options.arguments),
    )
    (data := home / "data" / "antiphon").mkdir(parents=True)
    case = asyncio.run(flag_in(data))
    with worker.started("worker", "--serve") as process:
        until = time.monotonic() + GUARD_SECONDS
        while not running(options.port):
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            assert time.monotonic() < until
            time.sleep(0.1)
        of_worker = servers_of(process.pid)
        vllm = next(one for one in of_worker if "serve" in one.cmdline())
        os.kill(vllm.pid, signal.SIGKILL)
        stored = asyncio.run(when_reviewed(data, case.id, GUARD_SECONDS))
        while not is_healthy(options.port):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(1)
        left = servers_of(process.pid)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=GUARD_SECONDS)
    assert stored is not None
    assert stored.suggestion.drafts
    assert process.returncode == 0
    assert said.count("Starting vLLM with") == 2
    assert "The model server ended with the code" in said
    assert [one for one in (*of_worker, *left) if one.is_running()] == []
