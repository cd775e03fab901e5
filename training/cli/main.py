"""``antiphon train``: the stages of training, each in the folder of a run.

Owns the list of the commands, and those that leave one file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from core.errors import BadInput
from training.cli.options import Base, Out, Set, need_extra
from training.cli.stages import online, preferences, reranker, writer
from training.cli.texts import data, samples
from training.cli.values import changed_by, refuse_unknown

app = typer.Typer(help="Train the small models, and a writer of your own.", no_args_is_help=True)
for command in (data, writer, samples, preferences, online, reranker):
    app.command()(command)


@app.command()
def reader(which: Annotated[str, typer.Argument(metavar="READER", help="posts or drafts.")], out: Out) -> None:
    """Train a small reader on the texts that ship, and write its weights to OUT."""
    from training.heads.readers import train_reader

    if which not in ("posts", "drafts"):
        raise BadInput(f"There is no reader of {which}.", remedy="Choose posts or drafts.")
    train_reader(which, out)


@app.command()
def heads(out: Out) -> None:
    """Train the router of stereotypes on the texts that ship, and write its weights to OUT."""
    from training.heads.routing import train_router

    train_router(out)


@app.command()
def probe(
    out: Out,
    base: Base,
    run: Annotated[
        Path,
        typer.Option("--run", metavar="FOLDER", help="Keeps states and checkpoints; a killed run goes on there."),
    ] = Path("runs/probe"),
    set_: Set = None,
    most: Annotated[
        int, typer.Option("--most", min=0, metavar="N", help="Texts of each kind, language and split; 0: all.")
    ] = 0,
) -> None:
    """Train what reads posts by the embedded model: outputs, written to OUT, and an adapter beside it."""
    need_extra()
    from training.probe.adapting import Values
    from training.probe.run import train_probe

    values = changed_by(Values(), set_)
    refuse_unknown(set_, values)
    train_probe(out, base, run, values, most)


@app.command()
def export(
    adapter: Annotated[Path, typer.Argument(metavar="ADAPTER", help="A folder of PEFT, as the stages leave it.")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Such as writer.gguf; its card comes beside it.")],
    weights: Annotated[Path, typer.Option("--weights", metavar="GGUF", help="The weights that it was trained on.")],
    tasks: Annotated[
        str, typer.Option("--tasks", metavar="NAMES", help="What it was trained for, with commas.")
    ] = "reply",
) -> None:
    """Write an adapter as GGUF, with the card that `llm.adapter` needs. vLLM takes the folder as it is."""
    need_extra()
    from training.writer.export import export_with_card
    from training.writer.held_out import kept

    card = export_with_card(adapter, out, weights, tuple(task.strip() for task in tasks.split(",")), **kept(adapter))
    Console().print(f"{out} is written. Set llm.adapter to it; its card is {card}.")
