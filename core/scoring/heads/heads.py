"""Small heads on sentence vectors: is a post hateful, whom does it attack, does a reply oppose it, and how?

Owns the shipped weights, what the heads see of a text, and how they are applied. They replace cross-encoders where only
the embedded models are installed. ``README.md`` beside the weights says what they were trained on and how well they do.
They are valid only for the languages of the embedding model: the caller must ask ``Heads.knows`` first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from core.models import Intent, TargetGroup
from core.ports import Embedder

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import HashingVectorizer

Vectors = NDArray[np.float32]


SPELLINGS = 2048
LABELLED_INTENTS = (Intent.INFORMATIVE, Intent.QUESTIONING, Intent.DENOUNCING, Intent.POSITIVE)
"""The four intents of CoARL, in the order of the intent head's classes; the data has no empathetic replies."""

_WEIGHT_OF_SPELLING = 2.0


@cache
def _hasher() -> HashingVectorizer:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=SPELLINGS, analyzer="char_wb", ngram_range=(2, 4), norm="l2", dtype=np.float32)


def spelling(texts: Sequence[str]) -> Vectors:
    """Features that the vectors lack, of shape (n, 2048): runs of two to four letters inside words, hashed.

    They tell apart texts on the same topic: with them the stance head's AUC rises from 0.96 to above 0.97.
    """
    hashed: Vectors = _hasher().transform(list(texts)).toarray()
    return hashed * np.float32(_WEIGHT_OF_SPELLING)


def text_features(vectors: Vectors, texts: Sequence[str]) -> Vectors:
    """What the hate head sees of texts: vectors of shape (n, dimension) and spelling; (n, dimension + 2048)."""
    return np.hstack([vectors, spelling(texts)])


def stance_features(posts: Vectors, replies: Vectors, texts: Sequence[str]) -> Vectors:
    """What the stance head sees of pairs: both vectors, their distance, their product, and the reply's spelling.

    Args:
        posts: shape (n, dimension), the hateful posts (the topic; the public code of CoARL has the two swapped).
        replies: shape (n, dimension), the replies (the sentence).
        texts: the n replies.

    Returns:
        Shape (n, 4 * dimension + 2048).
    """
    return np.hstack([posts, replies, np.abs(posts - replies), posts * replies, spelling(texts)])


def intent_features(vectors: Vectors, texts: Sequence[str]) -> Vectors:
    """What the intent head sees of replies: as ``text_features``, and question marks, digits, quotes and length."""
    marks = [[text.rstrip().endswith("?"), "?" in text, any(map(str.isdigit, text)), '"' in text] for text in texts]
    length = [[len(text) / 300] for text in texts]
    return np.hstack([text_features(vectors, texts), np.array(marks, np.float32), np.array(length, np.float32)])


def _sigmoid(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-np.clip(logits.astype(np.float64), -40, 40)))


def _softmax(logits: NDArray[np.floating]) -> list[float]:
    shares = np.exp(logits.astype(np.float64) - logits.max())
    return [float(share) for share in shares / shares.sum()]


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
            with (
                resources.files("core.scoring.heads").joinpath("heads.npz").open("rb") as file,
                np.load(file) as stored,
            ):
                weights = {name: stored[name].astype(np.float32) for name in stored.files}
        except (OSError, ValueError) as err:
            raise IndexUnavailable(
                sentence("The heads' weights cannot be read."), remedy=sentence("Install Antiphon again.")
            ) from err
        return cls(embedder, weights)

    def knows(self, language: str | None) -> bool:
        """Whether the heads are valid for a language."""
        return language in self.embedder.languages

    def hateful(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The probability, shape (n,), that each text attacks a group of people."""
        seen = text_features(self.embedder.encode(texts), texts)
        return _sigmoid(seen @ self.weights["hate_coef"] + self.weights["hate_bias"])

    def target_groups(self, text: str) -> dict[TargetGroup, float]:
        """The probability of each target group, if the text is hateful; they sum to 1."""
        logits = self.embedder.encode([text])[0] @ self.weights["target_coef"].T + self.weights["target_bias"]
        return dict(zip(TargetGroup, _softmax(logits), strict=True))

    def opposes(self, post: str, replies: Sequence[str]) -> NDArray[np.float64]:
        """The probability, shape (n,), that each reply opposes the post: CoARL's (1 - stance) / 2 (section 4)."""
        vectors = self.embedder.encode([post, *replies])
        posts = np.repeat(vectors[:1], len(replies), axis=0)
        seen = stance_features(posts, vectors[1:], replies)
        return _sigmoid(seen @ self.weights["stance_coef"] + self.weights["stance_bias"])

    def intents(self, reply: str) -> dict[Intent, float]:
        """The probability of each of CoARL's four intents (section 3); they sum to 1."""
        seen = intent_features(self.embedder.encode([reply]), [reply])
        shares = _softmax(self.weights["intent_coef"] @ seen[0] + self.weights["intent_bias"])
        return dict(zip(LABELLED_INTENTS, shares, strict=True))
