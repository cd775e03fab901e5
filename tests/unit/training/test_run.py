"""The log of a run that was killed: each step stands in it once."""

from pathlib import Path
from typing import Any

import pytest

from core.errors import BadInput
from training.runs.run import Run, RunStart

STARTED = RunStart("writer", "own", {"epochs": 1}, {"model": "tiny"}, {"posts": 2})


def said(run: Run) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name != "seconds"} for line in run.log()]


def test_steps_that_are_done_again_replace_those_of_the_killed_start(tmp_path: Path) -> None:
    """The checkpoint was written after step 2; a phase that was finished before keeps its lines."""
    run = Run(tmp_path, STARTED)
    for step in (1, 2):
        run.note({"step": step, "loss": 9.0}, phase="explanations")
    for step in (1, 2, 3, 4):
        run.note({"step": step, "loss": 1.0 / step}, phase="intents")
        run.note({"step": step, "eval_loss": 2.0}, phase="intents")
    again = Run(tmp_path, STARTED)
    for step in (3, 4):
        again.note({"step": step, "loss": 0.1}, phase="intents")
    assert [(line["phase"], line["step"], line["loss"]) for line in said(again) if "loss" in line] == [
        ("explanations", 1, 9.0), ("explanations", 2, 9.0),
        ("intents", 1, 1.0), ("intents", 2, 0.5), ("intents", 3, 0.1), ("intents", 4, 0.1),
    ]  # fmt: skip
    assert [line["step"] for line in said(again) if "eval_loss" in line] == [1, 2]


def test_a_run_that_was_done_keeps_its_last_step(tmp_path: Path) -> None:
    """Started again it does nothing, and says once more how long all took."""
    for _ in range(2):
        run = Run(tmp_path, STARTED)
        if not run.log():
            run.note({"step": 1, "loss": 1.0})
            run.note({"step": 2, "loss": 0.5})
        run.note({"step": 2, "train_runtime": 0.1})
    assert said(run) == [{"step": 1, "loss": 1.0}, {"step": 2, "loss": 0.5}, {"step": 2, "train_runtime": 0.1}]


def test_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    """It would be a mixture that nobody asked for."""
    Run(tmp_path, STARTED)
    with pytest.raises(BadInput, match="other values"):
        Run(tmp_path, RunStart("writer", "own", {"epochs": 2}, {"model": "tiny"}, {"posts": 2}))
