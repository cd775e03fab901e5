"""``antiphon kb waiting`` and what follows: what a manager reads and decides about documents.

Owns these commands. ``kb.library`` sees to it that nothing is served before. A document is named by its id, or by the
number that ``waiting`` shows: it belongs to one revision and is never given to another, so that a decision is always
about what was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from getpass import getuser
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, JsonOption, counted, err, out, print_document
from bot.cli.kb.output import cited, manifest, run
from core.errors import BadInput
from kb.library.nouns import Revision, State, Trust

if TYPE_CHECKING:
    from bot.compose.library import OpenLibrary
    from bot.compose.settings.settings import Settings

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


def waiting(source: SourceOption = "", as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """List the documents that wait to be accepted, each with its number."""

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            if source:
                opened.check_source(source)
            rows = [
                (revision, opened.library.document(revision.document)[0])
                for revision in opened.library.waiting(source or None)
            ]
        if as_json:
            shown = [{"number": one.revision, **manifest(listed, None, [one])} for one, listed in rows]
            print_document({"waiting": shown})
            return 0
        for revision, listed in rows:
            out().print(Text.assemble((f"{revision.revision}  ", "bold"), listed.id), soft_wrap=True)
            out().print(Text(f"   {cited(listed)}", style="dim"))
            for note in revision.notes:
                out().print(Text(f"   Note: {note}", style="yellow"))
        if rows:
            first = rows[0][0].revision
            out().print(
                Text(f"To read one: antiphon kb show {first}. To decide: antiphon kb accept {first}, or kb reject.")
            )
        else:
            out().print(
                Text(
                    "Nothing waits to be accepted. `antiphon kb build` collects documents, `antiphon kb add` adds one."
                )
            )
        return 0

    run(config, work)


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

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
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
            return 0
        _show_about({**row, "citation": cited(listed), "state": _STATES[row["state"]]})
        if passage:
            out().print(Text.assemble(passage.before, (passage.text, "bold"), passage.after), soft_wrap=True)
        else:
            _show_text(paragraphs, document, whole=text)
        return 0

    run(config, work)


def _parts(opened: OpenLibrary, shown: str) -> tuple[str, str]:
    """A document, and the number of a passage of it; the id of a line's document has a "#" of its own."""
    named, mark, number = shown.rpartition("#")
    return (named, number) if mark and not opened.library.has(shown) else (shown, "")


def _from(opened: OpenLibrary, named: str, document: str) -> list[Revision]:
    """The revisions of a document, from the named one on if a number names it, otherwise from the newest."""
    revisions = opened.library.revisions(document)
    return [one for one in revisions if one.revision <= int(named)] if named.isdecimal() else revisions


def _show_about(row: dict[str, object]) -> None:
    """A line for each, which the terminal may wrap, but which is copied as one."""
    width = max(map(len, _WORDS.values()))
    for key, word in _WORDS.items():
        value = row.get(key)
        for number, said in enumerate(map(str, value if isinstance(value, list) else [value or ""])):
            if said:
                said = said[:10] if key == "fetched_at" else said
                line = Text(f"{'' if number else word:<{width}} ")
                out().print(line.append(said, "yellow" if key in ("notes", "refused") else ""), soft_wrap=True)


def _show_text(paragraphs: Sequence[str], named: str, *, whole: bool) -> None:
    from core.wording.injection.injection import instructs

    if not paragraphs:
        return
    shown = paragraphs if whole else paragraphs[:_READ_AT_ONCE]
    out().print(Text("\nWhat can be quoted from it:", style="bold"))
    for number, paragraph in enumerate(paragraphs):
        speaks = instructs(paragraph)
        if number < len(shown) or speaks:
            mark = ("\n[speaks to a language model] ", "bold red") if speaks else "\n"
            out().print(Text.assemble(mark, paragraph))
    if left := len(paragraphs) - len(shown):
        more = f"{counted(left, 'paragraph')} more: antiphon kb show {named} --text"
        out().print(Text(f"\n{more}", style="dim"), soft_wrap=True)


def diff(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="A document's id, or its number.")],
    config: ConfigOption = None,
) -> None:
    """Show what the waiting revision of a document adds and drops."""

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library
        from kb.library.library import changes

        async with open_library(settings) as opened:
            lines = changes(opened.library, opened.document_of(document))
        for line in lines:
            out().print(Text(line, style={"+": "green", "-": "red"}.get(line[0], "")), soft_wrap=True)
        if not lines:
            err().print(Text("Nothing of it waits to be accepted."))
        return 0

    run(config, work)


def accept(documents: Named = None, source: AllOf = "", config: ConfigOption = None) -> None:
    """Accept documents that wait: from now on searches find them."""
    run(config, lambda settings: _decide(settings, documents or [], source, State.ACCEPTED))


def reject(documents: Named = None, source: AllOf = "", config: ConfigOption = None) -> None:
    """Reject documents that wait: searches do not find them."""
    run(config, lambda settings: _decide(settings, documents or [], source, State.REJECTED))


async def _decide(settings: Settings, documents: Sequence[str], source: str, state: State) -> int:
    from bot.compose.library import open_library

    if bool(documents) == bool(source):
        raise BadInput(
            "It is not clear what is meant.",
            remedy="Name documents by number or id, such as: antiphon kb accept 1 3. Or name --source and a source.",
        )
    async with open_library(settings) as opened:
        if source:
            opened.check_source(source)
            revisions = opened.library.waiting(source)
        else:
            found = [opened.waiting_revision(document) for document in documents]
            revisions = list({one.revision: one for one in found}.values())
        for revision in revisions:
            opened.library.decide(revision.revision, state, getuser())
            title = opened.library.document(revision.document)[0].title
            out().print(Text(f"{state.value.capitalize()}: {title} ({revision.document})"), soft_wrap=True)
        changed = await opened.follow()
    if not revisions:
        out().print(Text("Nothing waits to be accepted."))
    elif state is State.ACCEPTED:
        out().print(Text(f"Searches now find {counted(changed.added, 'paragraph')} more."))
    return 0


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

    async def work(settings: Settings) -> int:
        from bot.compose.library import open_library

        async with open_library(settings) as opened:
            opened.check_source(source)
            opened.library.set_trust(source, level)
        out().print(Text(f"{source}: {_TRUSTED[level]}"))
        return 0

    run(config, work)


_TRUSTED: Final = {
    Trust.LOW: "low trust. Its passages come after those of others.",
    Trust.NORMAL: "normal trust. What is new from there waits to be accepted.",
    Trust.HIGH: "high trust. What is new from there is accepted, unless it speaks to a language model.",
}
