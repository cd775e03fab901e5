"""The share of first drafts that are hard to read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench.replies.plain import main, table_of, texts_of
from core.errors import BadInput

PLAIN = "We all live here. Be kind to each other."
HARD = "Institutional responsibility necessitates extraordinarily comprehensive consideration."


def test_first_drafts_are_counted_by_language_beside_those_of_people() -> None:
    """A second draft is not counted, and what is given by the engine is read as it is."""
    rows: list[dict[str, object]] = [
        {"text": HARD, "human_reply": PLAIN},
        {"text": HARD, "rank": 2},
        {"drafts": [{"text": PLAIN, "language": "en"}, {"text": HARD}], "human_reply": HARD},
        {"text": "Denok hemen bizi gara.", "language": "eu"},
    ]
    drafts, people, basque = table_of(texts_of(rows))
    assert (drafts["whose"], drafts["texts"], drafts["hard"]) == ("first draft", 2, 1)
    assert (people["whose"], people["texts"], people["hard"]) == ("human reply", 2, 1)
    assert (basque["language"], basque["texts"], basque["scale"], basque["share hard"]) == ("eu", 1, "none", "-")


@pytest.mark.parametrize(
    "rows", [[{"post": "No draft."}], [{"text": HARD, "rank": 3}]], ids=["no draft", "no first one"]
)
def test_a_file_without_first_drafts_is_refused(rows: list[dict[str, object]]) -> None:
    """A share of nothing would read as a good one."""
    with pytest.raises(BadInput):
        texts_of(rows)


def test_the_command_prints_the_table_and_writes_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """People read the table, programs the file."""
    drafts, out = tmp_path / "drafts.jsonl", tmp_path / "plain.json"
    drafts.write_text(json.dumps({"text": HARD}) + "\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["plain", "--drafts", str(drafts), "--out", str(out)])
    main()
    assert "US grade" in capsys.readouterr().out
    (row,) = json.loads(out.read_text(encoding="utf-8"))["table"]
    assert (row["texts"], row["hard"], row["limit"]) == (1, 1, 9.0)
