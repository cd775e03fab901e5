"""What a running server is asked over HTTP: its health, version, models, measures, and first tokens.

Owns these requests and their limits. Must never send a post: the prompts of the canary are fixed.
"""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from core.errors import BadAnswer

ASK_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 120.0
LIKELY_TOKENS: Final = 20

Unanswered = (aiohttp.ClientError, OSError)
"""What is raised where no answer comes: no connection, one that breaks, or the time that is over."""


class Asking:
    """Questions to one server.

    Args:
        root: its address, without ``/v1``.
        key: the secret of its ``/v1`` routes; "" where it asks for none.
    """

    def __init__(self, root: str, key: str) -> None:
        self._root = root
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=aiohttp.ClientTimeout(total=ASK_SECONDS),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._session.close()

    async def health(self) -> int:
        """The status of ``/health``: 200 where it serves, 503 where its engine is dead."""
        async with self._session.get(f"{self._root}/health") as answer:
            return answer.status

    async def version(self) -> str | None:
        """The version that it gives, ``None`` where it gives none."""
        async with self._session.get(f"{self._root}/version") as answer:
            if answer.status != 200:
                return None
            try:
                said = await answer.json(content_type=None)
            except ValueError:
                return None
        version = said.get("version") if isinstance(said, dict) else None
        return version if isinstance(version, str) else None

    async def models(self) -> list[dict[str, Any]] | None:
        """The list of its models; ``None`` where it has none for this key."""
        async with self._session.get(f"{self._root}/v1/models") as answer:
            if answer.status != 200:
                return None
            try:
                said = await answer.json(content_type=None)
            except ValueError:
                return None
        models = said.get("data") if isinstance(said, dict) else None
        return [one for one in models if isinstance(one, dict)] if isinstance(models, list) else None

    async def measures(self) -> str:
        """Its measures, in Prometheus' text format.

        Raises:
            BadAnswer: it has none.
        """
        async with self._session.get(f"{self._root}/metrics") as answer:
            if answer.status != 200:
                raise BadAnswer(f"The model server gives no measures (status {answer.status}).")
            return await answer.text()

    async def first_tokens(self, model: str, prompt: str) -> dict[str, float]:
        """The likeliest first tokens of the answer to a prompt, with their log-probabilities.

        Raises:
            BadAnswer: the server refuses, or gives no numbers.
        """
        request = {
            "model": model,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": LIKELY_TOKENS,
        }
        limit = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
        address = f"{self._root}/v1/chat/completions"
        async with self._session.request("POST", address, json=request, timeout=limit) as answer:
            if answer.status != 200:
                raise BadAnswer(f"The model server answers {model} with status {answer.status}.")
            try:
                said = await answer.json(content_type=None)
                likely = said["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
                found: dict[str, float] = {}
                for one in likely:  # two tokens may be written alike: the likelier one comes first
                    found.setdefault(str(one["token"]), float(one["logprob"]))
            except (ValueError, KeyError, IndexError, TypeError) as err:
                raise BadAnswer(f"The model server gives {model} no log-probabilities.") from err
        if not found or not all(math.isfinite(value) for value in found.values()):
            raise BadAnswer(f"The model server gives {model} log-probabilities that are no numbers.")
        return found
