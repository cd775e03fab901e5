"""A terminal's texts are a markup as any platform's, and nothing in a post can steer the terminal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from adapters.common.words.markup import Markup
from bot.cli.command import harmless
from bot.cli.terminal.press import TerminalMarkup
from tests.markup_conformance import MarkupConformance


class TestTerminalMarkup(MarkupConformance):
    """The shared texts of cards and decisions are printed with it."""

    markup: Markup = TerminalMarkup()


def test_nothing_steers_the_terminal() -> None:
    """Control characters and those that turn the reading around are shown as what nobody can read."""
    assert harmless("a\x1b[31mred\u202etxt\n\tb") == "a\ufffd[31mred\ufffdtxt\n\tb"
    assert harmless("\U0001f469\u200d\U0001f33e") == "\U0001f469\u200d\U0001f33e"


def test_a_moment_is_told_from_now() -> None:
    """A person who may take something back is told for how long."""
    assert TerminalMarkup().from_now(datetime.now(UTC) + timedelta(seconds=30.5)) == "in 30 seconds"
