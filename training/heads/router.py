"""Trains the routers of ``core/engine/cards``: which stereotype a post puts forward, among those about its group.

    antiphon train heads runs/router
    antiphon train heads runs/abroad --abroad

A small encoder as the readers are, with an output for each stereotype; all of them compete as it learns, those of one
group as it is used. The one for Spanish and Italian is over multilingual-e5-small. Each learns from the wordings of
``core/engine/cards/data``, from more of them in ``training/data/routing/wordings.jsonl``, and from posts of
``training/data/posts`` that readers labelled (``labels.jsonl``: up to two stereotypes, or none of them). The texts of
the writers of tests are never learnt; of the others one family in eight is kept to choose the epoch, for the
calibration and for the limits, and with them half of the posts of the writers of tests in Spanish, Italian and Basque,
as for the readers. What is measured on the test split is printed, and chooses nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from core.engine.backends.encoders import SmallEncoder
from core.engine.cards.bank import Stereotype, load_stereotypes
from core.engine.cards.router import MOST_WORDS, NONE, outputs_of, shares_among
from core.engine.ports import TextClassifier
from core.engine.wording.encoder_text import readable
from core.models import TargetGroup
from training.corpus import DATA, POST_WRITERS_OF_TESTS, posts, rows_in, spread
from training.heads.epochs import Texts, TunedNetwork, Values, fine_tuned, logits_of, shuffled
from training.heads.network import Base, pack

if TYPE_CHECKING:
    import torch

_DEVELOPMENT_IS_ONE_IN: Final = 8
_SECOND: Final = 0.3
"""How far the second stereotype of a label counts, beside the first."""
_NEAR_MISSES: Final = 0.5
RIGHT: Final = 0.8
"""How often a stereotype that a post is routed to should be one that a reader saw, too. Readers agree in 85 of 100.

A reply to a stereotype that the post does not put forward is hardly ever postable to blind readers
(docs/figures/measured.md).
"""
SAID: Final = 0.9
"""The same where it is told as the gist of the post."""
_FEW: Final = 20
ENOUGH: Final = 200
"""Posts of the development split; of a language with fewer nothing is told."""
VALUES: Final = Values(epochs=5, faster=4.0)
"""How a router is trained."""
VALUES_ABROAD: Final = Values(epochs=3, learning_rate=4e-4, faster=4.0, base=Base.E5)
"""How the one for Spanish and Italian is."""
Languages = Sequence[Sequence[str]]
Floats = NDArray[np.float32]
TOGETHER: Final[Languages] = (("en",), ("es", "it"), ("eu",))
"""Languages that share calibration and limits: Spanish or Italian alone has too few posts."""
ABROAD: Final[Languages] = (("es", "it"),)
"""Those of the router that is over multilingual-e5-small."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text about one group, and what each reader says of it: stereotypes by their ids, the first one first."""

    text: str
    language: str
    group: TargetGroup
    labels: tuple[tuple[str, ...], ...]
    split: str
    weight: float = 1.0

    @property
    def seen(self) -> frozenset[str]:
        """Every stereotype that a reader saw in it."""
        return frozenset(name for label in self.labels for name in label)


def labelled(most: int = 0) -> list[LabelledText]:
    """Everything that is learnt from, and what is measured on; at most ``most`` of each language and split."""
    return spread([*_wordings(), *_posts()], most, lambda row: (row.language, row.split))


def _wordings() -> Iterator[LabelledText]:
    stereotypes = load_stereotypes()
    for stereotype in stereotypes.values():
        for language, texts in stereotype.wordings.items():
            yield from (_of(stereotype, text, language) for text in texts)
        yield from (_of(stereotype, text, language) for language, text in stereotype.gist.items())
        for text in stereotype.near_misses:
            yield LabelledText(text, "en", stereotype.target_group, ((NONE,),), "train", _NEAR_MISSES)
    for row in rows_in(DATA / "routing" / "wordings.jsonl"):
        yield _of(stereotypes[row["id"]], row["text"], row["language"])


def _of(stereotype: Stereotype, text: str, language: str) -> LabelledText:
    return LabelledText(text, language, stereotype.target_group, ((stereotype.id,),), "train")


def _posts() -> Iterator[LabelledText]:
    posts_by_id = {row.id: row for row in posts()}
    for row in rows_in(DATA / "routing" / "labels.jsonl"):
        post = posts_by_id[row["post"]]
        is_dev = zlib.crc32(post.family.encode()) % _DEVELOPMENT_IS_ONE_IN == 0
        split = post.split if post.writer in POST_WRITERS_OF_TESTS else "dev" if is_dev else "train"
        labels = tuple(tuple(label) for label in row["labels"])
        yield LabelledText(post.text, post.language, TargetGroup(row["target_group"]), labels, split)


@dataclass(frozen=True)
class Outputs:
    """The outputs by their names, and which of them compete: those of a post's group."""

    at: Mapping[str, int]
    groups: Mapping[TargetGroup, Sequence[int]]

    @classmethod
    def of_taxonomy(cls) -> Outputs:
        """Those of the shipped stereotypes."""
        stereotypes = load_stereotypes()
        at = {name: place for place, name in enumerate(outputs_of(stereotypes.values()))}
        slugs = {stereotype.id.split("/")[0]: stereotype.target_group for stereotype in stereotypes.values()}
        groups = {group: [at[name] for name in at if name.split("/")[0] == slug] for slug, group in slugs.items()}
        return cls(at, groups)

    def target(self, row: LabelledText) -> NDArray[np.float32]:
        """What the labels say, as shares of the outputs of the text's group."""
        places = list(self.groups[row.group])
        target = np.zeros(len(places), dtype=np.float32)
        for label in row.labels:
            shares = (1 - _SECOND, _SECOND) if len(label) > 1 else (1.0,)
            for name, share in zip(label, shares, strict=False):
                target[-1 if name == NONE else places.index(self.at[name])] += share / len(row.labels)
        return target

    def whole_target(self, row: LabelledText) -> NDArray[np.float32]:
        """The same as shares of all outputs, times the weight of the text; those of other groups are 0."""
        target = np.zeros(len(self.at), dtype=np.float32)
        target[list(self.groups[row.group])] = self.target(row) * row.weight
        return target

    def best(self, logits: Floats, rows: Sequence[LabelledText]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Of each text the share of the likeliest stereotype, and whether a reader saw it."""
        names, shares, seen = list(self.at), list[float](), list[bool]()
        for row, label in zip(logits, rows, strict=True):
            places = list(self.groups[label.group])
            own = shares_among(row[places])[:-1]
            at = int(own.argmax())
            shares.append(float(own[at]))
            seen.append(names[places[at]] in label.seen)
        return np.array(shares), np.array(seen, dtype=np.bool_)


def loss_of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy with shares of the outputs, which sum to the weight of each text.

    Shares, since readers see more than one stereotype, and not always the same.
    """
    return -(targets * logits.log_softmax(dim=1)).sum() / targets.sum()


def calibrated(shares: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and offset that make the log-odds of a share the probability that a reader sees the same.

    (1, 0) where all or none are right.
    """
    if right.all() or not right.any():
        return 1.0, 0.0
    fit = LogisticRegression(C=100.0).fit(odds(shares).reshape(-1, 1), right)
    return round(float(fit.coef_[0, 0]), 4), round(float(fit.intercept_[0]), 4)


def odds(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log-odds of shares, cut where a share is 0 or 1."""
    return np.asarray(logit(np.clip(shares, 1e-6, 1 - 1e-6)))


def chances_of(shares: NDArray[np.float64], slope: float, offset: float) -> NDArray[np.float64]:
    """The probabilities that a reader sees the same."""
    return np.asarray(expit(odds(shares) * slope + offset))


def limits_of(shares: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[tuple[float, float], list[float]]:
    """What makes shares probabilities, and the limits from which a stereotype is routed to and told."""
    fitted = calibrated(shares, right)
    chances, is_enough = chances_of(shares, *fitted), len(right) >= ENOUGH
    return fitted, [limit(chances, right, wanted) if is_enough else 1.0 for wanted in (RIGHT, SAID)]


def told(chances: NDArray[np.float64], right: NDArray[np.bool_], limits: Sequence[float]) -> dict[str, Any]:
    """How many texts are routed under the first limit and get a gist under the second, and how often that is right."""
    routed, is_sure = (chances >= least for least in limits)
    return {
        "routed": routed.mean(),
        "routed and right": right[routed].mean() if routed.any() else None,
        "with a gist": is_sure.mean(),
        "and right": right[is_sure].mean() if is_sure.any() else None,
    }


def limit(chances: NDArray[np.float64], right: NDArray[np.bool_], wanted: float) -> float:
    """The least probability above which the wanted share of what is told was seen by a reader; 1 where it never is."""
    order = np.argsort(-chances)
    shares = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero((shares >= wanted) & (np.arange(len(order)) >= _FEW))
    return round(float(chances[order[enough[-1]]]), 4) if len(enough) else 1.0


def train(
    rows: Sequence[LabelledText],
    outputs: Outputs,
    out: Path,
    values: Values,
    note: Callable[[dict[str, float]], None] = lambda _: None,
    *,
    save_steps: int = 200,
) -> tuple[TunedNetwork, list[dict[str, Any]]]:
    """Train the router, write its weights with what is fitted beside them, and tell how often it is right.

    Args:
        rows: what it learns, and what it is measured on.
        out: the file to write; the checkpoint stands in its folder.
        values: how it learns, and over which base: over multilingual-e5-small it is the one for other languages.

    Returns:
        the network with the epoch that is most often right on the development split, and a row for each language and
        split.
    """
    is_abroad = values.base is Base.E5
    learnt, held_out = _of_split(rows, "train"), _of_split(rows, "dev")
    if is_abroad:  # what matters is shown twice an epoch
        learnt, held_out = [*learnt, *_not_english(learnt)], _not_english(held_out)
    examples = [(texts, outputs.whole_target(row)) for texts, row in zip(_texts_of(learnt), learnt, strict=True)]

    def share_right(network: Any) -> float:
        return float(outputs.best(logits_of(network, _texts_of(held_out)), held_out)[1].mean())

    tuned = fine_tuned(
        len(outputs.at),
        lambda chance: shuffled(examples, chance),
        loss_of,
        share_right,
        values,
        out.parent,
        note,
        save_steps=save_steps,
    )
    about = {"outputs": list(outputs.at), "rows": len(learnt), "epochs": values.epochs, "seed": values.seed}
    about |= {"calibration": {}, "limits": {}}
    pack(tuned.network, about, out)
    table = measured(rows, outputs, SmallEncoder(out), about, ABROAD if is_abroad else TOGETHER)
    pack(tuned.network, about, out)
    return tuned, table


def measured(
    rows: Sequence[LabelledText],
    outputs: Outputs,
    classifier: TextClassifier,
    about: dict[str, Any],
    languages: Languages,
) -> list[dict[str, Any]]:
    """Fit calibration and limits on the development split, and tell of each language and split how often it is right.

    Args:
        about: the calibration and the limits are written into it.
        languages: the groups of those that are fitted together.
    """
    table = []
    for together in languages:
        held_out = [row for row in _of_split(rows, "dev") if row.language in together]
        if not held_out:
            continue
        shares, right = outputs.best(classifier.logits(_texts_of(held_out)), held_out)
        (slope, offset), limits = limits_of(shares, right)
        about["calibration"] |= dict.fromkeys(together, (slope, offset))
        about["limits"] |= dict.fromkeys(together, limits)
        for language, split in product(together, ("dev", "test")):
            rows_here = [row for row in _of_split(rows, split) if row.language == language]
            if not rows_here:
                continue
            shares, right = outputs.best(classifier.logits(_texts_of(rows_here)), rows_here)
            found = {"language": language, "split": split, "posts": len(rows_here), "likeliest right": right.mean()}
            table.append(found | told(chances_of(shares, slope, offset), right, limits))
    return table


def _not_english(rows: Sequence[LabelledText]) -> list[LabelledText]:
    return [row for row in rows if row.language != "en"]


def _of_split(rows: Sequence[LabelledText], split: str) -> list[LabelledText]:
    return [row for row in rows if row.split == split]


def _texts_of(rows: Sequence[LabelledText]) -> list[Texts]:
    """The texts as they are read in use."""
    return [(" ".join(readable(row.text, row.language).split()[:MOST_WORDS]),) for row in rows]
