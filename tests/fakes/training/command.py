"""``antiphon train`` as it is called at a terminal."""

from typing import Any

from typer.testing import CliRunner

from bot.cli.main import app


def train(*words: Any) -> tuple[int, str]:
    """The exit code, and what was said, in one line. What nobody expects is raised."""
    found = CliRunner().invoke(app, ["train", *map(str, words)], env={"COLUMNS": "500"})
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.exit_code, " ".join(found.output.split())
