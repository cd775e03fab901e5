"""Learns how the vector of a post is turned, so that it lies near what the post says, or near replies that fit it.

Two posts that say the same may share few words, and a reply shares fewer with either. So the frozen vectors of posts
and of their claims, or replies, are each multiplied by a matrix that tells the right one from those under other posts
about the same group (a contrastive loss in both directions; van den Oord and others 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

_STEPS: Final = 300
_BATCH: Final = 256
_RATE: Final = 1e-3
_WARMTH: Final = 0.045
"""What cosines are divided by: the smaller, the more the nearest wrong one counts."""
_STAYING: Final = 2e-3
"""How much the squared distance of a matrix from the identity counts."""
_SAME: Final = 0.72
"""From this cosine on two posts, or two claims, count as the same, and neither is wrong for the other."""
_NEVER: Final = -1e4
_SEED: Final = 7


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Posts, what each says and a reply that fits it: unit vectors, each of shape (pairs, width).

    ``groups``: whom each post is about, shape (pairs,).
    """

    posts: NDArray[np.float32]
    claims: NDArray[np.float32]
    replies: NDArray[np.float32]
    groups: NDArray[np.str_]

    def beside(self, others: Pairs) -> Pairs:
        """These and others."""
        return Pairs(
            np.concatenate([self.posts, others.posts]),
            np.concatenate([self.claims, others.claims]),
            np.concatenate([self.replies, others.replies]),
            np.concatenate([self.groups, others.groups]),
        )


def learnt(pairs: Pairs, others: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The matrices for posts and for ``others``, which are the claims or the replies; each of shape (width, width)."""
    import torch

    draw = np.random.default_rng(_SEED)
    of_group = [np.flatnonzero(pairs.groups == group) for group in np.unique(pairs.groups)]
    both, start = (torch.tensor(pairs.posts), torch.tensor(others)), torch.eye(others.shape[1])
    matrices = [start.clone().requires_grad_() for _ in both]
    optimiser = torch.optim.Adam(matrices, lr=_RATE)
    falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, _STEPS)
    for _ in range(_STEPS):
        rows = of_group[draw.integers(len(of_group))]
        rows = draw.choice(rows, min(_BATCH, len(rows)), replace=False)
        of_posts, of_others = (
            torch.nn.functional.normalize(vectors[rows] @ matrix, dim=1)
            for vectors, matrix in zip(both, matrices, strict=True)
        )
        cosines = (of_posts @ of_others.T).masked_fill(_same(pairs, rows), _NEVER) / _WARMTH
        right = torch.arange(len(rows))
        losses = [torch.nn.functional.cross_entropy(cosines_of, right) for cosines_of in (cosines, cosines.T)]
        losses += [_STAYING * (matrix - start).square().sum() for matrix in matrices]
        optimiser.zero_grad()
        torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        falling.step()
    for_posts, for_others = (matrix.detach().numpy() for matrix in matrices)
    return for_posts, for_others


def _same(pairs: Pairs, rows: NDArray[np.int64]) -> torch.Tensor:
    """Which of the others are right for a post as well, without its own; shape (rows, rows)."""
    import torch

    posts, claims = pairs.posts[rows], pairs.claims[rows]
    is_same = (posts @ posts.T > _SAME) | (claims @ claims.T > _SAME)
    np.fill_diagonal(is_same, val=False)
    return torch.tensor(is_same)
