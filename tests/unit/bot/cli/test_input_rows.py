"""The rows of a file: which can be read, and what is said of those that cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.check import passages_of, rows_of
from core.errors import BadInput

POST, REPLY = "They all lie.", "They do not."
FACT = {"text": "In 2021, newcomers held 340 jobs.", "publisher": "Town hall", "title": "Report", "year": 2022}


def test_one_bad_row_does_not_stop_the_others(tmp_path: Path) -> None:
    """It is named by its line, and what a row says comes before what the command says."""
    rows = tmp_path / "rows.jsonl"
    good = {"id": "a", "post": POST, "reply": REPLY, "language": "es", "evidence": [FACT]}
    rows.write_text("\n".join([json.dumps(good), "", "no JSON", json.dumps({"post": POST, "reply": REPLY})]), "utf-8")
    other = passages_of(_written(tmp_path, [FACT, FACT]))
    jobs, bad = rows_of(rows, "it", other, needs_reply=True)
    assert [(job.id, job.language, len(job.evidence)) for job in jobs] == [("a", "es", 1), ("4", "it", 2)]
    assert [row.line for row in bad] == [3]


def test_without_a_reply_only_reading_is_possible(tmp_path: Path) -> None:
    """``read`` needs none, and takes none."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"post": POST}), encoding="utf-8")
    assert rows_of(rows, "", (), needs_reply=True)[1]
    (job,), bad = rows_of(rows, "", (), needs_reply=False)
    assert (job.reply, job.language, bad) == ("", None, [])


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    """Nothing to check is not the same as nothing found."""
    empty = tmp_path / "rows.jsonl"
    empty.write_text("\n", encoding="utf-8")
    with pytest.raises(BadInput, match="holds no rows"):
        rows_of(empty, "", (), needs_reply=True)


@pytest.mark.parametrize("by_line", [False, True])
def test_passages_are_one_object_a_list_or_lines(tmp_path: Path, by_line: bool) -> None:
    """However somebody writes their evidence down, it is the same."""
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join([json.dumps(FACT)] * 2), encoding="utf-8")
    assert len(passages_of(file if by_line else _written(tmp_path, [FACT, FACT]))) == 2


def _written(folder: Path, rows: object) -> Path:
    file = folder / "evidence.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    return file
