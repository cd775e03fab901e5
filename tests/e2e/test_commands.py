"""The other commands: the knowledge base, the doctor."""

import re
import socket
from pathlib import Path

from tests.e2e.conftest import Antiphon, InThisProcess


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


def test_doctor_names_every_fault(drafter: Antiphon, tmp_path: Path):
    """One fault does not hide the next, and each comes with its remedy."""
    (tmp_path / "file").write_text("a file", "utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        sick = drafter.having(
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
