"""``antiphon kb build`` and ``kb add``: documents from a source, or a file of one's own.

Owns how these commands tell what came and what was refused, and why.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from bot.cli.command import ConfigOption, JsonOption, complain, counted, err, out, print_document
from bot.cli.kb.output import progress_bar, run
from core.errors import DocumentRefused
from core.models import TargetGroup

if TYPE_CHECKING:
    from bot.compose.settings.settings import Settings
    from kb.documents import Listed
    from kb.ingest import Built, Refusal

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
        from kb.documents import Wanted
        from kb.sources.folder.folder import Folder

        wanted = Wanted(frozenset(target or TargetGroup), since)
        async with open_source(settings, source, folder) as place, open_library(settings) as opened:
            with progress_bar() as bar:
                task, told = bar.add_task("", total=None), 0

                def show(built: Built, listed: Listed | None) -> None:
                    nonlocal told
                    for refusal in built.refused[told:]:
                        _tell(bar.console, refusal)
                    told = len(built.refused)
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
            out().print(Text(f"{_outcomes(built) or 'Nothing was listed'}; {counted(built.paragraphs, 'paragraph')}."))
            _tell_accepted(built, changed.added)
            _tell_waiting(built)
        return EXIT_REFUSED if built.refused else 0

    run(config, work)


def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A PDF, HTML, DOCX, Markdown, TXT or JSONL file.")],
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
        from kb.sources.folder.own_files import Metadata, keep_file

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
            said = {"new": "Added.", "changed": "Added as a new version.", "unchanged": "It was there already."}
            out().print(Text(" ".join(dict.fromkeys(said[outcome] for outcome in built.outcomes)) or "It is empty."))
            if place.name != file.name:
                err().print(Text(f"Another {file.name} is there, so this one is kept as {place.name}."), soft_wrap=True)
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
        err().print(Text(f"Left out, not a PDF, HTML, DOCX, Markdown, TXT or JSONL file: {shown}."), soft_wrap=True)


def _tell_accepted(built: Built, found: int) -> None:
    """What no person was asked about; each can be read, and removed again."""
    if not built.accepted:
        return
    for document in built.accepted[:_SHOWN_ACCEPTED]:
        out().print(Text(f"Accepted, since its source has high trust: {document}"), soft_wrap=True)
    if (more := len(built.accepted) - _SHOWN_ACCEPTED) > 0:
        out().print(Text(f"And {counted(more, 'document')} more; antiphon kb export lists all."), soft_wrap=True)
    out().print(Text(f"Searches now find {counted(found, 'paragraph')} more."), soft_wrap=True)


def _tell_waiting(built: Built) -> None:
    if built.waiting:
        waits = "waits" if built.waiting == 1 else "wait"
        said = f"{counted(built.waiting, 'document')} {waits} to be accepted: antiphon kb waiting."
        out().print(Text(said), soft_wrap=True)
