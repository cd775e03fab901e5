"""Tells how often a post that is close to a few wordings puts their stereotype forward.

    python -m training.heads.closeness

Each shipped stereotype in turn is taken for one that a community described with some of its English wordings, and that
the taxonomy lacks. Each English post about its group is compared with these and with the wordings of the others. The
limits of ``core.engine.cards.own``, for a community's own stereotypes, were chosen on the development split; the
posts of the test writers choose nothing.
"""

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.bank import Stereotype, load_stereotypes
from core.engine.cards.own import AHEAD, CLOSE
from core.engine.cards.router import vectors_of
from training.heads.router import LabelledText, labelled

_WORDINGS: Final = (3, 5, 8, 10)
_DRAWS: Final = 4
_AHEAD: Final = (-2.0, 0.0, AHEAD / 2, AHEAD)
"""The first is without any comparison with other stereotypes."""
Closeness = Mapping[str, NDArray[np.float32]]


def compared(
    posts: Sequence[LabelledText], stereotypes: Sequence[Stereotype], close: Closeness, count: int
) -> Iterator[tuple[float, float, bool]]:
    """Of each stereotype and each post about its group: how near its wordings and the others' are; did a reader see it?

    Args:
        close: for each stereotype the cosines of the posts and its wordings.
    """
    chance = random.Random(1)  # nosec B311 # noqa: S311 - repeatable, no secret
    for stereotype in [*stereotypes] * _DRAWS:
        drawn = chance.sample(range(close[stereotype.id].shape[1]), min(count, close[stereotype.id].shape[1]))
        rivals = [
            close[other.id]
            for other in stereotypes
            if other.target_group is stereotype.target_group and other is not stereotype
        ]
        near, rival = close[stereotype.id][:, drawn].max(axis=1), np.concatenate(rivals, axis=1).max(axis=1)
        for at, post in enumerate(posts):
            if post.group is stereotype.target_group:
                yield float(near[at]), float(rival[at]), stereotype.id in post.seen


def table(split: str) -> list[str]:
    """A line for each number of wordings and each limit."""
    embedder = SentenceEmbedder()
    stereotypes = [stereotype for stereotype in load_stereotypes().values() if not stereotype.is_general]
    posts = [post for post in labelled() if post.split == split and post.language == "en"]
    vectors = vectors_of([post.text for post in posts], "en", embedder)
    close = {
        stereotype.id: vectors @ vectors_of(stereotype.wordings["en"], "en", embedder).T for stereotype in stereotypes
    }
    lines = [f"{split}: {len(posts)} posts"]
    for count in _WORDINGS:
        near, rival, saw = np.array(list(compared(posts, stereotypes, close, count))).T
        seen = saw > 0
        for ahead in _AHEAD:
            is_close = (near >= CLOSE) & (near >= rival + ahead)
            right, share = seen[is_close].mean(), (seen & is_close).sum() / seen.sum()
            lines.append(
                f"  {count:2} wordings, {ahead:5.2f} ahead: {is_close.sum():4}, {right:.2f} right, {share:.3f} of all"
            )
    return lines


def main() -> int:
    print(*table("dev"), *table("test"), sep="\n")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
