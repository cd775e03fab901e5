"""The table of docs/reference/doctor.md: each breakage, and the remedy that ``antiphon doctor`` names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.desk.runtime.findings import Finding
from core.errors import AntiphonError

PAGE: Final = Path(__file__).parents[3] / "docs" / "reference" / "doctor.md"
_ANYTHING: Final = "…"


@dataclass(frozen=True, slots=True)
class Row:
    """One breakage: the check that finds it, and the remedy; … stands for what differs or is left out."""

    breakage: str
    check: str
    remedy: str


def rows() -> dict[str, Row]:
    """The rows of all tables of the page, by the breakage."""
    found = {}
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "what is wrong":
            assert cells[0] not in found, cells[0]
            found[cells[0]] = Row(*cells)
    return found


def told(breakage: str, by: Sequence[Finding] | AntiphonError) -> Finding:
    """The only finding that is not in order, with the check and remedy of the page; an error ended the settings."""
    row = rows()[breakage]
    findings = [Finding(row.check, False, by.message, by.remedy)] if isinstance(by, AntiphonError) else by
    (wrong,) = [finding for finding in findings if not finding.ok]
    assert re.fullmatch(_pattern(row.check), wrong.name), wrong
    assert wrong.detail, wrong
    assert re.fullmatch(_pattern(row.remedy), wrong.remedy), wrong
    return wrong


def _pattern(said: str) -> str:
    return ".+".join(re.escape(part) for part in said.split(_ANYTHING))
