"""OpenAI's chat protocol as ``core.engine.ports.LanguageModel`` uses it: a request's body, and what its answer says.

It logs no prompt and no answer.
"""

from __future__ import annotations

import bisect
import itertools
import json
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from core.engine.ports import Answer, Generation, HiddenStates, Message
from core.engine.servers.abilities import Abilities, spoken
from core.engine.servers.errors import ServerFaults, Trouble
from core.errors import NoLanguageModel
from core.i18n.sentences import sentence

LIKELY_TOKENS: Final = 20
LEAST_MASS: Final = 0.05
STATED: Final = 2
"""How often a letter is asked for in JSON; once more where the answers differ."""
_STATED_TOKENS: Final = 30
_MORE_ROOM: Final = 4
_YES_NO: Final = ("yes", "no")
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 8}},
    "required": ["answer"],
    "additionalProperties": False,
}
"""The fixed schema of a letter that is asked for in JSON."""
_FENCE: Final = re.compile(r"```[\w-]*[^\S\n]*\n(.*)```", re.S)


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was sent to a server.

    Attributes:
        server: its address, as it is configured.
        seconds: from the sending to the answer, or to the failure.
        prompt_tokens: as the server counts them; 0 where there was no answer.
        answer_tokens: those of all answers to the call.
        failed: what was wrong; ``None`` where there was an answer.
    """

    server: str
    seconds: float
    prompt_tokens: int = 0
    answer_tokens: int = 0
    failed: Trouble | None = None


OnCall = Callable[[Call], None]
"""Called after each call; must not block or raise."""


def tell_nobody(_: Call) -> None:
    """Count no call."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """What a server is asked.

    Attributes:
        body: in the words of the protocol, before it is fitted to the server.
        options: those of an answer of one token, whose shares are read.
        read: the fields of an answer in JSON whose probabilities are read.
        is_roomier: whether it was given more room already.
    """

    body: Mapping[str, Any]
    options: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    is_roomier: bool = False

    @property
    def is_json(self) -> bool:
        """Whether an answer in JSON is asked for."""
        return "response_format" in self.body

    def roomier(self) -> ServerRequest:
        """The same with more room for the answer."""
        return replace(self, body={**self.body, "max_tokens": _MORE_ROOM * self.body["max_tokens"]}, is_roomier=True)


@dataclass(frozen=True, slots=True)
class ServerReply:
    """What a server answered.

    Attributes:
        answer: texts and tokens.
        shares: those of the request's options, where they can be told.
        has_thought: whether the model thought before it answered.
        is_useless: whether every text is cut, or there is none but thoughts.
    """

    answer: Answer
    shares: dict[str, float] | None = None
    has_thought: bool = False
    is_useless: bool = False


class ChatProtocol(ABC):
    """``core.engine.ports.LanguageModel`` in the words of the protocol, over one server.

    ``hidden`` gives its hidden states, where it runs here and something that ships reads them. ``abilities`` is what
    the server was found to take.
    """

    hidden: HiddenStates | None = None
    abilities: Abilities

    async def ready(self) -> None:  # noqa: B027 - most need not wait
        """Wait until it can be asked, which a server can be at once.

        Raises:
            ModelUnavailable: it never will be.
        """

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
        have less than 5 % of the probability among the 20 likeliest tokens: such an answer says nothing. Where a server
        tells no log-probabilities, or its model thinks first, the options are asked for in JSON (``STATED`` times, once
        more where the answers differ), and the answer says that they are stated.

        Raises:
            ModelUnavailable: there is no usable answer within ``timeout_seconds``.
        """
        end = time.monotonic() + timeout_seconds
        one_token = {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": LIKELY_TOKENS}
        request = ServerRequest({"messages": _turns(messages), **one_token}, tuple(options))
        spent = Answer((), 0, 0)
        while self.abilities.reads_letters:
            reply = await self.complete(request, max(0.0, end - time.monotonic()))
            spent = joined_answer([spent, reply.answer])
            if not reply.has_thought:
                if reply.shares or self.abilities.reads_letters:
                    return reply.shares, spent
                break
        stated = await self._in_json_answers(messages, options, end, STATED)
        if len({_option(text, options) for text in stated.texts}) > 1:
            stated = joined_answer([stated, await self._in_json_answers(messages, options, end, 1, first=STATED)])
        return _shares_of_texts(stated.texts, options), replace(joined_answer([spent, stated]), is_stated=True)

    async def _in_json_answers(
        self, messages: Sequence[Message], options: Sequence[str], end: float, count: int, first: int = 0
    ) -> Answer:
        turns = [*messages[:-1], replace(messages[-1], content=messages[-1].content + _in_json(options))]
        how = Generation(max_tokens=_STATED_TOKENS, temperature=0.7, n=count, seed=first, schema=SCHEMA)
        return await self.generate(turns, how, max(0.0, end - time.monotonic()))

    @abstractmethod
    async def complete(self, request: ServerRequest, timeout_seconds: float) -> ServerReply:
        """Send a request and read its answer.

        Raises:
            ServerFault: there is no usable answer within ``timeout_seconds``.
        """


def reply_of(
    completion: Mapping[str, Any], request: ServerRequest, abilities: Abilities, faults: ServerFaults
) -> ServerReply:
    """What a completion says, without what a model thought. Texts that were refused are left out.

    The larger of both counts of tokens is used: servers differ in what they leave out.

    Raises:
        ServerFault: there is no text at all, or the model or its filter refused the post.
        AttributeError, KeyError, TypeError, ValueError: it has another form.
    """
    usage, choices = completion.get("usage") or {}, completion["choices"]
    if not choices:
        raise faults.without_choice()
    is_json, texts, refused, whole = request.is_json, list[str](), "", 0
    has_thought = bool((usage.get("completion_tokens_details") or {}).get("reasoning_tokens"))
    for choice in choices:
        message = choice["message"]
        if choice.get("finish_reason") == "content_filter":
            refused = "content_filter"
            continue
        content = _text_of(message.get("content"))
        text = spoken(content)
        if not text.strip() and message.get("refusal"):
            refused = "refusal"
            continue
        has_thought |= text != content or any(message.get(name) for name in ("reasoning_content", "reasoning"))
        whole += bool(text.strip()) and choice.get("finish_reason") != "length"
        texts.append(_without_fence(text) if is_json else text)
    if not texts:
        raise faults.refused_post(refused)
    likely = _likely(_tokens(choices[0])[:1])
    counted = sum(len(_tokens(choice)) for choice in choices)
    answer = Answer(
        texts=tuple(texts),
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        completion_tokens=max(counted, int(usage.get("completion_tokens") or 0)),
        chances=_chances(_tokens(choices[0]), request.read),
        is_cut=whole < len(texts),
    )
    if likely or (request.options and not abilities.gives_likely):  # some servers tell none of JSON
        abilities.gives_likely = bool(likely)
    if request.options:
        return ServerReply(replace(answer, is_cut=False), _shares(likely, request.options), has_thought)
    return ServerReply(answer, None, has_thought, is_useless=not whole)


def _text_of(content: Any) -> str:
    """The text of a message, whose content may be a list of parts; thoughts among them are left out."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part for part in content if isinstance(part, str) or part.get("type", "text") in {"text", "output_text"}]
    return "".join(part if isinstance(part, str) else str(part.get("text") or "") for part in parts)


def _without_fence(text: str) -> str:
    """JSON without the fence of Markdown around it."""
    fenced = _FENCE.fullmatch(text.strip())
    return fenced[1].strip() if fenced else text


def _tokens(choice: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return (choice.get("logprobs") or {}).get("content") or []


def _likely(tokens: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    rows = [row for token in tokens for row in token.get("top_logprobs") or []]
    return [(str(row["token"]), math.exp(row["logprob"])) for row in rows]


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


class NoModel(ChatProtocol):
    """The model where there is none: each call fails at once, so that nobody waits for it."""

    def __init__(self) -> None:
        self.abilities = Abilities()

    async def complete(self, request: ServerRequest, timeout_seconds: float) -> ServerReply:
        """Raises ``NoLanguageModel``, and not ``ModelAway``: nobody waits for what will not come."""
        raise NoLanguageModel(
            sentence("There is no language model."),
            remedy=sentence("Run: {command}", command="pip install 'antiphon[embedded]'"),
        )


def _generation(messages: Sequence[Message], how: Generation) -> ServerRequest:
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
    if how.read:
        body |= {"logprobs": True, "top_logprobs": LIKELY_TOKENS}
    return ServerRequest(body, read=how.read)


def _chances(tokens: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> dict[str, float]:
    """The probability of yes for fields of an answer in JSON, from the token with which the value of each begins."""
    pieces = [str(token.get("token") or "") for token in tokens]
    starts = list(itertools.accumulate((len(piece) for piece in pieces), initial=0))
    text, chances = "".join(pieces), dict[str, float]()
    for name in fields:
        places = [match.end() for match in re.finditer(rf'"{re.escape(name)}"\s*:\s*"?', text)]
        if not places:
            continue
        at = bisect.bisect_right(starts, places[-1]) - 1  # thoughts may come first, and name the field, too
        if at >= len(tokens):
            continue
        before = text[starts[at] : places[-1]]
        likely = [(token.removeprefix(before), share) for token, share in _likely([tokens[at]])]
        shares = [math.fsum(share for token, share in likely if _begins(token, word)) for word in _YES_NO]
        if math.fsum(shares) >= LEAST_MASS:
            chances[name] = shares[0] / math.fsum(shares)
    return chances


def _begins(token: str, word: str) -> bool:
    """Whether a token is a word, or its beginning, as a value of JSON."""
    bare = token.strip('" \t\n').casefold()
    return bool(bare) and (word.startswith(bare) or bare.startswith(word))


def _in_json(options: Sequence[str]) -> str:
    forms = " or ".join(json.dumps({"answer": option}) for option in options)
    return f"\nAnswer with JSON and nothing else: {forms}"


def _option(text: str, options: Sequence[str]) -> str | None:
    """The option in an answer in JSON, or at the beginning of one in words."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    value = value.get("answer") if isinstance(value, Mapping) else value
    word = re.search(r"\w+", str(value))
    return next((option for option in options if word and _same(word[0], option)), None)


def _shares_of_texts(texts: Sequence[str], options: Sequence[str]) -> dict[str, float] | None:
    """Shares from a few answers, none of which is sure; ``None`` where no answer holds an option."""
    answers = [option for text in texts if (option := _option(text, options))]
    if not answers:
        return None
    return {option: (answers.count(option) + 1 / len(options)) / (len(answers) + 1) for option in options}


def joined_answer(answers: Sequence[Answer]) -> Answer:
    """Answers as one: all texts, and what they cost together."""
    return Answer(
        tuple(text for answer in answers for text in answer.texts),
        sum(answer.prompt_tokens for answer in answers),
        sum(answer.completion_tokens for answer in answers),
        next((answer.chances for answer in answers if answer.chances), {}),
        any(answer.is_cut for answer in answers),
        any(answer.is_stated for answer in answers),
    )


def _shares(likely: Sequence[tuple[str, float]], options: Sequence[str]) -> dict[str, float] | None:
    mass = {option: math.fsum(p for token, p in likely if _same(token, option)) for option in options}
    total = math.fsum(mass.values())
    return {option: p / total for option, p in mass.items()} if total >= LEAST_MASS else None


def _same(token: str, option: str) -> bool:
    return token.strip().casefold() == option.strip().casefold()
