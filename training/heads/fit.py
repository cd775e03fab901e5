"""Trains the network that tells whether a prepared reply fits under an English post.

    python -m training.heads.fit runs/fit

It goes on from the network that ships, which began with the reader of drafts. It learns from what readers said of
replies under posts that these were not written to (``training/data/answers/judged.jsonl``), from the replies to posts
of their own, and that a sentence which refuses another demand than the post makes does not fit. The posts of the
development split are kept for ``training.heads.answers``, which fits the chance. Half an hour on two cores; copy
``runs/fit/fit.safetensors`` to ``core/engine/cards``.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.metrics import roc_auc_score
from torch.nn import functional

from core.engine.cards.answers import FIT, Spoken, answers, as_read, joined_with
from core.engine.cards.bank import prepared_id
from core.engine.cards.demands import Demand, demands
from core.engine.wording.text import sentences
from training.corpus import DATA, called, rows_in
from training.heads.epochs import Example, TunedNetwork, Values, fine_tuned, logits_of, shuffled
from training.heads.network import pack

FOLDER: Final = DATA / "answers"
_LANGUAGE: Final = "en"
_OTHERS: Final = 0.35
"""The share of the replies that do not fit which an epoch shows."""
_OWN: Final = 1500
"""How many replies an epoch shows under the posts that they were written to."""
_OWN_FITS: Final = 0.9
_VALUES: Final = Values(epochs=2, learning_rate=1e-4, faster=2.0)


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


def trained(folder: Path, values: Values = _VALUES, most: int = 0) -> TunedNetwork:
    """Train the network and write ``fit.safetensors`` into the folder.

    Args:
        most: verdicts of each split at most; 0 takes all.
    """
    rows = list(judged())
    parts = {is_dev: [row for row in rows if row.is_dev is is_dev] for is_dev in (False, True)}
    learnt, dev = (part[: most or None] for part in (parts[False], parts[True]))
    own = list(_own(frozenset(row.post for row in parts[True])))[: most or None]

    def shown(chance: random.Random) -> Sequence[Example]:
        some = [row for row in learnt if _TARGETS[row.verdict] or chance.random() < _OTHERS]
        examples = [(row.pair, _TARGETS[row.verdict]) for row in some]
        examples += [(pair, _OWN_FITS) for pair in chance.sample(own, min(_OWN, len(own)))]
        examples += [(pair, 0.0) for row in learnt for pair in _beside_the_demand(row, chance)]
        return shuffled([(pair, np.array([target], np.float32)) for pair, target in examples], chance)

    def area(network: Any) -> float:
        fits = logits_of(network, [row.pair for row in dev])[:, 0]
        return float(roc_auc_score([row.verdict is Verdict.YES for row in dev], fits))

    folder.mkdir(parents=True, exist_ok=True)
    tuned = fine_tuned(1, shown, functional.binary_cross_entropy_with_logits, area, values, folder, begun=FIT)
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
