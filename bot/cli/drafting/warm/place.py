"""Where a command and the process with the models meet, what they say there, and when they fit each other.

Owns the folder of the socket, which only its user can enter, the key of everything that an answer depends on, and the
messages, which are JSON. Both sides look whether the other one is the same user before they read a word.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import stat
import struct
import sys
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import platformdirs
from pydantic import SecretStr, TypeAdapter

from bot.compose.settings.settings import Settings
from core.errors import AntiphonError
from core.i18n.sentences import restored, stored
from core.models import Progress, Suggestion
from core.ports import EvidenceQuery, Found
from core.request import Request

_LENGTH: Final = struct.Struct("!I")
_CREDENTIALS: Final = struct.Struct("3i")
"""Process, user and group of the other side: ``struct ucred`` of unix(7)."""
_LONGEST: Final = 64_000_000
PROJECT: Final = Path(__file__).resolve().parents[4]
_SOURCES: Final = ("core", "kb", "bot", "adapters")
_LIBRARIES: Final = ("torch", "transformers", "sentence-transformers", "xllamacpp", "openai", "faiss-cpu", "PyStemmer")
_PASSING: Final = (".lock", "-shm", ".json")
"""Ends of names: what a program leaves beside the weights and the library while it reads them."""
_OUTSIDE: Final = ("HF_", "TRANSFORMERS_", "SENTENCE_TRANSFORMERS_")


@dataclass(frozen=True, slots=True)
class Ask:
    """A command wants drafts, or passages; ``key`` names what its answer depends on."""

    key: str
    question: Request | EvidenceQuery


@dataclass(frozen=True, slots=True)
class AskStanding:
    """A command wants to know how the process is doing."""

    key: str


@dataclass(frozen=True, slots=True)
class Alive:
    """It is being worked on; of the models, ``done`` of ``total`` of ``what`` is ready while they are loaded."""

    is_loaded: bool = False
    what: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """The drafts, or the passages."""

    answer: Suggestion | Found


@dataclass(frozen=True, slots=True)
class Failed:
    """What the engine, or its opening, ended with."""

    fault: AntiphonError


@dataclass(frozen=True, slots=True)
class Other:
    """The models were loaded for other settings, another version or other files: ask nobody here."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the process is doing; ``fits``: whether it would answer who asks."""

    process: int
    since: datetime
    is_loaded: bool
    drafted: int
    bytes_held: int
    idle_minutes: float
    fits: bool


Said = Ask | AskStanding | Alive | Progress | Done | Failed | Other | Standing


_ADAPTERS: Final[dict[type, TypeAdapter[Any]]] = {
    kind: TypeAdapter(kind)
    for kind in (Request, EvidenceQuery, Suggestion, Found, AskStanding, Alive, Progress, Other, Standing)
}


def own_folder() -> Path:
    """The folder of the socket, made if needed.

    Raises:
        OSError: it cannot be made, is another user's, or can be entered by others.
    """
    with warnings.catch_warnings():  # without a login session there is no XDG_RUNTIME_DIR; the temporary folder will do
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set")
        folder = platformdirs.user_runtime_path("antiphon")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise OSError(f"{folder} is not this user's alone")
    return folder


def socket_of(folder: Path) -> Path:
    """Where the process with the models listens."""
    return folder / "models.sock"


def lock_of(folder: Path) -> Path:
    """The lock that the process with the models holds as long as it lives."""
    return folder / "models.lock"


def key_of(settings: Settings) -> str:
    """Names everything that drafts depend on beside the request: settings, versions, our code, weights, documents."""
    digest = hashlib.sha256()
    for part in _parts(settings):
        digest.update(repr(part).encode() + b"\0")
    return digest.hexdigest()


def _parts(settings: Settings) -> Iterator[object]:
    yield sys.version, [metadata.version("antiphon"), *filter(None, map(_version, _LIBRARIES))]
    yield _revealed(settings.model_dump(exclude={"origin"}))
    yield sorted((name, text) for name, text in os.environ.items() if name.startswith(_OUTSIDE))
    for folder in (settings.cache_folder, settings.library_folder):
        yield str(folder.expanduser().resolve())
    named = (settings.llm.model_path, settings.kb.embedding_model, settings.kb.reranker, settings.scorers.toxicity)
    for text in (*named, settings.scorers.nli, settings.scorers.argument_quality):
        path = Path(text).expanduser()
        if text and path.exists():
            yield str(path.resolve()), [_stamp(file) for file in ([path] if path.is_file() else sorted(path.iterdir()))]
    folders = [settings.library_folder]
    if settings.llm.backend == "embedded":  # weights that another command fetches just now change nothing for a server
        folders.append(settings.cache_folder / "models")
    for folder in folders:
        yield [_stamp(file) for file in sorted(folder.glob("*")) if not file.name.endswith(_PASSING)]
    for source in _SOURCES:
        yield [_stamp(file) for file in sorted((PROJECT / source).rglob("*")) if "__pycache__" not in file.parts]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _revealed(value: Any) -> Any:
    """A value with the secrets in it; only its hash is kept."""
    if isinstance(value, dict):
        return {name: _revealed(below) for name, below in value.items()}
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _stamp(file: Path) -> tuple[str, int, int]:
    """Changes when the file does. A folder's own times change with what is read from it, and do not count."""
    try:
        about = file.stat()
    except OSError:
        return str(file), 0, 0
    return (str(file), 0, 0) if stat.S_ISDIR(about.st_mode) else (str(file), about.st_size, about.st_mtime_ns)


def require_same_user(writer: asyncio.StreamWriter) -> None:
    """Refuse to talk to another user's process, which may have taken the place of the socket.

    Raises:
        PermissionError: it is another user's.
    """
    made = writer.get_extra_info("socket")
    _, user, _ = _CREDENTIALS.unpack(made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    if user != os.getuid():
        raise PermissionError("The process that keeps models loaded in this place is another user's.")


def put(writer: asyncio.StreamWriter, said: Said) -> None:
    """Send a message."""
    kind, body = type(said).__name__, _body_of(said)
    line = json.dumps({"kind": kind, "body": body}, ensure_ascii=False).encode()
    writer.write(_LENGTH.pack(len(line)) + line)


def _body_of(said: Said) -> object:
    if isinstance(said, Ask):
        question = said.question
        about = replace(question, turn=nullcontext) if isinstance(question, Request) else question
        return {"key": said.key, "of": type(about).__name__, "question": _dumped(about)}
    if isinstance(said, Done):
        return {"of": type(said.answer).__name__, "answer": _dumped(said.answer)}
    if isinstance(said, Failed):
        fault = said.fault
        return {"of": type(fault).__name__, "message": stored(fault.message), "remedy": stored(fault.remedy)}
    return _dumped(said)


def _read(kind: str, body: Any) -> Said:
    if kind == "Ask":
        return Ask(str(body["key"]), _loaded(body["of"], body["question"], Request, EvidenceQuery))
    if kind == "Done":
        return Done(_loaded(body["of"], body["answer"], Suggestion, Found))
    if kind == "Failed":
        fault = {one.__name__: one for one in _errors(AntiphonError)}[body["of"]]
        return Failed(fault(restored(body["message"]), remedy=restored(body["remedy"])))
    said: Said = _loaded(kind, body, AskStanding, Alive, Progress, Other, Standing)
    return said


def _dumped(said: Any) -> object:
    return _ADAPTERS[type(said)].dump_python(said, mode="json", exclude={"turn"})


def _loaded(kind: str, body: object, *among: type[Any]) -> Any:
    return _ADAPTERS[{one.__name__: one for one in among}[kind]].validate_python(body)


def _errors(kind: type[AntiphonError]) -> Iterator[type[AntiphonError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _errors(below)


async def take(reader: asyncio.StreamReader) -> Said:
    """The next message.

    Raises:
        EOFError: the other side is gone, or sent something else. ``asyncio.IncompleteReadError`` is one.
    """
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    if length > _LONGEST:
        raise EOFError("no message of ours")
    body = await reader.readexactly(length)
    try:
        said = json.loads(body)
        return _read(said["kind"], said["body"])
    except (LookupError, RecursionError, TypeError, ValueError) as err:  # an older or newer program says other things
        raise EOFError("a message of another version") from err
