"""Small heads on sentence embeddings: is a post hateful, whom does it attack, does a reply oppose it?

Owns the shipped weights and how they are applied. They stand in for cross-encoders where only the embedded models
are there; ``README.md`` beside the weights says what they were trained on and how they do. They hold for the
languages of the embedding model only: the caller must ask ``Heads.knows`` first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.models import TargetGroup
from core.ports import Embedder

Vectors = NDArray[np.float32]


def stance_features(posts: Vectors, replies: Vectors) -> Vectors:
    """What the stance head sees of a pair: both vectors, their distance and their product.

    Args:
        posts: shape (n, dimension), the hateful posts (the topic; the public code of CoARL has the two swapped).
        replies: shape (n, dimension), the replies (the sentence).

    Returns:
        Shape (n, 4 * dimension).
    """
    return np.hstack([posts, replies, np.abs(posts - replies), posts * replies]).astype(np.float32)


def _sigmoid(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-np.clip(logits.astype(np.float64), -40, 40)))


@dataclass(frozen=True)
class Heads:
    """Logistic heads over an ``Embedder``. Blocking: call them in a thread."""

    embedder: Embedder
    weights: dict[str, NDArray[np.float32]]

    @classmethod
    def load(cls, embedder: Embedder) -> Heads:
        """The shipped weights.

        Raises:
            IndexUnavailable: the weights are missing or belong to another embedding model.
        """
        try:
            with resources.files("core.heads").joinpath("heads.npz").open("rb") as file, np.load(file) as stored:
                weights = {name: stored[name].astype(np.float32) for name in stored.files}
        except (OSError, ValueError) as err:
            raise IndexUnavailable("The heads' weights cannot be read.", remedy="Install Antiphon again.") from err
        return cls(embedder, weights)

    def knows(self, language: str | None) -> bool:
        """Whether the heads hold for a language."""
        return language in self.embedder.languages

    def hateful(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The probability, shape (n,), that each text attacks a group of people."""
        return _sigmoid(self.embedder.encode(texts) @ self.weights["hate_coef"] + self.weights["hate_bias"])

    def target_groups(self, text: str) -> dict[TargetGroup, float]:
        """The probability of each target group, should the text be hateful; they sum to 1."""
        logits = self.embedder.encode([text])[0] @ self.weights["target_coef"].T + self.weights["target_bias"]
        shares = np.exp(logits - logits.max())
        return {group: float(p) for group, p in zip(TargetGroup, shares / shares.sum(), strict=True)}

    def opposes(self, post: str, replies: Sequence[str]) -> NDArray[np.float64]:
        """The probability, shape (n,), that each reply opposes the post: CoARL's (1 - stance) / 2 (section 4)."""
        vectors = self.embedder.encode([post, *replies])
        posts = np.repeat(vectors[:1], len(replies), axis=0)
        logits = stance_features(posts, vectors[1:]) @ self.weights["stance_coef"] + self.weights["stance_bias"]
        return _sigmoid(logits)
