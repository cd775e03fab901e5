"""What the commands of training ask for in the same words.

Owns their arguments and options, the refusal without the extra, and the choice of some of many.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from core.errors import BadInput

V = TypeVar("V")
LICENCE: Final = "Apache-2.0, Antiphon's own texts (training/data/README.md)"
_EXTRA: Final = ("peft", "trl", "datasets", "gguf")

Folder = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of the run; one that was killed goes on there.")
]
Base = Annotated[
    str, typer.Option("--base", metavar="MODEL", help="A GGUF file, a folder, or name@commit of a model on the hub.")
]
Adapter = Annotated[Path, typer.Option("--adapter", metavar="FOLDER", help="The adapter to go on from.")]
Recipe = Annotated[str, typer.Option("--recipe", metavar="NAME", help="own, or a paper's values: coarl, f2rl.")]
Also = Annotated[
    list[str] | None,
    typer.Option("--also", metavar="NAME=FILE", help="A published set, from your own copy; several times for several."),
]
Licence = Annotated[str, typer.Option("--licence", metavar="WORDS", help="Under which licence you have these sets.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Another value; may be given several times.")
]

Every = Annotated[
    int,
    typer.Option("--checkpoint-every", min=1, metavar="STEPS", help="A kill costs at most so many steps of work."),
]


def need_extra() -> None:
    """Refuse to go on without the packages of the extra.

    Raises:
        BadInput: some are not installed.
    """
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:
        raise BadInput(
            f"Training needs packages that are not installed: {', '.join(missing)}.",
            remedy="Run: pip install 'antiphon[training]'",
        )


def some(found: Sequence[V], most: int) -> list[V]:
    """As many as are wanted, the same ones each time."""
    chance = random.Random(0)  # nosec B311 # noqa: S311 - repeatable, no secret
    return chance.sample(list(found), min(most, len(found))) if most else list(found)
