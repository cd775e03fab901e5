"""Asks a model server for answers of an exact length to prompts of an exact length.

Owns how prompts are made: of token numbers, all beginning alike as far as a prefix cache would hold them, and going on
by chance. What is written has no meaning, so any weights will do; how long it takes does not depend on what is written.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Final, Self

import aiohttp

FIRST: Final = 1000
"""Below it are a tokenizer's bytes and marks."""
_TIMEOUT_SECONDS: Final = 600.0


@dataclass
class Client:
    """One server of OpenAI's protocol with ``/v1/completions`` that takes token numbers, as vLLM does.

    Args:
        base_url: its address, with ``/v1``.
        model: what it knows its model by.
        vocabulary: numbers of tokens that may stand in a prompt.
    """

    base_url: str
    model: str
    key: str = ""
    vocabulary: int = 100_000
    seed: int = 0
    calls: int = 0
    _session: aiohttp.ClientSession | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)  # nosec B311 # noqa: S311 - repeatable, no secret
        self._shared = [FIRST + (7919 * place) % self.vocabulary for place in range(32_768)]

    async def __aenter__(self) -> Self:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS)
        self._session = aiohttp.ClientSession(
            headers=headers,
            timeout=timeout,
            connector=aiohttp.TCPConnector(limit=0, force_close=True),
            raise_for_status=True,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def ask(self, prompt: int, new: int, written: int, n: int = 1) -> float:
        """Seconds until ``n`` answers of together ``written`` tokens to a prompt of so many tokens.

        Args:
            new: tokens at the end of the prompt that no other prompt has there.

        Raises:
            aiohttp.ClientError: the server refuses, or is away.
        """
        if self._session is None:
            raise RuntimeError("The client is not open.")
        tokens = self._shared[: prompt - new] + [
            FIRST + self._chance.randrange(self.vocabulary) for _ in range(min(new, prompt))
        ]
        length = max(1, round(written / n))
        body = {
            "model": self.model, "prompt": tokens, "n": n, "max_tokens": length, "min_tokens": length,
            "ignore_eos": True, "temperature": 1.0,
        }  # fmt: skip
        began = time.monotonic()
        async with self._session.post(f"{self.base_url}/completions", json=body) as answer:
            usage = (await answer.json())["usage"]
        self.calls += 1
        if usage["completion_tokens"] != length * n:
            raise ValueError(f"{usage['completion_tokens']} tokens came for {length * n}.")
        return time.monotonic() - began
