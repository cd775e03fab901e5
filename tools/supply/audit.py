"""Asks a vulnerability service about every pinned package: ``python -m tools.supply.audit``.

A known vulnerability fails the check. Where the service cannot be reached the audit is left out, and a line says so:
nobody should take a silence for a clean bill. ``--require`` fails then, for a release.
"""

import argparse
import json
import subprocess  # nosec B404 # programs of our own choice, never through a shell
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PINS: Final = Path(__file__).parents[2] / "constraints.txt"
_AWAY: Final = ("ConnectionError", "ConnectTimeout", "ReadTimeout", "ServiceError", "NameResolutionError", "ProxyError")
"""What pip-audit's libraries raise where the service does not answer as it should."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service said.

    Attributes:
        known: how many packages it knew.
        unknown: those that it did not know, so that nothing can be said of them.
        vulnerable: a line for each known vulnerability.
    """

    known: int
    unknown: tuple[str, ...]
    vulnerable: tuple[str, ...]


class AuditFailed(Exception):
    """pip-audit ended without an answer, for another reason than the network."""


def ask(pins: Path, options: Sequence[str] = ()) -> Answer | None:
    """Ask about the packages of a requirements file; ``None`` if the service cannot be reached.

    Raises:
        AuditFailed: it names what pip-audit said last.
    """
    command = [sys.executable, "-m", "pip_audit", "-r", str(pins), "--no-deps", "--disable-pip", "--format", "json"]
    arguments = [*command, "--progress-spinner", "off", *options]
    process = subprocess.run(arguments, capture_output=True, text=True)  # nosec B603 # our own interpreter and options
    try:
        packages: list[dict[str, Any]] = json.loads(process.stdout)["dependencies"]
    except (ValueError, KeyError) as err:
        if any(word in process.stderr for word in _AWAY):
            return None
        raise AuditFailed(process.stderr.strip().rpartition("\n")[2] or "pip-audit said nothing") from err
    unknown = tuple(package["name"] for package in packages if "skip_reason" in package)
    if packages and len(unknown) == len(packages):  # a service that knows none of them is another one, such as a mirror
        return None
    return Answer(
        len(packages) - len(unknown),
        unknown,
        tuple(
            f"{package['name']} {package['version']}: {flaw['id']}, "
            f"fixed in {', '.join(flaw['fix_versions']) or 'no version'}"
            for package in packages
            for flaw in package.get("vulns", ())
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, say what came back, and give the exit code; what follows ``--`` goes to pip-audit."""
    parser = argparse.ArgumentParser(prog="python -m tools.supply.audit", description=__doc__.partition("\n")[0])
    parser.add_argument("--require", action="store_true", help="fail where the service cannot be reached")
    parser.add_argument("--pins", type=Path, default=PINS, help="a requirements file with exact versions")
    parser.add_argument("options", nargs="*", help="more options of pip-audit")
    options = parser.parse_args(arguments)
    try:
        answer = ask(options.pins, options.options)
    except AuditFailed as err:
        print(f"The audit failed: {err}")  # noqa: T201 - a program for the terminal
        return 1
    for line in _lines(answer):
        print(line)  # noqa: T201 - a program for the terminal
    if answer is None:
        return 1 if options.require else 0
    return 1 if answer.vulnerable else 0


def _lines(answer: Answer | None) -> list[str]:
    if answer is None:
        return ["The audit was LEFT OUT: the vulnerability service cannot be reached from here. Nothing was checked."]
    lines = [f"{answer.known} packages were audited; {len(answer.vulnerable)} known vulnerabilities."]
    if answer.unknown:
        lines.append(f"The service does not know {', '.join(answer.unknown)}.")
    return lines + list(answer.vulnerable)


if __name__ == "__main__":
    sys.exit(main())
