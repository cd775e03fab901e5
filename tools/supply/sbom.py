"""Writes the bill of materials of an installation, in CycloneDX: ``make sbom`` writes dist/sbom.json.

It lists the packages that ``antiphon`` with its extras for operators asks for, directly or not, at the versions of this
environment; no tool for developers. The weights of the language model stand in it with their hash.
"""

import argparse
import json
import subprocess  # nosec B404 # programs of our own choice, never through a shell
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bot.settings import LlmSettings
from core.engine.backends.weights import PACKAGED

ROOT: Final = Path(__file__).parents[2]
EXTRAS: Final = ("embedded", "qdrant", "scorers", "server")
_SPEC_VERSION: Final = "1.6"


def needed(package: str = "antiphon", extras: Sequence[str] = EXTRAS) -> frozenset[str]:
    """The canonical names of the installed packages that a package with these extras asks for, directly or not."""
    names: set[str] = set()
    waiting = [(canonicalize_name(package), frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            requirements = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:  # for another platform, or an extra that this environment does not have
            continue
        names.add(name)
        waiting += [
            (canonicalize_name(requirement.name), frozenset(requirement.extras))
            for requirement in requirements
            if requirement.marker is None
            or any(requirement.marker.evaluate({"extra": extra}) for extra in wanted or {""})
        ]
    return frozenset(names - {canonicalize_name(package)})


def bill() -> dict[str, Any]:
    """The document, as a JSON object."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", str(ROOT / "pyproject.toml")]
    options = [
        "--no-validate",
        "--output-reproducible",
        "--spec-version",
        _SPEC_VERSION,
        "--output-format",
        "JSON",
        sys.executable,
    ]
    process = subprocess.run(  # nosec B603 # our own interpreter and options
        [*command, *options], capture_output=True, text=True, check=True
    )
    document: dict[str, Any] = json.loads(process.stdout)
    names = needed()
    components = [component for component in document["components"] if canonicalize_name(component["name"]) in names]
    refs = {component["bom-ref"] for component in components} | {document["metadata"]["component"]["bom-ref"]}
    document["components"] = [*components, _weights()]
    document["dependencies"] = [
        entry | ({"dependsOn": [ref for ref in entry["dependsOn"] if ref in refs]} if "dependsOn" in entry else {})
        for entry in document["dependencies"]
        if entry["ref"] in refs
    ]
    return document


def _weights() -> dict[str, Any]:
    """The language model that ships, which comes as 22 packages and is one file."""
    source = LlmSettings()
    return {
        "type": "machine-learning-model",
        "bom-ref": source.hub_file,
        "name": source.hub_file,
        "version": source.hub_revision,
        "hashes": [{"alg": "SHA-256", "content": PACKAGED.sha256}],
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": f"pkg:huggingface/{source.hub_repo}@{source.hub_revision}",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.supply.sbom", description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", default=ROOT / "dist" / "sbom.json")
    file: Path = parser.parse_args(arguments).file
    document = bill()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    print(f"{file}: {len(document['components'])} components")  # noqa: T201 - a program for the terminal
    return 0


if __name__ == "__main__":
    sys.exit(main())
