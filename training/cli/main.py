"""``antiphon train``: the stages of training, each in the folder of a run.

Owns the list of the commands, and those that leave one file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from training.cli.options import need_extra
from training.cli.reading import heads, probe, reader
from training.cli.stages import online, preferences, reranker, writer
from training.cli.texts import data

app = typer.Typer(help="Train the small models, and a writer of your own.", no_args_is_help=True)
for command in (data, writer, preferences, online, reranker, reader, heads, probe):
    app.command()(command)


@app.command()
def export(
    adapter: Annotated[Path, typer.Argument(metavar="ADAPTER", help="A folder of PEFT, as the stages leave it.")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Such as writer.gguf.")],
    weights: Annotated[Path, typer.Option("--weights", metavar="GGUF", help="The weights that it was trained on.")],
) -> None:
    """Write an adapter as GGUF for a server of llama.cpp. vLLM takes the folder as it is."""
    need_extra()
    from training.writer.export import to_gguf

    to_gguf(adapter, out, weights)
    Console().print(f"{out} is written. Start a server with it, and name it in llm.model (docs/training.md).")
