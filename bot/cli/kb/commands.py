"""``antiphon kb``: what people do with the knowledge base.

Owns the commands; what they do is for ``bot.compose.library`` and ``kb``.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bot.cli.command import EXIT_UNAVAILABLE, ConfigOption, JsonOption, err, given, out
from bot.cli.kb.output import manifest, print_document, progress_bar, run, show_table, write_rows
from bot.cli.kb.reviewing import add_to
from bot.cli.terminal.render import show_evidence
from bot.cli.terminal.report import evidence_document
from bot.compose.engine import open_embedder, open_knowledge
from bot.compose.library import SOURCES, Metadata, keep_file, open_library, open_source
from bot.compose.settings import Settings
from core.errors import BadInput
from core.models import TargetGroup
from core.ports import EvidenceQuery
from core.wording.text import clean
from kb.documents import Listed, Wanted
from kb.ingest import Built
from kb.library.library import State

kb = typer.Typer(help="The knowledge base: search it, collect documents, accept what is served.", no_args_is_help=True)

GroupOption = Annotated[
    list[TargetGroup] | None, typer.Option("--target", help="Only for this target group; can be given more than once.")
]
Ids = Annotated[list[str], typer.Argument(help="Ids of documents; `kb waiting` and `kb export` show them.")]


@kb.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for; - reads it from standard input.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=20, help="How many passages at most.")] = 5,
    target: GroupOption = None,
    since: Annotated[int | None, typer.Option("--since", help="Published in this year or later.")] = None,
    publisher: Annotated[
        list[str] | None, typer.Option("--publisher", help="Only by this publisher; can be given more than once.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option("--language", help="Only in this language; can be given more than once.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Search the knowledge base."""

    async def work(settings: Settings) -> int:
        text, _ = clean(given(query))
        if not text:
            raise BadInput("There is nothing to look for.", remedy="Pass a few words, such as: women in parliament.")
        groups = tuple(target or ())
        group = groups[0] if len(groups) == 1 else None
        narrowed = tuple(publisher or ()), tuple(language or ())
        asked = EvidenceQuery((text,), text, group, limit, groups, since, *narrowed)
        knowledge = open_knowledge(settings, open_embedder(settings))
        found = await knowledge.search(asked)
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


@kb.command()
def build(
    source: Annotated[str, typer.Option("--source", help=f"{', '.join(SOURCES)}.")],
    folder: Annotated[Path | None, typer.Option("--folder", help="For --source folder: where the files are.")] = None,
    since: Annotated[int, typer.Option("--since", help="Published in this year or later.")] = 2000,
    target: GroupOption = None,
    refetch: Annotated[bool, typer.Option("--refetch", help="Fetch again what is there, to find changes.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Collect documents from a source. It goes on where it was stopped. What is new waits to be accepted."""

    async def work(settings: Settings) -> int:
        wanted = Wanted(frozenset(target or TargetGroup), since)
        async with open_source(settings, source, folder) as place, open_library(settings) as opened:
            with progress_bar() as bar:
                task = bar.add_task("", total=None)

                def show(built: Built, listed: Listed | None) -> None:
                    said = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(built.outcomes.items()))
                    title = f"  {listed.title[:50]}" if listed else ""
                    bar.update(task, total=built.listings, completed=built.listings_done, description=said + title)

                built = await opened.build(place, wanted, show, refetch=refetch or source == "folder")
            changed = await opened.follow()
        if as_json:
            print_document({**vars(built), "outcomes": dict(built.outcomes), "index": asdict(changed)})
        else:
            said = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(built.outcomes.items()))
            out().print(Text(f"{said or 'Nothing was listed'}; {built.paragraphs:,} paragraphs."))
            if built.waiting:
                out().print(Text(f"{built.waiting:,} wait to be accepted: antiphon kb waiting, antiphon kb accept."))
        return 0

    run(config, work)


@kb.command()
def add(
    file: Annotated[Path, typer.Argument(help="A PDF, HTML, DOCX, TXT or JSONL file.")],
    title: Annotated[str, typer.Option("--title", help="What it is called.")],
    publisher: Annotated[str, typer.Option("--publisher", help="Who published it.")],
    url: Annotated[str, typer.Option("--url", help="Where people can open it.")],
    year: Annotated[int | None, typer.Option("--year", help="When it was published.")] = None,
    language: Annotated[str | None, typer.Option("--language", help="ISO 639-1; detected if not given.")] = None,
    jurisdiction: Annotated[str | None, typer.Option("--jurisdiction", help="Where it holds, such as ES.")] = None,
    licence: Annotated[str | None, typer.Option("--licence", help="The terms under which it may be used.")] = None,
    expires: Annotated[
        datetime | None, typer.Option("--expires", formats=["%Y-%m-%d"], help="The last day on which it is used.")
    ] = None,
    target: GroupOption = None,
    config: ConfigOption = None,
) -> None:
    """Add a document of your own. It waits to be accepted."""

    async def work(settings: Settings) -> int:
        about = Metadata(
            title=title,
            publisher=publisher,
            url=url,
            year=year,
            language=language,
            jurisdiction=jurisdiction,
            licence=licence,
            expires=expires.date() if expires else None,
            target_groups=tuple(target or ()),
        )
        place = keep_file(settings, file, about)
        async with open_source(settings, "folder", place) as source, open_library(settings) as opened:
            built = await opened.build(source, Wanted(), refetch=True)
            await opened.follow()
        said = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(built.outcomes.items()))
        out().print(Text(f"Your documents: {said}. Accept what is new: antiphon kb waiting, antiphon kb accept."))
        return 0

    run(config, work)


@kb.command()
def show(
    document: Annotated[str, typer.Argument(help="A document's id, or a passage's, as receipts show it.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Show a document with its revisions, or a passage with the text around it."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            name, _, number = document.partition("#")
            listed, refused = opened.library.document(name)
            revisions = opened.library.revisions(name)
            passage = opened.passage(name, number) if number else None
        if as_json:
            print_document({**manifest(listed, refused, revisions), "passage": passage and asdict(passage)})
            return 0
        table = Table(show_header=False, box=None)
        for key, value in manifest(listed, refused, revisions).items():
            table.add_row(key, Text(str(value)))
        out().print(table)
        if passage:
            out().print(Text.assemble(passage.before, (passage.text, "bold"), passage.after), soft_wrap=True)
        return 0

    run(config, work)


@kb.command()
def remove(documents: Ids, config: ConfigOption = None) -> None:
    """Remove documents, with their files and their paragraphs."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            for document in documents:
                opened.library.remove(document)
            changed = await opened.follow()
        out().print(Text(f"{len(documents):,} removed; the index has {changed.removed:,} paragraphs less."))
        return 0

    run(config, work)


@kb.command()
def stats(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Count what the library holds."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            rows = [{"source": source, **counts} for source, counts in opened.library.counts().items()]
        show_table(
            "sources",
            rows,
            ("source", "documents", "refused", *(state.value for state in State), "paragraphs"),
            as_json=as_json,
        )
        return 0

    run(config, work)


@kb.command()
def verify(
    repair: Annotated[bool, typer.Option("--repair", help="Build a damaged index again.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Check every byte of the library and of its index."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            faults = await opened.faults(repair=repair)
        if as_json:
            print_document({"ok": not faults, "faults": faults})
        else:
            for fault in faults:
                out().print(Text(f"BAD {fault}"), soft_wrap=True)
            if not faults:
                out().print(Text("Everything is as it was stored."))
        return EXIT_UNAVAILABLE if faults else 0

    run(config, work)


@kb.command()
def export(
    file: Annotated[Path | None, typer.Argument(help="A .csv or .jsonl file; standard output if not given.")] = None,
    config: ConfigOption = None,
) -> None:
    """Write the manifest: a row for each document, with its file, licence and hash."""

    async def work(settings: Settings) -> int:
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


@kb.command()
def embed(config: ConfigOption = None) -> None:
    """Make vectors for what is found only by its words so far. It can be stopped at any time."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            with progress_bar() as bar:
                task = bar.add_task("paragraphs", total=None)
                done = await opened.embed(lambda done, total: bar.update(task, completed=done, total=total))
        out().print(Text(f"{done:,} paragraphs are found by their meaning, too."))
        return 0

    run(config, work)


@kb.command()
def push(config: ConfigOption = None) -> None:
    """Copy the library to the Qdrant server of config.toml. It goes on where it was stopped."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            with progress_bar() as bar:
                task = bar.add_task("paragraphs", total=None)
                count = await opened.push(settings, lambda done, total: bar.update(task, completed=done, total=total))
        out().print(Text(f"{count:,} paragraphs are on {settings.kb.qdrant_url}."))
        return 0

    run(config, work)


add_to(kb)
