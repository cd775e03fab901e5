"""The benchmarks' pictures: one panel for each figure, one box for each system, every post a dot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Panel = Mapping[str, Sequence[float]]
"""One figure's values for each system."""
_RATIO = 20
_NARROW = 30  # characters that fit side by side under a panel


def plot(path: Path, panels: Mapping[str, Panel]) -> None:
    """Draw the panels side by side into a file; its ending says whether it becomes SVG, PNG or PDF.

    A panel whose values differ by more than a factor of twenty gets a logarithmic axis.
    """
    from matplotlib.figure import Figure  # what draws no picture works without the library

    figure = Figure(figsize=(3.2 * len(panels), 4.2), layout="constrained")
    for place, (title, panel) in enumerate(panels.items(), start=1):
        _draw(figure.add_subplot(1, len(panels), place), title, panel)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def _draw(axes: Axes, title: str, panel: Panel) -> None:
    shown = {name: list(values) for name, values in panel.items() if values}
    axes.set_title(title)
    if not shown:
        axes.text(0.5, 0.5, "no values", ha="center", transform=axes.transAxes)
        return
    axes.boxplot(list(shown.values()), tick_labels=list(shown), showfliers=False)
    if sum(len(name) for name in shown) > _NARROW:
        axes.tick_params(axis="x", labelrotation=90)
    for place, values in enumerate(shown.values(), start=1):
        axes.scatter([place] * len(values), values, s=8, alpha=0.5)
    every = [value for values in shown.values() for value in values]
    if min(every) > 0 and max(every) > _RATIO * min(every):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min(0.0, *every))
