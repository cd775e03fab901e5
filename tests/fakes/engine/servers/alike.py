"""An OpenAI-compatible server that answers every request alike, also wrongly, late or never, and what reaches it."""

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.engine.ports import Generation, Message
from core.engine.servers.chat import ChatModel
from core.errors import ModelUnavailable
from tests.fakes.machine.loopback import QuietHandler, in_a_thread

POST = "canary-post-text"
ASK = [Message("system", "Answer briefly."), Message("user", POST)]


@dataclass
class AlikeServer:
    """Answers every request alike, and remembers what it was asked."""

    status: int = 200
    body: bytes = b"{}"
    content_type: str = "application/json"
    hangs: bool = False
    drops: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    arrivals: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    released: threading.Event = field(default_factory=threading.Event)
    names: list[str] | None = None
    url: str = ""

    def answers(self, *texts: str, tokens: int = 0, logprobs: list[dict[str, Any] | None] | None = None) -> None:
        choices = [
            {
                "index": index,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
                "logprobs": logprobs[index] if logprobs else None,
            }
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 7, "completion_tokens": tokens, "total_tokens": 7 + tokens}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
        self.body = json.dumps(answer | {"usage": usage}).encode()

    def fails(self, status: int, **error: str) -> None:
        self.status = status
        self.body = json.dumps({"error": {"message": f"the prompt was {POST}", **error}}).encode()


def token(text: str, share: float, **more: Any) -> dict[str, Any]:
    return {"token": text, "logprob": math.log(share), "bytes": None, "top_logprobs": [], **more}


def first_token(*likely: tuple[str, float]) -> list[dict[str, Any] | None]:
    return [{"content": [token(*likely[0], top_logprobs=[token(*each) for each in likely])], "refusal": None}]


@contextmanager
def alike_server() -> Iterator[AlikeServer]:
    fake = AlikeServer()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            fake.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            fake.keys.append(self.headers["Authorization"])
            fake.arrived.set()
            fake.arrivals.release()
            if fake.hangs:
                fake.released.wait()
                return
            if len(fake.asked) <= fake.drops:
                self.close_connection = True
                return
            self.give(fake.body, fake.status, fake.content_type)

        def do_GET(self) -> None:
            known = fake.names or []
            body = json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in known]}).encode()
            self.give(body, 404 if fake.names is None else 200)

    with in_a_thread(Handler) as url:
        fake.url = f"{url}/v1"
        yield fake
        fake.released.set()


async def refusal(model: ChatModel, timeout_seconds: float = 30) -> ModelUnavailable:
    """The error of a generation. It must never repeat the post or the key."""
    with pytest.raises(ModelUnavailable) as caught:
        await model.generate(ASK, Generation(max_tokens=5), timeout_seconds)
    assert caught.value.__cause__ is not None
    assert "canary" not in str(caught.value)
    assert caught.value.remedy
    return caught.value


async def no_pause(seconds: float) -> None:
    """Wait for nobody."""
