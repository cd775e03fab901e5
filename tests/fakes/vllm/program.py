"""A program that is started as ``vllm serve`` is, listens where it is told to, and speaks vLLM's routes.

    python program.py FOLDER serve MODEL --port PORT --served-model-name NAME ...

``FOLDER/does.json`` says how it behaves, and is read at each request; ``FOLDER/starts.jsonl`` gets a line for each
start.
"""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

FOLDER = Path(sys.argv[1])
ARGUMENTS = sys.argv[2:]
DEFAULTS: dict[str, Any] = {
    "health": 200,
    "prints": "",
    "exits": None,
    "start_seconds": 0.0,
    "ignores_sigterm": False,
    "has_child": False,
    "answers_at": "",
}


def does() -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads((FOLDER / "does.json").read_text())
    except FileNotFoundError:
        return DEFAULTS
    return DEFAULTS | said


def option(name: str) -> str:
    return ARGUMENTS[ARGUMENTS.index(name) + 1]


def names() -> list[str]:
    adapters = []
    if "--lora-modules" in ARGUMENTS:
        for word in ARGUMENTS[ARGUMENTS.index("--lora-modules") + 1 :]:
            if "=" not in word:
                break
            adapters.append(word.partition("=")[0])
    return [option("--served-model-name"), *adapters]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        now = does()
        match self.path:
            case "/health":
                self._say(now["health"], {})
            case "/v1/models":
                data = [{"id": name, "owned_by": "vllm"} for name in names()]
                self._say(200, {"data": data}) if self._has_key() else self._say(401, {})
            case _:
                self._say(404, {})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._has_key():
            return self._say(401, {})
        if request.get("model") not in names() or self.path != "/v1/chat/completions":
            return self._say(404, {"error": {"message": f"The model `{request.get('model')}` does not exist."}})
        if "messages" not in request:
            return self._say(400, {"error": {"message": "messages: required"}})
        return self._say(200, forwarded(request))

    def _has_key(self) -> bool:
        return self.headers["Authorization"] == f"Bearer {os.environ['VLLM_API_KEY']}"

    def _say(self, status: int, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: vLLM is started without its access log."""


def forwarded(request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the test's own server to one of our prompts."""
    body = json.dumps(request).encode()
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{does()['answers_at']}/chat/completions", body, headers)) as answer:
        answered: dict[str, Any] = json.load(answer)
        return answered


def main() -> None:
    now = does()
    with (FOLDER / "starts.jsonl").open("a") as file:
        started = {"pid": os.getpid(), "arguments": ARGUMENTS, "environment": dict(os.environ)}
        if now["has_child"]:  # as vLLM's engine is a process of its own
            code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
            started["child"] = subprocess.Popen([sys.executable, "-c", code]).pid
        file.write(json.dumps(started) + "\n")
    if now["ignores_sigterm"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.stderr.write(now["prints"])
    if now["exits"] is not None:
        sys.exit(now["exits"])
    time.sleep(now["start_seconds"])
    ThreadingHTTPServer((option("--host"), int(option("--port"))), Handler).serve_forever()


if __name__ == "__main__":
    main()
