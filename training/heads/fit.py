"""Trains the network that tells whether a prepared reply fits under an English post.

    python -m training.heads.fit runs/fit

It begins with the reader of drafts, and learns from what readers said of replies under posts that these were not
written to (``training/data/answers/judged.jsonl``), and from the replies to posts of their own. The posts of the
development split are kept for the choice of the epoch, and for ``training.heads.answers``, which fits the chance. Half
an hour on two cores; copy ``runs/fit/fit.safetensors`` to ``core/engine/cards``.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch.nn import functional

from core.engine.cards.answers import FIT, answers, as_read
from core.engine.cards.bank import prepared_id
from core.engine.readers.probe import PROBE
from training.corpus import DATA, called, rows_in
from training.heads.epochs import Example, TunedNetwork, Values, fine_tuned, logits_of, shuffled
from training.heads.network import pack, unpacked

FOLDER: Final = DATA / "answers"
_LANGUAGE: Final = "en"
_OTHERS: Final = 0.5
"""The share of the replies that do not fit which an epoch shows."""
_OWN: Final = 1500
"""How many replies an epoch shows under the posts that they were written to."""
_OWN_FITS: Final = 0.9
_VALUES: Final = Values(epochs=2, learning_rate=1e-4, faster=4.0)


class Verdict(StrEnum):
    """What a reader said of a reply under a post: to be published, short of one smaller thing, neither, or harmful."""

    YES = "yes"
    NEAR = "near"
    NO = "no"
    HARM = "harm"


_TARGETS: Final = {Verdict.YES: 1.0, Verdict.NEAR: 0.2, Verdict.NO: 0.0, Verdict.HARM: 0.0}


@dataclass(frozen=True, slots=True)
class Judged:
    """A reply under a post, in the words in which it would be shown.

    Attributes:
        says: what it answers.
        at: its place in the bank.
    """

    post: str
    text: str
    says: str
    verdict: Verdict
    at: int
    is_dev: bool


def judged(file: Path = FOLDER / "judged.jsonl") -> Iterator[Judged]:
    """All verdicts, those of one post together; replies that are no longer in the bank are left out."""
    places = _places()
    for row in rows_in(file):
        for verdict in Verdict:
            for id_ in row.get(verdict, ()):
                if (at := places.get(id_)) is not None:
                    text, says = called(answers()[at], row["post"])
                    yield Judged(row["post"], text, says, verdict, at, is_dev=row["split"] == "dev")


@cache
def _places() -> Mapping[str, int]:
    return {prepared_id(_LANGUAGE, one.text): at for at, one in enumerate(answers())}


def _own(left_out: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Each reply under the post that it was written to, as it is read, but under none that is left out."""
    places = _places()
    for row in rows_in(FOLDER / "posts.jsonl"):
        if "post" in row and row["post"] not in left_out and row["id"] in places:
            yield as_read(row["post"], *called(answers()[places[row["id"]]], row["post"]))


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
        examples = [(as_read(row.post, row.text, row.says), _TARGETS[row.verdict]) for row in some]
        examples += [(pair, _OWN_FITS) for pair in chance.sample(own, min(_OWN, len(own)))]
        return shuffled([(pair, np.array([target], np.float32)) for pair, target in examples], chance)

    def area(network: Any) -> float:
        fits = logits_of(network, [as_read(row.post, row.text, row.says) for row in dev])[:, 0]
        return float(roc_auc_score([row.verdict is Verdict.YES for row in dev], fits))

    folder.mkdir(parents=True, exist_ok=True)
    tuned = fine_tuned(
        1, shown, functional.binary_cross_entropy_with_logits, area, values, folder, begun=_begun(folder)
    )
    about = {"outputs": ["fits"], "rows": len(learnt), "epochs": values.epochs, "seed": values.seed}
    pack(tuned.network, about, folder / FIT.name)
    return tuned


def _begun(folder: Path) -> Path:
    """The reader of drafts with one fresh output, as weights to begin with."""
    file = folder / "begun.safetensors"
    network = unpacked(PROBE.with_name("drafts.safetensors"))
    network.outputs = torch.nn.Linear(network.outputs.in_features, 1)
    torch.nn.init.zeros_(network.outputs.weight)
    torch.nn.init.zeros_(network.outputs.bias)
    pack(network, {"outputs": ["fits"]}, file)
    return file


def main() -> None:
    """Train, and print how surely replies that fit are told from others before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    tuned = trained(parser.parse_args().folder)
    print(f"area {tuned.before:.3f} -> {tuned.after:.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
