"""What the containers would run, tried without a container engine: their checks of health, and a lint of Dockerfile."""

import json
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

ROOT = Path(__file__).parents[3]
HADOLINT = Path(sys.executable).with_name("hadolint")
CHECKS = {
    "image": json.loads(
        re.findall(r"HEALTHCHECK .*?CMD (\[.*?\])$", (ROOT / "Dockerfile").read_text("utf-8"), re.M | re.S)[0]
    ),
    "vllm": yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))["services"]["vllm"]["healthcheck"][
        "test"
    ][1:],
}


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    """What it is told to leave out has its reason on the lines above."""
    done = subprocess.run([HADOLINT, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("which", "route"), [("image", "/health"), ("vllm", "/health")])
@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (None, 1)])
def test_the_check_of_health_ends_as_the_process_is(which: str, route: str, status: int | None, code: int) -> None:
    """0 where it is well; 1 where it says that it is not, and where nothing answers."""
    asked: list[str] = []

    class Process(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status or 500)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    program, flag, code_text = CHECKS[which]
    assert (program, flag) == ("python3" if which == "vllm" else "/opt/antiphon/bin/python", "-c")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Process)
    if status is None:
        server.server_close()
    else:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    here = re.sub("9464|8000", str(server.server_port), code_text)
    done = subprocess.run([sys.executable, "-c", here], capture_output=True)
    assert done.returncode == code
    assert asked == ([route] if status else [])
    if status:
        server.shutdown()
        server.server_close()
