"""The embedded language model as the engine asks it: loaded when it is first needed, and not before.

Owns the order of loading: the weights are found, then a server that only reads, for the hidden states, and one that
writes. While llama.cpp loads, no other Python code of the process runs, so whoever can show something first does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from core.errors import IndexUnavailable, ModelUnavailable, NoLanguageModel
from core.llm.backends.llamacpp import EmbeddedServer
from core.llm.backends.prompt_cache import OnPrompt, warm
from core.llm.backends.servers.abilities import Abilities
from core.llm.backends.servers.protocol import ChatProtocol, Reply, Request
from core.llm.backends.states import EmbeddedStates
from core.ports import Message

if TYPE_CHECKING:
    from core.llm.backends.servers.chat import ChatModel

logger = logging.getLogger(__name__)


class EmbeddedModel(ChatProtocol):
    """The embedded model behind ``core.ports.LanguageModel``. Nothing is loaded before ``ready``, or the first call.

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
        """Wait until it is loaded; the first who waits has it loaded, and who stops waiting stops nothing.

        Raises:
            ModelUnavailable: the weights cannot be had or loaded. It is not tried again.
        """
        await self._loaded()

    async def complete(self, request: Request, timeout_seconds: float) -> Reply:
        """As ``ChatProtocol.complete``; the time that loading takes does not count.

        Raises:
            NoLanguageModel: it cannot be loaded.
        """
        try:
            chat = await self._loaded()
        except ModelUnavailable as err:
            raise NoLanguageModel(err.message, remedy=err.remedy) from err
        return await chat.complete(request, timeout_seconds)

    async def _loaded(self) -> ChatModel:
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
