"""The bars that commands show at a terminal while they work."""

import io

import pytest
from rich.console import Console

from bot.cli import output


@pytest.mark.parametrize("title", ["On rights [/b]", "[link=https://example.org]Report[/link]", "[red]Report"])
def test_a_title_with_markup_is_shown_as_it_is_written(monkeypatch: pytest.MonkeyPatch, title: str) -> None:
    """It ended `kb build` with an error, or became a link."""
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=200, color_system=None)
    monkeypatch.setattr(output, "err", lambda: console)
    with output.progress_bar() as bar:
        bar.add_task(title, total=2)
        bar.refresh()
    assert title in shown.getvalue()


def test_a_bar_that_was_never_shown_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even an empty line, at a terminal that cannot show bars."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    bar = output.PreparationBar()
    bar.close()
    bar("weights", 5, 5)
    bar.close()
    assert capsys.readouterr().err == ""
