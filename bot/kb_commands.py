"""``antiphon kb``: what people do with the knowledge base.

Owns the commands; what they do is for ``bot.library`` and ``kb``.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from datetime import datetime
from getpass import getuser
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from bot.app import open_embedder, open_knowledge
from bot.command import EXIT_UNAVAILABLE, ConfigOption, JsonOption, err, given, out, run_to_exit
from bot.library import SOURCES, Metadata, keep_file, open_library, open_source
from bot.render import show_evidence
from bot.report import evidence_document
from bot.settings import Settings, load_settings
from core.errors import BadInput
from core.models import TargetGroup
from core.ports import EvidenceQuery
from core.text import clean
from kb.changes import changes
from kb.documents import Listed, Wanted
from kb.ingest import Built
from kb.library import Revision, State, Trust

kb = typer.Typer(help="The knowledge base.", no_args_is_help=True)

GroupOption = Annotated[
    list[TargetGroup] | None, typer.Option("--target", help="Only for this target group; may repeat.")
]
SourceOption = Annotated[str, typer.Option("--source", help="Only of this source.")]
Ids = Annotated[list[str], typer.Argument(help="Document ids, as `kb stats`, `kb waiting` and receipts show them.")]


def _run(config: Path | None, work: Callable[[Settings], Coroutine[Any, Any, int]]) -> None:
    run_to_exit(lambda: work(load_settings(config)))


def _print(document: object) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))


@kb.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for; - reads it from standard input.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=20, help="How many passages at most.")] = 5,
    target: Annotated[TargetGroup | None, typer.Option("--target", help="The group that it is about.")] = None,
    since: Annotated[int | None, typer.Option("--since", help="Library: published in this year or later.")] = None,
    publisher: Annotated[list[str] | None, typer.Option("--publisher", help="Library: by them; may repeat.")] = None,
    language: Annotated[list[str] | None, typer.Option("--language", help="Library: in this one; may repeat.")] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Search the knowledge base."""

    async def work(settings: Settings) -> int:
        text, _ = clean(given(query))
        if not text:
            raise BadInput("There is nothing to look for.", remedy="Pass a few words, such as: women in parliament.")
        asked = EvidenceQuery((text,), text, target, limit, since, tuple(publisher or ()), tuple(language or ()))
        knowledge = open_knowledge(settings, open_embedder(settings))
        found = await knowledge.search(asked)
        for note in found.notes:
            err().print(Text(note, style="yellow"), soft_wrap=True)
        if as_json:
            _print({"query": text, "evidence": [evidence_document(passage) for passage in found.passages]})
            return 0
        for number, passage in enumerate(found.passages, start=1):
            show_evidence(out(), number, passage)
        if not found.passages:
            err().print(Text("No passage bears on this. Try other words, or the group that the post attacks."))
        return 0

    _run(config, work)


@kb.command()
def build(
    source: Annotated[str, typer.Option("--source", help=f"{', '.join(SOURCES)}.")],
    folder: Annotated[Path | None, typer.Option("--folder", help="For --source folder: where the files are.")] = None,
    since: Annotated[int, typer.Option("--since", help="Published in this year or later.")] = 2000,
    target: GroupOption = None,
    refetch: Annotated[bool, typer.Option("--refetch", help="Ask again for what was fetched: what changed?")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Collect documents from a source. Goes on where it was stopped; what is new waits to be accepted."""

    async def work(settings: Settings) -> int:
        wanted = Wanted(frozenset(target or TargetGroup), since)
        async with open_source(settings, source, folder) as place, open_library(settings) as opened:
            with _bar() as bar:
                task = bar.add_task("", total=None)

                def show(built: Built, listed: Listed | None) -> None:
                    said = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(built.outcomes.items()))
                    title = f"  {listed.title[:50]}" if listed else ""
                    bar.update(task, total=built.listings, completed=built.listings_done, description=said + title)

                built = await opened.build(place, wanted, show, refetch=refetch or source == "folder")
            changed = await opened.follow()
        if as_json:
            _print({**vars(built), "outcomes": dict(built.outcomes), "index": asdict(changed)})
        else:
            said = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(built.outcomes.items()))
            out().print(Text(f"{said or 'Nothing was listed'}; {built.paragraphs:,} paragraphs."))
            if built.waiting:
                out().print(Text(f"{built.waiting:,} wait to be accepted: antiphon kb waiting, antiphon kb accept."))
        return 0

    _run(config, work)


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
    expires: Annotated[datetime | None, typer.Option("--expires", formats=["%Y-%m-%d"], help="The last day.")] = None,
    target: GroupOption = None,
    config: ConfigOption = None,
) -> None:
    """Add a document of your own. It waits to be accepted."""

    async def work(settings: Settings) -> int:
        about = Metadata(
            title, publisher, url, year, language, jurisdiction, licence,
            expires.date() if expires else None, tuple(target or ()),
        )  # fmt: skip
        place = keep_file(settings, file, about)
        async with open_source(settings, "folder", place) as source, open_library(settings) as opened:
            built = await opened.build(source, Wanted(), refetch=True)
            await opened.follow()
        said = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(built.outcomes.items()))
        out().print(Text(f"Your documents: {said}. Accept what is new: antiphon kb waiting, antiphon kb accept."))
        return 0

    _run(config, work)


@kb.command()
def show(
    document: Annotated[str, typer.Argument(help="A document's id, or a passage's, as receipts show it.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Show a document with its revisions, or a passage in its place."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            name, _, number = document.partition("#")
            listed, refused = opened.library.document(name)
            revisions = opened.library.revisions(name)
            passage = opened.passage(name, number) if number else None
        if as_json:
            _print({**_manifest(listed, refused, revisions), "passage": passage and asdict(passage)})
            return 0
        table = Table(show_header=False, box=None)
        for key, value in _manifest(listed, refused, revisions).items():
            table.add_row(key, Text(str(value)))
        out().print(table)
        if passage:
            out().print(Text.assemble(passage.before, (passage.text, "bold"), passage.after), soft_wrap=True)
        return 0

    _run(config, work)


@kb.command()
def waiting(source: SourceOption = "", as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """List the documents that wait to be accepted."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            rows = [
                _manifest(opened.library.document(revision.document)[0], None, [revision])
                for revision in opened.library.waiting(source or None)
            ]
        _table("waiting", rows, ("id", "title", "publisher", "year", "type", "notes"), as_json=as_json)
        return 0

    _run(config, work)


@kb.command()
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

    _run(config, work)


@kb.command()
def accept(
    documents: Annotated[list[str] | None, typer.Argument(help="The documents' ids.")] = None,
    source: Annotated[str, typer.Option("--source", help="All that wait of this source.")] = "",
    config: ConfigOption = None,
) -> None:
    """Accept documents that wait: from now on they are found."""
    _run(config, lambda settings: _decide(settings, documents or [], source, State.ACCEPTED))


@kb.command()
def reject(
    documents: Annotated[list[str] | None, typer.Argument(help="The documents' ids.")] = None,
    source: Annotated[str, typer.Option("--source", help="All that wait of this source.")] = "",
    config: ConfigOption = None,
) -> None:
    """Reject documents that wait: they are never found."""
    _run(config, lambda settings: _decide(settings, documents or [], source, State.REJECTED))


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

    _run(config, work)


@kb.command()
def trust(
    source: Annotated[str, typer.Argument(help="un, eurlex, fra, folder.")],
    level: Annotated[Trust, typer.Argument(help="low: comes last. normal. high: needs no acceptance.")],
    config: ConfigOption = None,
) -> None:
    """Say how far a source is trusted."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            opened.library.set_trust(source, level)
        out().print(Text(f"{source}: {level}."))
        return 0

    _run(config, work)


@kb.command()
def stats(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Count what the library holds."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            rows = [{"source": source, **counts} for source, counts in opened.library.counts().items()]
        _table(
            "sources",
            rows,
            ("source", "documents", "refused", *(state.value for state in State), "paragraphs"),
            as_json=as_json,
        )
        return 0

    _run(config, work)


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
            _print({"ok": not faults, "faults": faults})
        else:
            for fault in faults:
                out().print(Text(f"BAD {fault}"), soft_wrap=True)
            if not faults:
                out().print(Text("Everything is as it was stored."))
        return EXIT_UNAVAILABLE if faults else 0

    _run(config, work)


@kb.command()
def export(
    file: Annotated[Path | None, typer.Argument(help="A .csv or .jsonl file; standard output if not given.")] = None,
    config: ConfigOption = None,
) -> None:
    """Write the manifest: a row for each document, with its file, licence and hash."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            rows = [
                _manifest(listed, refused, opened.library.revisions(listed.id))
                for listed, refused in opened.library.documents()
            ]
        if file is None:
            _write(rows, sys.stdout, is_csv=False)
        else:
            with file.open("w", encoding="utf-8", newline="") as writing:
                _write(rows, writing, is_csv=file.suffix == ".csv")
        return 0

    _run(config, work)


@kb.command()
def embed(config: ConfigOption = None) -> None:
    """Embed what is found by its words only so far. May be stopped at any time."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            with _bar() as bar:
                task = bar.add_task("paragraphs", total=None)
                done = await opened.embed(lambda done, total: bar.update(task, completed=done, total=total))
        out().print(Text(f"{done:,} paragraphs are found by their meaning, too."))
        return 0

    _run(config, work)


@kb.command()
def push(config: ConfigOption = None) -> None:
    """Copy the library to the Qdrant server of [kb]. Goes on where it was stopped."""

    async def work(settings: Settings) -> int:
        async with open_library(settings) as opened:
            with _bar() as bar:
                task = bar.add_task("paragraphs", total=None)
                count = await opened.push(settings, lambda done, total: bar.update(task, completed=done, total=total))
        out().print(Text(f"{count:,} paragraphs are on {settings.kb.qdrant_url}."))
        return 0

    _run(config, work)


def _bar() -> Progress:
    """Progress with rate and time left on standard error; silent off a terminal."""
    console = err()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _manifest(listed: Listed, refused: str | None, revisions: Sequence[Revision]) -> dict[str, Any]:
    """A document's row: how its source lists it, and what is known of its newest file."""
    newest = revisions[0] if revisions else None
    return {
        "id": listed.id,
        "file": newest.file if newest else None,
        "target_groups": sorted(group.value for group in listed.target_groups),
        "type": listed.type,
        "year": listed.year,
        "url": listed.url,
        "page": listed.page,
        "title": listed.title,
        "publisher": listed.publisher,
        "document": listed.document,
        "language": listed.language,
        "jurisdiction": listed.jurisdiction,
        "expires": listed.expires,
        "licence": listed.licence,
        "sha256": newest.sha256 if newest else None,
        "fetched_at": newest.fetched_at.isoformat() if newest else None,
        "state": newest.state.value if newest else "refused" if refused else "listed",
        "decided_by": newest.decided_by if newest else None,
        "notes": list(newest.notes) if newest else [],
        "refused": refused,
    }


def _table(name: str, rows: Sequence[dict[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        _print({name: list(rows)})
        return
    table = Table(*columns)
    for row in rows:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    out().print(table)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return f"{value:,}" if type(value) is int and value > 9999 else "" if value is None else str(value)


def _write(rows: Sequence[dict[str, Any]], stream: Any, *, is_csv: bool) -> None:
    if is_csv:
        writer = csv.DictWriter(stream, list(rows[0]) if rows else ["id"])
        writer.writeheader()
        writer.writerows({key: _plain(value) for key, value in row.items()} for row in rows)
    else:
        stream.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


def _plain(value: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    text = _cell(value) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
