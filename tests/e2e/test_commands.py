"""The other commands: the knowledge base, the doctor, ``serve`` before it has anything to serve."""

import re
import socket
from pathlib import Path

from tests.e2e.conftest import GUARD_SECONDS, Antiphon, InThisProcess
from tests.fakes.engine.servers.chat import ChatServer


def test_version(antiphon: Antiphon):
    """It says which it is, and a program can read it."""
    result = antiphon.from_its_start("--version")
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(r"antiphon \d+\.\d+\.\d+\n", result.out)


def test_search_without_a_hit(here: InThisProcess):
    """Nothing found is no error; a person is told what else to try."""
    result = here("kb", "search", "how to bake sourdough bread")
    assert (result.code, result.out) == (0, "")
    assert "No passage bears on this. Try other words" in result.err


def test_doctor_finds_all_well(drafter: Antiphon):
    """Every part was tried, and none needs anything."""
    result = drafter.from_its_start("doctor", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.document["ok"] is True
    assert {check["name"] for check in result.document["checks"]} == {
        "settings", "disk", "database", "embedding model", "scorers", "knowledge base", "language model", "judge",
        "model tried", "prepared replies", "platforms",
    }  # fmt: skip
    assert all(check["ok"] and not check["remedy"] for check in result.document["checks"])


def test_doctor_names_every_fault(here: InThisProcess, tmp_path: Path):
    """One fault does not hide the next, and each comes with its remedy."""
    (tmp_path / "file").write_text("a file", "utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        sick = here.having(
            ANTIPHON__LLM__BACKEND="server",
            ANTIPHON__LLM__MODEL="fake",
            ANTIPHON__KB__CACHE_FOLDER=str(tmp_path / "file"),
            ANTIPHON__DESK__DATABASE=str(tmp_path / "file" / "antiphon.db"),
            ANTIPHON__LLM__BASE_URL=f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            ANTIPHON__JUDGE__BASE_URL=f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            ANTIPHON__JUDGE__MODEL="judge",
        )
        result = sick("doctor", "--json")
    assert (result.code, result.err) == (4, "")
    assert not result.document["ok"]
    remedies = {check["name"]: check["remedy"] for check in result.document["checks"] if not check["ok"]}
    assert remedies.keys() == {"disk", "database", "language model", "judge"}
    assert "kb.cache_folder" in remedies["disk"]
    assert "desk.database" in remedies["database"]
    assert "llm.base_url" in remedies["language model"]
    assert "judge.base_url" in remedies["judge"]


def test_each_check_is_said_as_soon_as_it_is_made(drafter: Antiphon, server: ChatServer) -> None:
    """While a model is waited for, which may take minutes, what was looked at before it is there already."""
    server.released.clear()
    with drafter.started("doctor") as process:
        assert process.stdout is not None
        assert server.asked.wait(GUARD_SECONDS)
        said = [process.stdout.readline() for _ in range(3)]
        assert process.poll() is None
        server.released.set()
        rest, complaints = process.communicate(timeout=GUARD_SECONDS)
    assert [line.startswith(("ok ", "BAD")) for line in said] == [True] * 3
    assert complaints == ""
    assert "language model" not in "".join(said)
    assert "ok  language model: server model answers with log-probabilities" in rest


def test_without_a_token_serve_says_where_to_get_one(antiphon: Antiphon):
    """At once, and before a model is loaded."""
    result = antiphon("serve")
    assert (result.code, result.out) == (2, "")
    assert "No chat platform is configured." in result.err
    assert "ANTIPHON__DISCORD__TOKEN" in result.err
