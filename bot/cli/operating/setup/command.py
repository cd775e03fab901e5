"""``antiphon setup``: the command.

Owns what is said at the end, and that Ctrl-C leaves everything as it was.
"""

from __future__ import annotations

import asyncio
import os
import sys

import typer
from rich.text import Text

from bot.cli.command import (
    EXIT_INTERRUPTED,
    EXIT_UNAVAILABLE,
    EXIT_WRONG_CALL,
    ConfigOption,
    complain,
    counted,
    err,
    out,
)
from bot.cli.operating.setup.answers import Answers, carry_out
from bot.cli.operating.setup.questions import NoMoreAnswers, Questions
from bot.cli.operating.setup.steps import ask_all
from bot.communities.decisions import CommunityView
from bot.compose.settings.loading import own_file
from core.errors import AntiphonError, BadInput

app = typer.Typer()


@app.command()
def setup(config: ConfigOption = None) -> None:
    """Set Antiphon up by questions: a model, a chat platform, and a community in shadow mode. It can be run again.

    Secrets go into a secrets.env beside the settings, which only you may read. The answers may also be piped in.
    """
    questions = Questions(out())
    try:
        answers = ask_all(questions, config)
        answers.settings()
        if not questions.confirm(f"\nWrite {answers.file}", default=True):
            err().print(Text("Nothing was changed."))
            return
    except KeyboardInterrupt:
        err().print(Text("\nStopped. Nothing was changed."))
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except NoMoreAnswers:
        complain("The answers ended before the questions did. Nothing was changed.")
        raise typer.Exit(EXIT_WRONG_CALL) from None
    except AntiphonError as fault:
        complain(f"{fault} Nothing was changed.")
        raise typer.Exit(EXIT_WRONG_CALL if isinstance(fault, BadInput) else EXIT_UNAVAILABLE) from None
    try:
        view = asyncio.run(carry_out(answers))
    except KeyboardInterrupt:
        err().print(Text("\nStopped. Run antiphon setup again: it goes on from what was written."))
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except AntiphonError as fault:
        complain(f"{fault} Then run antiphon setup again.")
        raise typer.Exit(EXIT_WRONG_CALL if isinstance(fault, BadInput) else EXIT_UNAVAILABLE) from None
    _tell(answers, view)


def _tell(answers: Answers, view: CommunityView | None) -> None:
    """What stands now, and what comes next."""
    named = "" if answers.file == own_file(os.environ).absolute() else f" --config {answers.file}"
    lines = [f"Settings: {answers.file}"]
    if answers.secrets_file.exists():
        lines.append(f"Secrets: {answers.secrets_file} (only you may read it)")
    if view is None:
        lines += ["", f"Next: antiphon run{named}"]
    else:
        mode = "posts approved replies already" if view.community.is_posting else "in shadow mode: nothing is posted"
        lines.append(f"Community: {view.community.id}, {mode}")
        members = counted(len(view.members), "person has", "people have")
        lines.append(f"Roles: {members} one here; antiphon community show {view.community.id}{named}")
        lines += ["", f"Next: antiphon serve{named}"]
        lines += [f"Add the bot: {answers.invitation}"] if answers.invitation else []
    lines.append(f"Is all there? antiphon doctor{named}")
    out().print(Text("\n".join(lines)), soft_wrap=True)
    sys.stdout.flush()
