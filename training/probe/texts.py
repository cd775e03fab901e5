"""The texts that the probe learns: posts that readers called hateful or not, and posts with their stereotypes.

A text that is labelled both ways is read once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.engine.cards.router import as_routed
from training.corpus import post_targets, posts, spread
from training.heads.router import LabelledText, labelled

LANGUAGES: Final = ("en", "es", "it", "eu")
"""Languages that are learnt. The model that ships knows little Basque, and learns some of it here."""


@dataclass(frozen=True)
class Learnt:
    """Texts as they are read in use, and what is known of them, by their places among the texts.

    Attributes:
        texts: each once.
        posts: place, language, split, and the share of readers who called the post hateful.
        stereotypes: place, and what is labelled.
    """

    texts: Sequence[str]
    posts: Sequence[tuple[int, str, str, float]]
    stereotypes: Sequence[tuple[int, LabelledText]]


def learnt(most: int = 0) -> Learnt:
    """Everything that is learnt from or measured on; at most ``most`` of each kind, language and split, if not 0.

    A text that one of both lists holds back is learnt in neither.
    """
    rows = [row for row in posts() if row.language in LANGUAGES]
    pairs = [(as_routed(row.text, row.language), row) for row in labelled()]
    rows = spread(rows, most, lambda row: (row.language, row.split))
    pairs = spread(
        [(text, row) for text, row in pairs if row.language in LANGUAGES],
        most,
        lambda two: (two[1].language, two[1].split),
    )
    places = dict[str, int]()

    def at(text: str) -> int:
        return places.setdefault(text, len(places))

    shares: NDArray[np.float32] = post_targets(rows)[:, 0]
    of_posts = [
        (at(as_routed(row.text, row.language)), row.language, row.split, float(share))
        for row, share in zip(rows, shares, strict=True)
    ]
    routed = [(at(text), row) for text, row in pairs]
    held_out = {place for place, _, split, _ in of_posts if split != "train"}
    held_out |= {place for place, row in routed if row.split != "train"}
    return Learnt(
        list(places),
        [row for row in of_posts if row[2] != "train" or row[0] not in held_out],
        [row for row in routed if row[1].split != "train" or row[0] not in held_out],
    )
