"""``antiphon train``: the stages of training, each in the folder of a run.

``reader``, ``heads`` and ``probe`` train what reads; ``writer``, ``preferences``, ``online`` and ``reranker`` train a
model of language; ``data`` makes texts to learn from. ``--set NAME=VALUE`` gives a stage another value.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
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
    from training.heads.network import Base as Encoder
    from training.runs.run import Run
    from training.writer.examples import Group
    from training.writer.preferences import Pair


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
    from training.runs.run import Run, RunStart, hash_of, hash_of_base

    about = {"model": name or Path(base).name, "sha256": hash_of_base(base)}
    return Run(run, RunStart(stage, recipe, values, about, {**counts, "hash": hash_of(texts)}))


def finish(run: Run, licences: Mapping[str, str], before: Scores, after: Scores, **more: Any) -> None:
    """Write the card of a run and its curves, and say where the result stands; ``more`` as of ``write_card``."""
    from training.runs.run import plot, write_card

    card, picture = write_card(run, licences=licences, before=before, after=after, **more), plot(run)
    curves = f" and {picture.name}" if picture else ""
    Console().print(f"Done. {run.folder} holds the result, {card.name}{curves}.")


def going_on_from(adapter: Path, model: Any) -> Any:
    from peft import PeftModel

    return PeftModel.from_pretrained(model, str(adapter), is_trainable=True, local_files_only=True)


V = TypeVar("V")
Scores = Mapping[str, float]


def changed_by(values: V, settings: Sequence[str] | None) -> V:
    """The values with those of ``--set`` that they have, in the type that they have.

    Raises:
        BadInput: a value is not of that type.
    """
    values_by_name = {field.name: getattr(values, field.name) for field in fields(values)}  # type: ignore[arg-type]
    changed = {}
    for setting in settings or ():
        name, _, text = setting.partition("=")
        if name in values_by_name:
            try:
                changed[name] = _as(values_by_name[name], text)
            except ValueError as err:
                kind = type(values_by_name[name]).__name__
                raise BadInput(
                    f"{name} cannot be {text!r}.", remedy=f"It takes a value such as {values_by_name[name]} ({kind})."
                ) from err
    return replace(values, **changed)  # type: ignore[type-var]  # V is a dataclass


def _as(example: Any, text: str) -> Any:
    if isinstance(example, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    return tuple(text.split(",")) if isinstance(example, tuple) else type(example)(text)


def refuse_unknown(settings: Sequence[str] | None, *several: Any) -> None:
    """Refuse a name that none of these values has.

    Raises:
        BadInput: there is one, or one without a value.
    """
    names = sorted({field.name for values in several for field in fields(values)})
    for setting in settings or ():
        if setting.partition("=")[0] not in names or "=" not in setting:
            raise BadInput(
                f"--set {setting} names no value of this stage.", remedy=f"These can be set: {', '.join(names)}."
            )


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
    int, typer.Option("--checkpoint-every", min=1, metavar="STEPS", help="A kill costs at most so many steps of work.")
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


def some(items: Sequence[V], most: int) -> list[V]:
    """As many as are wanted, the same ones each time."""
    chance = random.Random(0)  # nosec B311 # noqa: S311 - repeatable, no secret
    return chance.sample(list(items), min(most, len(items))) if most else list(items)


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
        raise BadInput(f"There are no weights at {begun}.", remedy="Name a file, such as one of core/engine/readers.")
    if begun and begun.resolve() == out.resolve():
        raise BadInput(f"The weights would be written over {begun}.", remedy="Name another folder for the run.")
    task = readers.task_of(which, most, goes_on=begun is not None)
    values = changed_by((readers.VALUES_ON if begun else readers.VALUES)[which], set_)
    refuse_unknown(set_, values)
    started = _start(run, f"reader of {which}", values, task.train, [*task.dev, *task.outside], begun)
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
    from training.heads import router

    rows = router.labelled(most)
    values = changed_by(router.VALUES_ABROAD if is_abroad else router.VALUES, set_)
    refuse_unknown(set_, values)
    learnt = [row for row in rows if row.split == "train"]
    started = _start(
        run, "router abroad" if is_abroad else "router", values, learnt, [row for row in rows if row.split != "train"]
    )
    out = run / "router.safetensors"
    tuned, table = router.train(rows, router.Outputs.of_taxonomy(), out, values, started.note, save_steps=every)
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
    from training.probe.adapter import Values
    from training.probe.run import ADAPTER, train
    from training.probe.texts import learnt

    if (run / ADAPTER).resolve() == Path(base).resolve():
        raise BadInput(f"The adapter would be written over {base}.", remedy="Name another folder for the run.")
    values = changed_by(Values(), set_)
    refuse_unknown(set_, values)
    texts = learnt(most)
    data = [*texts.texts, repr(texts.posts), repr(texts.stereotypes)]
    started = start(run, "probe", OWN, asdict(values), base, {"texts": len(texts.texts)}, data)
    before, after, table = train(started, texts, base, values, save_steps=every)
    finish(started, {"texts": LICENCE}, before, after, scored=_DEVELOPMENT, table=table)


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
    data = map(repr, (*learnt, *others))
    return start(run, stage, OWN, asdict(values), base, {"texts": len(learnt)}, data, name=name)


def _packaged(base: Encoder) -> Path:
    """Where a package has what a small encoder begins with."""
    from core.engine.backends.minilm import packaged_folder
    from training.heads import e5, network

    return packaged_folder() if base is network.Base.MINILM else e5.packaged().parent


def _finish(started: Run, score: str, tuned: Any, table: Any) -> None:
    before, after = {score: tuned.before}, {score: tuned.after}
    finish(started, {"texts": LICENCE}, before, after, scored=_DEVELOPMENT, table=table)


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

    groups_by_split, licences = learnt_and_held_out(also, licence)
    table = Table("source", "split", "examples", "licence")
    for split, groups in groups_by_split.items():
        for source, count in examples.counts(groups).items():
            table.add_row(source, split, f"{count:,}", licences.get(source, LICENCE))
    Console().print(table)
    if out is not None:
        rows = [
            {
                "split": split,
                "source": example.source,
                "prompt": [asdict(m) for m in example.prompt],
                "answer": example.answer,
            }
            for split, groups in groups_by_split.items()
            for group in groups
            for example in group
        ]
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def learnt_and_held_out(also: Sequence[str] | None, licence: str) -> tuple[dict[str, list[Group]], dict[str, str]]:
    """The groups of each split, ours and those of other sets, and the licences by source. Tells what is left out."""
    from training.published_sets import parse, read_set
    from training.writer import examples

    groups = {split: examples.groups(split) for split in ("train", "dev")}
    licences = {"Antiphon's own texts": LICENCE}
    for published in (parse(text, licence) for text in also or ()):
        taught, left_out = read_set(published)
        groups["train"] += taught
        for reason, count in left_out.items():
            Console().print(f"{published.name}: {count:,} rows are left out ({reason}).")
        licences[published.name] = published.licence
    return groups, licences


def _pairs_from(lessons: Path, out: Path | None) -> None:
    """Pairs of a community's own decisions."""
    import numpy as np

    from training.decisions import check_enough, decisions_of, kept, one_community, read_lessons, trust
    from training.online.run import readers, refuses

    rows = read_lessons(lessons)
    one_community(rows)
    decisions = list(decisions_of(rows, refuses))
    check_enough(decisions)
    trusted = trust(decisions, readers().drafts)
    table = Table("moderator", "decisions", "as the others", "weight")
    for moderator in trusted:
        table.add_row(
            moderator.moderator, str(moderator.decisions), f"{moderator.agreed:.2f}", f"{moderator.weight:.2f}"
        )
    Console().print(table)
    chosen = kept(decisions, trusted, np.random.default_rng(0).random(len(decisions)))
    check_enough(chosen)
    Console().print(f"{len(chosen)} pairs to learn from.")
    if out is not None:
        _write_pairs(out, [decision.pair for decision in chosen])


def _write_pairs(file: Path, pairs: Iterable[Pair]) -> None:
    """In the form that ``preferences --pairs`` reads."""
    rows = ({**asdict(pair), "prompt": [asdict(m) for m in pair.prompt]} for pair in pairs)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


_HELD_OUT: Final = 40


def writer(
    run: Folder,
    base: Base,
    recipe: Recipe = OWN,
    set_: Set = None,
    also: Also = None,
    licence: Licence = "",
    most: Annotated[int, typer.Option("--most", metavar="N", help="Posts to learn from, at most; 0 takes all.")] = 0,
    every: Every = 20,
) -> None:
    """Train a LoRA adapter that writes: explanations, claims, and replies by intent (CoARL's phases 1 and 2)."""
    need_extra()
    from training.writer import examples
    from training.writer.base import Lora, load_base, with_adapter
    from training.writer.sequences import fill, plant
    from training.writer.sft import Values, mean_loss, train

    values = changed_by(by_recipe(recipe, "writer", Values()), set_)
    shape = changed_by(by_recipe(recipe, "writer", Lora()), set_)
    refuse_unknown(set_, values, shape)
    groups_by_split, licences = learnt_and_held_out(also, licence)
    learnt = some(groups_by_split["train"], most)
    held_out = some(groups_by_split["dev"], min(most or _HELD_OUT, _HELD_OUT))
    counts, texts = examples.counts(learnt), examples.texts(learnt)
    started = start(run, "writer", recipe, {**asdict(shape), **asdict(values)}, base, counts, texts)
    model, tokenizer = load_base(base)
    model = with_adapter(model, shape, values.seed)
    dev = fill([plant(group, tokenizer) for group in held_out], values.sequence_tokens)
    before = {"loss, nats a token": mean_loss(model, track(dev, "Scoring unlearnt posts, before"))}
    phases = examples.phases(learnt, are_apart=values.is_phased)
    for number, (phase, groups) in enumerate(phases.items(), start=1):
        trees = [plant(group, tokenizer) for group in groups]
        if trees:
            note = partial(started.note, phase=phase if len(phases) > 1 else "")
            train(model, trees, dev, run / f"{number}-{phase}", values, note=note, save_steps=every)
    model.save_pretrained(run / "adapter")
    after = {"loss, nats a token": mean_loss(model, track(dev, "Scoring unlearnt posts, after"))}
    finish(started, licences, before, after)


def preferences(
    run: Folder,
    base: Base,
    adapter: Adapter,
    set_: Set = None,
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", metavar="FILE", help="JSON lines: prompt, chosen, rejected. Ours if not given."),
    ] = None,
    most: Annotated[int, typer.Option("--most", metavar="N", help="Pairs to learn from, at most; 0 takes all.")] = 0,
    every: Every = 20,
) -> None:
    """Go on with pairs of a better and a worse reply (direct preference optimisation)."""
    need_extra()
    from training.runs.run import hash_of_adapter
    from training.writer.base import load_base
    from training.writer.dpo import Values, train
    from training.writer.preferences import from_file, labelled

    values = changed_by(Values(), set_)
    refuse_unknown(set_, values)
    chosen = some(from_file(pairs) if pairs else list(labelled("train")), most)
    texts = [text for pair in chosen for text in (pair.chosen, pair.rejected)]
    counts = {"pairs": len(chosen), "adapter": hash_of_adapter(adapter)}
    started = start(run, "preferences", OWN, asdict(values), base, counts, texts)
    model, tokenizer = load_base(base)
    model = going_on_from(adapter, model)
    log = train(model, tokenizer, chosen, run, values, note=started.note, save_steps=every)
    steps = [entry for entry in log if "rewards/accuracies" in entry]
    ends = [{"pairs ranked right": step["rewards/accuracies"], "loss": step["loss"]} for step in (steps[0], steps[-1])]
    finish(started, {"pairs": LICENCE}, *ends, scored="the first and the last pairs that were learnt")


def online(
    run: Folder,
    base: Base,
    adapter: Adapter,
    method: Annotated[str, typer.Option("--method", metavar="NAME", help="grpo or rloo.")] = "grpo",
    recipe: Recipe = OWN,
    set_: Set = None,
    most: Annotated[int, typer.Option("--most", metavar="N", help="Prompts to answer, at most; 0 takes all.")] = 0,
    every: Every = 10,
) -> None:
    """Go on with rewards: several replies to each post, scored by the readers. It needs a GPU to end within a day."""
    need_extra()
    from training.online import run as online_run
    from training.runs.run import hash_of_adapter
    from training.writer.base import load_base

    values = changed_by(replace(by_recipe(recipe, "online", online_run.Values()), method=method), set_)
    refuse_unknown(set_, values)
    online_run.check(values)
    rows = some(online_run.rows(values), most)
    online_run.refuse_few(rows, values.prompts_a_step)
    counts = {"prompts": len(rows), "adapter": hash_of_adapter(adapter)}
    started = start(run, "online", recipe, asdict(values), base, counts, map(str, rows))
    model, tokenizer = load_base(base)
    model = going_on_from(adapter, model)
    rewards = online_run.rewards_of(values)
    online_run.train(model, tokenizer, rows, rewards, run, values, note=started.note, save_steps=every)
    scored = "the replies that were learnt from, in the first tenth of the steps and in the last"
    finish(started, {"posts": LICENCE}, *online_run.ends(started.log()), scored=scored)


def reranker(run: Folder, base: Base, recipe: Recipe = "f2rl", set_: Set = None, every: Every = 50) -> None:
    """Train a cross-encoder that orders passages for a claim (F2RL: InfoNCE over hard negatives)."""
    need_extra()
    from training import reranker as reranker_stage

    values = changed_by(by_recipe(recipe, "reranker", reranker_stage.Values()), set_)
    refuse_unknown(set_, values)
    model = reranker_stage.open_base(base)
    learnt, held_out = reranker_stage.texts(values.hard_negatives)
    started = start(
        run, "reranker", recipe, asdict(values), base, {"pairs": len(learnt)}, (row.question for row in learnt)
    )
    before, after = reranker_stage.train(model, learnt, held_out, run, values, started.note, save_steps=every)
    finish(started, {"texts": LICENCE}, before, after)


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
