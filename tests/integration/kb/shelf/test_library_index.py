"""The index of the library with the real engines: what is found, how versions follow each other, what is embedded."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from core.errors import BadInput, IndexUnavailable
from core.models import TargetGroup
from kb.shelf.index.library_index import Filters, LibraryIndex, ParagraphEntry, Tuning
from tests.fakes.documents.paragraphs import EXPIRED, BatchEmbedder, entries, entry_of, stored, text_of, texts

SOME = range(1, 701)
FEW_CELLS = Tuning(exact_up_to=200, probes=8, least=100, scanned=20)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of 700 paragraphs, all embedded, in cells; tests copy it or do not change it."""
    folder = tmp_path_factory.mktemp("built")
    index = opened(folder)
    index.update(entries(SOME))
    index.embed()
    return folder


@pytest.fixture(scope="module")
def exact(built: Path, tmp_path_factory: pytest.TempPathFactory) -> LibraryIndex:
    """The same paragraphs and vectors, without cells."""
    folder = tmp_path_factory.mktemp("exact") / "index"
    shutil.copytree(built, folder)
    index = LibraryIndex(folder, BatchEmbedder(), texts)
    index.update([])
    return index


def opened(folder: Path, embedder: BatchEmbedder | None = None) -> LibraryIndex:
    return LibraryIndex(folder, embedder or BatchEmbedder(), texts, tuning=FEW_CELLS)


# What is found


def test_paragraph_is_found_by_its_words_and_by_its_vector(built: Path) -> None:
    """Protects the two rankings: a paragraph is the best answer to itself."""
    index = opened(built)
    for row in (1, 350, 700):
        vector = BatchEmbedder().encode([text_of(row)])[0]
        assert index.bm25(text_of(row), 3)[0][0] == row
        assert index.dense(vector, 3)[0][0] == row
        assert index.dense(vector, 3)[0][1] == pytest.approx(1.0, abs=0.01)


def test_filters_change_neither_order_nor_scores(built: Path, exact: LibraryIndex) -> None:
    """Protects that filters only leave out, be they broad, which drops hits, or narrow, which asks for fewer."""
    index = opened(built)
    query, vector = text_of(123), BatchEmbedder().encode([text_of(123)])[0]
    everything = exact.bm25(query, 700), exact.dense(vector, 700)
    for filters, passes in (
        (Filters(today=date(2026, 1, 1)), lambda one: one.expires != EXPIRED),
        (Filters(today=EXPIRED), lambda _: True),
        (Filters(since_year=2010), lambda one: one.year is not None and one.year >= 2010),
        (Filters(until_year=2003), lambda one: one.year is not None and one.year <= 2003),
        (Filters(publishers=frozenset({"Town library"})), lambda one: one.publisher == "Town library"),
        (Filters(sources=frozenset({"un", "folder"})), lambda one: one.source != "eurlex"),
        (Filters(languages=frozenset({"it"})), lambda _: False),
        (
            Filters(target_groups=frozenset({TargetGroup.JEWS}), since_year=2012, until_year=2016),
            lambda one: TargetGroup.JEWS in one.target_groups and one.year is not None and 2012 <= one.year <= 2016,
        ),
    ):
        for found, ranking in zip(
            (exact.bm25(query, 20, filters), exact.dense(vector, 20, filters)), everything, strict=True
        ):
            wanted = [(row, score) for row, score in ranking if passes(entry_of(row))][:20]
            assert [row for row, _ in found] == [row for row, _ in wanted]
            assert [score for _, score in found] == pytest.approx([score for _, score in wanted], rel=1e-5)
        in_cells = index.dense(vector, 20, filters)
        assert all(passes(entry_of(row)) for row, _ in in_cells)
        assert len(in_cells) == len(found)


def test_no_document_fills_the_answer(built: Path) -> None:
    """Protects from a document that answers everything."""
    index = opened(built)
    vector = BatchEmbedder().encode([text_of(55)])[0]
    for found in (
        index.bm25(text_of(55), 30, Filters(per_document=1)),
        index.dense(vector, 30, Filters(per_document=1)),
    ):
        documents = [row // 10 for row, _ in found]
        assert len(documents) == len(set(documents)) == 30
        assert found[0][0] == 55


def test_words_are_stemmed_by_the_language_of_the_paragraph(tmp_path: Path) -> None:
    """Protects Spanish and Italian sources, and languages without a stemmer."""
    said = {
        1: ("es", "Las mujeres trabajadoras tienen los mismos derechos"),
        2: ("it", "Le donne lavoratrici hanno gli stessi diritti"),
        3: ("eu", "Emakumeek eskubide berberak dituzte"),
        4: (None, "Women who work have the same rights"),
    }
    index = LibraryIndex(tmp_path, BatchEmbedder(), lambda rows: {row: said[row][1] for row in rows})
    index.update(
        ParagraphEntry(row=row, text=text, document="d", source="folder", publisher="p", language=language)
        for row, (language, text) in said.items()
    )
    assert index.bm25("una mujer con derecho", 4)[0][0] == 1
    assert index.bm25("il diritto della donna", 4)[0][0] == 2
    assert index.bm25("ESKUBIDE", 4)[0][0] == 3
    assert index.bm25("working", 4)[0][0] == 4
    assert index.bm25("derecho", 4, Filters(languages=frozenset({"it"}))) == []


@pytest.mark.parametrize("query", ["", "?", "the of and", 'own5x AND (text:"*" OR ~2) ^', "\x00\ud800", "a" * 5000])
def test_any_text_will_do_as_a_query(built: Path, query: str) -> None:
    """Protects searches from what a post may hold: nothing in it is syntax."""
    found = opened(built).bm25(query, 5)
    assert (found[0][0] == 5) if "own5x" in query else not found


def test_without_paragraphs_nothing_is_found(tmp_path: Path) -> None:
    """Protects an index whose last document was removed."""
    index = opened(tmp_path)
    index.update(entries([1]))
    index.update([], removed=[1])
    assert index.bm25("own1x", 5) == index.dense(np.ones(256, dtype=np.float32), 5) == []
    assert (len(index.rows), index.embedded(), index.embed(), index.verify()) == (0, 0, 0, [])


# How versions follow each other


@pytest.mark.parametrize("tuning", [Tuning(), FEW_CELLS])
def test_history_leaves_no_trace(tmp_path: Path, tuning: Tuning) -> None:
    """Protects reproducibility: many updates, removals and replacements end in the bytes of one, but for cells."""
    at_once, index = (
        LibraryIndex(tmp_path / name, BatchEmbedder(noise=0), texts, tuning=tuning) for name in ("at once", "by and by")
    )
    at_once.update(entries(SOME))
    at_once.embed()
    other = replace(entry_of(90), publisher="Somebody else")
    index.update([*entries(range(1, 50)), other, *entries(range(5000, 5100))])
    index.embed()
    index.update(entries(range(400, 701)))
    index.vectors([600, 420, 401])
    index.update(entries(range(50, 400)), removed=range(5000, 5100))
    index.embed(limit=1)
    index.embed()
    one, two = stored(tmp_path / "at once"), stored(tmp_path / "by and by")
    if tuning is FEW_CELLS:  # these were learnt from other vectors on the way
        assert {name.partition("-")[0] for name, _ in one.items() ^ two.items()} <= {
            "centres",
            "codes",
            "manifest.json",
        }
        index.rebuild(entries(SOME))
        two = stored(tmp_path / "by and by")
    assert (two, index.version) == (one, at_once.version)


def test_a_change_in_the_middle_does_not_encode_everything_anew(built: Path, tmp_path: Path) -> None:
    """Protects updates of large indexes: the cells stay as they are."""
    shutil.copytree(built, tmp_path / "index")
    index = opened(tmp_path / "index")
    seen: list[str] = []
    index.update([], removed=[5], on_progress=lambda step, *_: seen.append(step))
    assert seen == ["words", "codes"]
    assert index.dense(index.vectors([9])[0], 1)[0][0] == 9


def test_update_takes_over_what_has_not_changed(built: Path, tmp_path: Path) -> None:
    """Protects that an update costs what has changed: unchanged files are the same file, under another name."""
    shutil.copytree(built, tmp_path / "index")
    index = opened(tmp_path / "index")
    index.update(entries(range(4097, 4100)))  # the next shard
    versions = sorted(path for path in (tmp_path / "index" / "versions").iterdir() if path.is_dir())
    inodes = [{path.stat().st_ino for path in version.rglob("*.*")} for version in versions]
    assert len(versions) == 2
    assert len(inodes[0] & inodes[1]) >= 9


def test_the_version_before_is_kept_and_older_ones_are_not(tmp_path: Path) -> None:
    """Protects the disk, and whoever has opened the version before."""
    index = opened(tmp_path)
    names = [index.update(entries(range(1, last))) for last in (5, 6, 7, 8)]
    assert {path.name for path in (tmp_path / "versions").iterdir() if path.is_dir()} == set(names[-2:])
    assert index.update([]) == names[-1]
    assert {path.name for path in (tmp_path / "versions").iterdir() if path.is_dir()} == set(names[-2:])


def test_a_search_goes_on_with_the_version_that_it_opened(tmp_path: Path) -> None:
    """Protects other processes: they answer as before until they open the index again, even if theirs is dropped."""
    writer, reader = opened(tmp_path), opened(tmp_path)
    writer.update(entries(range(1, 60)))
    writer.embed()
    before = reader.version
    wanted = reader.bm25(text_of(7), 5), reader.dense(reader.vectors([7])[0], 5)
    for last in (70, 80, 90):
        writer.update(entries(range(last - 10, last)), removed=[7])
    assert not (tmp_path / "versions" / before).exists()
    assert (reader.bm25(text_of(7), 5), reader.dense(reader.vectors([7])[0], 5)) == wanted
    reader.open()
    assert reader.version == writer.version
    assert 7 not in [row for row, _ in reader.bm25(text_of(7), 5)]


def test_searches_run_while_versions_change(tmp_path: Path) -> None:
    """Protects that no search fails or sees a mixture while the index is updated."""
    index = opened(tmp_path)
    index.update(entries(range(1, 200)))
    failures: list[BaseException] = []
    answers: list[list[tuple[int, float]]] = []

    def search() -> None:
        try:
            while not done:
                answers.append(index.bm25("own5x", 5))
        except BaseException as err:
            failures.append(err)

    done: list[bool] = []
    searching = Thread(target=search)
    searching.start()
    for last in range(200, 206):
        index.update(entries([last]))
    done.append(True)
    searching.join()
    assert not failures
    assert {answer[0][0] for answer in answers} == {5}


def test_entries_out_of_order_are_refused(tmp_path: Path) -> None:
    """Protects the numbers of paragraphs."""
    for rows in ([2, 1], [1, 1], [0, 1]):
        with pytest.raises(BadInput, match="order"):
            opened(tmp_path).update(entries(rows))


def test_a_text_that_the_library_does_not_hold_is_not_indexed(tmp_path: Path) -> None:
    """Protects that what is found is what the library shows."""
    index = LibraryIndex(tmp_path, BatchEmbedder(), lambda rows: dict.fromkeys(rows, "Something else."))
    with pytest.raises(IndexUnavailable, match="Paragraph 1 is another one in the library"):
        index.update(entries([1]))
    empty = LibraryIndex(tmp_path, BatchEmbedder(), lambda _: {})
    with pytest.raises(IndexUnavailable, match="Paragraph 1 is missing from the library"):
        empty.update(entries([1]))


# What is embedded


def test_a_paragraph_is_found_by_words_before_it_is_embedded(tmp_path: Path) -> None:
    """Protects large sources: they can be searched as soon as they are read."""
    embedder = BatchEmbedder()
    index = opened(tmp_path, embedder)
    index.update(entries(range(1, 100)))
    assert index.bm25("own5x", 1)[0][0] == 5
    assert (index.embedded(), embedder.asked) == (0, [])


def test_a_vector_is_made_once_and_kept(tmp_path: Path) -> None:
    """Protects lazy embedding: what was wanted once is there after a restart, and covered by dense search."""
    first, second = BatchEmbedder(), BatchEmbedder()
    index = opened(tmp_path, first)
    index.update(entries(range(1, 100)))
    vectors = index.vectors([5, 9, 5])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-3)
    assert index.dense(vectors[1], 3)[0][0] == 9
    again = opened(tmp_path, second)
    assert np.array_equal(again.vectors([9, 5]), vectors[[1, 0]])
    assert again.dense(vectors[1], 3) == index.dense(vectors[1], 3)
    again.update([])
    assert np.array_equal(again.vectors([9, 5]), vectors[[1, 0]])
    assert (len(first.asked), second.asked) == (2, [])


def test_a_torn_or_damaged_log_costs_vectors_and_nothing_else(tmp_path: Path) -> None:
    """Protects from a kill in the middle of a write, and from a damaged disk: no wrong vector is used."""
    index = opened(tmp_path)
    index.update(entries(range(1, 100)))
    good = index.vectors([1]), index.vectors([2]), index.vectors([3])
    (log,) = (tmp_path / "embedded").glob("*/*.log")
    whole = log.read_bytes()
    size = len(whole) // 3
    for damage, kept in (
        (whole[:-5], {1, 2}),
        (whole[: size + 10] + b"?" + whole[size + 11 :], {1}),  # the head of the second
        (whole[: 2 * size - 9] + b"?" + whole[2 * size - 8 :], {1, 3}),  # its vector
        (b"", set()),
    ):
        log.write_bytes(damage)
        again = opened(tmp_path, embedder := BatchEmbedder())
        assert again.embedded() == len(kept)
        assert np.array_equal(
            again.vectors([1, 2, 3])[[row - 1 for row in kept]], np.vstack(good)[[row - 1 for row in kept]]
        )
        assert len(embedder.asked) == 3 - len(kept)
        for file in (tmp_path / "embedded").glob("*/*.log"):
            if file != log:
                file.unlink()


def test_embedding_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Protects hours of work: a limit or an end in the middle costs nothing that was done."""
    embedder = BatchEmbedder()
    index = opened(tmp_path, embedder)
    index.update(entries(SOME))
    assert index.embed(limit=1) == 255  # rows 1 to 255 are the first block
    assert index.embedded() == 255
    seen: list[tuple[str, int, int]] = []
    assert opened(tmp_path, embedder).embed(on_progress=lambda *step: seen.append(step)) == 445
    assert [step for step in seen if step[0] == "vectors"] == [("vectors", 256, 445), ("vectors", 445, 445)]
    assert sorted(embedder.asked) == sorted(text_of(row) for row in SOME)


def test_without_laziness_an_update_embeds(tmp_path: Path) -> None:
    """Protects small collections: all is dense when the update is done."""
    index = LibraryIndex(tmp_path, BatchEmbedder(), texts, lazy=False)
    index.update(entries(range(1, 20)))
    assert index.embedded() == len(index.rows) == 19


def test_vectors_of_two_models_never_mix(tmp_path: Path) -> None:
    """Protects dense search when the model changes: words still answer, and everything is embedded anew."""
    index = opened(tmp_path)
    index.update(entries(range(1, 300)))
    index.embed()
    index.vectors([5])
    other = opened(tmp_path, BatchEmbedder("another"))
    assert (other.embedded(), other.bm25("own5x", 1)[0][0]) == (0, 5)
    other.embed()
    vector = BatchEmbedder("another").encode([text_of(5)])[0]
    assert other.dense(vector, 1)[0][0] == 5
    assert opened(tmp_path).embedded() == 0


def test_a_row_that_is_not_in_the_index_has_no_vector(built: Path) -> None:
    """Protects callers with rows of an older version."""
    with pytest.raises(IndexUnavailable, match="not in the index"):
        opened(built).vectors([5, 100_000])
    assert opened(built).vectors([]).shape[0] == 0
