"""An OpenAI-compatible server on a free port that answers like a ``FakeModel``, for tests of the whole program."""

import asyncio
import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from string import ascii_uppercase
from typing import Any

from core.engine.ports import Answer, Generation, Message
from tests.fakes.engine.model import FakeModel, kind_of
from tests.fakes.machine.loopback import QuietHandler, in_a_thread

_YES_OR_NO = ("yes", "no")
_REPLY_NAME = re.compile(r"^Reply (\w): ", re.MULTILINE)


class ChatServer:
    """A running server; ``asked`` is set at the first request, and ``requests`` holds them all.

    It has no list of models. While ``released`` is not set, no request is answered; while it ``refuses``, each is with
    that status and body.
    """

    def __init__(self, url: str, model: FakeModel) -> None:
        self.url, self.model = url, model
        self.requests: list[dict[str, Any]] = []
        self.asked, self.released = threading.Event(), threading.Event()
        self.released.set()
        self.refuses: tuple[int, str] | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        self.asked.set()
        self.released.wait()
        messages = [Message(turn["role"], turn["content"]) for turn in request["messages"]]
        if messages[-1].content.startswith("Is water wet?"):  # the doctor's question, which has no prompt of its own
            return _completion(Answer(("Yes",) * request.get("n", 1), 10, 1), {"yes": 0.9, "no": 0.1})
        if request["max_tokens"] == 1:
            options = _options(messages)
            shares, answer = asyncio.run(self.model.choose(messages, options, math.inf))
            return _completion(answer, shares or {})
        how = Generation(max_tokens=request["max_tokens"], n=request["n"])
        return _completion(asyncio.run(self.model.generate(messages, how, math.inf)), None)


def _options(messages: list[Message]) -> tuple[str, ...]:
    """The one-token answers that a prompt asks for."""
    match kind_of(messages):
        case "judge" | "judge_loop":
            return tuple(_REPLY_NAME.findall(messages[-1].content))
        case "vote":
            return tuple(ascii_uppercase[:5])
        case _:
            return _YES_OR_NO


@contextmanager
def serving(model: FakeModel) -> Iterator[ChatServer]:
    """A server for as long as the block runs."""

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            request = json.loads(self.body())
            is_asked = "messages" in request  # otherwise somebody sees whether this route is there
            if server.refuses is not None:
                status, body = server.refuses
            elif is_asked:
                status, body = 200, json.dumps(server.answer(request))
            else:
                status, body = 400, json.dumps({"error": {"message": "messages: required"}})
            try:
                self.give(body.encode(), status)
            except ConnectionError:
                self.close_connection = True  # the client was stopped meanwhile

    with in_a_thread(Handler) as url:
        server = ChatServer(f"{url}/v1", model)
        try:
            yield server
        finally:
            server.released.set()


def _completion(answer: Answer, shares: dict[str, float] | None) -> dict[str, Any]:
    likely = [{"token": name, "logprob": math.log(share), "bytes": None} for name, share in (shares or {}).items()]
    first = {"token": "", "logprob": 0.0, "bytes": None, "top_logprobs": likely}
    logprobs = None if shares is None else {"content": [first], "refusal": None}
    choices = [
        {
            "index": index,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
            "logprobs": logprobs,
        }
        for index, text in enumerate(answer.texts)
    ]
    usage = {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "total_tokens": answer.prompt_tokens + answer.completion_tokens,
    }
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": choices,
        "usage": usage,
    }
