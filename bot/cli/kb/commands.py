"""``antiphon kb``: what people do with the knowledge base.

Owns the commands; what they do is for ``bot.compose.library`` and ``kb``. Both are imported when a command runs, so
that the command line begins at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from bot.cli.command import (
    EXIT_UNAVAILABLE,
    ConfigOption,
    JsonOption,
    counted,
    err,
    given,
    out,
    print_document,
)
from bot.cli.kb.collecting import GroupOption, add, build
from bot.cli.kb.output import manifest, progress_bar, run, show_table, write_rows
from bot.cli.kb.reviewing import accept, diff, reject, show, trust, waiting
from core.errors import BadInput

if TYPE_CHECKING:
    from bot.compose.settings.settings import Settings
    from kb.library.library import Library

kb = typer.Typer(help="The knowledge base: search it, collect documents, accept what is served.", no_args_is_help=True)

Ids = Annotated[
    list[str], typer.Argument(metavar="DOCUMENT", help="Ids, or numbers of `kb waiting`; `kb export` lists all.")
]

_COUNTED: Final = {"quarantined": "waiting", "superseded": "replaced"}


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; - reads it from standard input.")],
    limit: Annotated[
        int, typer.Option("--limit", metavar="NUMBER", min=1, max=20, help="How many passages at most.")
    ] = 5,
    target: GroupOption = None,
    since: Annotated[
        int | None, typer.Option("--since", metavar="YEAR", help="Published in this year or later.")
    ] = None,
    publisher: Annotated[
        list[str] | None,
        typer.Option("--publisher", metavar="NAME", help="Only by this publisher; can be given more than once."),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option("--language", metavar="CODE", help="Only in this language; can be given more than once."),
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Search the knowledge base."""

    async def work(settings: Settings) -> int:
        from bot.cli.terminal.render import show_evidence
        from bot.cli.terminal.report import evidence_document
        from core.ports import EvidenceQuery
        from core.wording.text import clean

        text, _ = clean(given(query))
        if not text:
            raise BadInput("There is nothing to look for.", remedy="Pass a few words, such as: women in parliament.")
        groups = tuple(target or ())
        group = groups[0] if len(groups) == 1 else None
        narrowed = tuple(publisher or ()), tuple(language or ())
        asked = EvidenceQuery((text,), text, group, limit, groups, since, *narrowed)
        from bot.compose.engine import open_embedder, open_knowledge  # takes a moment, and is needed only for words
        from kb.ranking.queries import language_of_words

        found = await open_knowledge(settings, open_embedder(settings), language_of_words).search(asked)
        for note in found.notes:
            err().print(Text(note, style="yellow"), soft_wrap=True)
        if as_json:
            print_document({"query": text, "evidence": [evidence_document(passage) for passage in found.passages]})
            return 0
        for number, passage in enumerate(found.passages, start=1):
            show_evidence(out(), number, passage)
        if not found.passages:
            err().print(Text("No passage bears on this. Try other words, or the group that the post attacks."))
        return 0

    run(config, work)


def _paragraphs(library: Library) -> int:
    """How many paragraphs a library serves."""
    return sum(len(paragraphs) for _, paragraphs in library.served().values())


def remove(documents: Ids, config: ConfigOption = None) -> None:
    """Remove documents, with their files and their paragraphs."""

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            found = [opened.library.document(opened.document_of(document))[0] for document in documents]
            before = _paragraphs(opened.library)
            for listed in {one.id: one for one in found}.values():
                opened.remove(listed.id)
                out().print(Text(f"Removed: {listed.title} ({listed.id})"), soft_wrap=True)
            await opened.follow()
            fewer = before - _paragraphs(opened.library)
        out().print(Text(f"Searches find {counted(fewer, 'paragraph')} less."))
        return 0

    run(config, work)


def stats(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Count what the library holds."""

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library
        from kb.starter.facts import STARTER_FACTS, load_facts

        async with open_library(settings) as opened:
            rows = [{"source": source, **counts} for source, counts in opened.library.counts().items()]
        facts = len(load_facts(STARTER_FACTS))
        if as_json:
            print_document({"starter_facts": facts, "sources": rows})
            return 0
        out().print(Text(f"{facts:,} starter facts ship with Antiphon."))
        if not rows:
            out().print(Text("Your own library is empty: `antiphon kb build` or `antiphon kb add` fills it."))
            return 0
        shown = [{_COUNTED.get(name, name): count for name, count in row.items()} for row in rows]
        show_table("sources", shown, list(shown[0]), as_json=False)
        return 0

    run(config, work)


def verify(
    repair: Annotated[bool, typer.Option("--repair", help="Build a damaged index again.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Check every byte of the library and of its index."""

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            faults = await opened.faults(repair=repair)
        if as_json:
            print_document({"ok": not faults, "faults": faults})
        else:
            for fault in faults:
                out().print(Text(f"Damaged: {fault}"), soft_wrap=True)
            out().print(Text(_after_verify(len(faults), repair=repair)), soft_wrap=True)
        return EXIT_UNAVAILABLE if faults else 0

    run(config, work)


def _after_verify(faults: int, *, repair: bool) -> str:
    if not faults:
        return "The library and its index are as they were stored."
    if repair:
        return "This could not be repaired. Remove the document and add it again, or take the library from a backup."
    return "`antiphon kb verify --repair` builds a damaged index again; a damaged document has to be added again."


def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A .csv or .jsonl file; standard output if not given.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Write the manifest: a row for each document, with its file, licence and hash."""

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            rows = [
                manifest(listed, refused, opened.library.revisions(listed.id))
                for listed, refused in opened.library.documents()
            ]
        if file is None:
            write_rows(rows, sys.stdout, is_csv=False)
        else:
            with file.open("w", encoding="utf-8", newline="") as writing:
                write_rows(rows, writing, is_csv=file.suffix == ".csv")
        return 0

    run(config, work)


def embed(config: ConfigOption = None) -> None:
    """Make vectors for what is found only by its words so far. It can be stopped at any time."""

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            with progress_bar() as bar:
                task = bar.add_task("paragraphs", total=None)
                done = await opened.embed(lambda done, total: bar.update(task, completed=done, total=total))
        out().print(Text(f"Found by meaning, too: {counted(done, 'paragraph')}."))
        return 0

    run(config, work)


def push(config: ConfigOption = None) -> None:
    """Copy the library to the Qdrant server of config.toml. It goes on where it was stopped."""

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            with progress_bar() as bar:
                task = bar.add_task("paragraphs", total=None)
                count = await opened.push(settings, lambda done, total: bar.update(task, completed=done, total=total))
        out().print(Text(f"On {settings.kb.qdrant_url}: {counted(count, 'paragraph')}."))
        return 0

    run(config, work)


_IN_ORDER_OF_USE: Final = (
    ("Look something up", (search,)),
    ("Collect documents", (build, add)),
    ("Decide what is served", (waiting, show, diff, accept, reject, trust)),
    ("Look after it", (stats, verify, export, remove, embed, push)),
)
for _panel, _commands in _IN_ORDER_OF_USE:
    for _command in _commands:
        kb.command(rich_help_panel=_panel)(_command)
