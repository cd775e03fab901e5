"""``python -m tests.fakes.machine.start.preloaded SOCKET RUN``: what each call of the command loads, then forks of it.

Owns the fork. It ends once the socket can be called, and leaves a process that answers until the process RUN has ended.
A call (``caller.py``) sends its arguments, its environment, its folder and its three standard streams; it gets the
process's number and in the end its status. A call that goes away takes its process with it. Behind ``-m`` stands the
module that is run instead of the command.
"""

import importlib
import io
import json
import os
import runpy
import select
import shutil
import signal
import socket
import sys
from pathlib import Path

from core.engine.wording import language

MODULES = (  # not onnxruntime: it starts a thread, and its end hangs in a process that was forked after that
    "openai.resources.chat.completions",
    "safetensors",
    "sqlalchemy.ext.asyncio",
    "bot.cli.draft",
    "bot.cli.start",
    "bot.compose.application",
    "core.engine.servers.chat",
)
_LONGEST = 1 << 20
_WAITING = 64


def serve(path: Path, run: int) -> None:
    """Answer calls at ``path`` until the process ``run`` is gone, then remove the folder around it."""
    for module in MODULES:
        importlib.import_module(module)
    language.prepare()  # 4 s of nearly every call that drafts; it leaves no thread behind
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen(_WAITING)
        if os.fork() != 0:
            return
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        over = os.pidfd_open(run)
        while over not in select.select([listening.fileno(), over], [], [])[0]:
            call, _ = listening.accept()
            with call:
                if os.fork() == 0:
                    listening.close()
                    os.close(over)
                    _answer(call)
                    return
    shutil.rmtree(path.parent)


def _answer(call: socket.socket) -> None:
    """In a process of the call's own: start the command in another one, and tell how it ends."""
    told, streams, _, _ = socket.recv_fds(call, _LONGEST, 3)
    while not told.endswith(b"\n"):
        told += call.recv(_LONGEST)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    started = os.fork()
    if started == 0:
        call.close()
        _become(json.loads(told), streams)
        return
    for stream in streams:
        os.close(stream)
    call.sendall(b"%d\n" % started)
    ended = os.pidfd_open(started)
    if ended not in select.select([ended, call.fileno()], [], [])[0]:
        os.kill(started, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(started, 0)[1])
    try:
        call.sendall(b"%d\n" % status)
    finally:
        os._exit(0)


def _become(said: dict[str, object], streams: list[int]) -> None:
    """The command, as its own program would begin it; an exception ends the process as it ends any other."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    arguments, environment, folder = said["arguments"], said["environment"], said["folder"]
    assert isinstance(arguments, list)
    assert isinstance(environment, dict)
    os.chdir(str(folder))
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["antiphon", *arguments]
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")  # type: ignore[misc]
    for number, name, errors in ((1, "stdout", "strict"), (2, "stderr", "backslashreplace")):
        is_shown = number == 2 or os.isatty(number)
        written = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
        made = io.TextIOWrapper(written, "utf-8", errors, line_buffering=is_shown)
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)
    if arguments[:1] == ["-m"]:
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__")
        return
    from bot.cli.main import main

    main()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
