"""A request to an ASGI application in this process, without a network between.

Owns the protocol of one exchange. Bodies are held as a whole; streams are none of its business.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from yarl import URL

_Message = MutableMapping[str, Any]
Application = Callable[
    [_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]
]


@dataclass
class Answer:
    """What an application answered.

    Attributes:
        status: of the answer.
        headers: with lower-case names.
        body: as it is written.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


async def exchange(
    application: Application, method: str, url: URL, headers: MutableMapping[str, str], body: bytes
) -> Answer:
    """Ask an application something; what it raises is raised here.

    Args:
        url: absolute; its authority is the address that the application is asked under.
    """
    answer, asked, over = Answer(), asyncio.Event(), asyncio.Event()

    async def receive() -> _Message:
        if not asked.is_set():
            asked.set()
            return {"type": "http.request", "body": body, "more_body": False}
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: _Message) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]
            }
        else:
            answer.body += message.get("body", b"")
            if not message.get("more_body"):
                over.set()

    given = {"host": url.authority} | {name.lower(): value for name, value in headers.items()}
    scope: _Message = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.encode("ascii"),
        "query_string": url.raw_query_string.encode("ascii"),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()],
        "client": ("127.0.0.1", 0),
        "server": (url.host, url.port),
    }
    await application(scope, receive, send)
    return answer


def _text(raw: bytes) -> str:
    return raw.decode("latin-1")
