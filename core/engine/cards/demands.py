"""What a post wants done to the people whom it attacks, and sentences that refuse it.

A demand is one of thirty-four ("no_job": nobody is to employ them). Each has sentences that may stand behind any first
sentence that names the people (``core.engine.cards.answers``). English alone. ``training.heads.demands`` learns the
reading.
"""

import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from core.engine.cards.router import vectors_of
from core.engine.ports import Embedder
from core.engine.wording.accusations import brought_in
from core.engine.wording.target_groups import Name, unnamed

FOLDER: Final = Path(str(resources.files("core.engine.cards")))
WEIGHTS: Final = FOLDER / "demands.safetensors"
MOST: Final = 3
"""How many demands are answered in turn, the likeliest first."""
_LEAST: Final = 0.1
"""The chance from which one is."""
_WANTS: Final = 0.55
"""The chance of wanting anything from which a post is read so: of 316 that do 86 in 100, of 584 others 11."""
_LANGUAGE: Final = "en"
_CLAUSES: Final = re.compile(r"(?<=[.!?…;])\s+|\n+|, | and | so | but | then | or ")
_MOST_CLAUSES: Final = 6


@dataclass(frozen=True, slots=True)
class Demand:
    """What is wanted ("nobody to employ them"), and the sentences that refuse it.

    Attributes:
        sentences: each with the kinds of people of whom it is true; of all where there is none.
    """

    id: str
    wants: str
    sentences: tuple[tuple[str, frozenset[str]], ...]

    def refused(self, names: Sequence[Name], post: str) -> Iterator[str]:
        """The sentences that are true of the people, in an order that depends on the post, so that they vary."""
        kinds = frozenset().union(*(name.kinds for name in names))
        fitting = [text for text, only in self.sentences if not only or only & kinds]
        start = zlib.crc32(post.encode())
        for turn in range(len(fitting)):
            text = fitting[(start + turn) % len(fitting)]
            if not brought_in(text, post, _LANGUAGE):
                yield text


@cache
def demands() -> tuple[Demand, ...]:
    """All demands, in the order of the weights."""
    rows = map(json.loads, (FOLDER / "demands.jsonl").read_text(encoding="utf-8").splitlines())
    return tuple(
        Demand(
            row["demand"],
            row["wants"],
            tuple((one["text"], frozenset(one.get("only", ()))) for one in row["answers"]),
        )
        for row in rows
    )


class Wanted(NamedTuple):
    """How likely a post wants anything, in [0, 1], and what: the likeliest first, nothing where that is unlikely."""

    chance: float
    demands: list[Demand]


def wanted(text: str, embedder: Embedder) -> Wanted:
    """What an English post wants. Blocking.

    Raises:
        IndexUnavailable: the embedding model cannot be loaded.
    """
    of_post, of_clauses = _weights()
    whole = shares_of(of_post, vectors_of([unnamed(text)], _LANGUAGE, embedder))
    parts = shares_of(of_clauses, vectors_of(list(map(unnamed, clauses(text))), _LANGUAGE, embedder))
    nothing, *chances = likely(whole, parts)
    order = np.argsort(-np.array(chances), kind="stable")[:MOST]
    likeliest = [demands()[at] for at in order if chances[at] >= _LEAST and nothing < 1 - _WANTS]
    return Wanted(1 - float(nothing), likeliest)


def likely(whole: NDArray[np.float32], parts: NDArray[np.float32]) -> NDArray[np.float32]:
    """How likely a post wants nothing, and each demand, shape (1 + demands,), by shares of it and of its clauses."""
    of_parts = np.array([parts[:, 0].min(), *parts[:, 1:].max(axis=0)])
    return np.asarray((whole[0] + of_parts) / 2)


def clauses(text: str) -> list[str]:
    """The last clauses of a post, in which it says what it wants; the post where it has none."""
    parts = [part.strip(" .!?,") for part in _CLAUSES.split(text)]
    return [part for part in parts if len(part.split()) > 1][-_MOST_CLAUSES:] or [text]


def shares_of(weights: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """How likely each vector asks for nothing and for each demand, shape (n, 1 + demands)."""
    logits = vectors @ weights[:-1] + weights[-1]
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


@cache
def _weights() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What was learnt of whole posts and of clauses, each of shape (385, 1 + demands), the offsets last."""
    with safe_open(WEIGHTS, framework="numpy") as file:
        return file.get_tensor("post").astype(np.float32), file.get_tensor("clauses").astype(np.float32)
