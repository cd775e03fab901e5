"""Which of a community's own stereotypes a post puts forward, by how close it is to their wordings.

The shipped router cannot know a stereotype that a community described, so the closeness to a few wordings has to do.
Where it is not sure it names none: no card is better than a wrong one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.engine.cards.bank import Stereotype, load_stereotypes
from core.engine.cards.router import MOST, as_routed
from core.engine.ports import Embedder
from core.engine.wording.near_duplicates import NEAR_IDENTICAL, unbanded_likeness_of
from core.models import TargetGroup

CLOSE: Final = 0.5
"""The least cosine of a post and the nearest wording of a stereotype that it puts forward.

With ``AHEAD`` it rests on ``python -m training.heads.closeness``: each shipped stereotype in turn is taken for a
community's own, with three to ten of its wordings, and English posts of the development split about its group are
compared with them. Where both limits are passed, a reader saw the stereotype in 68 to 71 of 100 posts, on posts of
another writer in 79 to 82. With ``AHEAD`` at 0 it is every second post, and one of eight without that comparison. Few
posts are that close: of those that put the stereotype forward, 2 in 100 with three wordings and 6 to 7 with ten. It
was measured with all-MiniLM-L6-v2 alone.
"""
AHEAD: Final = 0.1
"""By how much the nearest wording must be closer than that of any shipped stereotype about the group."""


def put_forward(
    text: str,
    language: str,
    stereotypes: Sequence[Stereotype],
    embedder: Embedder,
    groups: Collection[TargetGroup] = (),
) -> list[Stereotype]:
    """The stereotypes that the post surely enough puts forward, the closest first; two at most.

    A post that is nearly identical to a wording counts in every language and whatever its group, any other only in a
    language that the embedder knows. Blocking.

    Args:
        groups: whom the post is about; nobody where that is not sure.

    Raises:
        IndexUnavailable: the embedding model cannot be loaded.
    """
    candidates = [stereotype for stereotype in stereotypes if language in stereotype.wordings]
    closeness = {stereotype.id: 1.0 for stereotype in candidates if _repeats(text, stereotype.wordings[language])}
    if candidates and language in embedder.languages:
        post = vectors_of([text], language, embedder)[0]
        for stereotype in (stereotype for stereotype in candidates if not groups or stereotype.target_group in groups):
            near = nearest(post, vectors_of(stereotype.wordings[language], language, embedder))
            if near >= CLOSE and near >= AHEAD + _rival(post, stereotype.target_group, language, embedder):
                closeness.setdefault(stereotype.id, near)
    close = [stereotype for stereotype in candidates if stereotype.id in closeness]
    return sorted(close, key=lambda stereotype: -closeness[stereotype.id])[:MOST]


def vectors_of(texts: Sequence[str], language: str, embedder: Embedder) -> NDArray[np.float32]:
    """The vectors of posts as the router reads them: without disguises, and the first words of long ones."""
    return embedder.encode([as_routed(text, language) for text in texts])


def nearest(post: NDArray[np.float32], wordings: NDArray[np.float32]) -> float:
    """The cosine of a post and the nearest of some wordings; -1 without any."""
    return float((wordings @ post).max(initial=-1.0))


def _rival(post: NDArray[np.float32], group: TargetGroup, language: str, embedder: Embedder) -> float:
    """How close the post is to the nearest wording of a shipped stereotype about the group."""
    texts = [
        text
        for stereotype in load_stereotypes().values()
        if stereotype.target_group is group and not stereotype.is_general
        for text in stereotype.wordings.get(language, ())
    ]
    return nearest(post, vectors_of(texts, language, embedder)) if texts else -1.0


def _repeats(text: str, wordings: Sequence[str]) -> bool:
    post = unbanded_likeness_of(text)
    return any(post.to(unbanded_likeness_of(wording)) >= NEAR_IDENTICAL for wording in wordings)
