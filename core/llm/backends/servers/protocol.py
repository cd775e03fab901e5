"""OpenAI's chat protocol as ``core.ports.LanguageModel`` uses it: a request's body, and what its answer says.

Owns that translation, both ways, for one server and for several. Must never log a prompt or an answer.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from openai.types.chat import ChatCompletion

from core.ports import Answer, Generation, HiddenStates, Message

LIKELY_TOKENS: Final = 20
LEAST_MASS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Request:
    """What a server is asked: the body, and the options whose shares are read."""

    body: Mapping[str, Any]
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered: texts and tokens, and the shares of the request's options where they can be told."""

    answer: Answer
    shares: dict[str, float] | None


class ChatProtocol(ABC):
    """``core.ports.LanguageModel`` in the words of the protocol, over one server or several.

    ``hidden`` gives its hidden states, where it runs here and something that ships reads them.
    """

    hidden: HiddenStates | None = None

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """Write ``how.n`` answers; ``completion_tokens`` counts those of all of them.

        llama.cpp reports the tokens of the first choice only, so with several choices their log-probabilities are
        asked for, one entry a token, and counted. That costs about 5 % of the decoding time on a CPU.

        Raises:
            ModelAway: the server cannot be reached, is overloaded, or does not know the key or the model.
            ModelUnavailable: there is no usable answer within ``timeout_seconds``.
        """
        return (await self.complete(_generation(messages, how), timeout_seconds)).answer

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
        request = Request({"messages": _turns(messages), **one_token}, tuple(options))
        reply = await self.complete(request, timeout_seconds)
        return reply.shares, reply.answer

    @abstractmethod
    async def complete(self, request: Request, timeout_seconds: float) -> Reply:
        """Send a request and read its answer.

        Raises:
            ServerFault: there is no usable answer within ``timeout_seconds``.
        """


def reply_of(completion: ChatCompletion, request: Request) -> Reply:
    """What a completion says. The larger of both counts of tokens is used: servers differ in what they leave out.

    Raises:
        AttributeError, IndexError, TypeError, ValueError: it has another form. The client does not check it.
    """
    usage, first = completion.usage, completion.choices[0]
    counted = sum(len(c.logprobs.content) for c in completion.choices if c.logprobs and c.logprobs.content)
    answer = Answer(
        texts=tuple(choice.message.content or "" for choice in completion.choices),
        prompt_tokens=usage.prompt_tokens if usage else 0,
        completion_tokens=max(counted, usage.completion_tokens if usage else 0),
    )
    if not request.options:
        return Reply(answer, None)
    logprobs = first.logprobs
    likely = logprobs.content[0].top_logprobs if logprobs is not None and logprobs.content else []
    return Reply(answer, _shares([(token.token, math.exp(token.logprob)) for token in likely], request.options))


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _generation(messages: Sequence[Message], how: Generation) -> Request:
    body: dict[str, Any] = {
        "messages": _turns(messages),
        "max_tokens": how.max_tokens,
        "temperature": how.temperature,
        "n": how.n,
    }
    if how.n > 1:
        body |= {"logprobs": True, "top_logprobs": 1}
    if how.seed is not None:
        body["seed"] = how.seed
    if how.stop:
        body["stop"] = list(how.stop)
    if how.schema is not None:
        json_schema = {"name": "answer", "strict": True, "schema": dict(how.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
    return Request(body)


def _shares(likely: Sequence[tuple[str, float]], options: Sequence[str]) -> dict[str, float] | None:
    mass = {option: math.fsum(p for token, p in likely if _same(token, option)) for option in options}
    total = math.fsum(mass.values())
    return {option: p / total for option, p in mass.items()} if total >= LEAST_MASS else None


def _same(token: str, option: str) -> bool:
    return token.strip().casefold() == option.strip().casefold()
