"""A chat model behind any OpenAI-compatible server: vLLM, llama.cpp, the embedded one.

Owns the translation between ``core.ports.LanguageModel`` and that protocol. Must never log a prompt or an answer, and
never repeat a request that the server answered or may still be working on.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

import openai
import stamina
from openai.types.chat import ChatCompletion

from core.errors import ModelUnavailable
from core.llm.backends.servers.faults import ServerFaults
from core.llm.backends.servers.reaching import check_model
from core.ports import Answer, Generation, Message

# In its own way stamina would tell each retry to standard output; what fails in the end is told by its error.
stamina.instrumentation.set_on_retry_hooks([])

ATTEMPTS: Final = 2
RETRY_WAIT_SECONDS: Final = 0.2
LIKELY_TOKENS: Final = 20
LEAST_MASS: Final = 0.05
CONNECT_SECONDS: Final = 5.0
NO_KEY: Final = "none"
Read = TypeVar("Read")

logger = logging.getLogger(__name__)


class ChatModel:
    """``core.ports.LanguageModel`` over HTTP.

    Args:
        base_url: of the server, with its ``/v1``.
        api_key: a secret; "" where the server asks for none.
        model: the name that the server knows the model by.
        timeout_seconds: no call takes longer than this, whatever its caller would allow.
        concurrency: calls that are sent at once; the others wait, within their time.
        is_one_of_a_kind: whether calls with the same first message are sent one after the other. llama.cpp on a CPU
            needs this: otherwise the calls do not reuse the beginning that they share.
        remedy: how to start this server, for the errors of an unreachable one.
        section: the table of config.toml that describes this server, for what errors name.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout_seconds: float = 120,
        concurrency: int = 16,
        is_one_of_a_kind: bool = False,
        remedy: str = "",
        section: str = "llm",
    ) -> None:
        self._model = model
        self._api_key = api_key or NO_KEY
        self._faults = ServerFaults(base_url, model, section, remedy)
        self._longest_seconds = timeout_seconds
        self._free = asyncio.Semaphore(concurrency)
        self._kinds: WeakValueDictionary[str, asyncio.Lock] | None = WeakValueDictionary() if is_one_of_a_kind else None
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=self._api_key,
            max_retries=0,
            # Its read timeout starts again with every piece that arrives, so _complete limits the whole call.
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
        )

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """Write ``how.n`` answers; ``completion_tokens`` counts those of all of them.

        llama.cpp reports the tokens of the first choice only, so with several choices their log-probabilities are
        asked for, one entry a token, and counted. That costs about 5 % of the decoding time on a CPU.

        Raises:
            ModelAway: the server cannot be reached, is overloaded, or does not know the key or the model.
            ModelUnavailable: there is no usable answer within ``timeout_seconds``.
        """
        return await self._complete(_request(messages, how), _answer, timeout_seconds)

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        """Read the shares of one-token options, such as "A" and "B", from the first token's log-probabilities.

        Tokens that differ from an option in case or white space count for it. Returns ``None`` where the options
        have less than 5 % of the probability among the 20 likeliest tokens: such an answer says nothing.

        Raises:
            ModelUnavailable: there is no usable answer within ``timeout_seconds``.
        """
        one_token = {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": LIKELY_TOKENS}

        def read(completion: ChatCompletion) -> tuple[dict[str, float] | None, Answer]:
            return _shares(_likely_tokens(completion), options), _answer(completion)

        return await self._complete({"messages": _turns(messages), **one_token}, read, timeout_seconds)

    async def check_model(self) -> None:
        """Look whether the server knows the model, before anybody waits for it. See ``reaching.check_model``.

        Raises:
            ModelUnavailable: the server is there, and does not know the model, refuses the key or is something else.
        """
        if not await check_model(self._faults, self._api_key):
            logger.warning("The language model at %s does not answer yet.", self._faults.address)

    async def close(self) -> None:
        """Close the connections; requests in flight fail."""
        await self._client.close()

    async def _complete(
        self, request: Mapping[str, Any], read: Callable[[ChatCompletion], Read], timeout_seconds: float
    ) -> Read:
        seconds = min(timeout_seconds, self._longest_seconds)
        try:
            async with asyncio.timeout(seconds), self._turn(request), self._free:
                completion = await self._send(request)
        except TimeoutError as err:
            raise self._faults.late(seconds) from err
        except (openai.OpenAIError, ValueError) as err:
            raise self._fault_of(err) from err
        try:
            return read(completion)
        except (AttributeError, IndexError, TypeError, ValueError) as err:  # the client does not check what it parses
            raise self._faults.not_openai() from err

    def _turn(self, request: Mapping[str, Any]) -> AbstractAsyncContextManager[object]:
        """Wait for earlier calls with the same first message, where they are sent one after the other."""
        if self._kinds is None:
            return nullcontext()
        return self._kinds.setdefault(request["messages"][0]["content"], asyncio.Lock())

    async def _send(self, request: Mapping[str, Any]) -> ChatCompletion:
        """Send the request, and send it a second time if no connection was made."""
        async for attempt in stamina.retry_context(
            on=_is_connection_error, attempts=ATTEMPTS, wait_initial=RETRY_WAIT_SECONDS, timeout=None
        ):
            with attempt:
                completion: ChatCompletion = await self._client.chat.completions.create(model=self._model, **request)
        return completion

    def _fault_of(self, err: openai.OpenAIError | ValueError) -> ModelUnavailable:
        """The error as one of ours, with a remedy."""
        match err:
            case openai.APIConnectionError():
                return self._faults.unreached()
            case openai.APIStatusError():
                return self._faults.of_status(err.status_code, _reason(err))
            case _:
                return self._faults.not_openai()


def _is_connection_error(err: Exception) -> bool:
    """A timeout is a connection error to the client, but the server may be working on the request."""
    return isinstance(err, openai.APIConnectionError) and not isinstance(err, openai.APITimeoutError)


def _reason(err: openai.APIStatusError) -> str:
    """The server's own words, without the request, which holds a person's post."""
    body = err.body if isinstance(err.body, Mapping) else {}
    return str(body.get("type") or body.get("code") or f"status {err.status_code}")


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _request(messages: Sequence[Message], how: Generation) -> dict[str, Any]:
    request: dict[str, Any] = {
        "messages": _turns(messages),
        "max_tokens": how.max_tokens,
        "temperature": how.temperature,
        "n": how.n,
    }
    if how.n > 1:
        request |= {"logprobs": True, "top_logprobs": 1}
    if how.seed is not None:
        request["seed"] = how.seed
    if how.stop:
        request["stop"] = list(how.stop)
    if how.schema is not None:
        json_schema = {"name": "answer", "strict": True, "schema": dict(how.schema)}
        request["response_format"] = {"type": "json_schema", "json_schema": json_schema}
    return request


def _answer(completion: ChatCompletion) -> Answer:
    """Texts and tokens. The larger of both counts is used: servers differ in what they leave out.

    Raises:
        IndexError: there is no choice.
    """
    usage, _ = completion.usage, completion.choices[0]
    counted = sum(len(c.logprobs.content) for c in completion.choices if c.logprobs and c.logprobs.content)
    return Answer(
        texts=tuple(choice.message.content or "" for choice in completion.choices),
        prompt_tokens=usage.prompt_tokens if usage else 0,
        completion_tokens=max(counted, usage.completion_tokens if usage else 0),
    )


def _likely_tokens(completion: ChatCompletion) -> list[tuple[str, float]]:
    """The likeliest first tokens with their probabilities; none where the server gives no log-probabilities."""
    logprobs = completion.choices[0].logprobs
    if logprobs is None or not logprobs.content:
        return []
    return [(token.token, math.exp(token.logprob)) for token in logprobs.content[0].top_logprobs]


def _shares(likely: Sequence[tuple[str, float]], options: Sequence[str]) -> dict[str, float] | None:
    mass = {option: math.fsum(p for token, p in likely if _same(token, option)) for option in options}
    total = math.fsum(mass.values())
    return {option: p / total for option, p in mass.items()} if total >= LEAST_MASS else None


def _same(token: str, option: str) -> bool:
    return token.strip().casefold() == option.strip().casefold()
