"""The commands that train a model of language: ``writer``, ``preferences``, ``online`` and ``reranker``.

Owns which texts, base and values a stage gets, and what it leaves. The stages themselves know no command line.
Libraries that take seconds to load are imported when a command runs.
"""

from __future__ import annotations

import random
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import track

from training.cli.options import (
    LICENCE,
    Adapter,
    Also,
    Base,
    Every,
    Folder,
    Licence,
    Recipe,
    Set,
    need_extra,
    some,
)
from training.cli.starting import finish, going_on_from, start, start_with_groups
from training.cli.texts import learnt_and_held_out
from training.cli.values import changed_by, refuse_unknown
from training.recipes import OWN, by_recipe

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
    from training.runs.card import plot, write_card
    from training.writer import examples
    from training.writer.base import Lora, load_base, with_adapter
    from training.writer.packing import fill, plant
    from training.writer.sft import Values, mean_loss, train

    values = changed_by(by_recipe(recipe, "writer", Values()), set_)
    shape = changed_by(by_recipe(recipe, "writer", Lora()), set_)
    refuse_unknown(set_, values, shape)
    found, licences = learnt_and_held_out(also, licence)
    learnt, held_out = some(found["train"], most), some(found["dev"], min(most or _HELD_OUT, _HELD_OUT))
    started = start_with_groups(run, "writer", recipe, {**asdict(shape), **asdict(values)}, base, learnt)
    model, tokenizer = load_base(base)
    model = with_adapter(model, shape, values.seed)
    dev = fill([plant(group, tokenizer) for group in held_out], values.sequence_tokens)
    before = {"loss, nats a token": mean_loss(model, track(dev, "Scoring unlearnt posts, before"))}
    phases = examples.phases(learnt, are_apart=values.is_phased)
    for number, (phase, groups) in enumerate(phases.items(), start=1):
        trees = [plant(group, tokenizer) for group in groups]
        if trees:
            told = partial(started.note, phase=phase if len(phases) > 1 else "")
            train(model, trees, dev, run / f"{number}-{phase}", values, note=told, save_steps=every)
    model.save_pretrained(run / "adapter")
    after = {"loss, nats a token": mean_loss(model, track(dev, "Scoring unlearnt posts, after"))}
    finish(started, write_card(started, licences=licences, before=before, after=after), plot(started))


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
    from training.runs.base import hash_of_adapter
    from training.runs.card import plot, write_card
    from training.writer.base import load_base
    from training.writer.dpo import Values, train
    from training.writer.preferences import from_file, labelled

    values = changed_by(Values(), set_)
    refuse_unknown(set_, values)
    found = from_file(pairs) if pairs else list(labelled("train"))
    chance = random.Random(values.seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    found = chance.sample(found, min(most or len(found), len(found)))
    texts = [text for pair in found for text in (pair.chosen, pair.rejected)]
    counts = {"pairs": len(found), "adapter": hash_of_adapter(adapter)}
    started = start(run, "preferences", OWN, asdict(values), base, counts, texts)
    model, tokenizer = load_base(base)
    model = going_on_from(adapter, model)
    log = train(model, tokenizer, found, run, values, note=started.note, save_steps=every)
    steps = [entry for entry in log if "rewards/accuracies" in entry]
    ends = [{"pairs ranked right": one["rewards/accuracies"], "loss": one["loss"]} for one in (steps[0], steps[-1])]
    card = write_card(
        started,
        licences={"pairs": LICENCE},
        before=ends[0],
        after=ends[1],
        scored="the first and the last pairs that were learnt",
    )
    finish(started, card, plot(started))


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
    from training.online import groups, learning
    from training.runs.base import hash_of_adapter
    from training.writer.base import load_base

    values = changed_by(replace(by_recipe(recipe, "online", groups.Values()), method=method), set_)
    refuse_unknown(set_, values)
    groups.check(values)
    rows = some(learning.rows(values), most)
    learning.refuse_few(rows, values.prompts_a_step)
    counts = {"prompts": len(rows), "adapter": hash_of_adapter(adapter)}
    started = start(run, "online", recipe, asdict(values), base, counts, map(str, rows))
    model, tokenizer = load_base(base)
    model = going_on_from(adapter, model)
    learning.learn(model, tokenizer, rows, run, values, started.note, save_steps=every)
    from training.runs.card import plot, write_card

    before, after = learning.ends(started.log())
    card = write_card(
        started,
        licences={"posts": LICENCE},
        before=before,
        after=after,
        scored="the replies that were learnt from, in the first tenth of the steps and in the last",
    )
    finish(started, card, plot(started))


def reranker(
    run: Folder,
    base: Base,
    recipe: Recipe = "f2rl",
    set_: Set = None,
    every: Every = 50,
) -> None:
    """Train a cross-encoder that orders passages for a claim (F2RL: InfoNCE over hard negatives)."""
    need_extra()
    from training.reranker import infonce
    from training.runs.card import plot, write_card

    values = changed_by(by_recipe(recipe, "reranker", infonce.Values()), set_)
    refuse_unknown(set_, values)
    model = infonce.open_base(base)
    learnt, held_out = infonce.texts(values.hard_negatives)
    started = start(
        run, "reranker", recipe, asdict(values), base, {"pairs": len(learnt)}, (row.question for row in learnt)
    )
    before, after = infonce.train(model, learnt, held_out, run, values, started.note, save_steps=every)
    finish(started, write_card(started, licences={"texts": LICENCE}, before=before, after=after), plot(started))
