"""Which posts a benchmark runs on, and the log that a killed run goes on from."""

import json
from collections import Counter
from pathlib import Path

import pytest

from bench.measures.samples import Log, read_samples, spread
from core.errors import BadInput
from tests.fakes.engine.bench import samples_of


def test_every_beginning_holds_the_groups_evenly_and_the_seed_decides() -> None:
    """So the eight posts of one system are the first of another's forty, and no group is left out."""
    samples = samples_of(12, groups=3)
    dealt = spread(samples, seed=1)
    assert sorted(dealt, key=lambda sample: int(sample.id)) == samples
    assert set(Counter(sample.target_group for sample in dealt[:6]).values()) == {2}
    assert dealt == spread(samples, seed=1) != spread(samples, seed=2)


def test_a_log_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    """The row that was being written when the run was killed is dropped, and the next one stands on its own line."""
    path = tmp_path / "log.jsonl"
    log = Log(path, {"seed": 0})
    log.add({"kind": "answer", "id": "1"})
    with path.open("a", encoding="utf-8") as file:
        file.write('{"kind": "ans')
    again = Log(path, {"seed": 0})
    again.add({"kind": "answer", "id": "2"})
    assert [row["id"] for row in Log(path, {"seed": 0}).of_kind("answer")] == ["1", "2"]


def test_a_log_torn_at_its_first_line_begins_again(tmp_path: Path) -> None:
    """Nothing was kept yet, so nothing is lost."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"abo', encoding="utf-8")
    Log(path, {"seed": 0}).add({"kind": "answer"})
    assert Log(path, {"seed": 0}).rows == [{"kind": "answer"}]


def test_a_log_of_another_run_is_refused(tmp_path: Path) -> None:
    """Figures of two seeds must not be mixed."""
    path = tmp_path / "log.jsonl"
    Log(path, {"seed": 0})
    with pytest.raises(BadInput, match="another run"):
        Log(path, {"seed": 1})


def test_a_file_without_posts_is_refused(tmp_path: Path) -> None:
    """With the name of the field that is missing."""
    path = tmp_path / "posts.jsonl"
    path.write_text(json.dumps({"text": "no post"}) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no post"):
        read_samples(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(BadInput):
        read_samples(path)
