"""What the probe learns: posts that readers called hateful or not, and posts with the stereotypes that they repeat.

Owns the joining of both: a text is read once, whatever is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.cards.routing import as_routed
from training.corpus import post_targets, posts
from training.heads.routing import Labelled, labelled

LANGUAGES: Final = ("en", "es", "it")
"""Languages that the model that ships can read; Basque is not one of them."""
TOGETHER: Final = (("en",), ("es", "it"))
"""Languages that share calibration and limits of stereotypes: each of the last two alone has too few posts."""


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
    stereotypes: Sequence[tuple[int, Labelled]]


def learnt(most: int = 0) -> Learnt:
    """Everything that is learnt from or measured on; about ``most`` of each kind, if that is not 0.

    In Spanish and Italian half of the posts of the writers of tests are of the development split, as for the reader of
    posts: without them too few are there to fix limits on.
    """
    places = dict[str, int]()

    def at(text: str, language: str) -> int:
        return places.setdefault(as_routed(text, language), len(places))

    rows = [row for row in posts() if row.language in LANGUAGES]
    rows = rows[:: max(1, len(rows) // most)] if most else rows
    shares: NDArray[np.float32] = post_targets(rows)[:, 0]
    said = [
        (at(row.text, row.language), row.language, row.split, float(share))
        for row, share in zip(rows, shares, strict=True)
    ]
    known = [one for one in labelled() if one.language in LANGUAGES]
    known = known[:: max(1, len(known) // most)] if most else known
    split_of = {place: split for place, _, split, _ in said}
    routed = list[tuple[int, Labelled]]()
    for one in known:
        place = at(one.text, one.language)
        is_dev = one.split == "test" and split_of.get(place) == "dev"
        routed.append((place, replace(one, split="dev") if is_dev else one))
    return Learnt(list(places), said, routed)
