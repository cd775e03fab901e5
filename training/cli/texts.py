"""The command that makes texts to learn from: ``data``.

Owns the table of what is there, and the files of examples and of pairs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from training.cli.options import LICENCE, Also, Licence

if TYPE_CHECKING:
    from training.writer.examples import Group
    from training.writer.preferences import Pair


def data(
    also: Also = None,
    licence: Licence = "",
    from_desk: Annotated[
        Path | None,
        typer.Option("--from-desk", metavar="FILE", help="Make pairs of what `antiphon community lessons` wrote."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the examples or pairs here.")] = None,
) -> None:
    """Show what the writer would learn from, with licences; with --out write it as JSON lines."""
    if from_desk is not None:
        _pairs_from(from_desk, out)
        return
    from training.writer import examples

    found, licences = learnt_and_held_out(also, licence)
    table = Table("source", "split", "examples", "licence")
    for split, groups in found.items():
        for source, count in examples.counts(groups).items():
            table.add_row(source, split, f"{count:,}", licences.get(source, LICENCE))
    Console().print(table)
    if out is not None:
        rows = [
            {"split": split, "source": one.source, "prompt": [asdict(m) for m in one.prompt], "answer": one.answer}
            for split, groups in found.items()
            for group in groups
            for one in group
        ]
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def learnt_and_held_out(also: Sequence[str] | None, licence: str) -> tuple[dict[str, list[Group]], dict[str, str]]:
    """The groups of each split, ours and those of other sets, and the licences by source. Tells what is left out."""
    from training.sets.published import parse, read_set
    from training.writer import examples

    found = {split: examples.groups(split) for split in ("train", "dev")}
    licences = {"Antiphon's own texts": LICENCE}
    for one in (parse(said, licence) for said in also or ()):
        read = read_set(one)
        found["train"] += read.groups
        for reason, count in read.left_out.items():
            Console().print(f"{one.name}: {count:,} rows are left out ({reason}).")
        licences[one.name] = one.licence
    return found, licences


def _pairs_from(lessons: Path, out: Path | None) -> None:
    """Pairs of a community's own decisions."""
    import numpy as np

    from training.desk.decisions import decisions_of, one_community, read_lessons
    from training.desk.trust import check_enough, kept, trust
    from training.online.learning import reader_of_drafts, refuses

    rows = read_lessons(lessons)
    one_community(rows)
    found = list(decisions_of(rows, refuses))
    check_enough(found)
    trusted = trust(found, reader_of_drafts())
    table = Table("moderator", "decisions", "as the others", "weight")
    for one in trusted:
        table.add_row(one.moderator, str(one.decisions), f"{one.agreed:.2f}", f"{one.weight:.2f}")
    Console().print(table)
    counted = kept(found, trusted, np.random.default_rng(0).random(len(found)))
    check_enough(counted)
    Console().print(f"{len(counted)} pairs to learn from.")
    if out is not None:
        _write_pairs(out, [one.pair for one in counted])


def _write_pairs(file: Path, found: Iterable[Pair]) -> None:
    """In the form that ``preferences --pairs`` reads."""
    rows = ({**asdict(pair), "prompt": [asdict(m) for m in pair.prompt]} for pair in found)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
