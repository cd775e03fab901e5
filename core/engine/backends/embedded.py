"""The embedded language model as the engine asks it, and its hidden states for the probe that reads posts.

It is loaded when it is first needed. The weights are found, then the server that writes is started and warmed, then the
one that only reads, for the hidden states. While llama.cpp loads, no other Python code of the process runs, so whatever
can be shown first is shown before. The state after the beginning of each prompt is kept on disk, so that it is not read
at every start. ``training.probe`` learns from the same words around a text and the same vectors.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from http.client import HTTPException
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.llamacpp import EmbeddedServer
from core.engine.ports import Message
from core.engine.servers.abilities import Abilities
from core.engine.servers.protocol import ChatProtocol, ServerReply, ServerRequest
from core.errors import IndexUnavailable, ModelUnavailable, NoLanguageModel

if TYPE_CHECKING:
    from core.engine.servers.chat import ChatModel


logger = logging.getLogger(__name__)

CALL_SECONDS: Final = 120.0
_STATES_SECONDS: Final = 20.0
KEPT_DAYS: Final = 30
BEFORE: Final = "Post: "
AFTER: Final = "\nThe stereotype it repeats:"
"""The last token of these words has read the whole post, and is about to say what it says."""
MOST_TOKENS: Final = 90
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
    restored, fitting = 0, beginnings[: server.parallel]
    try:
        _forget_old(server.slots_folder)
        for slot, messages in enumerate(fitting):
            key = _key(weights, messages)
            if _restore(server, slot, key):
                restored += 1
            else:
                _read_and_keep(server, slot, key, messages)
            on_prompt(slot + 1, len(fitting))
    except (OSError, ValueError) as err:
        logger.warning("The prompts could not be prepared, so the first post will wait for them: %s", err)
    return restored


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


class EmbeddedStates:
    """The hidden states of an ``EmbeddedServer`` that only reads. Thirty words take half a second on two cores.

    The three parts are tokenised each by itself, so that a post's own words never merge with those around it.

    Args:
        seconds: after so long without an answer the server is given up.
    """

    def __init__(self, server: EmbeddedServer, seconds: float = _STATES_SECONDS) -> None:
        self._server, self._seconds = server, seconds

    def of(self, text: str) -> NDArray[np.float32] | None:
        """The mean over all tokens but the first, and the last token's vector; ``None`` beyond ``MOST_TOKENS``.

        The first token's vector is the same for every text, and many times as long as the others.

        Raises:
            ModelUnavailable: the server does not answer.
        """
        before, after = self._around
        tokens = self._tokens(text)
        if len(tokens) > MOST_TOKENS:
            return None
        whole = [*before, *tokens, *after]
        rows = self._ask("/embeddings", input=[whole])
        vectors = np.asarray(rows[0]["embedding"], dtype=np.float32)
        if len(vectors) != len(whole):
            raise ModelUnavailable("The embedded language model gave other vectors than it was asked for.")
        return np.concatenate([vectors[1:].mean(axis=0), vectors[-1]])

    @cached_property
    def _around(self) -> tuple[list[int], list[int]]:
        return self._tokens(BEFORE), self._tokens(AFTER)

    def _tokens(self, text: str) -> list[int]:
        return list(self._ask("/tokenize", content=text)["tokens"])

    def _ask(self, path: str, **body: Any) -> Any:
        try:
            answer = self._server.call(path, self._seconds, **body)
        except (OSError, ValueError, HTTPException) as err:
            raise ModelUnavailable("The embedded language model does not answer.") from err
        if answer is None:
            raise ModelUnavailable("The embedded language model does not answer.")
        return answer


class EmbeddedModel(ChatProtocol):
    """The embedded model as a ``LanguageModel``. Nothing is loaded before ``ready``, or the first call.

    Args:
        find: gives the weights; blocking.
        adapter_of: the adapter through which the hidden states of these weights are read, or ``None``; blocking.
        prompts: the folder that keeps the beginnings of prompts, which must exist.
        beginnings: what prompts begin with.
        client: makes the client of the server that writes.
    """

    def __init__(
        self,
        find: Callable[[], Path],
        adapter_of: Callable[[Path], Path | None],
        prompts: Path,
        beginnings: Sequence[Sequence[Message]],
        client: Callable[[EmbeddedServer], ChatModel],
        *,
        context_tokens: int,
        parallel: int,
        threads: int,
        on_prompt: OnPrompt,
    ) -> None:
        self.abilities = Abilities()
        self.hidden = _StatesOf(self)
        self.states: EmbeddedStates | None = None
        self._find, self._adapter_of, self._client = find, adapter_of, client
        self._prompts, self._beginnings, self._on_prompt = prompts, beginnings, on_prompt
        self._context_tokens, self._parallel, self._threads = context_tokens, parallel, threads
        self._stack = AsyncExitStack()
        self._loading: asyncio.Task[ChatModel] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Give everything back. What is being loaded is waited for: llama.cpp cannot be stopped meanwhile."""
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait([self._loading])
        await self._stack.aclose()

    async def ready(self) -> None:
        """Wait until it is loaded; the first caller has it loaded, and a caller that stops waiting stops nothing.

        Raises:
            ModelUnavailable: the weights cannot be had or loaded. It is not tried again.
        """
        await self._chat()

    async def complete(self, request: ServerRequest, timeout_seconds: float) -> ServerReply:
        """As ``ChatProtocol.complete``; the time that loading takes does not count.

        Raises:
            NoLanguageModel: it cannot be loaded.
        """
        try:
            chat = await self._chat()
        except ModelUnavailable as err:
            raise NoLanguageModel(err.message, remedy=err.remedy) from err
        return await chat.complete(request, timeout_seconds)

    async def _chat(self) -> ChatModel:
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> ChatModel:
        weights = await asyncio.to_thread(self._find)
        server = self._stack.enter_context(
            EmbeddedServer(
                weights,
                context_tokens=self._context_tokens,
                parallel=self._parallel,
                threads=self._threads,
                slots_folder=self._prompts,
            )
        )
        await asyncio.to_thread(warm, server, weights, self._beginnings, on_prompt=self._on_prompt)
        chat = self._client(server)
        self._stack.push_async_callback(chat.close)
        self.abilities = chat.abilities
        try:
            if adapter := await asyncio.to_thread(self._adapter_of, weights):
                reading = EmbeddedServer(weights, threads=self._threads, adapter=adapter, reads_only=True)
                self.states = EmbeddedStates(self._stack.enter_context(reading))
        except (IndexUnavailable, ModelUnavailable, OSError) as err:
            logger.warning("Hidden states are left out; the small readers read alone: %s", err)
        return chat


class _StatesOf:
    """The hidden states of a model that may not be loaded yet; none before, and none beside other weights."""

    def __init__(self, model: EmbeddedModel) -> None:
        self._model = model

    def of(self, text: str) -> NDArray[np.float32] | None:
        """As ``EmbeddedStates.of``."""
        states = self._model.states
        return None if states is None else states.of(text)
