"""The start and the end of a stage's run.

Owns what a run is known by (texts, base, values), the adapter that it goes on from, and what is said when it is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:
    from training.runs.run import Run
    from training.writer.examples import Group


def start(
    run: Path,
    stage: str,
    recipe: str,
    values: dict[str, Any],
    base: str,
    counts: dict[str, Any],
    texts: Any,
    *,
    name: str = "",
) -> Run:
    """The run in this folder, new or the one that was killed there.

    Args:
        counts: how many texts are learnt, by what they are.
        texts: the texts, for their hash.
        name: of the base; the last part of ``base`` if it is not given.

    Raises:
        BadInput: the folder holds a run with other values, another base or other texts.
    """
    from training.runs.base import hash_of_base
    from training.runs.run import Run, Started, hash_of

    about = {"model": name or Path(base).name, "sha256": hash_of_base(base)}
    return Run(run, Started(stage, recipe, values, about, {**counts, "hash": hash_of(texts)}))


def start_with_groups(
    run: Path, stage: str, recipe: str, values: dict[str, Any], base: str, learnt: Sequence[Group]
) -> Run:
    """The same, for a stage that learns groups of examples."""
    from training.writer import examples

    return start(run, stage, recipe, values, base, examples.counts(learnt), examples.texts(learnt))


def finish(run: Run, card: Path, picture: Path | None) -> None:
    """Say where the result stands."""
    shown = f" and {picture.name}" if picture else ""
    Console().print(f"Done. {run.folder} holds the result, {card.name}{shown}.")


def going_on_from(adapter: Path, model: Any) -> Any:
    """The model with an adapter to go on from."""
    from peft import PeftModel

    return PeftModel.from_pretrained(model, str(adapter), is_trainable=True, local_files_only=True)
