"""Which facet of a stereotype a post is about, so that a reply takes up what this post says or hints.

One stereotype is said in several ways: of a surgeon who got in by a quota, of children who do not care about school. A
reply to the one misses the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.engine.cards.bank import ArgumentCard, Facet
from core.engine.cards.closeness import vectors_of
from core.engine.ports import Embedder

NEAR: Final = 0.4
"""How near a post is to the facet that it is about, at least, by all-MiniLM-L6-v2.

Under 48 routed posts by writers who knew nothing of Antiphon two readers would post 57 of 100 replies to the nearest
facet from here on, and found none harmful; below it 34, with 18 harmful ones. Of those to the second nearest facet they
would post 14, so that one is all. To a guess facets are not matched: of six such replies three were harmful.
"""
_OF_REPLIES: Final = 0.7
"""What the cosine with a reply counts beside that with what the facet says."""


def with_facets(cards: Sequence[ArgumentCard], text: str, language: str, embedder: Embedder) -> list[ArgumentCard]:
    """The cards with that facet alone that the post is about; without any where none is near. Blocking.

    Raises:
        IndexUnavailable: the embedding model cannot be loaded.
    """
    facets = [facet for card in cards for facet in card.facets]
    nearest = _nearest(facets, text, language, embedder) if facets and language in embedder.languages else None
    return [replace(card, facets=_facets_left(card, nearest)) if card.facets else card for card in cards]


def _facets_left(card: ArgumentCard, nearest: Facet | None) -> tuple[Facet, ...]:
    return (nearest,) if nearest and nearest.says in {facet.says for facet in card.facets} else ()


def _nearest(facets: Sequence[Facet], text: str, language: str, embedder: Embedder) -> Facet | None:
    post, *_ = vectors_of([text], language, embedder)
    texts = [(facet.says, *facet.posts, *(text for _, text in facet.texts)) for facet in facets]
    vectors = iter(vectors_of([part for group in texts for part in group], language, embedder) @ post)
    cosines = [np.array([next(vectors) for _ in group]) for group in texts]
    near = [_near(facet, group) for facet, group in zip(facets, cosines, strict=True)]
    at = int(np.argmax(near))
    return replace(facets[at], near=near[at]) if near[at] >= NEAR else None


def _near(facet: Facet, cosines: NDArray[np.float32]) -> float:
    """The mean of the cosines with what the facet says, with the nearer one of its posts, and with its replies."""
    posts, replies = cosines[1 : 1 + len(facet.posts)], cosines[1 + len(facet.posts) :]
    weights = 2 + _OF_REPLIES * len(replies)
    return float((cosines[0] + posts.max() + _OF_REPLIES * replies.sum()) / weights)
