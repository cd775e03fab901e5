"""A model server that behaves as one that is really met: each quirk refuses requests, or changes the answers to them.

The invented replies suit a post about migrants. A quirk is a function of the request; what it returns replaces the
answer, and "goes on" is ``None``.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.machine.loopback import QuietHandler, in_a_thread

Asked = dict[str, Any]
Answered = tuple[int, dict[str, str], bytes]
Quirk = Callable[[Asked, int], "Answered | Callable[[Asked], None] | None"]
"""Of a request and its number: an answer of its own, a change of the completion, or ``None``."""

REPLIES = (
    "People who come here work and pay taxes like everybody else, and it helps nobody to talk as if they were one.",
    "My neighbours came from abroad and they get up at five to clean our offices. They deserve respect.",
    "What would you say if somebody judged you by where you were born?",
)
THOUGHT = "The user wants a reply. I should be calm."
_FORMS = re.compile(r"Answer with JSON and nothing else: (\{.*?\})")
_LIKELY = (("A", 0.55), ("B", 0.2), ("Yes", 0.1), ("C", 0.05), ("No", 0.02))


def refused(message: str, status: int = 400, headers: dict[str, str] | None = None, **error: Any) -> Answered:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None} | error}
    return status, headers or {}, json.dumps(body).encode()


def _each(change: Callable[[dict[str, Any], bool], None]) -> Quirk:
    """A change of each choice; it is told whether JSON was asked for."""

    def quirk(asked: Asked, _: int) -> Callable[[Asked], None]:
        def changed(completion: Asked) -> None:
            for choice in completion["choices"]:
                change(choice, "response_format" in asked)

        return changed

    return quirk


def _texts(change: Callable[[str, bool], Any]) -> Quirk:
    def changed(choice: dict[str, Any], is_json: bool) -> None:
        choice["message"]["content"] = change(choice["message"]["content"], is_json)

    return _each(changed)


def _thinking(change: Callable[[str], Any]) -> Quirk:
    def changed(choice: dict[str, Any], _: bool) -> None:
        choice["message"]["content"] = change(choice["message"]["content"])
        if choice["logprobs"]:
            choice["logprobs"] = _logprobs((("<think>", 0.999),))

    return _each(changed)


def _no_max_tokens(asked: Asked, _: int) -> Answered | None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return refused(said, param="max_tokens", code="unsupported_parameter") if "max_tokens" in asked else None


def _no_temperature(asked: Asked, _: int) -> Answered | None:
    said = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
    is_other = asked.get("temperature", 1) != 1
    return refused(said, param="temperature", code="unsupported_value") if is_other else None


def _no_system(asked: Asked, _: int) -> Answered | None:
    if not any(turn["role"] == "system" for turn in asked["messages"]):
        return None
    flat = {"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400}
    return 400, {}, json.dumps(flat).encode()


def _no_n(asked: Asked, _: int) -> Answered | None:
    return refused("Only n=1 is supported") if asked.get("n", 1) > 1 else None


def _no_more_than_one(asked: Asked, _: int) -> Callable[[Asked], None]:
    return lambda completion: completion.update(choices=completion["choices"][:1])


def _neither(asked: Asked, _: int) -> Answered | None:
    is_asked = asked.get("logprobs") or asked.get("response_format")
    return refused("`logprobs`/`response_format` is not supported with this model") if is_asked else None


def _top_five(asked: Asked, _: int) -> Answered | None:
    return refused("Invalid value for top_logprobs: must be at most 5") if asked.get("top_logprobs", 0) > 5 else None


def _extra_forbidden(asked: Asked, _: int) -> Answered | None:
    named = [name for name in ("seed", "n", "logprobs", "top_logprobs") if name in asked]
    detail = [
        {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"} for name in named
    ]
    return (422, {}, json.dumps({"object": "error", "message": {"detail": detail}}).encode()) if named else None


def _only_objects(asked: Asked, _: int) -> Answered | None:
    is_schema = asked.get("response_format", {}).get("type") == "json_schema"
    return refused("'response_format.type' must be 'text' or 'json_object'") if is_schema else None


def _no_format(asked: Asked, _: int) -> Answered | None:
    return refused("'response_format.type' must be 'text'") if "response_format" in asked else None


def _content_filter(asked: Asked, _: int) -> Answered | None:
    said = "The response was filtered due to the prompt triggering the content management policy."
    is_named = re.search("migrants", json.dumps(asked), re.I)
    return refused(said, type=None, param="prompt", code="content_filter") if is_named else None


def _moderated(asked: Asked, _: int) -> Answered | None:
    said = "Your chosen model requires moderation and your input was flagged."
    return refused(said, 403, code=403) if re.search("migrants", json.dumps(asked), re.I) else None


def _one_at_a_time(_: Asked, number: int) -> Answered | None:
    busy = {"code": "rate_limited", "type": "rate_limit_exceeded"}
    return refused("Rate limit exceeded", 429, {"Retry-After": "1"}, **busy) if number % 2 else None


def _always_busy(_: Asked, __: int) -> Answered:
    return refused("Too many requests", 429)


def _error_as_answer(_: Asked, __: int) -> Answered:
    return 200, {}, json.dumps({"error": {"message": "Provider returned error", "code": 502}}).encode()


def _stream(_: Asked, __: int) -> Answered:
    piece = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hello"}}]}
    return 200, {"Content-Type": "text/event-stream"}, f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode()


def _no_choice(_: Asked, __: int) -> Callable[[Asked], None]:
    return lambda completion: completion.update(choices=[])


def _filtered_answer(choice: dict[str, Any], _: bool) -> None:
    choice["message"]["content"], choice["finish_reason"] = "", "content_filter"


def _refusal_field(choice: dict[str, Any], _: bool) -> None:
    choice["message"] |= {"content": None, "refusal": "I'm sorry, I can't assist with that."}


def _thought_apart(choice: dict[str, Any], _: bool) -> None:
    choice["message"] |= {"content": "", "reasoning_content": THOUGHT}
    choice["finish_reason"] = "length"
    if choice["logprobs"]:
        choice["logprobs"] = _logprobs((("Okay", 0.999),))


def _too_long(asked: Asked, _: int) -> Answered:
    said = "This model's maximum context length is 512 tokens. However, you requested 700 tokens (max_tokens=220)."
    return refused(said, code="context_length_exceeded", param="messages")


def _room(asked: Asked) -> int:
    return int(asked.get("max_tokens") or asked.get("max_completion_tokens") or 0)


def _thinking_apart(is_told: Callable[[Asked], bool], *, is_hidden: bool = False, tokens: int = 60) -> Quirk:
    """Thoughts beside the answer, which use up its room, unless the model is told not to think."""

    def quirk(asked: Asked, _: int) -> Callable[[Asked], None]:
        def changed(completion: Asked) -> None:
            if is_told(asked):
                return
            completion["usage"]["completion_tokens_details"] = {"reasoning_tokens": tokens}
            for choice in completion["choices"]:
                if not is_hidden:
                    choice["message"]["reasoning"] = THOUGHT
                if choice["logprobs"]:
                    choice["logprobs"] = _logprobs((("Okay", 0.999),))
                if _room(asked) <= tokens:
                    choice["message"]["content"], choice["finish_reason"] = "", "length"

        return changed

    return quirk


def _told_by_effort(asked: Asked, number: int) -> Answered | Callable[[Asked], None] | None:
    """As the reasoning models of OpenAI: other fields are refused, and so is the lowest effort of others."""
    for name in ("chat_template_kwargs", "think"):
        if name in asked:
            return refused(f"Unrecognized request argument supplied: {name}")
    if asked.get("reasoning_effort") == "none":
        said = "Unsupported value: 'none' is not supported with this model. Supported values are: 'minimal' and 'low'."
        return refused(said, param="reasoning_effort", code="unsupported_value")
    return _thinking_apart(lambda asked: asked.get("reasoning_effort") == "minimal", is_hidden=True)(asked, number)


def _strict_thinker(asked: Asked, number: int) -> Answered | Callable[[Asked], None] | None:
    """Refuses what it does not know without a word which field that is, and thinks on."""
    if {"reasoning_effort", "chat_template_kwargs", "think"} & set(asked):
        return refused("Bad request")
    return _thinking_apart(lambda _: False, tokens=900)(asked, number)


def _out_of_room(asked: Asked, number: int) -> Answered | Callable[[Asked], None] | None:
    if _room(asked) > 900:
        return None
    return refused(
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with "
        "higher max_tokens."
    )


def _cut(asked: Asked, _: int) -> Callable[[Asked], None]:
    def changed(completion: Asked) -> None:
        for choice in completion["choices"]:
            if 1 < _room(asked) < 200:
                text = choice["message"]["content"]
                choice["message"]["content"], choice["finish_reason"] = text[: len(text) // 2], "length"

    return changed


def _never_ends(asked: Asked, _: int) -> Callable[[Asked], None]:
    def changed(completion: Asked) -> None:
        for choice in completion["choices"]:
            if _room(asked) > 1:
                choice["message"]["content"] += " and so on" if "response_format" not in asked else " {"
                choice["finish_reason"] = "length"

    return changed


def _empty_at_first(_: Asked, number: int) -> Callable[[Asked], None] | None:
    def emptied(completion: Asked) -> None:
        for choice in completion["choices"]:
            choice["message"]["content"] = ""

    return emptied if number % 2 else None


def _without_logprobs(choice: dict[str, Any], _: bool) -> None:
    choice["logprobs"] = None


def _without_logprobs_of_json(choice: dict[str, Any], is_json: bool) -> None:
    if is_json:
        choice["logprobs"] = None


def _quoting(asked: Asked, _: int) -> Answered:
    return refused(f"Bad input: {asked['messages'][-1]['content']}")


QUIRKS: dict[str, Quirk] = {
    "as it should": lambda *_: None,
    "content in parts": _texts(
        lambda text, _: [
            {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
            {"type": "text", "text": text},
        ]
    ),
    "content filter": _content_filter,
    "moderated": _moderated,
    "filtered answer": _each(_filtered_answer),
    "refusal field": _each(_refusal_field),
    "neither logprobs nor schema": _neither,
    "max_completion_tokens": _no_max_tokens,
    "no temperature": _no_temperature,
    "no system role": _no_system,
    "extra fields forbidden": _extra_forbidden,
    "at most 5 likely tokens": _top_five,
    "n refused": _no_n,
    "n ignored": _no_more_than_one,
    "objects only": _only_objects,
    "no format": _no_format,
    "one at a time": _one_at_a_time,
    "always busy": _always_busy,
    "thinks in a tag": _thinking(lambda text: f"<think>\n{THOUGHT}\n</think>\n\n{text}"),
    "closes a tag only": _thinking(lambda text: f"{THOUGHT}\n</think>\n\n{text}"),
    "never stops thinking": _thinking(lambda _: f"<think>\n{THOUGHT}"),
    "thinks apart": _each(_thought_apart),
    "thinks in brackets": _thinking(lambda text: f"[THINK]{THOUGHT}[/THINK]{text}"),
    "thinks in a channel": _thinking(
        lambda text: (
            f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{text}"
        )
    ),
    "thinks in a bare channel": _thinking(lambda text: f"analysis{THOUGHT}assistantfinal{text}"),
    "told by its template": _thinking_apart(
        lambda asked: asked.get("chat_template_kwargs", {}).get("enable_thinking") is False
    ),
    "told by think": _thinking_apart(lambda asked: asked.get("think") is False),
    "told by its effort": _told_by_effort,
    "thinks on": _thinking_apart(lambda _: False, tokens=900),
    "thinks on and refuses": _strict_thinker,
    "refuses for want of room": _out_of_room,
    "cut": _cut,
    "never ends": _never_ends,
    "empty at first": _empty_at_first,
    "no logprobs": _each(_without_logprobs),
    "no logprobs of JSON": _each(_without_logprobs_of_json),
    "fenced": _texts(lambda text, is_json: f"```json\n{text}\n```" if is_json else text),
    "quoted": _texts(lambda text, is_json: text if is_json else f'"{text}"'),
    "refuses in words": _texts(lambda text, is_json: text if is_json else "I'm sorry, but I can't help with that."),
    "no choice": _no_choice,
    "error as an answer": _error_as_answer,
    "event stream": _stream,
    "too long": _too_long,
    "quotes the prompt": _quoting,
}


@dataclass
class QuirkyServer:
    """A running server; ``asked`` holds all requests, also those that were refused."""

    url: str
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def quirky(name: str) -> Iterator[QuirkyServer]:
    """A server with the quirk of that name, and the model "m", for as long as the block runs."""
    quirk = QUIRKS[name]

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.give(json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}).encode())

        def do_POST(self) -> None:
            asked = json.loads(self.body())
            server.asked.append(asked)
            done = quirk(asked, len(server.asked))
            if isinstance(done, tuple):
                status, headers, body = done
                self.give(body, status, headers=headers)
                return
            completion = _completion(asked, len(server.asked))
            if done is not None:
                done(completion)
            self.give(json.dumps(completion).encode())

    with in_a_thread(Handler) as url:
        server = QuirkyServer(f"{url}/v1")
        yield server


def _completion(asked: Asked, number: int) -> Asked:
    choices = []
    for index in range(asked.get("n", 1)):
        text = REPLIES[(number + index) % len(REPLIES)]
        if forms := _FORMS.search(asked["messages"][-1]["content"]):
            text = forms[1]
        elif "response_format" in asked:
            text = json.dumps(_filled(asked["response_format"].get("json_schema", {}).get("schema", {})))
        elif asked.get("max_tokens", asked.get("max_completion_tokens")) == 1:
            text = "A"
        likely = asked.get("top_logprobs", 0)
        logprobs = _logprobs(_LIKELY[:likely]) if asked.get("logprobs") else None
        if logprobs and likely > 1 and "response_format" in asked:
            logprobs = _logprobs_of(text)
        message = {"role": "assistant", "content": text}
        choices.append({"index": index, "message": message, "finish_reason": "stop", "logprobs": logprobs})
    usage = {"prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}


def _logprobs(likely: tuple[tuple[str, float], ...]) -> Asked:
    tops = [{"token": token, "logprob": math.log(share), "bytes": None} for token, share in likely]
    return {"content": [{"token": likely[0][0], "logprob": -0.1, "bytes": None, "top_logprobs": tops}], "refusal": None}


def _logprobs_of(text: str) -> Asked:
    """The tokens of a text; yes is likely where it stands, and no is not unlikely."""
    content = list[Asked]()
    for piece in re.findall(r"\w+|\s+|[^\w\s]+", text):
        likely = (("yes", 0.6), ("no", 0.2)) if piece == "yes" else ((piece, 0.9),)
        content += [one | {"token": piece} for one in _logprobs(likely)["content"]]
    return {"content": content, "refusal": None}


def _filled(schema: Asked) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _filled(one) for name, one in schema.get("properties", {}).items()}
        case "array":
            return [_filled(schema.get("items", {"type": "string"}))]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
    return "It says that migrants come to live on benefits."
