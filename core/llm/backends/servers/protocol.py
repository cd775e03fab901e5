"""OpenAI's chat protocol as ``core.ports.LanguageModel`` uses it: a request's body, and what its answer says.

Owns that translation, both ways. Must never log a prompt or an answer.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.llm.backends.servers.abilities import Abilities
from core.llm.backends.servers.faults import ServerFaults
from core.ports import Answer, Generation, HiddenStates, Message

LIKELY_TOKENS: Final = 20
LEAST_MASS: Final = 0.05
_FENCE: Final = re.compile(r"```[\w-]*[^\S\n]*\n(.*)```", re.S)


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
    """``core.ports.LanguageModel`` in the words of the protocol, over one server.

    ``hidden`` gives its hidden states, where it runs here and something that ships reads them. ``abilities`` is what
    the server was found to take.
    """

    hidden: HiddenStates | None = None
    abilities: Abilities

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


def reply_of(completion: Mapping[str, Any], request: Request, abilities: Abilities, faults: ServerFaults) -> Reply:
    """What a completion says, without what a model thought. Texts that were refused are left out.

    The larger of both counts of tokens is used: servers differ in what they leave out.

    Raises:
        ServerFault: there is no text at all, or the model or its filter refused the post.
        AttributeError, KeyError, TypeError, ValueError: it has another form.
    """
    usage, choices = completion.get("usage") or {}, completion["choices"]
    if not choices:
        raise faults.without_choice()
    is_json, texts, refused = "response_format" in request.body, list[str](), ""
    for choice in choices:
        message = choice["message"]
        if choice.get("finish_reason") == "content_filter":
            refused = "content_filter"
            continue
        text = abilities.spoken(_text_of(message.get("content")))
        if not text.strip() and message.get("refusal"):
            refused = "refusal"
            continue
        if not text.strip() and any(message.get(name) for name in ("reasoning_content", "reasoning")):
            abilities.thinks = True
        texts.append(_unfenced(text) if is_json else text)
    if not texts:
        raise faults.refused_post(refused)
    likely = _likely(choices[0])
    counted = sum(len(_tokens(choice)) for choice in choices)
    answer = Answer(
        texts=tuple(texts),
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        completion_tokens=max(counted, int(usage.get("completion_tokens") or 0)),
    )
    if request.options:
        if not abilities.gives_likely:
            abilities.gives_likely = bool(likely)
        return Reply(answer, _shares(likely, request.options))
    if abilities.thinks and not any(text.strip() for text in texts):
        raise faults.thoughts_only()
    return Reply(answer, None)


def _text_of(content: Any) -> str:
    """The text of a message, whose content may be a list of parts; thoughts among them are left out."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part for part in content if isinstance(part, str) or part.get("type", "text") in {"text", "output_text"}]
    return "".join(part if isinstance(part, str) else str(part.get("text") or "") for part in parts)


def _unfenced(text: str) -> str:
    """JSON without the fence of Markdown around it."""
    found = _FENCE.fullmatch(text.strip())
    return found[1].strip() if found else text


def _tokens(choice: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return (choice.get("logprobs") or {}).get("content") or []


def _likely(choice: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The likely first tokens of a choice and their probabilities."""
    told = [one for token in _tokens(choice)[:1] for one in token.get("top_logprobs") or []]
    return [(str(one["token"]), math.exp(one["logprob"])) for one in told]


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
