"""An HTTP server on loopback that gives the same answer to every request of a route, and remembers their order."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            asked = f"{self.command} {self.path}"
            server.asked.append(asked)
            given = routes.get(asked.replace(" /v1", " "), otherwise)
            if given is None:
                server.released.wait()
                self.close_connection = True
                return
            status, body = given
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Loopback(f"http://127.0.0.1:{http.server_port}/v1")
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join()
