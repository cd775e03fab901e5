"""What one server can of OpenAI's protocol, found out by asking: each refusal teaches it.

A server's words are shown only where they repeat nothing of the prompt.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from core.i18n.sentences import Sentence, listed, sentence

_FIELDS: Final = (
    "max_tokens", "max_completion_tokens", "temperature", "seed", "n", "stop", "logprobs", "top_logprobs",
    "response_format", "reasoning_effort", "chat_template_kwargs", "think",
)  # fmt: skip
_SYSTEM: Final = "system"
_NO_SYSTEM: Final = re.compile(
    r"system\W{0,3} (?:role|message|prompt|instruction)|\brole\W{0,4}system|roles? must alternate",
    re.I,
)
_MOST: Final = re.compile(
    r"(?:at most|<=|less than or equal to|no (?:more|greater) than|maximum(?: \w+)?(?: is| of|:)?|max(?: is| of|:|=)?"
    r"|(?:between|from) \d+ (?:and|to)|\[\d+,)\s*(\d+)",
    re.I,
)
_TOO_LONG: Final = re.compile(r"context.?(?:length|size|window)|too long|prompt.{0,20}exceeds|exceed_context", re.I)
_FILTERED: Final = re.compile(
    r"content.?(?:filter|policy|management|moderation)|moderat|flagged|responsible.?ai|safety|data_inspection", re.I
)
_KNOWN: Final = re.compile(r"[\w.\-]{1,60}")
_WORDS: Final = 200
"""How many characters of a server's words are shown."""
_QUOTE: Final = 16
"""A run of so many characters of the prompt in a server's words is a quotation."""
_LIKELY: Final = 5
"""How many likely tokens most servers give, where one refuses more and does not say its limit."""
_NO_ROOM: Final = re.compile(r"could not finish the message|higher max_(?:completion_)?tokens", re.I)
_BEGIN: Final = r"(?:<(?:think|thinking|thought|reasoning|seed:think)>|\[THINK\]|◁think▷|<\|START_THINKING\|>)"
_END: Final = r"(?:</(?:think|thinking|thought|reasoning|seed:think)>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>)"
_THOUGHT: Final = re.compile(rf"{_BEGIN}.*?(?:{_END}|\Z)", re.I | re.S)
_THOUGHT_END: Final = re.compile(rf"^.*{_END}", re.I | re.S)
_CHANNEL: Final = "<|channel|>"
_FINAL: Final = re.compile(r"<\|channel\|>final[^<]*<\|message\|>(.*?)(?:<\|(?:return|end|start|channel)\|>|$)", re.S)
_BARE_CHANNELS: Final = re.compile(r"^\s*analysis(?:[A-Z\s].*?assistantfinal(?:\s*json)?|[A-Z].*$)", re.S)
"""The channels of gpt-oss, where a server leaves out the signs around their names."""
CONTROLS: Final = ("reasoning_effort", "chat_template_kwargs", "think")
"""The fields by which servers are told how much their model may think."""
_EFFORTS: Final = {"off": ("none", "minimal", "low"), "low": ("low",)}
"""What ``reasoning_effort`` is sent with, by what is wanted: the next one where a server refuses one."""
THOUGHT_TOKENS: Final = 2_048
"""Room for the thoughts of a model that does not leave them, in tokens."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a server answered in place of a completion.

    Attributes:
        status: of HTTP, or that which an error in a good answer names.
        code: what it calls the trouble; "" where it has no name for it.
        fields: those of the request that it names, in the order of the protocol; "system" for that role.
        words: its own, short and without any of the prompt; "" where they quote it.
        is_too_long: whether prompt and answer do not fit.
        is_filtered: whether it refuses what the request is about.
        limit: the number that it allows for a field; ``None`` where it says none.
        is_out_of_room: whether its model thought until the room for an answer was used up.
    """

    status: int
    code: str
    fields: tuple[str, ...] = ()
    words: str = ""
    is_too_long: bool = False
    is_filtered: bool = False
    limit: int | None = None
    is_out_of_room: bool = False

    @property
    def said(self) -> Sentence | str:
        """The fields that are refused and the server's words, for people."""
        why = self.words or self.code or f"status {self.status}"
        if not self.fields or self.is_too_long or self.is_filtered:
            return why if not self.code or self.code in why else f"{why} ({self.code})"
        return sentence("it does not take {fields}: {why}", fields=listed(self.fields), why=why)


def refusal_of(status: int, body: bytes, request: Mapping[str, Any]) -> Refusal:
    """What a body says that came with an error, in any of the forms that servers use.

    Args:
        request: what was sent; only its fields are looked for, and its messages are never repeated.
    """
    try:
        answer: Any = json.loads(body)
    except (ValueError, RecursionError):
        answer = {}
    errors = [*_errors(answer)]
    code = next((name for error in errors if (name := _code(error))), "")
    params = {str(error["param"]) for error in errors if error.get("param")}
    params |= {str(part) for error in errors if isinstance(error.get("loc"), list) for part in error["loc"]}
    words = " ".join(text for error in errors for key in ("message", "msg") if isinstance(text := error.get(key), str))
    code_and_words = f"{code} {words}"
    is_too_long, is_filtered = bool(_TOO_LONG.search(code_and_words)), bool(_FILTERED.search(code_and_words))
    named = tuple(
        name for name in _FIELDS if name in request and (name in params or re.search(rf"(?<!\w){name}(?!\w)", words))
    )
    if "response_format" not in named and "response_format" in request and re.search("json_(?:schema|object)", words):
        named = (*named, "response_format")
    if _NO_SYSTEM.search(words) and any(turn["role"] == _SYSTEM for turn in request["messages"]):
        named = (*named, _SYSTEM)
    most = _MOST.search(words)
    return Refusal(
        status,
        code,
        named,
        _quotable(words, request),
        is_too_long,
        is_filtered,
        int(most[1]) if most else None,
        bool(_NO_ROOM.search(words)),
    )


def _errors(answer: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Every object of an answer that may tell of an error: servers and routers nest them."""
    if depth > 5:
        return
    if isinstance(answer, list):
        for part in answer[:20]:
            yield from _errors(part, depth + 1)
    elif isinstance(answer, Mapping):
        yield answer
        for key in ("error", "detail", "message", "innererror"):
            inner = answer.get(key)
            if key == "detail" and isinstance(inner, str):
                yield {"message": inner}
            yield from _errors(inner, depth + 1)


def _code(error: Mapping[str, Any]) -> str:
    """What an error is called: its code, or its type; a name only, never a text."""
    names = (error.get("code"), error.get("type"))
    return next((name for name in names if isinstance(name, str) and name != "error" and _KNOWN.fullmatch(name)), "")


def _quotable(words: str, request: Mapping[str, Any]) -> str:
    """A server's words on one line, cut; nothing where they quote the prompt."""
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in words[:2000]).split())
    turns = (str(turn["content"]) for turn in request["messages"] if turn["role"] != _SYSTEM)
    prompt = " ".join(" ".join(turns).casefold().split())
    folded = plain.casefold()
    if any(folded[at : at + _QUOTE] in prompt for at in range(max(1, len(folded) - _QUOTE + 1)) if folded):
        return ""
    return plain if len(plain) <= _WORDS else f"{plain[:_WORDS].rsplit(' ', 1)[0]} ..."


@dataclass
class Abilities:
    """What a server takes and does, by all that it was seen to do; at first all of the protocol.

    Attributes:
        left_out: fields that it refuses.
        most_likely: how many likely tokens it tells at most.
        names_completion: whether it calls the limit of an answer ``max_completion_tokens``.
        answers_singly: whether it gives one answer to a request for several.
        has_system: whether it knows the role "system".
        format: how it is told to answer in JSON; ``None`` where it knows no way.
        thinking: how much its model shall think: "off", "low", or "model", which leaves it to the model.
        thinks: whether its model was seen to think before it answers; from then on it is told how much it may.
        thinks_on: whether it goes on thinking when it is told, so that every answer needs room for thoughts.
        efforts: what ``reasoning_effort`` may be sent with, the best first.
        gives_likely: whether it ever told likely tokens; ``None`` before it was asked.
    """

    left_out: set[str] = field(default_factory=set)
    most_likely: int = 20
    names_completion: bool = False
    answers_singly: bool = False
    has_system: bool = True
    format: str | None = "json_schema"
    thinking: str = "off"
    thinks: bool = False
    thinks_on: bool = False
    efforts: tuple[str, ...] = field(init=False)
    gives_likely: bool | None = None

    def __post_init__(self) -> None:
        self.efforts = _EFFORTS.get(self.thinking, ())

    @property
    def reads_letters(self) -> bool:
        """Whether an answer of one token may be read by its log-probabilities, as far as is known."""
        return self.gives_likely is not False and not self.thinks_on

    def _controls(self) -> dict[str, Any]:
        """The fields that tell the model how much it may think, as far as the server did not refuse them."""
        if not self.thinks or self.thinking == "model":
            return {}
        controls: dict[str, Any] = {"reasoning_effort": self.efforts[0]} if self.efforts else {}
        if self.thinking == "off":
            controls |= {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}, "think": False}
        return {name: value for name, value in controls.items() if name not in self.left_out}

    def fitted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A request as this server takes it."""
        fitted = {name: value for name, value in body.items() if name not in self.left_out} | self._controls()
        if self.thinks_on and body["max_tokens"] > 1:
            fitted["max_tokens"] += THOUGHT_TOKENS
        if self.answers_singly:
            fitted.pop("n", None)
        if self.names_completion and "max_tokens" in fitted:
            fitted["max_completion_tokens"] = fitted.pop("max_tokens")
        if "top_logprobs" in fitted:
            fitted["top_logprobs"] = min(fitted["top_logprobs"], self.most_likely)
        if "response_format" in fitted and self.format != "json_schema":
            fitted.pop("response_format")
            if self.format:
                fitted["response_format"] = {"type": self.format}
        if not self.has_system:
            fitted["messages"] = _without_system(fitted["messages"])
        return fitted

    def learn(self, refusal: Refusal, sent: Mapping[str, Any]) -> bool:
        """Take note of a refusal. Returns whether the request is worth sending again in another form."""
        if refusal.status not in {400, 422} or refusal.is_too_long or refusal.is_filtered:
            return False
        before = self._state()
        fields = refusal.fields or tuple(name for name in CONTROLS if name in sent)
        if "top_logprobs" in fields and refusal.limit is None and "logprobs" in fields:
            fields = tuple(name for name in fields if name != "top_logprobs")
        for name in fields:
            match name:
                case "max_tokens" if "max_completion_tokens" not in sent:
                    self.names_completion = True
                case "top_logprobs" if sent[name] > (self._limit(refusal)):
                    self.most_likely = self._limit(refusal)
                case "logprobs" | "top_logprobs":
                    if "top_logprobs" not in fields or name == "top_logprobs":
                        self.left_out |= {"logprobs", "top_logprobs"}
                        self.gives_likely = False
                case "n":
                    self.answers_singly = True
                case "response_format":
                    self.format = "json_object" if sent[name]["type"] == "json_schema" else None
                case "system":
                    self.has_system = False
                case "reasoning_effort" if len(self.efforts) > 1 and refusal.fields:
                    self.efforts = self.efforts[1:]
                case "temperature" | "seed" | "stop" | "reasoning_effort" | "chat_template_kwargs" | "think":
                    self.left_out.add(name)
        return self._state() != before

    @staticmethod
    def _limit(refusal: Refusal) -> int:
        return _LIKELY if refusal.limit is None else refusal.limit

    def _state(self) -> tuple[object, ...]:
        return (
            frozenset(self.left_out), self.most_likely, self.names_completion, self.answers_singly, self.has_system,
            self.format, self.efforts,
        )  # fmt: skip

    def saw_thought(self, sent: Mapping[str, Any]) -> None:
        """Take note that the model thought, and of whether it was told before how much it may.

        Args:
            sent: the request that it thought about.
        """
        self.thinks = True
        if all(sent.get(name) == value for name, value in self._controls().items()):
            self.thinks_on = True

    def lacking(self) -> list[str]:
        """What drafts do without or come to otherwise, for whoever runs the server."""
        names = sorted(self.left_out - {"logprobs", "top_logprobs", *CONTROLS})
        remarks = {
            "its model thinks before it answers, which takes time; its thoughts are left out": self.thinks_on,
            "its model was told to think less": self.thinks and not self.thinks_on,
            "it gives no log-probabilities, so that letters are asked for in JSON, two or three times, and how sure it "
            "is stays a guess": not self.reads_letters,
            "it takes no schema, so that answers in JSON may fail": self.format is None,
            "it takes JSON without a schema, so that some answers may fail": self.format == "json_object",
            "it knows no system role; its words go into the user's turn": not self.has_system,
            "it writes one answer to a request; several are asked for singly": self.answers_singly,
            f"it does not take {', '.join(names)}, which is left out": bool(names),
        }
        return [remark for remark, is_so in remarks.items() if is_so]


def spoken(answer: str) -> str:
    """An answer without the thoughts of its model; "" where it never came to an end of them."""
    if _CHANNEL in answer:
        final = _FINAL.findall(answer)
        return final[-1].strip() if final else ""
    without = _THOUGHT_END.sub("", _THOUGHT.sub("", _BARE_CHANNELS.sub("", answer)))
    return answer if without == answer else without.strip()


def _without_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """The messages with what the system says at the beginning of the first user's turn."""
    system = "\n\n".join(turn["content"] for turn in messages if turn["role"] == _SYSTEM)
    others = [dict(turn) for turn in messages if turn["role"] != _SYSTEM] or [{"role": "user", "content": ""}]
    if system:
        others[0]["content"] = f"{system}\n\n{others[0]['content']}".strip()
    return others
