"""The benchmarks' pictures are drawn by the real library."""

from __future__ import annotations

from pathlib import Path

from bench.measuring.plots import plot


def test_a_picture_has_every_panel(tmp_path: Path) -> None:
    """Also one without values, and the folder is made."""
    picture = tmp_path / "new" / "engine.svg"
    plot(picture, {"seconds": {"live": [1.0, 30.0], "paper": [2.0]}, "nothing": {"live": []}})
    drawn = picture.read_text(encoding="utf-8")
    assert drawn.startswith("<?xml")
    assert drawn.count('id="axes_') == 2
