"""The proxy before a model server, as nginx runs it: five routes and the measures pass, and no other call arrives."""

import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.fakes.machine.patience import GUARD_SECONDS

ROOT = Path(__file__).parents[3]
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
ALLOWED = {
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/completions"),
    ("GET", "/v1/models"),
    ("GET", "/health"),
    ("GET", "/version"),
    ("GET", "/metrics"),
}
ROUTES = [tuple(route) for route in json.loads((ROOT / "tests/data/vllm.json").read_text("utf-8"))["routes"]]
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
STRANGER, MONITOR = "127.0.0.2", "127.0.0.1"

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed (Debian: apt-get install nginx-light)")


@dataclass
class Arrived:
    """A call as the model server sees it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Door:
    """The proxy, and what came through it."""

    folder: Path
    plain: int
    tls: int
    arrived: list[Arrived] = field(default_factory=list)

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        source: str = MONITOR,
    ) -> tuple[int, bytes]:
        """Status and body of one call, whose path is sent as it is."""
        line = http.client.HTTPConnection("127.0.0.1", self.plain, timeout=GUARD_SECONDS, source_address=(source, 0))
        try:
            line.request(method, path, body=body, headers=headers or {})
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()

    def say(self, lines: bytes) -> bytes:
        """What comes back for raw bytes, up to the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.plain), timeout=GUARD_SECONDS) as line:
            line.sendall(lines)
            line.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: line.recv(65536), b""))


def _free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return int(line.getsockname()[1])


def _model_server(arrived: list[Arrived]) -> ThreadingHTTPServer:
    class Everything(BaseHTTPRequestHandler):
        """Answers every method and path with 200, as a server would that guards none of them."""

        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            arrived.append(Arrived(self.command, self.path, dict(self.headers), body))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else b"{}")

        def __getattr__(self, name: str) -> object:
            if name.startswith("do_"):
                return self._answer
            raise AttributeError(name)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Everything)


def _settled(door: Door, upstream: int) -> Path:
    """The files of deploy/proxy, with the places of this test in them and nothing else changed."""
    folder = door.folder
    shutil.copytree(ROOT / "deploy/proxy", folder)
    (folder / "tls").mkdir()
    (folder / "tls.conf").rename(folder / "tls/tls.conf")
    key, certificate = folder / "proxy.key", folder / "proxy.crt"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made: list[str | Path] = [*command, "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
    subprocess.run(made, check=True, capture_output=True)
    places = {
        "nginx.conf": [
            ("listen 8080;", f"listen 127.0.0.1:{door.plain};"),
            ("server 127.0.0.1:8000;", f"server 127.0.0.1:{upstream};"),
            (" /tmp/", f" {folder}/"),
            ("/dev/stdout", f"{folder}/calls.log"),
            ("error_log stderr", f"error_log {folder}/errors.log"),
        ],
        "tls/tls.conf": [("listen 8443 ssl;", f"listen 127.0.0.1:{door.tls} ssl;"), ("/run/secrets/", f"{folder}/")],
    }
    for name, changes in places.items():
        text = (folder / name).read_text("utf-8")
        for old, new in changes:
            assert old in text, (name, old)
            text = text.replace(old, new)
        (folder / name).write_text(text, "utf-8")
    return folder / "nginx.conf"


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """The configuration that ships, run by nginx before a server that would answer anything."""
    arrived: list[Arrived] = []
    server = _model_server(arrived)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    folder = tmp_path_factory.mktemp("proxy") / "nginx"
    found = Door(folder, _free_port(), _free_port(), arrived)
    settings = _settled(found, server.server_port)
    rights = "user root;" if os.geteuid() == 0 else ""  # its worker reads this test's folder
    command = [str(NGINX), "-e", str(folder / "early.log"), "-c", str(settings), "-g", f"daemon off; {rights}"]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(found.plain, process)
            yield found
        finally:
            process.terminate()
            process.wait(GUARD_SECONDS)
            server.shutdown()
            server.server_close()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(GUARD_SECONDS * 20):
        assert process.poll() is None, "nginx ended"
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("nginx does not listen")


def test_the_list_holds_what_it_lets_through() -> None:
    """The routes are those of a whole server, with those that its own key does not guard."""
    assert set(ROUTES) >= ALLOWED
    unguarded = {"/invocations", "/pooling", "/tokenize", "/pause", "/abort_requests", "/update_weights", "/docs"}
    assert unguarded <= {path for _, path in ROUTES}


@pytest.mark.parametrize(("method", "path"), sorted(ALLOWED))
def test_what_is_needed_passes_unchanged(door: Door, method: str, path: str) -> None:
    """With its body and its key, and without any other header of the caller."""
    body = b'{"messages": [{"role": "user", "content": "Hello"}]}' if method == "POST" else None
    headers = {"Authorization": "Bearer a-key", "Content-Type": "application/json", "X-Other": "1", "Upgrade": "h2c"}
    before = len(door.arrived)
    assert door.ask(method, path, body=body, headers=headers) == (200, b"{}")
    [call] = door.arrived[before:]
    assert (call.method, call.path, call.body) == (method, path, body or b"")
    assert call.headers["Authorization"] == "Bearer a-key"
    assert {"X-Other", "Upgrade"}.isdisjoint(call.headers)


def test_no_other_route_or_method_reaches_the_model_server(door: Door) -> None:
    """Every route of vLLM with every method, but for those on the list."""
    before = len(door.arrived)
    calls = {(method, path) for _, path in ROUTES for method in METHODS} - ALLOWED
    found = {call: door.ask(*call, body=b"{}" if call[0] in ("POST", "PUT", "PATCH") else None)[0] for call in calls}
    assert len(calls) > 600
    assert {call: status for call, status in found.items() if status not in (404, 405)} == {}
    assert door.arrived[before:] == []


@pytest.mark.parametrize(
    "path",
    [
        "/v1/chat/completions/",
        "//v1/chat/completions",
        "/v1//chat/completions",
        "/v1/./chat/completions",
        "/v1/chat/../chat/completions",
        "/pause/../v1/chat/completions",
        "/v1/chat/completions/../../../pause",
        "/v1/chat/completions/..%2f..%2f..%2fpause",
        "/v1/chat/completions%2f..%2f..%2f..%2fpause",
        "/v1/chat/%63ompletions",
        "/v1/chat%2fcompletions",
        "/%2e/v1/chat/completions",
        "/v1/chat/completions%00",
        "/v1/chat/completions%0a",
        "/v1/chat/completions%20",
        "/v1/chat/completions;a=1",
        "/v1/chat/completions?x=/pause",
        "/v1/chat/completions?",
        "/v1/chat/completions#x",
        "/v1/chat/completions\\..\\pause",
        "/V1/chat/completions",
        "/v1/Chat/Completions",
        "/v1/chat/completions.json",
        "/x/v1/chat/completions",
        "/v1/chat/completionsx",
    ],
)
def test_a_path_that_only_looks_allowed_is_refused(door: Door, path: str) -> None:
    """Another spelling of an allowed path may mean another route to the server behind."""
    before = len(door.arrived)
    assert door.ask("POST", path, body=b"{}")[0] in (400, 404)
    assert door.arrived[before:] == []


@pytest.mark.parametrize(
    "line",
    [
        b"post /v1/chat/completions HTTP/1.1",
        b"POST  /v1/chat/completions /pause HTTP/1.1",
        b"GET /health HTTP/1.1\r\nX: y\r\n POST /pause HTTP/1.1",
        b"POST /pause HTTP/1.1\r\nX-HTTP-Method-Override: GET\r\nX-Original-URL: /health",
        b"POST http://model/pause HTTP/1.1",
        b"CONNECT 127.0.0.1:8000 HTTP/1.1",
    ],
)
def test_a_strange_request_line_is_refused(door: Door, line: bytes) -> None:
    """The bytes themselves, which no client library would send."""
    before = len(door.arrived)
    answer = door.say(line + b"\r\nHost: model\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    assert b"200 OK" not in answer
    assert [call.path for call in door.arrived[before:]] == []


def test_a_second_call_cannot_hide_in_the_body_of_a_first(door: Door) -> None:
    """Two lengths that contradict each other are refused; what follows a body is a call of its own."""
    before = len(door.arrived)
    hidden = b"POST /pause HTTP/1.1\r\nHost: model\r\nContent-Length: 0\r\n\r\n"
    both = b"POST /v1/completions HTTP/1.1\r\nHost: model\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
    assert b"400" in door.say(both + b"0\r\n\r\n" + hidden).splitlines()[0]
    door.say(b"POST /v1/completions HTTP/1.1\r\nHost: model\r\nContent-Length: 2\r\n\r\n{}" + hidden)
    assert "/pause" not in {call.path for call in door.arrived[before:]}


def test_measures_are_for_the_monitoring_network_only(door: Door) -> None:
    """Another caller reads none, and drafts all the same."""
    assert door.ask("GET", "/metrics", source=STRANGER)[0] == 404
    assert door.ask("GET", "/health", source=STRANGER)[0] == 200


def test_a_body_beyond_any_prompt_is_refused(door: Door) -> None:
    """It never reaches the model server."""
    before = len(door.arrived)
    assert door.ask("POST", "/v1/completions", body=b" " * 1_000_001)[0] == 200
    assert door.ask("POST", "/v1/completions", headers={"Content-Length": "2000000"})[0] == 413
    assert len(door.arrived) == before + 1


def test_the_same_list_holds_with_tls(door: Door) -> None:
    """By tls.conf, with the certificate and key that it names."""
    trusted = ssl.create_default_context()
    trusted.check_hostname, trusted.verify_mode = False, ssl.CERT_NONE
    before = len(door.arrived)
    for path, status in (("/v1/models", 200), ("/server_info", 404), ("/v1/models/", 404)):
        line = http.client.HTTPSConnection("127.0.0.1", door.tls, timeout=GUARD_SECONDS, context=trusted)
        line.request("GET", path)
        assert line.getresponse().status == status
        line.close()
    assert [call.path for call in door.arrived[before:]] == ["/v1/models"]


def test_no_word_of_a_call_is_logged(door: Door) -> None:
    """The log has the route and the status."""
    door.ask("POST", "/v1/completions", body=b"canary-in-the-body", headers={"Authorization": "Bearer canary-key"})
    logged = "".join(file.read_text("utf-8") for file in door.folder.glob("*.log"))
    assert "POST /v1/completions" in logged
    assert "canary" not in logged
