"""The index in the library's file with the real engines: what is found, and what becomes of damage."""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from core.errors import IndexUnavailable
from core.models import TargetGroup
from kb.documents import FetchedFile, Page, ParsedFile, Span
from kb.library.library import Library, State
from kb.library.store import FILE
from kb.shelf.local import LocalShelf
from kb.shelf.search import EVERYTHING, Filters
from tests.fakes.documents.source import AT, listed
from tests.fakes.engine.embedder import FakeEmbedder

GROUPS = tuple(TargetGroup)
ROWS = range(1, 301)
FEW = 100  # so many vectors are compared one by one


def text_of(row: int) -> str:
    return f"own{row}x counts {row % 7} schools and {row % 11} hospitals in town{row % 30}x by river{row % 13}x."


class TextEmbedder(FakeEmbedder):
    """Tells texts apart that differ in figures only."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = super().encode(texts)
        for row, text in enumerate(texts):
            vectors[row] += np.random.default_rng(list(text.encode())).normal(0, 0.03, vectors.shape[1])
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def add(library: Library, name: str, texts: list[str], **about: object) -> None:
    text, spans, at = "\n".join(texts), [], 0
    for one in texts:
        spans.append(Span(1, at, at + len(one)))
        at += len(one) + 1
    library.note(listed(name, **about))
    fetched = FetchedFile(f"{name} {text}".encode(), "text/plain", AT)
    library.add(f"fake:{name}", fetched, ParsedFile((Page(1, text),)), spans, State.ACCEPTED)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of 300 paragraphs in 30 documents, all embedded, with a file of their vectors."""
    library = Library(tmp_path_factory.mktemp("built"))
    for number in range(30):
        add(
            library, str(number), [text_of(row) for row in ROWS[number * 10 : number * 10 + 10]],
            year=None if number % 7 == 0 else 2000 + number, publisher=("Town", "State")[number % 2],
            target_groups=frozenset({GROUPS[number % 8]}), expires=date(2020, 1, 1) if number % 10 == 0 else None,
        )  # fmt: skip
    made = LocalShelf(library, TextEmbedder(), exact_up_to=FEW)
    made.follow()
    made.embed()
    library.close()
    return library.folder


@pytest.fixture
def shelf(built: Path, tmp_path: Path) -> Iterator[LocalShelf]:
    """The index in a copy of the folder."""
    library = Library(Path(shutil.copytree(built, tmp_path / "kb")))
    yield LocalShelf(library, TextEmbedder(), exact_up_to=FEW)
    library.close()


def again(shelf: LocalShelf, exact_up_to: int = FEW, name: str = "fake") -> LocalShelf:
    embedder = TextEmbedder()
    embedder.name = name
    return LocalShelf(shelf.library, embedder, exact_up_to=exact_up_to)


def vector(row: int) -> np.ndarray:
    return np.asarray(TextEmbedder().encode([text_of(row)])[0])


def test_paragraph_is_found_by_its_words_and_by_its_vector(shelf: LocalShelf) -> None:
    for row in (1, 150, 300):
        assert shelf.bm25(text_of(row), 3)[0][0] == row
        found, score = shelf.dense(vector(row), 3)[0]
        assert (found, abs(score - 1) < 0.01) == (row, True)
    assert shelf.count() == (300, 300)
    assert len(list(shelf.library.folder.glob(f"{FILE}-neighbours-*"))) == 1


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        (Filters(today=date(2026, 1, 1)), {one for one in range(30) if one % 10}),
        (Filters(today=date(2020, 1, 1)), set(range(30))),
        (Filters(since_year=2020), {one for one in range(20, 30) if one % 7}),
        (Filters(publishers=frozenset({"Town"})), set(range(0, 30, 2))),
        (Filters(languages=frozenset({"it"})), set()),
        (Filters(target_groups=frozenset({GROUPS[3], GROUPS[4]})), {3, 4, 11, 12, 19, 20, 27, 28}),
    ],
)
def test_filters_change_neither_order_nor_scores(shelf: LocalShelf, filters: Filters, numbers: set[int]) -> None:
    everything = shelf.bm25(text_of(123), 300), shelf.dense(vector(123), 300)
    for found, ranking in zip(
        (shelf.bm25(text_of(123), 300, filters), shelf.dense(vector(123), 300, filters)), everything, strict=True
    ):
        wanted = [one for one in ranking if (one[0] - 1) // 10 in numbers]
        assert sorted(row for row, _ in found) == sorted(row for row, _ in wanted)
        assert dict(found) == pytest.approx(dict(wanted))


def test_no_document_fills_the_answer(shelf: LocalShelf) -> None:
    for found in (
        shelf.bm25(text_of(55), 30, Filters(per_document=1)),
        shelf.dense(vector(55), 30, Filters(per_document=1)),
    ):
        assert len({(row - 1) // 10 for row, _ in found}) == len(found) == 30
        assert found[0][0] == 55


def test_words_are_stemmed_by_the_language_of_the_paragraph(shelf: LocalShelf) -> None:
    """Protects Spanish, Italian and Basque sources, and languages without a stemmer."""
    for language, text in {
        "es": "Las mujeres tienen los mismos derechos", "it": "Le donne hanno gli stessi diritti",
        "eu": "Emakumeek eskubide berberak dituzte", "fi": "Naisilla on samat oikeudet",
    }.items():  # fmt: skip
        add(shelf.library, language, [text], language=language)
    assert shelf.follow().added == 4
    for language, query in {
        "es": "una mujer con derecho", "it": "il diritto della donna", "eu": "emakumeak eskubideetan", "fi": "OIKEUDET",
    }.items():  # fmt: skip
        (row, _), *_ = shelf.bm25(query, 4)
        assert shelf.paragraphs([row])[row].document.language == language
    assert shelf.bm25("derecho", 4, Filters(languages=frozenset({"it"}))) == []


@pytest.mark.parametrize(
    "query",
    ["", "?", "the of and", 'own5x AND (stems:"*" OR NEAR(x, 2)) ^ - \'', "\x00\ud800", "a" * 5000, '"' * 5000,
     "words MATCH 'x'; DROP TABLE words; --", " ".join(f"w{one}" for one in range(1500)), "own5x\x00own5x"],
)  # fmt: skip
def test_any_text_will_do_as_a_query(shelf: LocalShelf, query: str) -> None:
    """Protects searches from what a post may hold: nothing in it is syntax."""
    found = shelf.bm25(query, 5)
    assert (found[0][0] == 5) if "own5x" in query else not found
    assert shelf.faults() == []


def test_searches_go_on_while_another_process_builds(shelf: LocalShelf) -> None:
    """Protects that no search fails or misses what was there while documents enter the index and leave it."""
    failures: list[BaseException] = []
    answers: list[list[tuple[int, float]]] = []
    done: list[bool] = []

    def search() -> None:
        try:
            while not done or not answers:
                answers.append(shelf.bm25("own5x", 5))
                assert shelf.dense(vector(7), 1)[0][0] == 7
        except BaseException as err:
            failures.append(err)

    searching = Thread(target=search)
    searching.start()
    other = Library(shelf.library.folder)
    builder = LocalShelf(other, TextEmbedder(), exact_up_to=FEW)
    for number in range(40, 46):
        add(other, str(number), [f"more{number}x was counted."])
        builder.follow()
        builder.embed()
    other.remove("fake:40")
    done.append(True)
    searching.join()
    other.close()
    assert not failures
    assert {answer[0][0] for answer in answers} == {5}
    assert (shelf.bm25("more41x", 1) != [], shelf.bm25("more40x", 1)) == (True, [])


def test_vectors_of_two_models_never_mix(shelf: LocalShelf) -> None:
    other = again(shelf, name="another")
    assert (other.count(), other.bm25("own5x", 1)[0][0]) == ((300, 0), 5)
    assert other.dense(vector(5), 3) == []
    assert other.embed() == 300
    assert other.dense(vector(5), 1)[0][0] == 5
    assert again(shelf).count() == (300, 0)


def test_a_vector_is_made_once_and_kept(shelf: LocalShelf) -> None:
    add(shelf.library, "new", ["A lighthouse was painted.", "A harbour was closed."])
    shelf.follow()
    found = shelf.vectors([302, 5, 302])
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(3), abs=1e-3)
    assert shelf.embedded([301, 302, 5]) == {302, 5}
    assert shelf.dense(found[0], 1)[0][0] == 302  # beside the file, which does not hold it
    assert np.array_equal(again(shelf).vectors([302]), found[:1])
    with pytest.raises(IndexUnavailable, match="not in the index"):
        shelf.vectors([5, 100_000])


@pytest.mark.parametrize("damage", ["stems", "words", "vector", "long vector", "file", "no file"])
def test_damage_is_found_and_repaired(shelf: LocalShelf, damage: str) -> None:
    """Protects from a disk or a person that changes the index."""
    wanted = shelf.bm25("own5x town5x", 5), shelf.dense(vector(5), 5)
    (file,) = shelf.library.folder.glob(f"{FILE}-neighbours-*")
    with closing(sqlite3.connect(shelf.library.folder / FILE)) as database, database:
        if damage == "stems":
            database.execute("UPDATE entries SET stems = 'enother' WHERE row = 5")
        elif damage == "words":
            database.execute("INSERT INTO words (words, rowid, stems) VALUES ('delete', 5, 'enown5x')")
        elif damage == "vector":
            database.execute("UPDATE vectors SET vector = substr(vector, 2) WHERE row = 5")
        elif damage == "long vector":
            database.execute("UPDATE vectors SET vector = ? WHERE row = 5", (np.full(256, 9, np.float16).tobytes(),))
        elif damage == "file":
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            file.write_bytes(content)
        else:
            file.unlink()
    opened = again(shelf)
    assert opened.faults()
    if "file" in damage:
        assert [row for row, _ in opened.dense(vector(5), 3)] == [row for row, _ in wanted[1][:3]]
    opened.rebuild()
    opened.embed()
    assert opened.faults() == []
    assert opened.bm25("own5x town5x", 5) == wanted[0]
    assert opened.dense(vector(5), 1)[0][0] == 5


def test_the_file_finds_what_comparing_all_finds(shelf: LocalShelf) -> None:
    exact = again(shelf, exact_up_to=1000)
    for row in range(1, 300, 7):
        assert shelf.dense(vector(row), 10, EVERYTHING)[0][0] == exact.dense(vector(row), 10)[0][0] == row
