"""The process that reads a document, seen from outside: it is started, fed, read from, and always ended.

The time and the length of the answer are limited, and each way in which the process can end has its own words. Nothing
here looks into a document: a hostile file meets only the locked process (``kb.parsing.child``).
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from core.errors import DocumentRefused
from kb.documents import FetchedFile, Page, ParsedFile
from kb.parsing.limits import ParsingLimits

_ROOT = Path(__file__).resolve().parents[2]
_START = "import sys; sys.path.insert(0, sys.argv[1]); from kb.parsing.child import main; main(*sys.argv[1:])"
_PASSED_ON = ("PATH", "TESSDATA_PREFIX")  # no key and no password of this process
_CHUNK = 64 * 1024
_BYTES_PER_CHARACTER, _SPARE_BYTES = 4, 2**20
_LEAVE_OUT = "Leave it out, or raise the limits of parsing."
_REASONS: dict[int, str] = {
    signal.SIGXCPU: "Reading it takes longer than a document may.",
    signal.SIGABRT: "The process that read it gave up, most likely for lack of memory.",
    signal.SIGKILL: "The system ended the process that read it, most likely for its memory.",
}


_Sentence = Annotated[str, StringConstraints(max_length=500)]


class _Answer(BaseModel):
    """The answers that the reading process may give; anything else is refused."""

    model_config = ConfigDict(strict=True, extra="forbid")

    pages: tuple[tuple[int, str, str], ...] = ()
    title: _Sentence | None = None
    author: _Sentence | None = None
    year: Annotated[int, Field(ge=1000, le=2999)] | None = None
    notes: tuple[_Sentence, ...] = ()
    missing: tuple[_Sentence, ...] = ()
    refused: Annotated[str, StringConstraints(max_length=2000)] | None = None
    remedy: _Sentence = ""


async def read_apart(fetched: FetchedFile, limits: ParsingLimits, *, language: str | None) -> ParsedFile:
    """Read a file in a process of its own; see ``kb.parsing.process``."""
    if len(fetched.data) > limits.file_bytes:
        raise DocumentRefused(f"The file is larger than {limits.file_bytes // 2**20} MiB.", remedy=_LEAVE_OUT)
    request = {"media_type": fetched.media_type[:200], "language": language, "limits": asdict(limits)}
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-c", _START, str(_ROOT), json.dumps(request)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        )
    except OSError as err:
        raise DocumentRefused(f"No process could be started to read it: {err.strerror}.", remedy="Try again.") from err
    try:
        async with asyncio.timeout(limits.seconds):
            _, answer = await asyncio.gather(_feed(process, fetched.data), _listen(process, limits))
            await process.wait()
    except TimeoutError as err:
        raise DocumentRefused(f"Reading it takes longer than {limits.seconds:g} seconds.", remedy=_LEAVE_OUT) from err
    finally:
        await _end(process)
    return parsed_file(answer, process.returncode or 0, limits)


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    """Send the document to the process, a piece at a time, so that no copy of it is kept here."""
    stdin = cast("asyncio.StreamWriter", process.stdin)
    view = memoryview(data)
    with contextlib.suppress(ConnectionError):  # it may end before it read everything; its exit code says why
        for start in range(0, len(data), _CHUNK):
            stdin.write(view[start : start + _CHUNK])
            await stdin.drain()
    stdin.close()


async def _listen(process: asyncio.subprocess.Process, limits: ParsingLimits) -> bytes | None:
    """What the process says, or ``None`` where it is too long; the process is ended then.

    The pipe is read to its end all the same: asyncio says that a process has ended only once its pipes are closed, and
    it closes none that has more to give than it keeps.
    """
    stdout = cast("asyncio.StreamReader", process.stdout)
    answer, most = bytearray(), limits.characters * _BYTES_PER_CHARACTER + _SPARE_BYTES
    while piece := await stdout.read(_CHUNK):
        if len(answer) <= most:
            answer += piece
            if len(answer) > most:
                _kill(process)
    return bytes(answer) if len(answer) <= most else None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process and all that it started, and empty the pipe, so that both ends are closed."""
    _kill(process)
    cast("asyncio.StreamWriter", process.stdin).close()
    while await cast("asyncio.StreamReader", process.stdout).read(_CHUNK):
        pass
    await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the whole group has ended already
        os.killpg(process.pid, signal.SIGKILL)


def _name(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def parsed_file(data: bytes | None, exit_code: int, limits: ParsingLimits) -> ParsedFile:
    """What the file says, from the answer of the process that read it; ``None`` is an answer that was too long.

    Raises:
        DocumentRefused: the process refused it, crashed, or gave no answer.
    """
    if data is None:
        raise DocumentRefused(f"It gives more than {limits.characters:,} characters.", remedy=_LEAVE_OUT)
    if exit_code < 0:
        reason = _REASONS.get(-exit_code, f"The process that read it crashed ({_name(-exit_code)}).")
        raise DocumentRefused(reason, remedy=_LEAVE_OUT)
    try:
        answer = _Answer.model_validate_json(data)
    except ValidationError as err:
        raise DocumentRefused(
            "The process that read it gave no answer.",
            remedy="If this happens with every file, install Antiphon again; otherwise leave this one out.",
        ) from err
    if answer.refused is not None:
        raise DocumentRefused(answer.refused, remedy=answer.remedy)
    return ParsedFile(
        tuple(Page(*page) for page in answer.pages),
        answer.title,
        answer.notes + answer.missing,
        answer.author,
        answer.year,
    )


_USUAL = ParsingLimits()


async def parse(fetched: FetchedFile, limits: ParsingLimits = _USUAL, *, language: str | None = None) -> ParsedFile:
    """What a file says.

    Takes 0.1 seconds of start-up for each file and no memory of this process beyond the text. The caller says how many
    run at a time.

    Args:
        limits: what reading it may cost.
        language: ISO 639-1, as its source lists it; OCR needs it.

    Raises:
        DocumentRefused: its kind cannot be read, or it is damaged, a trap, or beyond the limits; the message says
            which. No other error is raised, whatever the file does.
    """
    return await read_apart(fetched, limits, language=language)
