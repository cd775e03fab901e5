"""An HTTP server on loopback that gives the same answer to every request of a route, and remembers their order."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes.machine.loopback import QuietHandler, in_a_thread

Given = tuple[int, str]
"""A status and a body."""


@dataclass
class Loopback:
    """What a running server was asked, in order, such as "GET /v1/models".

    ``released`` ends the silence of a route that never answers.
    """

    url: str
    asked: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def answering(routes: Mapping[str, Given | None], otherwise: Given | None = (404, "not here")) -> Iterator[Loopback]:
    """A server for as long as the block runs.

    Args:
        routes: answers by method and route below ``/v1``, such as "GET /models"; ``None`` is silence.
        otherwise: the answer of every other route.
    """

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.body()
            asked = f"{self.command} {self.path}"
            server.asked.append(asked)
            given = routes.get(asked.replace(" /v1", " "), otherwise)
            if given is None:
                server.released.wait()
                self.close_connection = True
                return
            status, body = given
            self.give(body.encode(), status)

        def do_POST(self) -> None:
            self.do_GET()

    with in_a_thread(Handler) as url:
        server = Loopback(f"{url}/v1")
        try:
            yield server
        finally:
            server.released.set()
