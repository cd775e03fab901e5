"""How commands show what they do: tables, JSON, CSV, citations, and the progress of their work and of the models."""

from __future__ import annotations

import csv
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import progress
from rich.table import Table
from rich.text import Text

from bot.cli.command import as_json, err, out, run_to_exit
from kb.documents import ListedDocument, citation
from kb.library.library import Revision


class PreparationBar:
    """A bar on standard error for weights that are fetched and prompts that are read; silent off a terminal."""

    def __init__(self) -> None:
        console = err()
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TextColumn("{task.fields[amount]}"),
            progress.TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, amount="")

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how much of the weights, in bytes, or of the prompts is ready."""
        if not self._bar.live.is_started and done < total:
            self._bar.start()
        is_weights = what == "weights"
        description = "Preparing the language model" if is_weights else "Reading the prompts, kept for the next start"
        amount = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB" if is_weights else f"{done} of {total}"
        self._bar.update(self._task, completed=done, total=total, description=description, amount=amount)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Take it away, where nothing more is told; one that was never shown leaves no empty line behind."""
        if self._bar.live.is_started:
            self._bar.stop()


if TYPE_CHECKING:
    from bot.settings import Settings


def run(config: Path | None, work: Callable[[Settings], Coroutine[Any, Any, int | None]]) -> None:
    """Do a command's work with the settings, and leave with its exit code."""
    from bot.settings import load_settings

    run_to_exit(lambda: work(load_settings(config)))


def cited(listed: ListedDocument) -> str:
    """A document as receipts cite it: publisher, title, year, number or file, address."""
    source = citation(listed)
    parts = (source.publisher, source.title, source.year, source.document, source.url)
    return ", ".join(str(part) for part in parts if part)


class _Rate(progress.ProgressColumn):
    """Steps a second, once there is a rate."""

    def render(self, task: progress.Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.1f}/s" if speed else "", style="progress.data.speed")


def progress_bar() -> progress.Progress:
    """Progress with rate and time left on standard error; silent off a terminal."""
    console = err()
    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),  # titles of documents come as they are
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        _Rate(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def manifest(listed: ListedDocument, refused: str | None, revisions: Sequence[Revision]) -> dict[str, Any]:
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


def show_table(rows: Sequence[dict[str, Any]]) -> None:
    table = Table(*rows[0], box=None, padding=(0, 1, 0, 0))
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    out().print(table)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return f"{value:,}" if type(value) is int and value > 9999 else "" if value is None else str(value)


def write_rows(rows: Sequence[dict[str, Any]], stream: Any, *, is_csv: bool) -> None:
    """Rows as CSV with a header, or as JSON lines."""
    if is_csv:
        writer = csv.DictWriter(stream, list(rows[0]) if rows else ["id"])
        writer.writeheader()
        writer.writerows({key: _plain(value) for key, value in row.items()} for row in rows)
    else:
        stream.writelines(as_json(row, indent=None) + "\n" for row in rows)


def _plain(value: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    text = _cell(value) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
