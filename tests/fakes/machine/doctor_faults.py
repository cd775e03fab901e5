"""``tests/data/faults.tsv``: each breakage, the check of ``antiphon doctor`` that finds it, and its remedy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.desk.runtime.findings import Finding
from core.errors import AntiphonError

TABLE: Final = Path(__file__).parents[2] / "data" / "faults.tsv"
_ANYTHING: Final = "…"


@dataclass(frozen=True, slots=True)
class Row:
    """One breakage: the check that finds it, and the remedy; … stands for what differs or is left out."""

    breakage: str
    check: str
    remedy: str


def rows() -> dict[str, Row]:
    found = {}
    for line in TABLE.read_text("utf-8").splitlines():
        row = Row(*line.split("\t"))
        assert row.breakage not in found, row.breakage
        found[row.breakage] = row
    return found


def told(breakage: str, by: Sequence[Finding] | AntiphonError) -> Finding:
    """The only finding that is not in order, with the check and remedy of the table; an error ended the settings."""
    row = rows()[breakage]
    findings = [Finding(row.check, False, by.message, by.remedy)] if isinstance(by, AntiphonError) else by
    (wrong,) = [finding for finding in findings if not finding.ok]
    assert re.fullmatch(_pattern(row.check), wrong.name), wrong
    assert wrong.detail, wrong
    assert re.fullmatch(_pattern(row.remedy), wrong.remedy), wrong
    return wrong


def _pattern(said: str) -> str:
    return ".+".join(re.escape(part) for part in said.split(_ANYTHING))
