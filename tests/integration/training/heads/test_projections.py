"""How the vectors of posts are turned is learnt from posts with what they say."""

import numpy as np
from numpy.typing import NDArray

from core.engine.cards.answers import turned
from training.heads.projections import Pairs, learnt

_WIDTH = 24


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _pairs(count: int, seed: int) -> Pairs:
    """A post and its claim share half of their numbers; the other half, which is larger, is of their style."""
    chance = np.random.default_rng(seed)
    said, *styles = (chance.normal(size=(count, _WIDTH // 2)) for _ in range(3))
    posts, claims = (_unit(np.hstack([said, 2 * style])) for style in styles)
    groups = np.array(["some", "others"])[chance.integers(2, size=count)]
    return Pairs(posts, claims, claims, groups)


def _share_right(posts: NDArray[np.float32], claims: NDArray[np.float32]) -> float:
    """How often the nearest claim is a post's own."""
    return float(((posts @ claims.T).argmax(axis=1) == np.arange(len(posts))).mean())


def test_the_claim_of_a_post_that_was_not_learnt_comes_nearer() -> None:
    """More often it is the nearest of all."""
    pairs, unseen = _pairs(600, 1).beside(_pairs(200, 2)), _pairs(400, 3)
    of_posts, of_claims = learnt(pairs, pairs.claims)
    before = _share_right(unseen.posts, unseen.claims)
    assert _share_right(turned(unseen.posts, of_posts), turned(unseen.claims, of_claims)) > 1.5 * before > 0
