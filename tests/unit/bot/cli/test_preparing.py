"""The bar while models are made ready."""

import pytest

from bot.cli.output import PreparationBar


def test_a_bar_that_was_never_shown_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even an empty line, at a terminal that cannot show bars."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    bar = PreparationBar()
    bar.close()
    bar("weights", 5, 5)
    bar.close()
    assert capsys.readouterr().err == ""
