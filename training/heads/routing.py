"""Fits the router of ``core/cards``: which stereotype a post puts forward, among those about its group.

    python -m training.heads.routing

A linear classifier over two vectors of a post: that of the packaged embedding model, and that of the reader of posts.
It learns from the wordings of ``core/cards/data``, from more of them in ``training/data/routing/wordings.jsonl``, and
from posts of ``training/data/posts`` that readers labelled (``labels.jsonl``: up to two stereotypes, or none of them).
The texts of the writers of tests are never learnt; of the others one family in eight is kept for the calibration and
the limits. What is measured on the texts of the test writers is printed, and chooses nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from core.cards.bank import Stereotype, load_stereotypes
from core.cards.routing import MOST_WORDS, NONE, WEIGHTS, outputs_of, shares_among
from core.llm.backends.embeddings import SentenceEmbedder
from core.llm.backends.linear import joined_vectors, pack_linear
from core.models import TargetGroup
from core.scoring.readers.readers import shipped_posts
from core.wording.readable import readable
from training.corpus import DATA, POST_WRITERS_OF_TESTS, posts

if TYPE_CHECKING:
    import torch

_DEVELOPMENT_IS_ONE_IN: Final = 8
_SECOND: Final = 0.3
"""How far the second stereotype of a label counts, beside the first."""
_NEAR_MISSES: Final = 0.5
RIGHT: Final = 0.75
"""How often a stereotype that a post is routed to should be one that a reader saw, too. Readers agree in 85 of 100."""
SAID: Final = 0.9
"""The same where it is told as the gist of the post."""
_FEW: Final = 20
_ENOUGH: Final = 200
"""Posts of the development split; of a language with fewer nothing is told."""
_STEPS: Final = 80
_DECAY: Final = 7e-4


@dataclass(frozen=True, slots=True)
class Labelled:
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
        return frozenset(one for label in self.labels for one in label)


def labelled() -> list[Labelled]:
    """Everything that is learnt from, and what is measured on."""
    return [*_wordings(), *_posts()]


def _wordings() -> Iterator[Labelled]:
    known = load_stereotypes()
    for one in known.values():
        for language, texts in one.wordings.items():
            yield from (_of(one, text, language) for text in texts)
        yield from (_of(one, text, language) for language, text in one.gist.items())
        for text in one.near_misses:
            yield Labelled(text, "en", one.target_group, ((NONE,),), "train", _NEAR_MISSES)
    for row in _rows(DATA / "routing" / "wordings.jsonl"):
        yield _of(known[row["id"]], row["text"], row["language"])


def _of(one: Stereotype, text: str, language: str) -> Labelled:
    return Labelled(text, language, one.target_group, ((one.id,),), "train")


def _posts() -> Iterator[Labelled]:
    known = {row.id: row for row in posts()}
    for row in _rows(DATA / "routing" / "labels.jsonl"):
        post = known[row["post"]]
        is_dev = zlib.crc32(post.family.encode()) % _DEVELOPMENT_IS_ONE_IN == 0
        split = "test" if post.writer in POST_WRITERS_OF_TESTS else "dev" if is_dev else "train"
        labels = tuple(tuple(label) for label in row["labels"])
        yield Labelled(post.text, post.language, TargetGroup(row["target_group"]), labels, split)


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Outputs:
    """The outputs by their names, and which of them compete: those of a post's group."""

    at: Mapping[str, int]
    groups: Mapping[TargetGroup, Sequence[int]]

    @classmethod
    def of_taxonomy(cls) -> Outputs:
        """Those of the shipped stereotypes."""
        known = load_stereotypes()
        at = {name: place for place, name in enumerate(outputs_of(known.values()))}
        slugs = {one.id.split("/")[0]: one.target_group for one in known.values()}
        groups = {group: [at[name] for name in at if name.split("/")[0] == slug] for slug, group in slugs.items()}
        return cls(at, groups)

    def target(self, one: Labelled) -> NDArray[np.float32]:
        """What the labels say, as shares of the outputs of the text's group."""
        places = list(self.groups[one.group])
        found = np.zeros(len(places), dtype=np.float32)
        for label in one.labels:
            shares = (1 - _SECOND, _SECOND) if len(label) > 1 else (1.0,)
            for name, share in zip(label, shares, strict=False):
                found[-1 if name == NONE else places.index(self.at[name])] += share / len(one.labels)
        return found

    def said(self, logits: NDArray[np.float32], rows: Sequence[Labelled]) -> Iterator[tuple[float, bool]]:
        """Of each text the share of the likeliest stereotype, and whether a reader saw it."""
        names = list(self.at)
        for row, one in zip(logits, rows, strict=True):
            places = list(self.groups[one.group])
            shares = shares_among(row[places])[:-1]
            best = int(shares.argmax())
            yield float(shares[best]), names[places[best]] in one.seen


def fitted(vectors: NDArray[np.float32], rows: Sequence[Labelled], outputs: Outputs) -> tuple[Any, Any]:
    """A matrix of shape (dimensions, outputs) and an offset: for each group a multinomial logistic regression.

    Its targets are shares, since readers see more than one stereotype, and not always the same.
    """
    import torch  # reading the labels needs no model library

    matrix = np.zeros((vectors.shape[1], len(outputs.at)), dtype=np.float32)
    offset = np.zeros(len(outputs.at), dtype=np.float32)
    for group, places in outputs.groups.items():
        mine = [at for at, one in enumerate(rows) if one.group is group and one.split == "train"]
        wanted = torch.tensor(np.stack([outputs.target(rows[at]) for at in mine]))
        counts, texts = torch.tensor([rows[at].weight for at in mine]), torch.tensor(vectors[mine])
        learnt = torch.zeros(vectors.shape[1], len(places), requires_grad=True)
        start = torch.zeros(len(places), requires_grad=True)
        optimizer = torch.optim.LBFGS([learnt, start], max_iter=_STEPS, line_search_fn="strong_wolfe")

        def loss() -> torch.Tensor:
            optimizer.zero_grad()  # noqa: B023 - called before the loop goes on
            each = -(wanted * torch.log_softmax(texts @ learnt + start, dim=1)).sum(dim=1)  # noqa: B023
            found = (each * counts).sum() / counts.sum() + _DECAY * (learnt**2).sum()  # noqa: B023
            found.backward()  # type: ignore[no-untyped-call]
            return found

        optimizer.step(loss)  # type: ignore[no-untyped-call]
        matrix[:, list(places)] = learnt.detach().numpy()
        offset[list(places)] = start.detach().numpy()
    return matrix, offset


def calibrated(shares: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and offset that make the log-odds of a share the probability that a reader sees the same."""
    fit = LogisticRegression(C=100.0).fit(_odds(shares).reshape(-1, 1), right)
    return round(float(fit.coef_[0, 0]), 4), round(float(fit.intercept_[0]), 4)


def _odds(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(shares, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inside / (1 - inside)))


def limit(chances: NDArray[np.float64], right: NDArray[np.bool_], wanted: float) -> float:
    """The least probability above which the wanted share of what is told was seen by a reader; 1 where it never is."""
    order = np.argsort(-chances)
    told = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero((told >= wanted) & (np.arange(len(order)) >= _FEW))
    return round(float(chances[order[enough[-1]]]), 4) if len(enough) else 1.0


def train_router(out: Path) -> None:
    """Fit the router and what stands beside its weights, and print what it does on the texts of the test writers."""
    rows, outputs = labelled(), Outputs.of_taxonomy()
    texts = [" ".join(readable(one.text, one.language).split()[:MOST_WORDS]) for one in rows]
    parts = (SentenceEmbedder(remembered=0).encode(texts), shipped_posts().vectors(texts))
    trained = [at for at, one in enumerate(rows) if one.split == "train"]
    centre = np.concatenate([np.zeros(parts[0].shape[1]), parts[1][trained].mean(axis=0)]).astype(np.float32)
    matrix, offset = fitted(joined_vectors(parts, centre), rows, outputs)
    about: dict[str, Any] = {"outputs": list(outputs.at), "rows": len(trained), "calibration": {}, "limits": {}}
    table = []
    logits = joined_vectors(parts, centre) @ matrix + offset
    for language in sorted({one.language for one in rows if one.split == "dev"}):
        for split in ("dev", "test"):
            mine = [at for at, one in enumerate(rows) if one.split == split and one.language == language]
            said = np.array(list(outputs.said(logits[mine], [rows[at] for at in mine])))
            shares, right = said[:, 0], said[:, 1] > 0.5
            if split == "dev":
                about["calibration"][language] = calibrated(shares, right)
            slope, start = about["calibration"][language]
            chances = 1 / (1 + np.exp(-(_odds(shares) * slope + start)))
            if split == "dev":
                found = [limit(chances, right, wanted) for wanted in (RIGHT, SAID)]
                about["limits"][language] = found if len(mine) >= _ENOUGH else [1.0, 1.0]
            routed, told = (chances >= least for least in about["limits"][language])
            table.append(
                {
                    "language": language,
                    "split": split,
                    "posts": len(mine),
                    "likeliest right": right.mean(),
                    "routed": routed.mean(),
                    "routed and right": right[routed].mean() if routed.any() else None,
                    "with a gist": told.mean(),
                    "and right": right[told].mean() if told.any() else None,
                }
            )
    pack_linear(matrix, offset, centre, about, out)
    told_of = {"file": str(out), "bytes": out.stat().st_size, "rows": len(rows), "table": table}
    json.dump({**told_of, "limits": about["limits"]}, sys.stdout, indent=2, default=float)
    sys.stdout.write("\n")


def main() -> None:
    """Fit the router and write its weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    train_router(parser.parse_args().out)


if __name__ == "__main__":
    main()
