"""The commands that train what reads: ``reader``, ``heads`` and ``probe``.

Owns which texts and values each gets, and what it leaves. The stages themselves know no command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from core.errors import BadInput
from training.cli.options import LICENCE, Base, Every, Folder, Set, need_extra
from training.cli.starting import finish, start
from training.cli.values import changed_by, refuse_unknown
from training.recipes import OWN

if TYPE_CHECKING:
    from training.heads.network import Base as Encoder
    from training.runs.run import Run

LEAST: Final = 12
"""How many texts of each language and split there must be, so that each has some of both answers."""
_DEVELOPMENT: Final = "the development split, by which the epoch was chosen"

Most = Annotated[
    int, typer.Option("--most", min=0, metavar="N", help="Texts of each kind, language and split; 0: all.")
]


def reader(
    which: Annotated[str, typer.Argument(metavar="READER", help="posts, abroad or drafts.")],
    run: Folder,
    begun: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="A reader's weights to go on from, in fewer steps.")
    ] = None,
    set_: Set = None,
    most: Most = 0,
    every: Every = 200,
) -> None:
    """Train a small reader on the texts that ship; its weights come into RUN as READER.safetensors."""
    need_extra()
    _refuse_few(most)
    from training.heads import readers

    out = run / f"{which}.safetensors"
    if begun and not begun.is_file():
        raise BadInput(f"There are no weights at {begun}.", remedy="Name a file, such as one of core/scoring/readers.")
    if begun and begun.resolve() == out.resolve():
        raise BadInput(f"The weights would be written over {begun}.", remedy="Name another folder for the run.")
    task = readers.task_of(which, most, goes_on=begun is not None)
    values = changed_by((readers.VALUES_ON if begun else readers.VALUES)[which], set_)
    refuse_unknown(set_, values)
    started = _start(run, f"reader of {which}", values, task.train, task.dev, begun)
    tuned, table = readers.train(task, out, values, started.note, save_steps=every, begun=begun)
    _finish(started, f"area under the curve, {task.main}", tuned, table)


def heads(
    run: Folder,
    is_abroad: Annotated[bool, typer.Option("--abroad", help="The router for Spanish and Italian.")] = False,
    set_: Set = None,
    most: Most = 0,
    every: Every = 200,
) -> None:
    """Train a router of stereotypes on the texts that ship; its weights come into RUN as router.safetensors."""
    need_extra()
    _refuse_few(most)
    from training.heads import routing

    rows = routing.labelled(most)
    values = changed_by(routing.VALUES_ABROAD if is_abroad else routing.VALUES, set_)
    refuse_unknown(set_, values)
    learnt = [one for one in rows if one.split == "train"]
    started = _start(
        run, "router abroad" if is_abroad else "router", values, learnt, [one for one in rows if one.split != "train"]
    )
    out = run / "router.safetensors"
    tuned, table = routing.train(rows, routing.Outputs.of_taxonomy(), out, values, started.note, save_steps=every)
    _finish(started, "likeliest stereotype right", tuned, table)


def probe(run: Folder, base: Base, set_: Set = None, most: Most = 0, every: Every = 20) -> None:
    """Train what reads posts by the embedded model: RUN gets its outputs, probe.safetensors, and their probe.gguf."""
    need_extra()
    _refuse_few(most)
    if not base.endswith(".gguf"):
        raise BadInput(
            "A probe reads the hidden states of the embedded model.",
            remedy="Name its GGUF file, which the first `antiphon demo` puts into ~/.cache/antiphon/models.",
        )
    from training.probe.adapting import Values
    from training.probe.run import ADAPTER, train
    from training.probe.texts import learnt
    from training.runs.card import plot, write_card

    if (run / ADAPTER).resolve() == Path(base).resolve():
        raise BadInput(f"The adapter would be written over {base}.", remedy="Name another folder for the run.")
    values = changed_by(Values(), set_)
    refuse_unknown(set_, values)
    texts = learnt(most)
    known = [*texts.texts, repr(texts.posts), repr(texts.stereotypes)]
    started = start(run, "probe", OWN, asdict(values), base, {"texts": len(texts.texts)}, known)
    before, after, table = train(started, texts, base, values, save_steps=every)
    card = write_card(
        started, licences={"texts": LICENCE}, before=before, after=after, scored=_DEVELOPMENT, table=table
    )
    finish(started, card, plot(started))


def _refuse_few(most: int) -> None:
    """Before hours of work. Raises ``BadInput`` where too few texts are left to fit limits on."""
    if 0 < most < LEAST:
        raise BadInput(
            f"{most} texts of each kind are too few to fit limits on.",
            remedy=f"Take {LEAST} or more for a try, or all.",
        )


def _start(
    run: Path, stage: str, values: Any, learnt: Sequence[Any], others: Sequence[Any], begun: Path | None = None
) -> Run:
    """The run of a small encoder, known by the rows that it learns and those it is fitted on, with their labels."""
    base, name = (str(begun), begun.name) if begun else (str(_packaged(values.base)), values.base.value)
    known = map(repr, (*learnt, *others))
    return start(run, stage, OWN, asdict(values), base, {"texts": len(learnt)}, known, name=name)


def _packaged(base: Encoder) -> Path:
    """Where a package has what a small encoder begins with."""
    from core.llm.backends.minilm import packaged_folder
    from training.heads import e5, network

    return packaged_folder() if base is network.Base.MINILM else e5.packaged().parent


def _finish(started: Run, score: str, tuned: Any, table: Any) -> None:
    from training.runs.card import plot, write_card

    card = write_card(
        started,
        licences={"texts": LICENCE},
        before={score: tuned.before},
        after={score: tuned.after},
        scored=_DEVELOPMENT,
        table=table,
    )
    finish(started, card, plot(started))
