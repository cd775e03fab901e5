"""What a run leaves for people: a card in Markdown, and a plot of each number that it logged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from training.recipes import OWN, departures
from training.runs.run import Run

CARD: Final = "card.md"
_NO_CURVE: Final = frozenset({"phase", "seconds", "step", "epoch"})


def write_card(
    run: Run,
    *,
    licences: Mapping[str, str],
    before: Mapping[str, float] = MappingProxyType({}),
    after: Mapping[str, float] = MappingProxyType({}),
    scored: str = "texts that were not learnt",
    table: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write ``card.md``: texts and licences, values and each departure, scores before and after.

    Args:
        licences: by the source of the texts, and of the base.
        before: scores of the base.
        after: the same scores after training; none where nothing was trained.
        scored: what they were measured on.
        table: what else was measured; its rows may have different columns.
    """
    started = run.started
    departed = departures(started.recipe, started.stage, started.values)
    lines = [f"# {started.stage}, recipe {started.recipe}", ""]
    lines += ["", "## Base", "", *(f"- {name}: {value}" for name, value in started.base.items())]
    lines += ["", "## Texts", "", *(f"- {name}: {value}" for name, value in started.data.items())]
    lines += ["", "## Licences", "", *(f"- {name}: {licence}" for name, licence in licences.items())]
    lines += ["", "## Values", "", *(f"- {name}: {value}" for name, value in started.values.items())]
    if started.recipe != OWN:
        lines += ["", "## Departures from the paper", ""]
        lines += [f"- {departure}" for departure in departed] or ["- none"]
    if after:
        lines += ["", f"## Scores on {scored}", "", "| score | before | after |", "| --- | --- | --- |"]
    lines += [f"| {name} | {_number(before.get(name))} | {_number(value)} |" for name, value in after.items()]
    lines += _table(table)
    file = run.folder / CARD
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def plot(run: Run) -> Path | None:
    """One picture with a curve for each number of the log, by phase; ``None`` without two steps."""
    points_of = defaultdict[str, list[tuple[int, float]]](list)
    for entry in run.log():
        for name, value in entry.items():
            if "step" in entry and name not in _NO_CURVE and isinstance(value, int | float):
                points_of[f"{entry['phase']}: {name}" if "phase" in entry else name].append((entry["step"], value))
    curves = {name: points for name, points in points_of.items() if len(points) > 1}
    if not curves:
        return None
    from matplotlib.figure import Figure  # takes a second to load

    figure = Figure(figsize=(7, 2.4 * len(curves)), layout="constrained")
    for axes, (name, points) in zip(figure.subplots(len(curves), squeeze=False)[:, 0], curves.items(), strict=True):
        steps, values = zip(*points, strict=True)
        axes.plot(steps, values, marker=".")
        axes.set_ylabel(name)
        axes.set_xlabel("step")
    file = run.folder / "curves.png"
    figure.savefig(file)
    return file


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows as tables of Markdown, one for all that have the same columns."""
    alike = defaultdict[tuple[str, ...], list[Mapping[str, Any]]](list)
    for row in rows:
        alike[tuple(row)].append(row)
    lines = list[str]()
    for columns, lines_of in alike.items():
        lines += ["", f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
        lines += [f"| {' | '.join(_number(row[name]) for name in columns)} |" for row in lines_of]
    return lines


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
