"""Weights come from the hub where there is one, over the wire, and its absence is only the next source's turn."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.machine.loopback import QuietHandler, in_a_thread

ROOT = Path(__file__).parents[5]
DATA = b"GGUF weights of the hub"
SHA256 = hashlib.sha256(DATA).hexdigest()
COMMIT = "a" * 40
NOWHERE = "http://127.0.0.1:9"
# A process of its own, because the hub's client reads its address when it is imported.
PROGRAM = """
import sys
from pathlib import Path
from core.engine.backends.weights import WeightsWanted, find_weights
from core.errors import ModelUnavailable
try:
    wanted = WeightsWanted(None, "org/model", "model.gguf", sys.argv[1], sys.argv[3])
    print(find_weights(wanted, Path(sys.argv[2])))
except ModelUnavailable as err:
    print(err)
"""


@pytest.fixture
def hub() -> Iterator[str]:

    class Handler(QuietHandler):
        def do_HEAD(self) -> None:
            is_file = self.path in {f"/org/model/resolve/{at}/model.gguf" for at in ("main", COMMIT)}
            self.send_response(200 if is_file else 404)
            self.send_header("Content-Length", str(len(DATA) if is_file else 0))
            self.send_header("ETag", f'"{SHA256}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()

        def do_GET(self) -> None:
            self.do_HEAD()
            if self.path.endswith("model.gguf"):
                self.wfile.write(DATA)

    with in_a_thread(Handler) as url:
        yield url


def found(home: Path, hub: str, sha256: str = SHA256, revision: str = "", **variables: str) -> str:
    """What a new process finds, or why it finds nothing."""
    environment = {**os.environ, "HF_HOME": str(home), "HF_ENDPOINT": hub, **variables}
    command = [sys.executable, "-c", PROGRAM, sha256, str(home / "cache"), revision]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_downloaded_once_then_local(hub: str, tmp_path: Path):
    """The first start downloads; a later one needs no network."""
    path = found(tmp_path, hub)
    assert Path(path).read_bytes() == DATA
    assert found(tmp_path, NOWHERE, HF_HUB_OFFLINE="1") == path


def test_a_commit_is_asked_for_by_its_hash(hub: str, tmp_path: Path):
    """What stands at that commit is found, also later in the cache; a commit that is not there is no file."""
    path = found(tmp_path, hub, revision=COMMIT)
    assert Path(path).read_bytes() == DATA
    assert found(tmp_path, NOWHERE, revision=COMMIT, HF_HUB_OFFLINE="1") == path
    assert found(tmp_path, hub, revision="b" * 40).startswith("The weights model.gguf are neither")


def test_other_file_than_expected_is_refused(hub: str, tmp_path: Path):
    """A person who controls the hub does not control what is loaded."""
    assert "is not the file that llm.sha256 names" in found(tmp_path, hub, "0" * 64)


@pytest.mark.parametrize("variables", [{}, {"HF_HUB_OFFLINE": "1"}])
def test_no_hub(tmp_path: Path, variables: dict[str, str]):
    """Without a hub, by accident or by choice, the search goes on and ends with a remedy."""
    refused = found(tmp_path, NOWHERE, **variables)
    assert refused.startswith("The weights model.gguf are neither on this machine nor available from the hub.")
    assert "llm.model_path" in refused
