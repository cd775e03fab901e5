"""A chat model behind one OpenAI-compatible server: vLLM, llama.cpp, the embedded one.

It logs no prompt and no answer. It does not repeat a request unchanged that the server answered or may still be working
on. What each call cost is reported by server, without a word of prompt or answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from weakref import WeakValueDictionary

import openai
import stamina

from core.engine.ports import Answer
from core.engine.servers import protocol
from core.engine.servers.abilities import CONTROLS, Abilities, Refusal, refusal_of
from core.engine.servers.errors import ServerFault, ServerFaults, Trouble
from core.engine.servers.health import check_model

# In its own way stamina would tell each retry to standard output; what fails in the end is told by its error.
stamina.instrumentation.set_on_retry_hooks([])

ATTEMPTS: Final = 2
RETRY_WAIT_SECONDS: Final = 0.2
CONNECT_SECONDS: Final = 5.0
FORMS: Final = 8
"""In how many forms a request is sent at most, each with what was learnt of the one before."""
BUSY_WAITS: Final = (1.0, 2.0, 4.0)
"""Seconds between the tries where a busy server does not say how long it wants to be left alone."""
NO_KEY: Final = "none"

_OF_SEVERAL: Final = frozenset({"n", "logprobs", "top_logprobs"})
"""What a request for several texts says besides; the log-probabilities only count their tokens."""

logger = logging.getLogger(__name__)


class ChatModel(protocol.ChatProtocol):
    """``core.engine.ports.LanguageModel`` over HTTP, from one server.

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
        thinking: how much the model shall think before it answers: "off", "low", or as the "model" likes.
        pause: waits so many seconds, while the server is busy.
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
        thinking: str = "off",
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        on_call: protocol.OnCall = protocol.tell_nobody,
    ) -> None:
        self._model = model
        self.api_key: Final = api_key or NO_KEY
        self.faults: Final = ServerFaults(base_url, model, section, remedy, is_one_of_a_kind)
        self.abilities = Abilities(thinking=thinking)
        self.longest_seconds: Final = timeout_seconds
        self._pause, self._on_call = pause, on_call
        self._free, self._refused_for_now = asyncio.Semaphore(concurrency), asyncio.Lock()
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

    async def complete(self, request: protocol.ServerRequest, timeout_seconds: float) -> protocol.ServerReply:
        """As ``ChatProtocol.complete``.

        What the server refuses of the protocol is learnt and left out, texts that it did not give are asked for
        singly, and while it is busy it is waited for, all within the time.
        """
        seconds = min(timeout_seconds, self.longest_seconds)
        end = asyncio.get_running_loop().time() + seconds
        count = request.body.get("n", 1)
        if count > 1 and self.abilities.answers_singly:
            return await self._singly(request, count, end, seconds)
        try:
            reply = await self._reply(request, end, seconds)
        except _SinglyOnly:
            return await self._singly(request, count, end, seconds)
        missing = count - len(reply.answer.texts)
        if missing < 1:
            return reply
        if len(reply.answer.texts) == 1:
            self.abilities.answers_singly = True
        try:
            rest = await self._singly(request, missing, end, seconds, first=len(reply.answer.texts))
        except ServerFault:
            return reply
        return protocol.ServerReply(protocol.joined_answer([reply.answer, rest.answer]))

    async def _singly(
        self, request: protocol.ServerRequest, count: int, end: float, seconds: float, first: int = 0
    ) -> protocol.ServerReply:
        """The replies to a request for several texts, each asked for by itself; some may be lost, but not all."""
        plain = {name: value for name, value in request.body.items() if name not in _OF_SEVERAL}
        seeds = [{"seed": plain["seed"] + at} if "seed" in plain else {} for at in range(first, first + count)]
        calls = [self._reply(replace(request, body={**plain, **seed}), end, seconds) for seed in seeds]
        results = await asyncio.gather(*calls, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, ServerFault):
                raise result
        replies = [result for result in results if isinstance(result, protocol.ServerReply)]
        if not replies:
            raise next(result for result in results if isinstance(result, ServerFault))
        return protocol.ServerReply(protocol.joined_answer([result.answer for result in replies]), replies[0].shares)

    async def _reply(self, request: protocol.ServerRequest, end: float, seconds: float) -> protocol.ServerReply:
        """The reply to one request, which is sent until the server takes its form and has room for it."""
        try:
            async with asyncio.timeout_at(end), self._turn(request), self._free:
                try:
                    return await self._in_forms(request, end)
                except ServerFault as err:
                    if err.trouble is not Trouble.BUSY:
                        raise
                    busy = err
                async with self._refused_for_now:
                    return await self._when_free(request, busy, end)
        except TimeoutError as err:
            raise self.faults.late(seconds) from err

    async def _when_free(self, request: protocol.ServerRequest, busy: ServerFault, end: float) -> protocol.ServerReply:
        """Ask a busy server again, one call after the other, while there is time."""
        now = asyncio.get_running_loop().time
        waits = iter(BUSY_WAITS)
        while True:
            wait = busy.wait_seconds or next(waits, None)
            if wait is None or now() + wait >= end:
                raise busy
            await self._pause(wait)
            try:
                return await self._in_forms(request, end)
            except ServerFault as err:
                if err.trouble is not Trouble.BUSY:
                    raise
                busy = err

    async def _in_forms(self, request: protocol.ServerRequest, end: float) -> protocol.ServerReply:
        """Send a request, and again without what the server refuses of it, as long as each try teaches something.

        Where every text is cut, or holds nothing but thoughts, it is sent with more room, once. The embedded model is
        not asked again: it has no more.
        """
        spent, last = list[Answer](), self.faults.thoughts_only()
        for _ in range(FORMS):
            body = self.abilities.fitted(request.body)
            sent = time.monotonic()
            try:
                reply = await self._once(body, request)
            except _Refused as err:
                self._tell(sent, err.fault.trouble)
                if not err.refusal.is_out_of_room:
                    is_other = self.abilities.learn(err.refusal, body) or self.abilities.fitted(request.body) != body
                    if not is_other:
                        raise err.fault from err.__cause__
                    last = err.fault
                    if self.abilities.answers_singly and request.body.get("n", 1) > 1:
                        raise _SinglyOnly from err
                    continue
                self.abilities.saw_thought(body)
                reply = protocol.ServerReply(Answer(("",), 0, 0), None, has_thought=True, is_useless=True)
            except ServerFault as err:
                self._tell(sent, err.trouble)
                raise
            except asyncio.CancelledError:
                if asyncio.get_running_loop().time() >= end:
                    self._tell(sent, Trouble.LATE)
                raise
            else:
                took, answer = time.monotonic() - sent, reply.answer
                self._on_call(protocol.Call(self.faults.address, took, answer.prompt_tokens, answer.completion_tokens))
            spent.append(replace(reply.answer, texts=()))
            if reply.is_useless and not request.options:
                if self.abilities.fitted(request.body) != body:
                    continue
                if not request.is_roomier and not self.faults.is_embedded:
                    request = request.roomier()
                    continue
                self._check_useful(reply, request)
            whole = protocol.joined_answer([*spent[:-1], reply.answer])
            return replace(reply, answer=replace(whole, is_cut=reply.answer.is_cut and not self.faults.is_embedded))
        raise last

    def _check_useful(self, reply: protocol.ServerReply, request: protocol.ServerRequest) -> None:
        """Look whether a reply is of any use that came to no end with more room either.

        Raises:
            ServerFault: it holds nothing but thoughts, or JSON that is cut.
        """
        has_text = any(text.strip() for text in reply.answer.texts)
        if has_text and (self.faults.is_embedded or not request.is_json):
            return
        if self.abilities.thinks:
            raise self.faults.thoughts_only()
        if has_text:
            raise self.faults.cut()
        if not self.faults.is_embedded:
            raise self.faults.without_choice()

    def _tell(self, sent: float, trouble: Trouble) -> None:
        self._on_call(protocol.Call(self.faults.address, time.monotonic() - sent, failed=trouble))

    async def _once(self, body: Mapping[str, Any], request: protocol.ServerRequest) -> protocol.ServerReply:
        """Send a request once.

        Raises:
            _Refused: the server refused it, with a status or in its answer.
            ServerFault: there is no usable answer.
        """
        try:
            kind, content = await self._send(body)
        except openai.APIStatusError as err:
            raise self._refusal(err.status_code, err.response.content, body, _wait_of(err)) from err
        except openai.APIConnectionError as err:
            raise self.faults.unreached() from err
        except (openai.OpenAIError, ValueError) as err:
            raise self.faults.not_openai() from err
        if kind.startswith("text/event-stream") or content.lstrip().startswith(b"data:"):
            raise self.faults.streamed() from ValueError(kind)
        try:
            answer = json.loads(content)
            if isinstance(answer, Mapping) and answer.get("error") and not answer.get("choices"):
                raise self._refusal(_status_of(answer["error"]), content, body) from ValueError()
            reply = protocol.reply_of(answer, request, self.abilities, self.faults)
        except ServerFault as err:
            raise err from err.__cause__ or ValueError()
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError) as err:
            raise self.faults.not_openai() from err
        if reply.has_thought:
            self.abilities.saw_thought(body)
        return reply

    def _refusal(self, status: int, content: bytes, body: Mapping[str, Any], wait: float | None = None) -> _Refused:
        refusal = refusal_of(status, content, body)
        return _Refused(self.faults.of_refusal(refusal, wait), refusal)

    def _turn(self, request: protocol.ServerRequest) -> AbstractAsyncContextManager[object]:
        """Wait for earlier calls with the same first message, where they are sent one after the other."""
        if self._kinds is None:
            return nullcontext()
        return self._kinds.setdefault(request.body["messages"][0]["content"], asyncio.Lock())

    async def _send(self, body: Mapping[str, Any]) -> tuple[str, bytes]:
        """The kind and the bytes of an answer; the request is sent again if no connection was made."""
        async for attempt in stamina.retry_context(
            on=_is_connection_error, attempts=ATTEMPTS, wait_initial=RETRY_WAIT_SECONDS, timeout=None
        ):
            with attempt:
                standard = {name: value for name, value in body.items() if name not in CONTROLS}
                more = {name: value for name, value in body.items() if name in CONTROLS}
                answer = await self._client.chat.completions.with_raw_response.create(
                    **{"model": self._model, **standard}, extra_body=more or None
                )
        return answer.headers.get("content-type", ""), answer.content


class _Refused(Exception):
    """A request was refused: what that is called among ours, and what the server said."""

    def __init__(self, fault: ServerFault, refusal: Refusal) -> None:
        super().__init__(fault.message)
        self.fault, self.refusal = fault, refusal


class _SinglyOnly(Exception):
    """The server gives one text to a request."""


def _status_of(error: Any) -> int:
    """The status that an error in a good answer names; that of a bad gateway where it names none."""
    code = error.get("code") if isinstance(error, Mapping) else None
    number = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else 0
    return number if 400 <= number < 600 else 502


def _is_connection_error(err: Exception) -> bool:
    """A timeout is a connection error to the client, but the server may be working on the request."""
    return isinstance(err, openai.APIConnectionError) and not isinstance(err, openai.APITimeoutError)


def _wait_of(err: openai.APIStatusError) -> float | None:
    """The seconds of ``Retry-After``, which may be a date (RFC 9110, section 10.2.3); ``None`` without a usable one."""
    value = err.response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds()) if moment.tzinfo else None
