"""``antiphon train``: the stages of training, each in the folder of a run.

Owns the list of the commands, and those that leave one file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from core.errors import BadInput
from training.cli.options import need_extra
from training.cli.reading import heads, probe, reader
from training.cli.stages import online, preferences, reranker, writer
from training.cli.texts import data, samples

app = typer.Typer(help="Train the small models, and a writer of your own.", no_args_is_help=True)
for command in (data, writer, samples, preferences, online, reranker, reader, heads, probe):
    app.command()(command)


@app.command()
def export(
    adapter: Annotated[Path, typer.Argument(metavar="ADAPTER", help="A folder of PEFT, as the stages leave it.")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Such as writer.gguf; its card comes beside it.")],
    weights: Annotated[Path, typer.Option("--weights", metavar="GGUF", help="The weights that it was trained on.")],
    tasks: Annotated[
        str, typer.Option("--tasks", metavar="NAMES", help="What it was trained for, with commas.")
    ] = "reply",
    read: Annotated[
        str,
        typer.Option("--read", metavar="N/M", help="Of M replies that people read blind they would post N."),
    ] = "",
) -> None:
    """Write an adapter as GGUF, with the card that `llm.adapter` needs. vLLM takes the folder as it is."""
    need_extra()
    from training.writer.export import export_with_card
    from training.writer.held_out import kept

    judged = kept(adapter)
    about = judged | ({"read": _read(read)} if read else {})
    card = export_with_card(adapter, out, weights, tuple(task.strip() for task in tasks.split(",")), **about)
    use = "Name it in llm.writers; then: antiphon community writer" if judged else "Set llm.adapter to it"
    Console().print(f"{out} is written; its card is {card}. {use}.")


def _read(said: str) -> dict[str, int]:
    """What the card says of a blind reading."""
    found = re.fullmatch(r"(\d+)/(\d+)", said)
    if found is None or int(found[1]) > int(found[2]):
        raise BadInput(
            f"{said} is no reading.", remedy="Write 26/40 if people would post 26 of 40 replies that they read."
        )
    return {"replies": int(found[2]), "postable": int(found[1])}
