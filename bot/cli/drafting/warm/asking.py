"""How a command asks the process that has the models, and starts one where there is none.

Owns when that is given up: then the command loads the models itself, and says so.
"""

from __future__ import annotations

import asyncio
import subprocess  # nosec B404 # programs of our own choice, never through a shell
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

from bot.cli.drafting.warm.place import (
    PROJECT,
    Alive,
    Ask,
    AskStanding,
    Done,
    Failed,
    Other,
    Standing,
    key_of,
    own_folder,
    put,
    require_same_user,
    socket_of,
    take,
)
from bot.compose.settings.settings import Settings
from core.models import Progress, Suggestion
from core.ports import EvidenceQuery, Found
from core.request import Request

_FIRST_SECONDS: Final = 15.0
"""A process that loads the models for another command may be silent for some seconds."""
_LOADING_SECONDS: Final = 120.0
"""While llama.cpp loads, no other code of its process runs, not even the signs of life."""
_SILENT_SECONDS: Final = 20.0
_CONNECT_SECONDS: Final = 3.0
_START_SECONDS: Final = 20.0
_LOOK_SECONDS: Final = 0.05
_ANOTHER: Final = "What answers in the place of the process that keeps the models loaded is another program."
STARTING: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from bot.cli.drafting.warm.process import main; main()"
)
"""An installation's parts are known to its own command alone, so that the process is told where they are."""
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
AnswerT = TypeVar("AnswerT", Suggestion, Found)


class NoneWarmError(Exception):
    """No process with the models answers; the message says why, as a sentence for people."""


async def suggest(
    settings: Settings,
    config: Path | None,
    request: Request,
    *,
    on_start: Callable[[], None],
    on_preparing: Callable[[str, int, int], None],
    on_progress: Callable[[Progress], None],
) -> Suggestion:
    """What the engine suggests, asked of the process that has it.

    Args:
        config: the settings file that the command was given.
        on_start: is told that a process is started, which loads the models.

    Raises:
        NoneWarmError: none answers. Nothing was done.
        AntiphonError: as ``Engine.suggest`` and ``open_engine`` raise.
    """
    return await _answered(settings, config, request, Suggestion, on_start, on_preparing, on_progress)


async def search(
    settings: Settings, config: Path | None, query: EvidenceQuery, *, on_start: Callable[[], None]
) -> Found:
    """What the knowledge base holds, asked of the process that has its models; the language model is not waited for.

    Args:
        config: the settings file that the command was given.
        on_start: is told that a process is started, which loads the models.

    Raises:
        NoneWarmError: none answers.
        AntiphonError: as the search and the opening of the knowledge base raise.
    """
    return await _answered(settings, config, query, Found, on_start, lambda *_: None, lambda _: None)


async def _answered(
    settings: Settings,
    config: Path | None,
    question: Request | EvidenceQuery,
    kind: type[AnswerT],
    on_start: Callable[[], None],
    on_preparing: Callable[[str, int, int], None],
    on_progress: Callable[[Progress], None],
) -> AnswerT:
    key = key_of(settings)
    try:
        path = socket_of(own_folder())
    except OSError as err:
        raise NoneWarmError(f"The models cannot be kept loaded ({err}).") from err
    said = await _ask(path, Ask(key, question), on_preparing, on_progress)
    if said is None:
        on_start()
        await _start([] if config is None else [str(config)], path)
        said = await _ask(path, Ask(key, question), on_preparing, on_progress)
    if isinstance(said, Failed):
        raise said.fault
    if said is None:
        raise NoneWarmError("The models that are kept loaded belong to other settings, and are in use.")
    if not isinstance(said.answer, kind):
        raise NoneWarmError(_ANOTHER)
    return said.answer


async def standing(settings: Settings) -> Standing | None:
    """How the process with the models is doing; ``None`` where there is none."""
    try:
        connection = await _connected(socket_of(own_folder()))
    except (NoneWarmError, OSError):
        return None
    if connection is None:
        return None
    reader, writer = connection
    try:
        put(writer, AskStanding(key_of(settings)))
        async with asyncio.timeout(_FIRST_SECONDS):
            said = await take(reader)
    except (EOFError, OSError, TimeoutError):
        return None
    finally:
        writer.close()
    return said if isinstance(said, Standing) else None


async def _ask(
    path: Path,
    question: Ask,
    on_preparing: Callable[[str, int, int], None],
    on_progress: Callable[[Progress], None],
) -> Done | Failed | None:
    """The answer; ``None`` where nobody is there, or somebody with other models, who ends then.

    Raises:
        NoneWarmError: who is there does not answer, or stopped in the middle.
    """
    connection = await _connected(path)
    if connection is None:
        return None
    reader, writer = connection
    try:
        put(writer, question)
        seconds = _FIRST_SECONDS
        while True:
            async with asyncio.timeout(seconds):
                said = await take(reader)
            match said:
                case Done() | Failed():
                    return said
                case Other():
                    return None
                case Alive(is_loaded, what, done, total):
                    seconds = _SILENT_SECONDS if is_loaded else _LOADING_SECONDS
                    if what:
                        on_preparing(what, done, total)
                case Progress() as step:
                    on_progress(step)
                case _:
                    break
    except (EOFError, OSError, TimeoutError) as err:
        raise NoneWarmError("The process that keeps the models loaded stopped answering.") from err
    finally:
        writer.close()
    raise NoneWarmError(_ANOTHER)


async def _connected(path: Path) -> Connection | None:
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
    except (OSError, TimeoutError):  # no socket, or one that a killed process left
        return None
    try:
        require_same_user(writer)
    except PermissionError as err:
        writer.close()
        raise NoneWarmError(str(err)) from err
    return reader, writer


async def _start(arguments: list[str], path: Path) -> None:
    """Start a process, and wait until it can be asked.

    Raises:
        NoneWarmError: it ended before.
    """
    process = subprocess.Popen(  # nosec B603 # noqa: ASYNC220, S603 - it returns at once; our own program, and it outlives us
        [sys.executable, "-P", "-c", STARTING, str(PROJECT), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until = monotonic() + _START_SECONDS
    while monotonic() < until:
        await asyncio.sleep(_LOOK_SECONDS)
        has_ended = process.poll() is not None
        connection = await _connected(path)
        if connection is not None:
            connection[1].close()
            return
        if has_ended:
            break
    raise NoneWarmError("A process that keeps the models loaded could not be started.")
