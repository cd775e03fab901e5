"""An OpenAI-compatible server that answers every request alike, also wrongly, late or never, and what reaches it."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from core.engine.ports import Generation, Message
from core.engine.servers.chat import ChatModel
from core.errors import ModelUnavailable

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
    """A server on a free port."""
    fake = AlikeServer()

    class Handler(BaseHTTPRequestHandler):
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
            self.send_response(fake.status)
            self.send_header("Content-Type", fake.content_type)
            self.send_header("Content-Length", str(len(fake.body)))
            self.end_headers()
            self.wfile.write(fake.body)

        def do_GET(self) -> None:
            known = fake.names or []
            body = json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in known]}).encode()
            self.send_response(404 if fake.names is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield fake
    fake.released.set()
    http.shutdown()
    http.server_close()
    thread.join()


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
