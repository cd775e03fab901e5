"""``antiphon kb waiting`` and what follows: what a manager decides about documents.

Owns these commands. ``kb.library`` sees to it that nothing is served before.
"""

from __future__ import annotations

from collections.abc import Sequence
from getpass import getuser
from typing import Annotated

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, JsonOption, err, out
from bot.cli.kb.output import manifest, run, show_table
from bot.compose.library import open_library
from bot.compose.settings import Settings
from core.errors import BadInput
from kb.library.changes import changes
from kb.library.library import State, Trust

SourceOption = Annotated[str, typer.Option("--source", help="Only from this source.")]


def add_to(kb: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (waiting, diff, accept, reject, trust):
        kb.command()(command)


def waiting(source: SourceOption = "", as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """List the documents that wait to be accepted."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            rows = [
                manifest(opened.library.document(revision.document)[0], None, [revision])
                for revision in opened.library.waiting(source or None)
            ]
        show_table("waiting", rows, ("id", "title", "publisher", "year", "type", "notes"), as_json=as_json)
        return 0

    run(config, work)


def diff(document: Annotated[str, typer.Argument(help="A document's id.")], config: ConfigOption = None) -> None:
    """Show what the waiting revision of a document adds and drops."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            lines = changes(opened.library, opened.library.document(document)[0].id)
        for line in lines:
            out().print(Text(line, style={"+": "green", "-": "red"}.get(line[0], "")), soft_wrap=True)
        if not lines:
            err().print(Text("Nothing of it waits to be accepted."))
        return 0

    run(config, work)


def accept(
    documents: Annotated[list[str] | None, typer.Argument(help="The documents' ids.")] = None,
    source: Annotated[str, typer.Option("--source", help="All documents of this source that wait.")] = "",
    config: ConfigOption = None,
) -> None:
    """Accept documents that wait: from now on searches find them."""
    run(config, lambda settings: _decide(settings, documents or [], source, State.ACCEPTED))


def reject(
    documents: Annotated[list[str] | None, typer.Argument(help="The documents' ids.")] = None,
    source: Annotated[str, typer.Option("--source", help="All documents of this source that wait.")] = "",
    config: ConfigOption = None,
) -> None:
    """Reject documents that wait: searches do not find them."""
    run(config, lambda settings: _decide(settings, documents or [], source, State.REJECTED))


async def _decide(settings: Settings, documents: Sequence[str], source: str, state: State) -> int:
    if bool(documents) == bool(source):
        raise BadInput("It is not clear what is meant.", remedy="Name documents, or --source and a source.")
    async with open_library(settings) as opened:
        if source:
            revisions = opened.library.waiting(source)
        else:
            revisions = [opened.waiting_revision(document) for document in documents]
        for revision in revisions:
            opened.library.decide(revision.revision, state, getuser())
        changed = await opened.follow()
    out().print(Text(f"{len(revisions):,} {state}; the index has {changed.added:,} paragraphs more."))
    return 0


def trust(
    source: Annotated[str, typer.Argument(help="un, eurlex, fra or folder.")],
    level: Annotated[
        Trust,
        typer.Argument(
            help="low: its passages come last. normal. high: new documents are accepted unless they look suspicious."
        ),
    ],
    config: ConfigOption = None,
) -> None:
    """Say how far a source is trusted."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            opened.library.set_trust(source, level)
        out().print(Text(f"{source}: {level}."))
        return 0

    run(config, work)
