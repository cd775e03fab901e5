"""Puts the stand-in for vLLM where a test can start it, says how it behaves, and tells what became of it."""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import platformdirs
import psutil

from bot.settings import VllmSettings

_PROGRAM = Path(__file__).with_name("program.py")


class StandIn:
    """A program in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "vllm"
        folder.mkdir(parents=True, exist_ok=True)
        self.path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{_PROGRAM}" "{folder}" "$@"\n')
        self.path.chmod(0o755)

    def does(self, **behaviour: Any) -> None:
        """How it behaves from now on; program.py has the names and what it does otherwise."""
        temporary = self.folder / "does.partial"
        temporary.write_text(json.dumps(behaviour))
        temporary.replace(self.folder / "does.json")

    @property
    def starts(self) -> list[dict[str, Any]]:
        """Each start: process, arguments, environment."""
        try:
            return [json.loads(line) for line in (self.folder / "starts.jsonl").read_text().splitlines()]
        except FileNotFoundError:
            return []

    def is_left(self) -> bool:
        """Whether a process of any start still runs."""
        pids = [pid for start in self.starts for pid in (start["pid"], start.get("child")) if pid]
        return any(_runs(pid) for pid in pids)

    async def is_gone(self) -> bool:
        """Whether none runs any more; what was killed a moment ago may still be ending."""
        return not self.is_left()

    def settings(self, **more: Any) -> VllmSettings:
        return VllmSettings.model_validate(
            {"model": "m/Small", "port": free_port(), "program": str(self.path), "start_minutes": 10} | more
        )


def free_port() -> int:
    """A port of the loopback interface that nothing listens on."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port: int = place.getsockname()[1]
        return port


def cache_in(folder: Path) -> Path:
    """A cache with the user's models and indexes, and nothing kept of any server."""
    folder.mkdir()
    shared = platformdirs.user_cache_path("antiphon")
    for entry in shared.iterdir() if shared.exists() else ():
        if entry.name != "vllm":
            (folder / entry.name).symlink_to(entry)
    return folder


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill(pid: int) -> None:
    """End a process at once."""
    os.kill(pid, 9)
