"""The beginnings of prompts, kept on disk so that the embedded model need not read them at every start.

Owns which file holds which beginning and whether the file can be trusted. A CPU reads 75 tokens a second, and the
prompts have 2,500 before the post begins: without this cache a first post waits half a minute longer. Only the text
before the post is kept. It must be called before the server has seen any post, so that no post gets onto the disk.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from core.llm.backends.llamacpp import EmbeddedServer
from core.ports import Message

logger = logging.getLogger(__name__)

CALL_SECONDS: Final = 120.0
KEPT_DAYS: Final = 30
OnPrompt = Callable[[int, int], None]
"""Called with the prompts that are ready and their number."""


def warm(
    server: EmbeddedServer,
    weights: Path,
    beginnings: Sequence[Sequence[Message]],
    *,
    on_prompt: OnPrompt = lambda _, __: None,
) -> int:
    """Put each beginning into a slot of a server that has seen no post yet; blocking.

    A beginning that was read before, with the same weights and the same llama.cpp, comes from the server's
    ``slots_folder`` within milliseconds; any other is read, which takes some seconds, and kept there. If this fails,
    the reason is logged and the model works all the same, only slower.

    Returns:
        How many beginnings came from disk.
    """
    if server.slots_folder is None:
        return 0
    found, taken = 0, beginnings[: server.parallel]
    try:
        _forget_old(server.slots_folder)
        for slot, messages in enumerate(taken):
            key = _key(weights, messages)
            if _restore(server, slot, key):
                found += 1
            else:
                _read_and_keep(server, slot, key, messages)
            on_prompt(slot + 1, len(taken))
    except (OSError, ValueError) as err:
        logger.warning("The prompts could not be prepared, so the first post will wait for them: %s", err)
    return found


def _key(weights: Path, messages: Sequence[Message]) -> str:
    """What the stored state depends on: the weights, llama.cpp and the text."""
    about = weights.stat()
    parts = [
        metadata.version("xllamacpp"),
        weights.name,
        str(about.st_size),
        str(about.st_mtime_ns),
        *(f"{message.role}\0{message.content}" for message in messages),
    ]
    return hashlib.sha256("\0\0".join(parts).encode()).hexdigest()[:32]


def _restore(server: EmbeddedServer, slot: int, key: str) -> bool:
    """Whether a stored state was found, was whole, and was loaded; a damaged one is removed."""
    folder = server.slots_folder or Path()
    for file in folder.glob(f"{key}-*.bin"):
        if file.stem == f"{key}-{_digest(file)}" and server.call(
            f"/slots/{slot}?action=restore", CALL_SECONDS, filename=file.name
        ):
            os.utime(file)
            return True
        file.unlink(missing_ok=True)
    return False


def _read_and_keep(server: EmbeddedServer, slot: int, key: str, messages: Sequence[Message]) -> None:
    turns = [{"role": message.role, "content": message.content} for message in messages]
    if not server.call(
        "/v1/chat/completions", CALL_SECONDS, messages=turns, max_tokens=1, id_slot=slot, cache_prompt=True
    ):
        raise OSError("the model did not read it")
    folder = server.slots_folder or Path()
    draft = folder / f"{key}.{os.getpid()}.part"
    if not server.call(f"/slots/{slot}?action=save", CALL_SECONDS, filename=draft.name):
        draft.unlink(missing_ok=True)
        raise OSError(f"its state could not be written to {folder}")
    draft.replace(folder / f"{key}-{_digest(draft)}.bin")


def _digest(file: Path) -> str:
    with file.open("rb") as stored:
        return hashlib.file_digest(stored, "sha256").hexdigest()[:32]


def _forget_old(folder: Path) -> None:
    """Remove states that no start has used for a month: prompts change with every version."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for file in folder.iterdir():
        if file.stat().st_mtime < oldest:
            file.unlink(missing_ok=True)
