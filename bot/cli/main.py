"""The list of commands, which are loaded when they are called (``bot.cli.lazy``), and the exit codes.

    0    drafts were made, or the command did what it was asked
    1    a reply is advised, but no draft passed the gates or surely fits; a question was answered with no, as of a
         refused reply; a document was refused; or nobody was found to erase
    2    the call, the configuration or a row of a batch is wrong
    3    a reply is advised against (``--force`` drafts anyway)
    4    the model, the index, the database or the disk is unavailable, or a check found a fault
    130  interrupted with Ctrl-C

With ``--json`` there is nothing on standard output but one JSON document; progress and errors go to standard error.
"""

from __future__ import annotations

import os
import sys
from importlib import metadata
from io import TextIOWrapper
from typing import Annotated, Final

import typer

from bot.cli.command import EXIT_UNAVAILABLE, complain
from bot.cli.lazy import HELP_NAMES, Later, LazyCommands

_BEGIN, _REVIEW, _COMMUNITIES = "Begin here", "Review", "Communities"
_KNOWLEDGE, _RUN, _AFTER = "Knowledge", "Run it", "Look after it"
LATER: Final = (
    Later("draft", _BEGIN, "Draft replies to one post.", "bot.cli.draft"),
    Later(
        "check",
        _BEGIN,
        "Say whether a reply may stand under a post: refused, warned of or fine, and why.",
        "bot.cli.check",
    ),
    Later(
        "read",
        _BEGIN,
        "Say what a post does: whether it is hateful, whom it attacks, how, and how sure that is.",
        "bot.cli.check",
    ),
    Later(
        "demo",
        _BEGIN,
        "Show three posts of a sample community, from flag to reply. It asks nothing and ends by itself.",
        "bot.cli.start",
    ),
    Later(
        "setup",
        _BEGIN,
        "Set Antiphon up by questions: a model, a chat platform, and a community in shadow mode. It can be run again.",
        "bot.cli.setup",
    ),
    Later(
        "run",
        _REVIEW,
        "Decide about posts on a page of this machine: a sample community's, or your own. No chat platform is served.",
        "bot.cli.start",
    ),
    Later(
        "community",
        _COMMUNITIES,
        "Communities: roles, posting, the review channel, the kill switch.",
        "bot.cli.communities",
        "community",
    ),
    Later(
        "mastodon",
        _COMMUNITIES,
        "Mastodon: log in, look at the account, its team, and the instances that it may answer.",
        "bot.cli.mastodon",
        "mastodon",
    ),
    Later(
        "kb",
        _KNOWLEDGE,
        "The knowledge base: the facts that ship, and documents of your own.",
        "bot.cli.kb",
        "kb",
    ),
    Later(
        "serve",
        _RUN,
        "Serve every configured chat platform until Ctrl-C or SIGTERM. If one fails, the others go on.",
        "bot.cli.serve",
    ),
    Later("web", _RUN, "The dashboard: accounts, and links that log in once.", "bot.cli.web", "web"),
    Later(
        "worker",
        _RUN,
        "Draft replies for the cases of the configured database, until Ctrl-C or SIGTERM.",
        "bot.cli.worker",
    ),
    Later("doctor", _AFTER, "Check whether everything is there, and say what to do where it is not.", "bot.cli.start"),
    Later(
        "config",
        _AFTER,
        "The settings: what holds, where it comes from, and which files are read.",
        "bot.cli.config",
        "config",
    ),
    Later("model", _AFTER, "The language model: what it is fit for.", "bot.cli.model", "model"),
    Later("train", _AFTER, "Train the small models, and a writer of your own.", "training.cli"),
    Later("db", _AFTER, "The database with all cases.", "bot.cli.db", "db"),
    Later("schedule", _AFTER, "Chores that are done from time to time.", "bot.cli.privacy", "privacy"),
    Later(
        "erase",
        _AFTER,
        "Erase a person: what they wrote or typed, their roles, and what ties them to their pseudonym.",
        "bot.cli.privacy",
        "privacy",
    ),
    Later(
        "export",
        _AFTER,
        "Write the cases of a community to a file. People are pseudonyms in it.",
        "bot.cli.privacy",
        "privacy",
    ),
)
"""Every command, in the order of use."""


class _Root(LazyCommands):
    later = LATER


app = typer.Typer(
    cls=_Root,
    help="Antiphon drafts counterspeech that people review, edit and approve.",
    no_args_is_help=True,
    context_settings=HELP_NAMES,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"antiphon {metadata.version('antiphon')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version  # its callback has done the work


def main() -> None:
    """Run the command line, in UTF-8 whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        app()
    except OSError as fault:  # mostly the output: what the parts read and write is translated where it happens
        complain(f"Reading or writing failed: {fault}. Free some space, correct the rights, or write elsewhere.")
        os._exit(EXIT_UNAVAILABLE)  # at an ordinary end the rest of the output would fail once more
