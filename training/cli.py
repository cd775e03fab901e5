"""``antiphon train``: the stages of training, each in the folder of a run.

Owns the commands: which texts, base and values a stage gets, and what it leaves. The stages themselves know no command
line. Libraries that take seconds to load are imported when a command runs.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.errors import BadInput
from training.recipes import OWN, by_recipe

if TYPE_CHECKING:
    from training.runs.run import Run
    from training.writer.examples import Group
    from training.writer.preferences import Pair

app = typer.Typer(help="Train the small models, and a writer of your own.", no_args_is_help=True)
V = TypeVar("V")
_EXTRA: Final = ("peft", "trl", "datasets", "gguf")
_LICENCE: Final = "Apache-2.0, Antiphon's own texts (training/data/README.md)"
_HELD_OUT: Final = 40

Folder = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of the run; one that was killed goes on there.")
]
Base = Annotated[
    str, typer.Option("--base", metavar="MODEL", help="A GGUF file, a folder, or name@commit of a model on the hub.")
]
Adapter = Annotated[Path, typer.Option("--adapter", metavar="FOLDER", help="The adapter to go on from.")]
Recipe = Annotated[str, typer.Option("--recipe", metavar="NAME", help="own, or a paper's values: coarl, f2rl.")]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, such as out.safetensors.")]
Also = Annotated[
    list[str] | None,
    typer.Option("--also", metavar="NAME=FILE", help="A published set, from your own copy; several times for several."),
]
Licence = Annotated[str, typer.Option("--licence", metavar="WORDS", help="Under which licence you have these sets.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Another value; may be given several times.")
]


@app.command()
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

    found, licences = _texts(also, licence)
    table = Table("source", "split", "examples", "licence")
    for split, groups in found.items():
        for source, count in examples.counts(groups).items():
            table.add_row(source, split, f"{count:,}", licences.get(source, _LICENCE))
    Console().print(table)
    if out is not None:
        rows = [
            {"split": split, "source": one.source, "prompt": [asdict(m) for m in one.prompt], "answer": one.answer}
            for split, groups in found.items()
            for group in groups
            for one in group
        ]
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


@app.command()
def writer(
    run: Folder,
    base: Base,
    recipe: Recipe = OWN,
    set_: Set = None,
    also: Also = None,
    licence: Licence = "",
    most: Annotated[int, typer.Option("--most", metavar="N", help="Posts to learn from, at most; 0 takes all.")] = 0,
) -> None:
    """Train a LoRA adapter that writes: explanations, claims, and replies by intent (CoARL's phases 1 and 2)."""
    _need_extra()
    from training.runs.card import plot, write_card
    from training.writer import examples
    from training.writer.base import Lora, load_base, with_adapter
    from training.writer.packing import fill, plant
    from training.writer.sft import Values, mean_loss, train

    values = _set(by_recipe(recipe, "writer", Values()), set_)
    shape = _set(by_recipe(recipe, "writer", Lora()), set_)
    _refuse_unknown(set_, values, shape)
    found, licences = _texts(also, licence)
    learnt, held_out = _some(found["train"], most), _some(found["dev"], _HELD_OUT)
    started = _start(run, "writer", recipe, {**asdict(shape), **asdict(values)}, base, learnt)
    model, tokenizer = load_base(base)
    model = with_adapter(model, shape, values.seed)
    dev = fill([plant(group, tokenizer) for group in held_out], values.sequence_tokens)
    before = {"loss, nats a token": mean_loss(model, dev)}
    phases = examples.phases(learnt, are_apart=values.is_phased)
    for number, (phase, groups) in enumerate(phases.items(), start=1):
        trees = [plant(group, tokenizer) for group in groups]
        if trees:
            train(model, trees, dev, run / f"{number}-{phase}", values, note=started.note)
    model.save_pretrained(run / "adapter")
    after = {"loss, nats a token": mean_loss(model, dev)}
    _finish(started, write_card(started, licences=licences, before=before, after=after), plot(started))


@app.command()
def samples(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where the pairs are written, as JSON lines.")],
    base: Base,
    adapter: Adapter,
    set_: Set = None,
    most: Annotated[int, typer.Option("--most", metavar="N", help="Posts to answer, at most; 0 takes all.")] = 0,
) -> None:
    """Let the writer answer posts several times, and pair the best answers with the worst, for `preferences`."""
    _need_extra()
    from training.online import samples as own
    from training.online.learning import readers
    from training.online.rewards import Rewards
    from training.writer.base import load_base

    values = _set(own.Values(), set_)
    _refuse_unknown(set_, values)
    model, tokenizer = load_base(base)
    model = _with(adapter, model)
    written = dict(track(own.write(model, tokenizer, _some(own.wanted(), most), values), "Answering"))
    score = own.scorer(Rewards(readers().drafts, readers().embedder), readers().embedder)
    found = list(own.pairs(written, score, margin=values.margin))
    _write_pairs(out, found)
    for source, count in Counter(pair.source for pair in found).items():
        Console().print(f"{count} pairs: {source}.")


@app.command()
def preferences(
    run: Folder,
    base: Base,
    adapter: Adapter,
    set_: Set = None,
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", metavar="FILE", help="JSON lines: prompt, chosen, rejected. Ours if not given."),
    ] = None,
    held_out: Annotated[
        Path | None,
        typer.Option("--held-out", metavar="FILE", help="A community's pairs that are not learnt, to judge by."),
    ] = None,
    most: Annotated[int, typer.Option("--most", metavar="N", help="Pairs to learn from, at most; 0 takes all.")] = 0,
) -> None:
    """Go on with pairs of a better and a worse reply (direct preference optimisation)."""
    _need_extra()
    from training.runs.card import plot, write_card
    from training.writer.base import load_base
    from training.writer.dpo import Values, train
    from training.writer.held_out import community_of, compare, keep, margins
    from training.writer.preferences import from_file, labelled

    values = _set(Values(), set_)
    _refuse_unknown(set_, values)
    found = from_file(pairs) if pairs else list(labelled("train"))
    community, judged = (community_of(held_out), from_file(held_out)) if held_out else ("", [])
    chance = random.Random(values.seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    found = chance.sample(found, min(most or len(found), len(found)))
    texts = [text for pair in found for text in (pair.chosen, pair.rejected)]
    started = _started(run, "preferences", OWN, asdict(values), base, {"pairs": len(found)}, texts)
    model, tokenizer = load_base(base)
    model = _with(adapter, model)
    was = margins(model, tokenizer, judged)
    log = train(model, tokenizer, found, run, values, note=started.note)
    if community:
        verdict = compare(community, was, margins(model, tokenizer, judged))
        keep(verdict, run / "adapter")
        Console().print(
            f"{verdict.better} of {verdict.pairs} decisions of {community} that were not learnt prefer the new writer; "
            f"chance alone gives as many {verdict.chance:.0%} of the time."
        )
    steps = [entry for entry in log if "rewards/accuracies" in entry]
    ends = [{"pairs ranked right": one["rewards/accuracies"], "loss": one["loss"]} for one in (steps[0], steps[-1])]
    card = write_card(started, licences={"pairs": _LICENCE}, before=ends[0], after=ends[1])
    _finish(started, card, plot(started))


@app.command()
def online(
    run: Folder,
    base: Base,
    adapter: Adapter,
    method: Annotated[str, typer.Option("--method", metavar="NAME", help="grpo, rloo or ppo.")] = "grpo",
    recipe: Recipe = OWN,
    set_: Set = None,
    most: Annotated[int, typer.Option("--most", metavar="N", help="Posts to write for, at most; 0 takes all.")] = 0,
) -> None:
    """Go on with rewards: several replies to each post, scored by the readers. It needs a GPU to end within a day."""
    _need_extra()
    from training.online import learning
    from training.writer.base import load_base

    is_ppo = method == "ppo"
    values: Any = by_recipe(recipe, "online", learning.ppo_values()) if is_ppo else learning.group_values(method)
    values = _set(values, set_)
    _refuse_unknown(set_, values)
    rows = _some(learning.rows(values), most)
    started = _started(
        run, "online", recipe, {"method": method, **asdict(values)}, base, {"prompts": len(rows)}, map(str, rows)
    )
    model, tokenizer = load_base(base)
    model = _with(adapter, model)
    before, after = learning.learn(model, tokenizer, rows, run, values, started.note)
    from training.runs.card import plot, write_card

    _finish(started, write_card(started, licences={"posts": _LICENCE}, before=before, after=after), plot(started))


@app.command()
def reranker(
    run: Folder,
    base: Base,
    recipe: Recipe = "f2rl",
    set_: Set = None,
) -> None:
    """Train a cross-encoder that orders passages for a claim (F2RL: InfoNCE over hard negatives)."""
    _need_extra()
    from training.reranker import infonce, learning
    from training.runs.card import plot, write_card

    values = _set(by_recipe(recipe, "reranker", infonce.Values()), set_)
    _refuse_unknown(set_, values)
    learnt, held_out = learning.texts(values.hard_negatives)
    started = _started(
        run, "reranker", recipe, asdict(values), base, {"pairs": len(learnt)}, (row.question for row in learnt)
    )
    before, after = infonce.train(learning.open_base(base), learnt, held_out, run, values, started.note)
    _finish(started, write_card(started, licences={"texts": _LICENCE}, before=before, after=after), plot(started))


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
def export(
    adapter: Annotated[Path, typer.Argument(metavar="ADAPTER", help="A folder of PEFT, as the stages leave it.")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Such as writer.gguf; its card comes beside it.")],
    weights: Annotated[Path, typer.Option("--weights", metavar="GGUF", help="The weights that it was trained on.")],
    tasks: Annotated[
        str, typer.Option("--tasks", metavar="NAMES", help="What it was trained for, with commas.")
    ] = "reply",
) -> None:
    """Write an adapter as GGUF, with the card that `llm.adapter` needs. vLLM takes the folder as it is."""
    _need_extra()
    from training.writer.export import export_with_card
    from training.writer.held_out import kept

    card = export_with_card(adapter, out, weights, tuple(task.strip() for task in tasks.split(",")), **kept(adapter))
    Console().print(f"{out} is written. Set llm.adapter to it; its card is {card}.")


def _need_extra() -> None:
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:
        raise BadInput(
            f"Training needs packages that are not installed: {', '.join(missing)}.",
            remedy="Run: pip install 'antiphon[training]'",
        )


def _pairs_from(lessons: Path, out: Path | None) -> None:
    """Pairs of a community's own decisions; a fifth of the posts is held out, in a file beside."""
    import numpy as np

    from training.desk.decisions import decisions_of, one_community, read_lessons, split_by_post
    from training.desk.trust import check_enough, kept, trust
    from training.online.learning import reader_of_drafts, refuses

    rows = read_lessons(lessons)
    found = list(decisions_of(rows, refuses))
    check_enough(found)
    trusted = trust(found, reader_of_drafts())
    table = Table("moderator", "decisions", "as the others", "weight")
    for one in trusted:
        table.add_row(one.moderator, str(one.decisions), f"{one.agreed:.2f}", f"{one.weight:.2f}")
    Console().print(table)
    learnt, held_out = split_by_post(kept(found, trusted, np.random.default_rng(0).random(len(found))))
    Console().print(f"{len(learnt)} pairs to learn from, {len(held_out)} held out.")
    if out is not None:
        community = one_community(rows)
        _write_pairs(out, [one.pair for one in learnt], community)
        _write_pairs(out.with_suffix(".held-out.jsonl"), [one.pair for one in held_out], community)


def _write_pairs(file: Path, found: Iterable[Pair], community: str = "") -> None:
    """In the form that ``preferences --pairs`` reads."""
    whose = {"community": community} if community else {}
    rows = ({**asdict(pair), "prompt": [asdict(m) for m in pair.prompt], **whose} for pair in found)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _with(adapter: Path, model: Any) -> Any:
    """The model with an adapter to go on from."""
    from peft import PeftModel

    return PeftModel.from_pretrained(model, str(adapter), is_trainable=True, local_files_only=True)


def _texts(also: Sequence[str] | None, licence: str) -> tuple[dict[str, list[Group]], dict[str, str]]:
    """The groups of each split, ours and those of other sets, and the licences by source."""
    from training.sets.published import groups_of, parse
    from training.writer import examples

    found = {split: examples.groups(split) for split in ("train", "dev")}
    licences = {"Antiphon's own texts": _LICENCE}
    for one in (parse(said, licence) for said in also or ()):
        found["train"] += groups_of(one)
        licences[one.name] = one.licence
    return found, licences


def _start(run: Path, stage: str, recipe: str, values: dict[str, Any], base: str, learnt: Sequence[Group]) -> Run:
    from training.writer import examples

    return _started(run, stage, recipe, values, base, examples.counts(learnt), examples.texts(learnt))


def _started(
    run: Path, stage: str, recipe: str, values: dict[str, Any], base: str, counts: dict[str, Any], texts: Any
) -> Run:
    from training.runs.run import Run, Started, hash_of, hash_of_base

    about = {"model": Path(base).name, "sha256": hash_of_base(base)}
    return Run(run, Started(stage, recipe, values, about, {**counts, "hash": hash_of(texts)}))


def _finish(run: Run, card: Path, picture: Path | None) -> None:
    shown = f" and {picture.name}" if picture else ""
    Console().print(f"Done. {run.folder} holds the result, {card.name}{shown}.")


def _some(found: Sequence[V], most: int) -> list[V]:
    """As many as are wanted, the same ones each time."""
    chance = random.Random(0)  # nosec B311 # noqa: S311 - repeatable, no secret
    return chance.sample(list(found), min(most, len(found))) if most else list(found)


def _set(values: V, given: Sequence[str] | None) -> V:
    """The values with those of ``--set`` that they have, in the type that they have.

    Raises:
        BadInput: a value is not of that type.
    """
    known = {field.name: getattr(values, field.name) for field in fields(values)}  # type: ignore[arg-type]
    changed = {}
    for one in given or ():
        name, _, text = one.partition("=")
        if name in known:
            try:
                changed[name] = _as(known[name], text)
            except ValueError as err:
                kind = type(known[name]).__name__
                raise BadInput(
                    f"{name} cannot be {text!r}.", remedy=f"It takes a value such as {known[name]} ({kind})."
                ) from err
    return replace(values, **changed)  # type: ignore[type-var]  # V is a dataclass


def _as(example: Any, text: str) -> Any:
    if isinstance(example, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    return tuple(text.split(",")) if isinstance(example, tuple) else type(example)(text)


def _refuse_unknown(given: Sequence[str] | None, *several: Any) -> None:
    known = sorted({field.name for values in several for field in fields(values)})
    for one in given or ():
        if one.partition("=")[0] not in known or "=" not in one:
            raise BadInput(
                f"--set {one} names no value of this stage.", remedy=f"These can be set: {', '.join(known)}."
            )
