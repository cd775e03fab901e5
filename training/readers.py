"""Trains the two small readers of ``core/scoring/readers`` on the texts of ``training/data``.

    python -m training.readers posts
    python -m training.readers drafts

Each command reads the training split, keeps the epoch that does best on the development split, brings the weights to
eight bits, fits the calibration on the development split with these, and writes the file that ships. The test split is
never looked at; ``python -m bench.posts`` and ``python -m bench.reader`` measure on it. The same data, seed and machine
give the same weights; another machine rounds differently, so that figures move within their noise.

A word vector changes only where its word occurs; the others come with the package and are not shipped again. A post is
sometimes shown with disguises, emoji, an order to the model, or beside another one in any language, so that neither a
spelling nor a friendly neighbour hides hate, and none of them looks like it. A reply is sometimes shown under another
group's post, where it is off subject.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from torch.nn import functional

from core.llm.backends.encoders import SmallEncoder, new_network, pack
from core.models import TargetGroup
from core.scoring.readers.outputs import DRAFT_OUTPUTS, INTENTS, POST_OUTPUTS, DraftFault
from core.wording.readable import readable
from training.corpus import DraftRow, PostRow, draft_targets, draft_values, drafts, ordinary, post_targets, posts
from training.disguising import disguised, with_emoji, with_order

SEED: Final = 7
WEIGHTS: Final = Path("core/scoring/readers")
LEAST_KNOWN: Final = 0.75
"""The least that recall and specificity on the development split surely are: the lower end of the 95 % interval."""
SURE: Final = 0.9
AGREEMENTS: Final = {
    "en": (
        "I agree.",
        "True.",
        "Exactly,",
        "Somebody had to say it:",
        "Sadly,",
        "Well said.",
        "You have a point.",
        "Yes,",
    ),
    "es": (
        "De acuerdo.",
        "Es verdad.",
        "Exacto,",
        "Alguien tenía que decirlo:",
        "Por desgracia,",
        "Bien dicho.",
        "Sí,",
    ),
    "it": ("Sono d'accordo.", "È vero.", "Esatto,", "Qualcuno doveva dirlo:", "Purtroppo,", "Ben detto.", "Sì,"),
    "eu": ("Ados nago.", "Egia da.", "Hori da,", "Norbaitek esan behar zuen:", "Zoritxarrez,", "Ondo esana.", "Bai,"),
}
WARNED_OF_GOOD: Final = 0.15
REFUSED_OF_GOOD: Final = 0.05
HARMFUL_OF_GOOD: Final = 0.01
_BATCH: Final = 32
_RATE: Final = 1.5e-4
_WARM: Final = 0.1
_DECAY: Final = 0.01
_OF_SEVERITY: Final = POST_OUTPUTS.index("severity")
_MOST_SEVERE: Final = 5


@dataclass(frozen=True)
class Task:
    """What is learnt: examples with targets, how they are shown in an epoch, and what each output counts for.

    Attributes:
        train, dev: rows and their targets of shape (n, outputs); NaN is not learnt.
        shown: the texts and targets of one epoch, in random order.
        texts: the texts as they are read in use.
        weights: shape (outputs,).
    """

    outputs: Sequence[str]
    train: Sequence[Any]
    dev: Sequence[Any]
    targets: Callable[[Sequence[Any]], NDArray[np.float32]]
    texts: Callable[[Sequence[Any]], list[tuple[str, ...]]]
    shown: Callable[[random.Random], list[tuple[tuple[str, ...], NDArray[np.float32]]]]
    weights: NDArray[np.float32]
    main: str


def scaled(targets: NDArray[np.float32]) -> NDArray[np.float32]:
    """The targets of posts with the severity from 0 to 1."""
    found = targets.copy()
    found[:, _OF_SEVERITY] = (found[:, _OF_SEVERITY] - 1) / (_MOST_SEVERE - 1)
    return found


def task_of_posts() -> Task:
    """Posts: hateful or not, how, and whom."""
    rows = posts()
    train, dev = _split(rows, "train"), _split(rows, "dev")
    known, talk = scaled(post_targets(train)), list(ordinary("train"))
    nothing = np.array([0.0] * _OF_SEVERITY + [np.nan] + [0.0] * len(TargetGroup), np.float32)

    def texts(chosen: Sequence[PostRow]) -> list[tuple[str, ...]]:
        return [(readable(row.text, row.language),) for row in chosen]

    def shown(chance: random.Random) -> list[tuple[tuple[str, ...], NDArray[np.float32]]]:
        found = []
        for at, row in enumerate(train):
            text, target = row.text, known[at]
            if chance.random() < 0.35:
                text = disguised(text, chance)
            if chance.random() < 0.15:
                other = chance.randrange(len(train))
                text, target = _beside(text, train[other].text, target, known[other], chance)
            if chance.random() < 0.1:
                text = _beside(text, _stretch(talk, chance), target, nothing, chance)[0]
            if chance.random() < 0.1:
                text = with_emoji(text, chance)
            if chance.random() < 0.06:
                text = with_order(text, chance)
            found.append(((readable(text, row.language),), target))
        found += [((readable(text),), nothing) for text in talk]
        found += [((readable(_stretch(talk, chance)),), nothing) for _ in range(len(talk) // 3)]
        return _shuffled(found, chance)

    weights = np.array([4, 1, 1, 1, 0.5] + [1] * len(TargetGroup), np.float32)
    return Task(POST_OUTPUTS, train, dev, lambda r: scaled(post_targets(r)), texts, shown, weights, "hateful")


def _beside(
    text: str, other: str, target: NDArray[np.float32], others: NDArray[np.float32], chance: random.Random
) -> tuple[str, NDArray[np.float32]]:
    """Two texts as one, which does whatever either does."""
    pair = [text, other]
    chance.shuffle(pair)
    return ("\n" if chance.random() < 0.3 else " ").join(pair), np.fmax(target, others)


def _stretch(talk: Sequence[str], chance: random.Random) -> str:
    """Several lines of ordinary talk as one message, as long as a piece of a long post."""
    return " ".join(chance.sample(talk, chance.choice((2, 3, 4, 5))))


def task_of_drafts() -> Task:
    """Drafts under their posts: fit to be shown or not, and why."""
    rows = drafts()
    train, dev = _split(rows, "train"), _split(rows, "dev")
    known = draft_targets(train)
    attacked = {row.id: row.readings or (row.meant,) for row in posts()}
    groups = {
        id_: "".join(sorted({letter for label in labels for letter in _groups(label)}))
        for id_, labels in attacked.items()
    }
    others = {row.post_id: row for row in train}
    sides = draft_values("a")

    def texts(chosen: Sequence[DraftRow]) -> list[tuple[str, ...]]:
        return [(readable(row.post, row.language), row.text) for row in chosen]

    def shown(chance: random.Random) -> list[tuple[tuple[str, ...], NDArray[np.float32]]]:
        found = []
        for at, row in enumerate(train):
            post, target, text = row.post, known[at], row.text
            fit = target[DRAFT_OUTPUTS.index("unfit")] < 0.5
            if fit and chance.random() < 0.08:
                other = others[chance.choice(list(others))]
                generic = target[DRAFT_OUTPUTS.index(DraftFault.GENERIC)] >= 0.5
                if (
                    other.language == row.language
                    and not generic
                    and not set(groups[other.post_id]) & set(groups[row.post_id])
                ):
                    post, target = other.post, target.copy()
                    target[DRAFT_OUTPUTS.index(DraftFault.OFF_SUBJECT)] = 1
                    target[DRAFT_OUTPUTS.index("unfit")] = 1
            if chance.random() < 0.08:
                other = others[chance.choice(list(others))]
                hate = other.post if other.language == row.language and chance.random() < 0.5 else row.post
                found.append(((readable(row.post, row.language), _agreeing(hate, row.language, chance)), sides))
            if chance.random() < 0.2:
                text = text.casefold()
            found.append(((readable(post, row.language), text), target))
        return _shuffled(found, chance)

    weights = np.array([4, 1.5] + [1] * len(DraftFault) + [0.3] * len(INTENTS), np.float32)
    return Task(DRAFT_OUTPUTS, train, dev, draft_targets, texts, shown, weights, "unfit")


def _agreeing(hate: str, language: str, chance: random.Random) -> str:
    """A hateful post as a reply, with or without words of agreement: it sides with hate."""
    before = chance.choice(("", "", *AGREEMENTS[language])) if language in AGREEMENTS else ""
    return f"{before} {hate}".strip()


def _groups(label: str) -> str:
    return label.split(":")[1] if label.startswith("h:") else ""


def _split(rows: Sequence[Any], name: str) -> list[Any]:
    return [row for row in rows if row.split == name]


def _shuffled(found: list[Any], chance: random.Random) -> list[Any]:
    """Random order, but texts of like length beside each other within a stretch, which saves padding."""
    chance.shuffle(found)
    stretch = _BATCH * 16
    ordered = []
    for start in range(0, len(found), stretch):
        part = sorted(found[start : start + stretch], key=lambda one: sum(map(len, one[0])))
        batches = [part[at : at + _BATCH] for at in range(0, len(part), _BATCH)]
        chance.shuffle(batches)
        ordered += [one for batch in batches for one in batch]
    return ordered


def _batches(examples: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(examples), _BATCH):
        yield examples[start : start + _BATCH]


def loss_of(logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Weighted binary cross-entropy with what the readings say; an output that has no target is not counted."""
    known = ~torch.isnan(targets)
    each = functional.binary_cross_entropy_with_logits(logits, torch.nan_to_num(targets), reduction="none")
    return (each * known * weights).sum() / (known * weights).sum()


def trained(task: Task, epochs: int, rate: float = _RATE) -> Any:
    """The network after the epoch with the best area under the curve of the main output on the development split."""
    torch.manual_seed(SEED)
    chance = random.Random(SEED)  # noqa: S311 - a reproducible order, no secret
    network = new_network(len(task.outputs))
    vectors, *learning = network.parameters()
    network.encoder.embeddings.word_embeddings.sparse = True  # a step touches few rows of a large table
    optimizers = (
        torch.optim.AdamW(learning, lr=rate, weight_decay=_DECAY, fused=True),
        torch.optim.SparseAdam([vectors], lr=rate),
    )
    steps = epochs * -(-len(task.shown(random.Random(SEED))) // _BATCH)  # noqa: S311 - only counted
    schedules = [torch.optim.lr_scheduler.LambdaLR(one, lambda step: _share(step, steps)) for one in optimizers]
    weights = torch.tensor(task.weights)
    best, kept = -1.0, network.state_dict()
    for epoch in range(epochs):
        network.train()
        losses = []
        for batch in _batches(task.shown(chance)):
            tokens = network.tokenized([texts for texts, _ in batch])
            targets = torch.tensor(np.stack([target for _, target in batch]))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = network(tokens)
            loss = loss_of(logits.float(), targets, weights)
            for learner in optimizers:
                learner.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            for stepping, schedule in zip(optimizers, schedules, strict=True):
                stepping.step()
                schedule.step()
            losses.append(loss.item())
        score = _area(network, task)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, development AUC {score:.4f}", flush=True)  # noqa: T201
        if score > best:
            best, kept = score, {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.load_state_dict(kept)
    return network.eval()


def _share(step: int, steps: int) -> float:
    """The share of the learning rate at a step: a straight rise over the first tenth, then a straight fall."""
    warm = max(_WARM * steps, 1)
    return min(step / warm, (steps - step) / max(steps - warm, 1))


def _area(network: Any, task: Task) -> float:
    network.eval()
    at = list(task.outputs).index(task.main)
    texts, labels = task.texts(task.dev), task.targets(task.dev)[:, at] > 0.5
    order = sorted(range(len(texts)), key=lambda row: sum(map(len, texts[row])))
    found = np.empty(len(texts))
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            found[rows] = network(network.tokenized([texts[row] for row in rows]))[:, at].numpy()
    return float(roc_auc_score(labels, found))


def calibration(logits: NDArray[np.float32], targets: NDArray[np.float32]) -> list[tuple[float, float]]:
    """For each output the slope and offset that make its logit a probability (Platt); (1, 0) where few are known."""
    found = []
    for at in range(targets.shape[1]):
        known = ~np.isnan(targets[:, at])
        said = targets[known, at] >= 0.5
        if known.sum() < 50 or min(said.sum(), (~said).sum()) < 10:
            found.append((1.0, 0.0))
            continue
        fit = LogisticRegression(C=100.0).fit(logits[known, at : at + 1], said)
        found.append((round(float(fit.coef_[0, 0]), 4), round(float(fit.intercept_[0]), 4)))
    return found


def known_languages(task: Task, chances: NDArray[np.float64]) -> list[str]:
    """The languages in which the main output finds enough and refuses little on the development split."""
    said = task.targets(task.dev)[:, list(task.outputs).index(task.main)] > 0.5
    spoken = np.array([row.language for row in task.dev])
    known = []
    for language in sorted(set(spoken)):
        mine = spoken == language
        recall, specificity = (chances[mine & said] >= 0.5).mean(), (chances[mine & ~said] < 0.5).mean()
        print(f"{language}: recall {recall:.3f}, specificity {specificity:.3f} of {mine.sum()}", flush=True)  # noqa: T201
        if min(_surely(chances[mine & said] >= 0.5), _surely(chances[mine & ~said] < 0.5)) >= LEAST_KNOWN:
            known.append(str(language))
    return known


def _surely(right: NDArray[np.bool_]) -> float:
    """The lower end of the 95 % interval (Wilson) of a share."""
    return float(binomtest(int(right.sum()), len(right)).proportion_ci(method="wilson").low)


def unsure_between(chances: NDArray[np.float64], said: NDArray[np.bool_]) -> tuple[float, float]:
    """The probabilities between which the reader is not sure: outside, nine in ten of what it says are right."""
    grid = np.linspace(0.02, 0.98, 97)
    high = next((p for p in grid if p >= 0.5 and said[chances >= p].mean() >= SURE), 0.98)
    low = next((p for p in grid[::-1] if p <= 0.5 and (~said)[chances < p].mean() >= SURE), 0.02)
    return round(float(low), 2), round(float(high), 2)


def false_alarms(logits: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """How rarely ordinary messages exceed a logit: log10 of one in how many, and the logits, both rising.

    Up to one in fifty the share is counted; beyond, a straight line through the rarest twentieth goes on, since a few
    thousand messages cannot show what one in two thousand does.
    """
    ordered = np.sort(logits)[::-1]
    rarity = np.log10(len(ordered) / np.arange(1, len(ordered) + 1))
    tail = slice(0, max(len(ordered) // 20, 10))
    slope, offset = np.polyfit(ordered[tail], rarity[tail], 1)
    slope = max(float(slope), 0.05)
    counted = np.array([0.0, 0.3, 0.7, 1.0, 1.3, 1.7])
    at = np.interp(counted, rarity[::-1], ordered[::-1])
    beyond = np.array([2.0, 2.5, 3.0, 3.3, 3.7, 4.0, 5.0])
    there = np.maximum.accumulate(np.concatenate([at, (beyond - offset) / slope]))
    return [round(float(one), 3) for one in (*counted, *beyond)], [round(float(one), 3) for one in there]


def limits(unfit: NDArray[np.float64], said: NDArray[np.bool_]) -> tuple[float, float]:
    """From which probability a draft is warned of, and refused: what these cost of the good drafts is fixed."""
    good = unfit[~said]
    warned, refused = (float(np.quantile(good, 1 - share)) for share in (WARNED_OF_GOOD, REFUSED_OF_GOOD))
    return round(warned, 3), round(refused, 3)


def measured(task: Task, out: Path, about: dict[str, Any]) -> None:
    """Fit what stands beside the weights: calibration, languages, and the limits of use."""
    targets = task.targets(task.dev)
    logits = SmallEncoder(out).logits(task.texts(task.dev))
    about["calibration"] = calibration(logits, targets)
    at = list(task.outputs).index(task.main)
    slope, offset = about["calibration"][at]
    main = logits[:, at].astype(np.float64) * slope + offset
    chances, said = 1 / (1 + np.exp(-main)), targets[:, at] > 0.5
    about["languages"] = known_languages(task, chances)
    mine = np.isin([row.language for row in task.dev], about["languages"])
    if task.main == "unfit":
        about["limits"] = limits(chances[mine], said[mine])
        column = list(task.outputs).index(DraftFault.CALLS_FOR_HARM)
        (slope, offset), fit = about["calibration"][column], mine & ~said
        harm = 1 / (1 + np.exp(-(logits[fit, column].astype(np.float64) * slope + offset)))
        about["harm"] = round(float(np.quantile(harm, 1 - HARMFUL_OF_GOOD)), 3)
        return
    about["unsure"] = unsure_between(chances[mine], said[mine])
    talk = [(readable(text),) for text in ordinary("heldout") if text]
    found = SmallEncoder(out).logits(talk)[:, at].astype(np.float64) * slope + offset
    about["false_alarms"], about["ordinary"] = false_alarms(found), len(talk)


def main() -> None:
    """Train one reader and write its weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=("posts", "drafts"))
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=_RATE)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    task = task_of_posts() if options.reader == "posts" else task_of_drafts()
    out = options.out or WEIGHTS / f"{options.reader}.safetensors"
    network = trained(task, options.epochs, options.rate)
    about = {"outputs": list(task.outputs), "rows": len(task.train), "epochs": options.epochs, "seed": SEED}
    pack(network, about, out)
    measured(task, out, about)
    pack(network, about, out)
    json.dump({"file": str(out), "bytes": out.stat().st_size, **about}, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
