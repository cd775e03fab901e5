"""The library on a Qdrant server, for collections that are too large for one machine; a ``Shelf`` like the local one.

A point holds its passage and the hash of it, so that a machine that searches needs no
library of its own. Words are sparse vectors with the weights of BM25; the server adds how rare a word is.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from core.engine.ports import Embedder
from core.engine.wording.word_index import stems, tokens
from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from core.models import TargetGroup
from kb.documents import ListedDocument
from kb.library.library import Paragraph, Trust
from kb.shelf.search import Filters

_MEANING: Final = "meaning"
_WORDS: Final = "words"
_AT_ONCE = 64
_K1, _B = 1.2, 0.75  # as in the local index
_MEAN_LENGTH = 75.0  # stems of a paragraph of 120 words; a server with shards does not know the mean
_MAX_QUERY_WORDS = 64
_NEVER = date.max.toordinal()
_REMEDY = sentence(
    "Check [kb] qdrant_url and the server, and that `{command}` filled the collection.", command="antiphon kb push"
)

OnPushed = Callable[[int, int], None]
"""Called after each batch: how many paragraphs are pushed, and how many there are."""


class QdrantShelf:
    """Paragraphs in one collection of a Qdrant server; blocking, safe to share between threads.

    Args:
        embedder: makes the vectors of paragraphs while they are pushed; must be the one that searches.
    """

    def __init__(self, client: QdrantClient, collection: str, embedder: Embedder) -> None:
        self._client = client
        self._collection = collection
        self._embedder = embedder

    def push(self, paragraphs: Sequence[Paragraph], version: str, on_pushed: OnPushed = lambda _, __: None) -> None:
        """Make the collection hold exactly these paragraphs; searches continue meanwhile.

        Paragraphs that were pushed under the same ``version`` are not sent again, so an interrupted push continues.

        Raises:
            IndexUnavailable: the server cannot be reached, or refuses.
        """
        with self._client_errors():
            self._make_collection()
        for first in range(0, len(paragraphs), _AT_ONCE):
            chunk = paragraphs[first : first + _AT_ONCE]
            missing = self._missing(chunk, version)
            if missing:
                vectors = self._embedder.encode([paragraph.text for paragraph in missing])
                points = [
                    _point(paragraph, vector, version) for paragraph, vector in zip(missing, vectors, strict=True)
                ]
                with self._client_errors():
                    self._client.upsert(self._collection, points, wait=True)
            on_pushed(min(first + _AT_ONCE, len(paragraphs)), len(paragraphs))
        stale = models.Filter(must_not=[models.FieldCondition(key="version", match=models.MatchValue(value=version))])
        with self._client_errors():
            self._client.delete(self._collection, models.FilterSelector(filter=stale), wait=True)

    def bm25(self, query: str, k: int, filters: Filters) -> list[tuple[int, float]]:
        words = [_number(stem) for stem in stems(query)[:_MAX_QUERY_WORDS]]
        if not words:
            return []
        vector = models.SparseVector(indices=sorted(set(words)), values=[1.0] * len(set(words)))
        return self._query(vector, _WORDS, k, filters)

    def dense(self, vector: NDArray[np.float32], k: int, filters: Filters) -> list[tuple[int, float]]:
        return self._query(vector.tolist(), _MEANING, k, filters)

    def vectors(self, rows: Sequence[int]) -> NDArray[np.float32]:
        with self._client_errors():
            records = self._client.retrieve(self._collection, list(rows), with_payload=False, with_vectors=[_MEANING])
        by_row: dict[int, Any] = {int(record.id): record.vector for record in records}
        if missing := [row for row in rows if row not in by_row]:
            raise IndexUnavailable(sentence("Qdrant has no vector of paragraph {row}.", row=missing[0]), remedy=_REMEDY)
        return np.array([by_row[row][_MEANING] for row in rows], dtype=np.float32)

    def embedded(self, rows: Sequence[int]) -> frozenset[int]:
        """All of these rows: a paragraph is pushed with its vector."""
        return frozenset(rows)

    def paragraphs(self, rows: Sequence[int]) -> Mapping[int, Paragraph]:
        """The paragraphs of these rows. Raises ``IndexUnavailable`` where the words are not those that were pushed."""
        with self._client_errors():
            records = self._client.retrieve(self._collection, list(rows), with_payload=True)
        return {int(record.id): _paragraph(int(record.id), record.payload or {}) for record in records}

    def count(self) -> int:
        """How many paragraphs the collection holds."""
        with self._client_errors():
            return self._client.count(self._collection).count

    def _query(self, vector: Any, using: str, k: int, filters: Filters) -> list[tuple[int, float]]:
        with self._client_errors():
            answer = self._client.query_points(
                self._collection, query=vector, using=using, limit=k, query_filter=_filter(filters), with_payload=False
            )
        return [(int(point.id), float(point.score)) for point in answer.points]

    def _make_collection(self) -> None:
        dimension = self._embedder.encode([]).shape[1]
        if self._client.collection_exists(self._collection):
            params = self._client.get_collection(self._collection).config.params.vectors
            stored = params[_MEANING].size if isinstance(params, dict) and _MEANING in params else None
            if stored != dimension:
                raise IndexUnavailable(
                    f"The collection {self._collection} is of another form or embedding model.",
                    remedy="Name another one in [kb] qdrant_collection, or delete it on the server.",
                )
            return
        self._client.create_collection(
            self._collection,
            vectors_config={_MEANING: models.VectorParams(size=dimension, distance=models.Distance.DOT)},
            sparse_vectors_config={_WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )

    def _missing(self, paragraphs: Sequence[Paragraph], version: str) -> list[Paragraph]:
        with self._client_errors():
            records = self._client.retrieve(
                self._collection, [paragraph.id for paragraph in paragraphs], with_payload=["version"]
            )
        there = {int(record.id) for record in records if (record.payload or {}).get("version") == version}
        return [paragraph for paragraph in paragraphs if paragraph.id not in there]

    @contextmanager
    def _client_errors(self) -> Iterator[None]:
        """The client's errors as ours. It raises ``ValueError`` for a collection that is not there."""
        try:
            yield
        except (ApiException, ValueError, OSError) as err:
            raise IndexUnavailable(
                sentence("Qdrant does not answer as it should: {why}.", why=err), remedy=_REMEDY
            ) from err


def _point(paragraph: Paragraph, vector: NDArray[np.float32], version: str) -> models.PointStruct:
    document = paragraph.document
    groups = sorted(document.target_groups)
    listed = asdict(document) | {"target_groups": groups, "expires": None}
    return models.PointStruct(
        id=paragraph.id,
        vector={_MEANING: vector.tolist(), _WORDS: _sparse(paragraph.text)},
        payload={
            "version": version,
            "text": paragraph.text,
            "sha256": hashlib.sha256(paragraph.text.encode()).hexdigest(),
            "page": paragraph.page,
            "label": paragraph.label,
            "start": paragraph.start,
            "end": paragraph.end,
            "trust": paragraph.trust.value,
            "listed": listed,
            "publisher": document.publisher,
            "source": document.source,
            "language": document.language,
            "year": document.year,
            "target_groups": groups,
            "expires": document.expires.toordinal() if document.expires else _NEVER,
        },
    )


def _paragraph(row: int, payload: Mapping[str, Any]) -> Paragraph:
    if hashlib.sha256(str(payload.get("text")).encode()).hexdigest() != payload.get("sha256"):
        raise IndexUnavailable(
            sentence("Paragraph {row} on the Qdrant server is not what was pushed.", row=row), remedy=_REMEDY
        )
    listed = dict(payload["listed"])
    listed["target_groups"] = frozenset(TargetGroup(group) for group in listed["target_groups"])
    listed["expires"] = date.fromordinal(payload["expires"]) if payload["expires"] != _NEVER else None
    return Paragraph(
        row, ListedDocument(**listed), payload["page"], payload["start"], payload["end"], payload["text"],
        Trust(payload["trust"]), payload.get("label", ""),
    )  # fmt: skip


def _sparse(text: str) -> models.SparseVector:
    """The part of BM25 that a paragraph gives: how often each stem occurs in it, weighted by its length."""
    counts = Counter(_number(token) for token in tokens(text))
    norm = _K1 * (1 - _B + _B * counts.total() / _MEAN_LENGTH)
    return models.SparseVector(
        indices=sorted(counts), values=[counts[word] * (_K1 + 1) / (counts[word] + norm) for word in sorted(counts)]
    )


def _number(stem: str) -> int:
    """A number for a stem, below 2^31; among a million stems few enough share one not to matter."""
    return int.from_bytes(hashlib.blake2b(stem.encode(), digest_size=4).digest()) >> 1


def _filter(filters: Filters) -> models.Filter:
    anything: dict[str, frozenset[Any]] = {
        "target_groups": frozenset(group.value for group in filters.target_groups),
        "publisher": filters.publishers,
        "language": filters.languages,
    }
    must: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchAny(any=sorted(values)))
        for key, values in anything.items()
        if values
    ]
    if filters.since_year is not None:
        must.append(models.FieldCondition(key="year", range=models.Range(gte=filters.since_year)))
    if filters.today is not None:
        must.append(models.FieldCondition(key="expires", range=models.Range(gte=filters.today.toordinal())))
    return models.Filter(must=must)
