"""What the commands of `antiphon kb` show at a terminal."""

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
