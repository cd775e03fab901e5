"""A chat model behind one OpenAI-compatible server: vLLM, llama.cpp, the embedded one.

Owns the calls to a server: how long they may take, how many there are at once, and who hears what each cost. Must never
log a prompt or an answer, and never repeat a request that the server answered or may still be working on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from weakref import WeakValueDictionary

import openai
import stamina
from openai.types.chat import ChatCompletion

from core.llm.backends.servers.calls import Call, OnCall, tell_nobody
from core.llm.backends.servers.faults import ServerFault, ServerFaults
from core.llm.backends.servers.protocol import ChatProtocol, Reply, Request, reply_of
from core.llm.backends.servers.reaching import check_model

# In its own way stamina would tell each retry to standard output; what fails in the end is told by its error.
stamina.instrumentation.set_on_retry_hooks([])

ATTEMPTS: Final = 2
RETRY_WAIT_SECONDS: Final = 0.2
CONNECT_SECONDS: Final = 5.0
NO_KEY: Final = "none"

logger = logging.getLogger(__name__)


class ChatModel(ChatProtocol):
    """``core.ports.LanguageModel`` over HTTP, from one server.

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
        attempts: how often a request is sent where no connection is made.
        on_call: hears of each call that was sent. A call that its caller ends is not told.
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
        attempts: int = ATTEMPTS,
        on_call: OnCall = tell_nobody,
    ) -> None:
        self._model = model
        self.api_key: Final = api_key or NO_KEY
        self.faults: Final = ServerFaults(base_url, model, section, remedy)
        self.longest_seconds: Final = timeout_seconds
        self.concurrency: Final = concurrency
        self._attempts, self._on_call = attempts, on_call
        self._free = asyncio.Semaphore(concurrency)
        self._kinds: WeakValueDictionary[str, asyncio.Lock] | None = WeakValueDictionary() if is_one_of_a_kind else None
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=self.api_key,
            max_retries=0,
            # Its read timeout starts again with every piece that arrives, so complete limits the whole call.
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
        )

    async def check_model(self) -> None:
        """Look whether the server knows the model, before anybody waits for it. See ``reaching.check_model``.

        Raises:
            ModelUnavailable: the server is there, and does not know it, refuses the key or is something else.
        """
        if not await check_model(self.faults, self.api_key):
            logger.warning("The language model at %s does not answer yet.", self.faults.address)

    async def close(self) -> None:
        """Close the connections; requests in flight fail."""
        await self._client.close()

    async def complete(self, request: Request, timeout_seconds: float) -> Reply:
        """As ``ChatProtocol.complete``."""
        seconds, sent = min(timeout_seconds, self.longest_seconds), None
        try:
            try:
                async with asyncio.timeout(seconds), self._turn(request), self._free:
                    sent = time.monotonic()
                    completion = await self._send(request)
            except TimeoutError as err:
                raise self.faults.late(seconds) from err
            except (openai.OpenAIError, ValueError) as err:
                raise self._fault_of(err) from err
            try:
                reply = reply_of(completion, request)
            except (AttributeError, IndexError, TypeError, ValueError) as err:
                raise self.faults.not_openai() from err
        except ServerFault as err:
            if sent is not None:
                self._on_call(Call(self.faults.address, time.monotonic() - sent, failed=err.trouble))
            raise
        answer = reply.answer
        took = time.monotonic() - sent
        self._on_call(Call(self.faults.address, took, answer.prompt_tokens, answer.completion_tokens))
        return reply

    def _turn(self, request: Request) -> AbstractAsyncContextManager[object]:
        """Wait for earlier calls with the same first message, where they are sent one after the other."""
        if self._kinds is None:
            return nullcontext()
        return self._kinds.setdefault(request.body["messages"][0]["content"], asyncio.Lock())

    async def _send(self, request: Request) -> ChatCompletion:
        """Send the request, and send it again if no connection was made."""
        async for attempt in stamina.retry_context(
            on=_is_connection_error, attempts=self._attempts, wait_initial=RETRY_WAIT_SECONDS, timeout=None
        ):
            with attempt:
                completion: ChatCompletion = await self._client.chat.completions.create(
                    **{"model": self._model, **request.body}
                )
        return completion

    def _fault_of(self, err: openai.OpenAIError | ValueError) -> ServerFault:
        """The error as one of ours, with a remedy."""
        match err:
            case openai.APIConnectionError():
                return self.faults.unreached()
            case openai.APIStatusError():
                return self.faults.of_status(err.status_code, _reason(err), _wait_of(err))
            case _:
                return self.faults.not_openai()


def _is_connection_error(err: Exception) -> bool:
    """A timeout is a connection error to the client, but the server may be working on the request."""
    return isinstance(err, openai.APIConnectionError) and not isinstance(err, openai.APITimeoutError)


def _reason(err: openai.APIStatusError) -> str:
    """The server's own words, without the request, which holds a person's post."""
    body = err.body if isinstance(err.body, Mapping) else {}
    return str(body.get("type") or body.get("code") or f"status {err.status_code}")


def _wait_of(err: openai.APIStatusError) -> float | None:
    """The seconds of ``Retry-After``, which may be a date (RFC 9110, section 10.2.3); ``None`` without a usable one."""
    said = err.response.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said)
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds()) if moment.tzinfo else None
