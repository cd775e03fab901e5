"""BM25 over the paragraphs, by tantivy: one segment for each shard, each written separately and once.

Owns what tantivy stores and how it is asked. By itself tantivy names segments at random and merges them when it likes.
Here each shard becomes one segment with a fixed name, and this module writes the list of segments, so that the same
paragraphs make the same bytes.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import tantivy
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.i18n.sentences import sentence
from kb.ranking.stems import ANALYZERS, FIELDS, OTHER, stems
from kb.shelf.index.entries import Filters
from kb.shelf.index.table import GROUPS, NEVER, Table, digest

FOLDER = "words"

Texts = Callable[[Sequence[int]], Mapping[int, str]]
"""Looks up the texts of paragraphs by row."""

_WRITER_BYTES = 2_000_000_000  # a segment must fit, or tantivy begins another; used only as far as needed
_TEXTS_AT_ONCE = 1000
_MAX_QUERY_STEMS = 64  # more words of a post only take more time
_SUFFIXES = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_FIELD_OF_LANGUAGE = {digest(code): field for code, field in FIELDS.items()}


@cache
def _schema() -> tantivy.Schema:
    schema = tantivy.SchemaBuilder()
    for field in ANALYZERS:
        schema.add_text_field(field, tokenizer_name=field, index_option="freq")
    schema.add_integer_field("row", fast=True)
    for name in ("group", "source", "publisher", "language"):
        schema.add_integer_field(name, indexed=True)
    for name in ("year", "expires"):
        schema.add_integer_field(name, fast=True)
    return schema.build()


def write_segment(folder: Path, name: str, shard: Table, texts: Texts) -> None:
    """Write the segment of a shard into ``folder``; ``name`` is 32 hexadecimal digits.

    Raises:
        IndexUnavailable: ``texts`` does not give a paragraph, or not as it was indexed.
        OSError, ValueError: the folder cannot be written (tantivy raises the latter).
    """
    writing = folder / "writing"
    writing.mkdir()
    index = tantivy.Index(_schema(), path=str(writing))
    for field, analyzer in ANALYZERS.items():
        index.register_tokenizer(field, analyzer)
    writer = index.writer(_WRITER_BYTES, 1)  # with one thread, documents keep their order
    for record, text in _with_texts(shard, texts):
        writer.add_document(_document(record, text))
    writer.commit()
    writer.wait_merging_threads()
    segments = json.loads((writing / "meta.json").read_text())["segments"]
    if len(segments) != 1:
        raise IndexUnavailable(
            f"{len(shard):,} paragraphs from {shard['row'][0]} on are too long for one part of the search index.",
            remedy="Cut the longest documents into shorter paragraphs.",
        )
    written = segments[0]["segment_id"].replace("-", "")
    for suffix in _SUFFIXES:
        (writing / f"{written}.{suffix}").rename(folder / f"{name}.{suffix}")
    shutil.rmtree(writing)


def _with_texts(shard: Table, texts: Texts) -> Iterator[tuple[np.void, str]]:
    for first in range(0, len(shard), _TEXTS_AT_ONCE):
        records = shard[first : first + _TEXTS_AT_ONCE]
        found = texts(records["row"].tolist())
        for record in records:
            yield record, checked_text(found, int(record["row"]), int(record["text"]))


def checked_text(found: Mapping[int, str], row: int, wanted: int) -> str:
    """The text of a row, if its hash is the one that was indexed. Raises ``IndexUnavailable``."""
    text = found.get(row)
    if text is None or digest(text) != wanted:
        raise IndexUnavailable(
            sentence("Paragraph {row} is missing from the library.", row=row)
            if text is None
            else sentence("Paragraph {row} is another one in the library.", row=row),
            remedy=sentence("Run `{command}`.", command="antiphon kb verify --repair"),
        )
    return text


def _document(record: np.void, text: str) -> tantivy.Document:
    document = tantivy.Document()
    document.add_text(_FIELD_OF_LANGUAGE.get(int(record["language"]), OTHER), text)
    document.add_integer("row", int(record["row"]))
    for bit in range(len(GROUPS)):
        if int(record["groups"]) >> bit & 1:
            document.add_integer("group", bit)
    for name in ("source", "publisher", "language"):
        document.add_integer(name, _signed(int(record[name])))
    document.add_integer("year", int(record["year"]))
    document.add_integer("expires", int(record["expires"]))
    return document


def _signed(value: int) -> int:
    """The same 64 bits as a signed number: tantivy's unsigned fields panic on a Python int."""
    return value - (1 << 64) if value >> 63 else value


def write_list(folder: Path, segments: Sequence[tuple[str, int]]) -> None:
    """Write the files by which tantivy opens an index: the segments' names, and how many paragraphs each has."""
    tantivy.Index(_schema(), path=str(folder))
    listed = json.loads((folder / "meta.json").read_text())
    listed["segments"] = [
        {"segment_id": str(uuid.UUID(name)), "max_doc": size, "deletes": None} for name, size in segments
    ]
    files = [f"{name}.{suffix}" for name, _ in segments for suffix in _SUFFIXES]
    (folder / "meta.json").write_text(json.dumps(listed, indent=1, sort_keys=True))
    (folder / ".managed.json").write_text(json.dumps(["meta.json", *files]))
    for lock in folder.glob("*.lock"):
        lock.unlink()


class Words:
    """An open index. ``languages`` are those of the paragraphs, as in the table.

    Raises:
        OSError, ValueError: it cannot be opened (tantivy raises the latter).
    """

    def __init__(self, folder: Path, languages: frozenset[int]) -> None:
        index = tantivy.Index.open(str(folder))
        index.config_reader("manual")  # an open index does not change
        self._searcher = index.searcher()
        self._fields: dict[str, set[int]] = {}
        for language in sorted(languages):
            self._fields.setdefault(_FIELD_OF_LANGUAGE.get(language, OTHER), set()).add(language)

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def search(
        self, text: str, limit: int, filters: Filters, *, narrow: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The rows of the best ``limit`` paragraphs, and their scores, best first; any text will do.

        Each paragraph is searched by the stems of its language; all languages that the filters let pass are searched
        together. Only with ``narrow`` do the filters also decide which paragraphs are found; the scores are the same.
        """
        terms = self._terms(text, filters)
        if not terms:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        if narrow:
            inside = (tantivy.Query.const_score_query(part, 0.0) for part in _narrowing(filters))
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, part) for part in (query, *inside)])
        hits = self._searcher.search(query, limit, count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        return np.array(rows, dtype=np.int64), np.array([score for score, _ in hits], dtype=np.float32)

    def _terms(self, text: str, filters: Filters) -> list[tantivy.Query]:
        wanted = {digest(language) for language in filters.languages}
        fields = [field for field, languages in self._fields.items() if not wanted or languages & wanted]
        return [
            tantivy.Query.term_query(_schema(), field, stem, "freq")
            for field in fields
            for stem in stems(text, field)[:_MAX_QUERY_STEMS]
        ]


def _narrowing(filters: Filters) -> Iterator[tantivy.Query]:
    if filters.target_groups:
        bits = sorted(GROUPS.index(group) for group in filters.target_groups)
        yield tantivy.Query.term_set_query(_schema(), "group", bits)
    if filters.since_year is not None or filters.until_year is not None:
        yield _between("year", max(filters.since_year or 0, 0), filters.until_year)
    for field, names in (
        ("publisher", filters.publishers),
        ("source", filters.sources),
        ("language", filters.languages),
    ):
        if names:
            yield tantivy.Query.term_set_query(_schema(), field, sorted(_signed(digest(name)) for name in names))
    if filters.today is not None:
        yield _between("expires", filters.today.toordinal(), None)


def _between(field: str, least: int, most: int | None) -> tantivy.Query:
    most = NEVER if most is None else most
    return tantivy.Query.range_query(_schema(), field, tantivy.FieldType.Integer, least, most)
