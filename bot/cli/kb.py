"""``antiphon kb``: what people do with the knowledge base.

The commands are in the order in which they are needed: ``build`` and ``add`` for documents from a source or a file,
``waiting`` and those after it for what a manager reads and decides. ``bot.compose.library`` and ``kb`` are imported
when a command runs, so that the command line begins at once.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from bot.cli.command import (
    EXIT_UNAVAILABLE,
    ConfigOption,
    JsonOption,
    complain,
    counted,
    given,
    out,
    print_document,
    say,
    tell,
)
from bot.cli.output import cited, manifest, progress_bar, run, show_table, write_rows
from core.errors import BadInput, DocumentRefused
from core.models import TargetGroup
from kb.library.library import Revision, State, Trust

if TYPE_CHECKING:
    from bot.compose.library import OpenLibrary
    from bot.settings import Settings
    from kb.documents import ListedDocument
    from kb.ingest import Built, Refusal
    from kb.library.library import Library


EXIT_REFUSED: Final = 1
"""A document was refused; what could be used was kept."""
_SHOWN_LEFT_OUT: Final = 10
_SHOWN_ACCEPTED: Final = 20

GroupOption = Annotated[
    list[TargetGroup] | None,
    typer.Option(
        "--target",
        metavar="GROUP",
        help="Only for this target group: women, people of colour, persons with disabilities, migrants, Muslims, Jews, "
        "LGBT persons or other; can be given more than once.",
    ),
]


def build(
    source: Annotated[str, typer.Option("--source", metavar="SOURCE", help="un, eurlex, fra or folder.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="FOLDER", help="For --source folder: where the files are.")
    ] = None,
    since: Annotated[int, typer.Option("--since", metavar="YEAR", help="Published in this year or later.")] = 2000,
    target: GroupOption = None,
    refetch: Annotated[bool, typer.Option("--refetch", help="Fetch again what is there, to find changes.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Collect documents from a source. It goes on where it was stopped. What is new waits to be accepted.

    Exit code 1: documents were refused; each is named with the reason.
    """

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library, open_source
        from kb.documents import Selection
        from kb.sources.folder import Folder

        wanted = Selection(frozenset(target or TargetGroup), since)
        async with open_source(settings, source, folder) as place, open_library(settings) as opened:
            with progress_bar() as bar:
                task, shown = bar.add_task("", total=None), 0

                def show(built: Built, listed: ListedDocument | None) -> None:
                    nonlocal shown
                    for refusal in built.refused[shown:]:
                        _tell(bar.console, refusal)
                    shown = len(built.refused)
                    title = f"  {(listed.title or listed.id)[:50]}" if listed else ""
                    bar.update(
                        task, total=built.listings, completed=built.listings_done, description=_outcomes(built) + title
                    )

                built = await opened.build(place, wanted, show, refetch=refetch or source == "folder")
            changed = await opened.follow()
        left_out = place.left_out() if isinstance(place, Folder) else []
        if as_json:
            print_document(
                {**asdict(built), "outcomes": dict(built.outcomes), "left_out": left_out, "index": asdict(changed)}
            )
        else:
            _tell_left_out(left_out)
            tell(f"{_outcomes(built) or 'Nothing was listed'}; {counted(built.paragraphs, 'paragraph')}.")
            _tell_accepted(built, changed.added)
            _tell_waiting(built)
        return EXIT_REFUSED if built.refused else 0

    run(config, work)


def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A PDF, HTML, DOCX, Markdown or TXT file.")],
    title: Annotated[
        str | None, typer.Option("--title", metavar="TITLE", help="What it is called; else the file is asked.")
    ] = None,
    publisher: Annotated[
        str | None, typer.Option("--publisher", metavar="NAME", help="Who published it; else the file is asked.")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="ADDRESS", help="Where people can open it, if it is on the web.")
    ] = None,
    year: Annotated[
        int | None, typer.Option("--year", metavar="YEAR", help="When it was published; else the file is asked.")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", metavar="CODE", help="ISO 639-1; detected if not given.")
    ] = None,
    jurisdiction: Annotated[
        str | None, typer.Option("--jurisdiction", metavar="CODE", help="Where it holds, such as ES.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option("--licence", metavar="TERMS", help="The terms under which it may be used.")
    ] = None,
    expires: Annotated[
        datetime | None,
        typer.Option(
            "--expires",
            metavar="DATE",
            formats=["%Y-%m-%d"],
            help="The last day on which it is used, such as 2027-12-31.",
        ),
    ] = None,
    target: GroupOption = None,
    config: ConfigOption = None,
) -> None:
    """Add a document of your own. It waits to be accepted.

    Exit code 1: it was refused; the reason is said.
    """

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library, open_source
        from kb.sources.folder import Metadata, keep_file

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
        try:
            place = keep_file(settings.library_folder, file, about)
        except DocumentRefused as refused:
            complain(f"The document was not added. {refused}")
            return EXIT_REFUSED
        async with (
            open_source(settings, "folder", place.parent, place.name) as source,
            open_library(settings) as opened,
        ):
            built = await opened.add(source)
            changed = await opened.follow()
        for refusal in built.refused:
            complain(f"{file.name} was not added. {refusal.reason}")
        if not built.refused:
            sentences = {"new": "Added.", "changed": "Added as a new version.", "unchanged": "It was there already."}
            tell(" ".join(dict.fromkeys(sentences[outcome] for outcome in built.outcomes)) or "It is empty.")
            if place.name != file.name:
                say(f"Another {file.name} is there, so this one is kept as {place.name}.")
        _tell_accepted(built, changed.added)
        _tell_waiting(built)
        return EXIT_REFUSED if built.refused else 0

    run(config, work)


def _tell(console: Console, refusal: Refusal) -> None:
    console.print(Text.assemble(("Refused: ", "bold red"), f"{refusal.document}: {refusal.reason}"), soft_wrap=True)


def _outcomes(built: Built) -> str:
    return ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(built.outcomes.items()))


def _tell_left_out(names: list[str]) -> None:
    if names:
        more = f" and {len(names) - _SHOWN_LEFT_OUT:,} more" if len(names) > _SHOWN_LEFT_OUT else ""
        shown = f"{', '.join(names[:_SHOWN_LEFT_OUT])}{more}"
        say(f"Left out, not a PDF, HTML, DOCX, Markdown or TXT file: {shown}.")


def _tell_accepted(built: Built, paragraphs: int) -> None:
    """What no person was asked about; each can be read, and removed again."""
    if not built.accepted:
        return
    for document in built.accepted[:_SHOWN_ACCEPTED]:
        tell(f"Accepted, since its source has high trust: {document}")
    if (more := len(built.accepted) - _SHOWN_ACCEPTED) > 0:
        tell(f"And {counted(more, 'document')} more; antiphon kb export lists all.")
    tell(f"Searches now find {counted(paragraphs, 'paragraph')} more.")


def _tell_waiting(built: Built) -> None:
    if built.waiting:
        waits = "waits" if built.waiting == 1 else "wait"
        text = f"{counted(built.waiting, 'document')} {waits} to be accepted: antiphon kb waiting."
        tell(text)


SourceOption = Annotated[str, typer.Option("--source", metavar="SOURCE", help="Only from this source.")]
Named = Annotated[
    list[str] | None,
    typer.Argument(metavar="DOCUMENT", help="Numbers of `kb waiting`, or documents' ids.", show_default=False),
]
AllOf = Annotated[str, typer.Option("--source", metavar="SOURCE", help="All documents of this source that wait.")]

_READ_AT_ONCE: Final = 20
_WORDS: Final = {
    "id": "id",
    "state": "state",
    "citation": "cited as",
    "type": "kind",
    "language": "language",
    "target_groups": "about",
    "jurisdiction": "holds in",
    "expires": "used until",
    "licence": "licence",
    "fetched_at": "taken",
    "decided_by": "decided by",
    "refused": "refused",
    "notes": "noted",
}
_STATES: Final = {
    "quarantined": "waits to be accepted",
    "accepted": "accepted: searches find it",
    "superseded": "replaced by a newer version",
    "rejected": "rejected",
    "refused": "refused: it could not be used",
    "listed": "listed, and not fetched yet",
}


def _run_on_library(config: Path | None, work: Callable[[OpenLibrary], Awaitable[int | None]]) -> None:
    async def over(settings: Settings) -> int | None:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            return await work(opened)

    run(config, over)


def waiting(source: SourceOption = "", as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """List the documents that wait to be accepted, each with its number."""

    async def work(opened: OpenLibrary) -> None:
        if source:
            opened.check_source(source)
        rows = [
            (revision, opened.library.document(revision.document)[0])
            for revision in opened.library.waiting(source or None)
        ]
        if as_json:
            shown = [{"number": revision.revision, **manifest(listed, None, [revision])} for revision, listed in rows]
            print_document({"waiting": shown})
            return
        for revision, listed in rows:
            tell(Text.assemble((f"{revision.revision}  ", "bold"), listed.id))
            tell(f"   {cited(listed)}", "dim")
            for note in revision.notes:
                tell(f"   Note: {note}", "yellow")
        if rows:
            first = rows[0][0].revision
            tell(f"To read one: antiphon kb show {first}. To decide: antiphon kb accept {first}, or kb reject.")
        else:
            tell("Nothing waits to be accepted. `antiphon kb build` collects documents, `antiphon kb add` adds one.")

    _run_on_library(config, work)


def show(
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="A document's id, its number, or a passage as receipts show it.")
    ],
    text: Annotated[bool, typer.Option("--text", help="The whole text, not only its beginning.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Show a document, what was noted about it and its text; or a passage with the text around it.

    Paragraphs that give orders to a language model are marked.
    """

    async def work(opened: OpenLibrary) -> None:
        named, number = _parts(opened, document)
        passage = opened.passage(named, number) if number else None
        name = opened.document_of(named)
        listed, refused = opened.library.document(name)
        revisions = _from(opened, document, name)
        paragraphs = opened.library.texts(revisions[0].revision) if revisions and passage is None else []
        row = manifest(listed, refused, revisions)
        if as_json:
            read = {"text": paragraphs} if text else {}
            print_document({**row, "passage": passage and asdict(passage), **read})
            return
        _show_about({**row, "citation": cited(listed), "state": _STATES[row["state"]]})
        if passage:
            tell(Text.assemble(passage.before, (passage.text, "bold"), passage.after))
        else:
            _show_text(paragraphs, document, whole=text)

    _run_on_library(config, work)


def _parts(opened: OpenLibrary, shown: str) -> tuple[str, str]:
    """A document, and the number of a passage of it; the name of a file may hold a "#", too."""
    named, mark, number = shown.rpartition("#")
    return (named, number) if mark and not opened.library.has(shown) else (shown, "")


def _from(opened: OpenLibrary, named: str, document: str) -> list[Revision]:
    """The revisions of a document, from the named one on if a number names it, otherwise from the newest."""
    revisions = opened.library.revisions(document)
    return [revision for revision in revisions if revision.revision <= int(named)] if named.isdecimal() else revisions


def _show_about(row: dict[str, object]) -> None:
    """A line for each, which the terminal may wrap, but which is copied as one."""
    width = max(map(len, _WORDS.values()))
    for key, word in _WORDS.items():
        value = row.get(key)
        for number, text in enumerate(map(str, value if isinstance(value, list) else [value or ""])):
            if text:
                text = text[:10] if key == "fetched_at" else text
                line = Text(f"{'' if number else word:<{width}} ")
                tell(line.append(text, "yellow" if key in ("notes", "refused") else ""))


def _show_text(paragraphs: Sequence[str], named: str, *, whole: bool) -> None:
    from core.engine.wording.injection import instructs

    if not paragraphs:
        return
    shown = paragraphs if whole else paragraphs[:_READ_AT_ONCE]
    tell("\nWhat can be quoted from it:", "bold")
    for number, paragraph in enumerate(paragraphs):
        speaks = instructs(paragraph)
        if number < len(shown) or speaks:
            mark = ("\n[speaks to a language model] ", "bold red") if speaks else "\n"
            out().print(Text.assemble(mark, paragraph))
    if left := len(paragraphs) - len(shown):
        more = f"{counted(left, 'paragraph')} more: antiphon kb show {named} --text"
        tell(f"\n{more}", "dim")


def diff(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="A document's id, or its number.")],
    config: ConfigOption = None,
) -> None:
    """Show what the waiting revision of a document adds and drops."""

    async def work(opened: OpenLibrary) -> None:
        from kb.library.library import changes

        lines = changes(opened.library, opened.document_of(document))
        for line in lines:
            tell(line, {"+": "green", "-": "red"}.get(line[0], ""))
        if not lines:
            say("Nothing of it waits to be accepted.")

    _run_on_library(config, work)


def accept(documents: Named = None, source: AllOf = "", config: ConfigOption = None) -> None:
    """Accept documents that wait: from now on searches find them."""
    _run_on_library(config, lambda opened: _decide(opened, documents or [], source, State.ACCEPTED))


def reject(documents: Named = None, source: AllOf = "", config: ConfigOption = None) -> None:
    """Reject documents that wait: searches do not find them."""
    _run_on_library(config, lambda opened: _decide(opened, documents or [], source, State.REJECTED))


async def _decide(opened: OpenLibrary, documents: Sequence[str], source: str, state: State) -> None:
    if bool(documents) == bool(source):
        raise BadInput(
            "It is not clear what is meant.",
            remedy="Name documents by number or id, such as: antiphon kb accept 1 3. Or name --source and a source.",
        )
    if source:
        opened.check_source(source)
        revisions = opened.library.waiting(source)
    else:
        chosen = [opened.waiting_revision(document) for document in documents]
        revisions = list({each.revision: each for each in chosen}.values())
    for revision in revisions:
        opened.library.decide(revision.revision, state, getuser())
        title = opened.library.document(revision.document)[0].title
        tell(f"{state.value.capitalize()}: {title} ({revision.document})")
    changed = await opened.follow()
    if not revisions:
        tell("Nothing waits to be accepted.")
    elif state is State.ACCEPTED:
        tell(f"Searches now find {counted(changed.added, 'paragraph')} more.")


def trust(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="un, eurlex, fra or folder.")],
    level: Annotated[
        Trust,
        typer.Argument(
            metavar="LEVEL",
            help="low: its passages come last. normal. high: new documents are accepted unless they look suspicious.",
        ),
    ],
    config: ConfigOption = None,
) -> None:
    """Say how far a source is trusted."""

    async def work(opened: OpenLibrary) -> None:
        opened.check_source(source)
        opened.library.set_trust(source, level)
        tell(f"{source}: {_TRUSTED[level]}")

    _run_on_library(config, work)


_TRUSTED: Final = {
    Trust.LOW: "low trust. Its passages come after those of others.",
    Trust.NORMAL: "normal trust. What is new from there waits to be accepted.",
    Trust.HIGH: "high trust. What is new from there is accepted, unless it speaks to a language model.",
}


app = typer.Typer(help="The knowledge base: search it, collect documents, accept what is served.", no_args_is_help=True)

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

    async def work(settings: Settings) -> None:
        from bot.cli.render import show_evidence
        from bot.cli.report import evidence_document
        from core.engine.ports import EvidenceQuery
        from core.engine.wording.text import clean

        text, _ = clean(given(query))
        if not text:
            raise BadInput("There is nothing to look for.", remedy="Pass a few words, such as: women in parliament.")
        groups = tuple(target or ())
        group = groups[0] if len(groups) == 1 else None
        narrowed = tuple(publisher or ()), tuple(language or ())
        question = EvidenceQuery((text,), text, group, limit, groups, since, *narrowed)
        from bot.compose.engine import open_embedder, open_knowledge  # takes a moment, and is needed only for words
        from kb.ranking.queries import language_of_words

        evidence = await open_knowledge(settings, open_embedder(settings), language_of_words).search(question)
        for note in evidence.notes:
            say(note, "yellow")
        if as_json:
            print_document({"query": text, "evidence": [evidence_document(passage) for passage in evidence.passages]})
            return
        for number, passage in enumerate(evidence.passages, start=1):
            show_evidence(out(), number, passage)
        if not evidence.passages:
            say("No passage bears on this. Try other words, or the group that the post attacks.")

    run(config, work)


def _paragraphs(library: Library) -> int:
    return sum(len(paragraphs) for _, paragraphs in library.served().values())


def remove(documents: Ids, config: ConfigOption = None) -> None:
    """Remove documents, with their files and their paragraphs."""

    async def work(opened: OpenLibrary) -> None:
        chosen = [opened.library.document(opened.document_of(document))[0] for document in documents]
        before = _paragraphs(opened.library)
        for listed in {each.id: each for each in chosen}.values():
            opened.remove(listed.id)
            tell(f"Removed: {listed.title} ({listed.id})")
        await opened.follow()
        fewer = before - _paragraphs(opened.library)
        tell(f"Searches find {counted(fewer, 'paragraph')} less.")

    _run_on_library(config, work)


def stats(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Count what the library holds."""

    async def work(opened: OpenLibrary) -> None:
        from kb.starter.facts import STARTER_FACTS, load_facts

        rows = [{"source": source, **counts} for source, counts in opened.library.counts().items()]
        facts = len(load_facts(STARTER_FACTS))
        if as_json:
            print_document({"starter_facts": facts, "sources": rows})
            return
        tell(f"{facts:,} starter facts ship with Antiphon.")
        if not rows:
            tell("Your own library is empty: `antiphon kb build` or `antiphon kb add` fills it.")
            return
        shown = [{_COUNTED.get(name, name): count for name, count in row.items()} for row in rows]
        show_table(shown)

    _run_on_library(config, work)


def verify(
    repair: Annotated[bool, typer.Option("--repair", help="Build a damaged index again.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Check every byte of the library and of its index."""

    async def work(opened: OpenLibrary) -> int:
        faults = await opened.faults(repair=repair)
        if as_json:
            print_document({"ok": not faults, "faults": faults})
        else:
            for fault in faults:
                tell(f"Damaged: {fault}")
            tell(_after_verify(len(faults), repair=repair))
        return EXIT_UNAVAILABLE if faults else 0

    _run_on_library(config, work)


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

    async def work(opened: OpenLibrary) -> None:
        rows = [
            manifest(listed, refused, opened.library.revisions(listed.id))
            for listed, refused in opened.library.documents()
        ]
        if file is None:
            write_rows(rows, sys.stdout, is_csv=False)
        else:
            with file.open("w", encoding="utf-8", newline="") as writing:
                write_rows(rows, writing, is_csv=file.suffix == ".csv")

    _run_on_library(config, work)


def embed(config: ConfigOption = None) -> None:
    """Make vectors for what is found only by its words so far. It can be stopped at any time."""

    async def work(opened: OpenLibrary) -> None:
        with progress_bar() as bar:
            task = bar.add_task("paragraphs", total=None)
            done = await opened.embed(lambda done, total: bar.update(task, completed=done, total=total))
        tell(f"Found by meaning, too: {counted(done, 'paragraph')}.")

    _run_on_library(config, work)


def push(config: ConfigOption = None) -> None:
    """Copy the library to the Qdrant server of config.toml. It goes on where it was stopped."""

    async def work(settings: Settings) -> None:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            with progress_bar() as bar:
                task = bar.add_task("paragraphs", total=None)
                count = await opened.push(settings, lambda done, total: bar.update(task, completed=done, total=total))
        tell(f"On {settings.kb.qdrant_url}: {counted(count, 'paragraph')}.")

    run(config, work)


_IN_ORDER_OF_USE: Final = (
    ("Look something up", (search,)),
    ("Collect documents", (build, add)),
    ("Decide what is served", (waiting, show, diff, accept, reject, trust)),
    ("Look after it", (stats, verify, export, remove, embed, push)),
)
for _panel, _commands in _IN_ORDER_OF_USE:
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
