"""Synthetic paragraphs and vectors, in any number, the same for the same seed.

Paragraphs: 20 to 200 words, 80 on average, three quarters from a vocabulary of 400,000 with Zipf's frequencies, stop
words first, the rest from one of 2,000 topics. Vectors: 384 dimensions, each a mixture of two paths through a tree of
clusters, and noise; they are harder to search than separate clusters. Both are written to files, since a million are
too many to hold in memory during a measurement.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384
QUERIES = 300

_SEED = 17
_VOCABULARY, _TOPICS, _TOPIC_WORDS, _TOPIC_SHARE = 400_000, 2000, 300, 0.25
_BLOCK = 1000
_QUERY_WORDS, _STRANGE_WORDS = 12, 3
_ONSETS = "b bl br c ch cl d dr f fl g gr h j k l m n p pl pr r s sc sh sl sp st str t th tr v w".split()
_VOWELS = "a e i o u ai ea ee io ou".split()
_CODAS = ["", "n", "r", "l", "s", "t", "m", "nd", "st", "rk", "ck"]
_STOP_WORDS = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which"
    " one you were all her she there would their we him been has when who will no more if out so up said what its about"
    " than into them can only other time new some could these two may first then do any like my now over such our man"
    " me even most made after also did many off before must well back through years much where your way down should"
    " because long each just state those people too how little good world make very year still see own work men day"
).split()

_LEVELS = (0.12, 0.16, 0.2, 0.2)  # each level's share of a vector's square length; noise gives the rest
_MEMBERS = (None, 1500, 120, 12)  # vectors for each cluster of a level; of the first level there are 32
_AT_ONCE = 50_000


@dataclass(frozen=True)
class Query:
    """Words of a paragraph among others, and the row of that paragraph."""

    text: str
    row: int


class Corpus:
    """Paragraphs 1 to ``size``; smaller ones are the beginning of larger ones. Written when first needed."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size
        self._texts = folder / "paragraphs.txt"
        self._starts = folder / "paragraphs.npy"
        self._queries = folder / f"queries-{size}.json"

    def write(self) -> None:
        """Make the files, unless they hold enough paragraphs already."""
        if not self._starts.exists() or len(np.load(self._starts, mmap_mode="r")) <= self.size:
            self._write_texts()
        if not self._queries.exists():
            self._queries.write_text(json.dumps([(query.text, query.row) for query in self._drawn()]))

    def _write_texts(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        starts = [0]
        with self._texts.open("wb") as file:
            for text in islice(_paragraphs(), self.size):
                starts.append(starts[-1] + file.write(text.encode()))
        np.save(self._starts, np.array(starts, dtype=np.int64))

    def texts(self, rows: Sequence[int]) -> dict[int, str]:
        """The paragraphs of rows."""
        starts, data = np.load(self._starts, mmap_mode="r"), np.memmap(self._texts, dtype=np.uint8, mode="r")
        return {row: data[starts[row - 1] : starts[row]].tobytes().decode() for row in rows}

    def all(self) -> Iterator[tuple[int, str]]:
        """Every row and its paragraph."""
        for first in range(1, self.size + 1, _BLOCK):
            yield from self.texts(range(first, min(first + _BLOCK, self.size + 1))).items()

    def queries(self) -> list[Query]:
        """The queries: 12 words of a paragraph and 3 others, shuffled."""
        return [Query(text, row) for text, row in json.loads(self._queries.read_text())]

    def _drawn(self) -> list[Query]:
        chance = np.random.default_rng((_SEED, self.size))
        words, found = _vocabulary(), []
        for row in chance.integers(1, self.size + 1, QUERIES).tolist():
            own = self.texts([row])[row].split()
            asked = [*chance.permutation(own)[:_QUERY_WORDS], *chance.choice(words[:20_000], _STRANGE_WORDS)]
            found.append(Query(" ".join(chance.permutation(asked)), row))
        return found


def _paragraphs() -> Iterator[str]:
    """Paragraphs without end."""
    words = _vocabulary()
    rank = np.arange(1, _VOCABULARY + 1)
    common = np.cumsum((rank + 2.7) ** -1.05)
    chance = np.random.default_rng(_SEED)
    topics = len(_STOP_WORDS) + ((_VOCABULARY - len(_STOP_WORDS)) * chance.random((_TOPICS, _TOPIC_WORDS)) ** 3).astype(
        np.int64
    )
    special = np.cumsum(rank[:_TOPIC_WORDS] ** -0.9)
    block = 0
    while True:
        chance = np.random.default_rng((_SEED, block))
        lengths = np.clip(chance.normal(80, 25, _BLOCK), 20, 200).astype(int)
        tokens = np.searchsorted(common, chance.random(lengths.sum()) * common[-1])
        is_special = chance.random(len(tokens)) < _TOPIC_SHARE
        topic = np.repeat(chance.integers(_TOPICS, size=_BLOCK), lengths)[is_special]
        tokens[is_special] = topics[topic, np.searchsorted(special, chance.random(len(topic)) * special[-1])]
        for part in np.split(words[tokens], np.cumsum(lengths)[:-1]):
            yield " ".join(part)
        block += 1


@cache
def _vocabulary() -> NDArray[np.object_]:
    """The words by frequency: stop words, then made-up ones, the short ones mostly first."""
    syllables = ["".join(parts) for parts in product(_ONSETS, _VOWELS, _CODAS)]
    chance = np.random.default_rng(_SEED)
    made = dict.fromkeys(syllables)
    while len(made) < _VOCABULARY:
        parts = chance.integers(len(syllables), size=(_VOCABULARY, 2))
        made |= dict.fromkeys(syllables[one] + syllables[two] for one, two in parts.tolist())
    kept = np.array(list(made), dtype=object)
    order = np.argsort([len(word) for word in kept] + chance.normal(0, 1.5, len(kept)))
    return np.concatenate([np.array(_STOP_WORDS, dtype=object), kept[order]])[:_VOCABULARY]


class Vectors:
    """Vectors of ``size`` paragraphs and of the queries, with the exact answers. Written when first needed."""

    def __init__(self, folder: Path, size: int) -> None:
        self.size = size
        self._folder = folder / f"vectors-{size}"

    def write(self) -> None:
        """Make the files, unless they are there."""
        if (self._folder / "exact.npy").exists():
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        tree = _Tree(self.size)
        stored = np.lib.format.open_memmap(
            self._folder / "vectors.npy", mode="w+", dtype=np.float16, shape=(self.size, DIMENSION)
        )
        for first in range(0, self.size, _AT_ONCE):
            stored[first : first + _AT_ONCE] = tree.draw(min(_AT_ONCE, self.size - first))
        stored.flush()
        queries = tree.draw(QUERIES).astype(np.float32)
        np.save(self._folder / "queries.npy", queries)
        np.save(self._folder / "exact.npy", _nearest(self.stored(), queries, 100))

    def stored(self) -> NDArray[np.float16]:
        """All vectors, of shape (size, 384), on the disk."""
        return np.asanyarray(np.load(self._folder / "vectors.npy", mmap_mode="r"))

    def loaded(self) -> NDArray[np.float32]:
        """All vectors, of shape (size, 384), in memory."""
        return self.stored().astype(np.float32)

    def queries(self) -> NDArray[np.float32]:
        """The queries: other vectors of the same clusters."""
        return np.asarray(np.load(self._folder / "queries.npy"))

    def exact(self) -> NDArray[np.int64]:
        """The places of the 100 nearest vectors of each query, best first."""
        return np.asarray(np.load(self._folder / "exact.npy"))


class _Tree:
    """Clusters within clusters, unevenly filled."""

    def __init__(self, size: int) -> None:
        self._chance = np.random.default_rng((_SEED, size))
        counts = [32 if members is None else max(64, size // members) for members in _MEMBERS]
        self._centres = [self._units(count) for count in counts]
        self._parents = [
            np.zeros(counts[0], dtype=np.int64),
            *(self._uneven(above, below) for above, below in pairwise(counts)),
        ]

    def draw(self, count: int) -> NDArray[np.float16]:
        """This many more unit vectors."""
        share = 1 - 0.5 * self._chance.random((count, 1), dtype=np.float32) ** 2
        vectors = share * self._paths(count) + (1 - share) * self._paths(count)
        vectors += np.sqrt(1 - sum(_LEVELS)) * self._units(count)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float16)

    def _paths(self, count: int) -> NDArray[np.float32]:
        at = self._uneven(len(self._centres[-1]), count)
        total = np.zeros((count, DIMENSION), dtype=np.float32)
        for weight, centres, parents in zip(_LEVELS[::-1], self._centres[::-1], self._parents[::-1], strict=True):
            total += np.sqrt(weight) * centres[at]
            at = parents[at]
        return total

    def _uneven(self, choices: int, count: int) -> NDArray[np.int64]:
        return (choices * self._chance.random(count) ** 1.3).astype(np.int64)

    def _units(self, count: int) -> NDArray[np.float32]:
        drawn = self._chance.standard_normal((count, DIMENSION), dtype=np.float32)
        return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


def _nearest(vectors: NDArray[np.float16], queries: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    places = np.empty((len(queries), 0), dtype=np.int64)
    scores = np.empty((len(queries), 0), dtype=np.float32)
    for first in range(0, len(vectors), _AT_ONCE):
        block = queries @ vectors[first : first + _AT_ONCE].astype(np.float32).T
        here = np.broadcast_to(np.arange(first, first + block.shape[1]), block.shape)
        places, scores = np.hstack([places, here]), np.hstack([scores, block])
        kept = np.argsort(-scores, axis=1)[:, :k]
        places, scores = np.take_along_axis(places, kept, 1), np.take_along_axis(scores, kept, 1)
    return places
