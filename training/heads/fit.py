"""Trains the network that tells whether a prepared reply fits under an English post.

    python -m training.heads.fit runs/fit

It goes on from the network that ships, which began with the reader of drafts. It learns from what readers said of
replies under posts that these were not written to (``training/data/answers/judged.jsonl``), from the replies to posts
of their own, and that a sentence which refuses another demand than the post makes does not fit. Replies under one post
are learnt together, so that those which readers would publish come before the others (ListNet: Cao et al., "Learning to
Rank", ICML 2007, section 4). The posts of the development split are kept for ``training.heads.answers``, which fits the
chance. Half an hour on two cores; copy ``runs/fit/fit.safetensors`` to ``core/engine/cards``.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch.nn import functional

from core.engine.cards.answers import FIT, Spoken, answers, as_read, joined_with
from core.engine.cards.bank import prepared_id
from core.engine.cards.demands import Demand, demands
from core.engine.wording.text import sentences
from training.corpus import DATA, called, rows_in
from training.heads.epochs import Example, TunedNetwork, Values, fine_tuned, logits_of
from training.heads.network import pack

FOLDER: Final = DATA / "answers"
_LANGUAGE: Final = "en"
_OTHERS: Final = 0.35
"""The share of the replies that do not fit which an epoch shows."""
_OWN: Final = 1200
"""How many replies an epoch shows under the posts that they were written to."""
_OWN_FITS: Final = 0.9
_TOGETHER: Final = 12
"""How many replies under one post are learnt together, at most."""
_LIKE: Final = 64
"""Among how many groups of replies those of like length come beside each other, which saves padding."""
_BESIDE: Final = 3
_ORDER: Final = 0.25
"""The weight of the order among the replies under a post, beside what each reply costs for itself."""
_VALUES: Final = Values(epochs=2, learning_rate=1e-4, faster=2.0, drops=False)


class Verdict(StrEnum):
    """What a reader said of a reply under a post: to be published, short of one smaller thing, neither, or harmful."""

    YES = "yes"
    NEAR = "near"
    NO = "no"
    HARM = "harm"


_TARGETS: Final = {Verdict.YES: 1.0, Verdict.NEAR: 0.2, Verdict.NO: 0.0, Verdict.HARM: 0.0}


@dataclass(frozen=True, slots=True)
class Judged:
    """A reply under a post, in the words in which it would be shown."""

    post: str
    spoken: Spoken
    verdict: Verdict
    is_dev: bool

    @property
    def pair(self) -> tuple[str, str]:
        """What the network reads."""
        return as_read(self.post, self.spoken.text, self.spoken.says)


def judged(file: Path = FOLDER / "judged.jsonl") -> Iterator[Judged]:
    """All verdicts, those of one post together; replies that are no longer in the bank are left out.

    A reply is named by its id, its first sentence by that and "/1", and one that is joined with a sentence that refuses
    a demand by both ids, with "+" between.
    """
    for row in rows_in(file):
        for verdict in Verdict:
            for id_ in row.get(verdict, ()):
                if spoken := _spoken(id_, row["post"]):
                    yield Judged(row["post"], spoken, verdict, is_dev=row["split"] == "dev")


def _spoken(id_: str, post: str) -> Spoken | None:
    whole, _, refusal = id_.removesuffix("/1").partition("+")
    at = _places().get(whole)
    if at is None or (refusal and refusal not in _refusals()):
        return None
    reply = Spoken(*called(answers()[at], post), at)
    if whole == id_:
        return reply
    first = reply._replace(text=sentences(reply.text)[0], is_whole=False)
    return joined_with(first, *_refusals()[refusal]) if refusal else first


@cache
def _refusals() -> Mapping[str, tuple[str, Demand]]:
    return {prepared_id(_LANGUAGE, text): (text, demand) for demand in demands() for text, _ in demand.sentences}


@cache
def _places() -> Mapping[str, int]:
    return {prepared_id(_LANGUAGE, one.text): at for at, one in enumerate(answers())}


def _own(left_out: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Each reply under the post that it was written to, as it is read, but under none that is left out."""
    places = _places()
    for row in rows_in(FOLDER / "posts.jsonl"):
        if "post" in row and row["post"] not in left_out and row["id"] in places:
            yield as_read(row["post"], *called(answers()[places[row["id"]]], row["post"]))


def _beside_the_demand(row: Judged, chance: random.Random) -> Iterator[tuple[str, str]]:
    """A reply that fits, with a sentence behind it that refuses something else than the post wants."""
    spoken = row.spoken
    if row.verdict is Verdict.YES and not spoken.is_whole:
        first = spoken._replace(text=sentences(spoken.text)[0], says=spoken.says.partition(", and wants ")[0])
        others = [demand for demand in demands() if not spoken.says.endswith(demand.wants)]
        demand = chance.choice(others)
        refusal, _ = chance.choice(demand.sentences)
        yield replace(row, spoken=joined_with(first, refusal, demand)).pair


def in_groups(
    posts: Iterable[Sequence[tuple[tuple[str, str], float]]], own: Sequence[tuple[str, str]], chance: random.Random
) -> list[Example]:
    """What one epoch shows, some replies under a post side by side; the targets are of shape (2,): fit and group.

    Args:
        posts: the replies under each post, each with how well it fits.
        own: replies under the posts that they were written to.
    """
    groups = [[(pair, _OWN_FITS)] for pair in own]
    for replies in posts:
        mixed = chance.sample(replies, len(replies))
        count = -(-len(mixed) // _TOGETHER)
        groups += [mixed[at::count] for at in range(count)]
    chance.shuffle(groups)
    ordered = list[Sequence[tuple[tuple[str, str], float]]]()
    for start in range(0, len(groups), _LIKE):
        some = sorted(groups[start : start + _LIKE], key=_length)
        beside = [some[at : at + _BESIDE] for at in range(0, len(some), _BESIDE)]
        chance.shuffle(beside)
        ordered += [group for three in beside for group in three]
    return [(pair, np.array([fits, at], np.float32)) for at, group in enumerate(ordered) for pair, fits in group]


def _length(group: Sequence[tuple[tuple[str, str], float]]) -> int:
    return max(sum(map(len, pair)) for pair, _ in group)


def loss_of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """What logits of shape (batch, 1) cost, each for itself and by the order within its group."""
    fits, groups = targets.T
    alone = functional.binary_cross_entropy_with_logits(logits[:, 0], fits)
    orders = list[torch.Tensor]()
    for group in groups.unique():
        inside = groups == group
        wanted, got = fits[inside], logits[inside, 0]
        if wanted.max() == 1 > wanted.min():
            shares = torch.where(wanted == 1, 1.0, wanted / 2)
            orders.append(-(shares / shares.sum() * torch.log_softmax(got, 0)).sum())
    return alone + _ORDER * torch.stack(orders).mean() if orders else alone


def trained(folder: Path, values: Values = _VALUES, most: int = 0) -> TunedNetwork:
    """Train the network and write ``fit.safetensors`` into the folder.

    Args:
        most: verdicts of each split at most; 0 takes all.
    """
    rows = list(judged())
    parts = {is_dev: [row for row in rows if row.is_dev is is_dev] for is_dev in (False, True)}
    learnt, dev = (part[: most or None] for part in (parts[False], parts[True]))
    own = list(islice(_own(frozenset(row.post for row in parts[True])), most or None))

    def shown(chance: random.Random) -> Sequence[Example]:
        by_post = defaultdict[str, list[tuple[tuple[str, str], float]]](list)
        for row in learnt:
            if _TARGETS[row.verdict] or chance.random() < _OTHERS:
                by_post[row.post].append((row.pair, _TARGETS[row.verdict]))
            by_post[row.post] += [(pair, 0.0) for pair in _beside_the_demand(row, chance)]
        return in_groups(by_post.values(), chance.sample(own, min(_OWN, len(own))), chance)

    def area(network: Any) -> float:
        fits = logits_of(network, [row.pair for row in dev])[:, 0]
        return float(roc_auc_score([row.verdict is Verdict.YES for row in dev], fits))

    folder.mkdir(parents=True, exist_ok=True)
    tuned = fine_tuned(1, shown, loss_of, area, values, folder, begun=FIT)
    about = {"outputs": ["fits"], "rows": len(learnt), "epochs": values.epochs, "seed": values.seed}
    pack(tuned.network, about, folder / FIT.name)
    return tuned


def main() -> None:
    """Train, and print how surely replies that fit are told from others before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    tuned = trained(parser.parse_args().folder)
    print(f"area {tuned.before:.3f} -> {tuned.after:.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
