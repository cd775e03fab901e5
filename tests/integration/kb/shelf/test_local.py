"""The library with its real index and embedding model: what was accepted is found, in its exact words."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.ports import EvidenceQuery
from core.errors import IndexUnavailable
from core.models import TargetGroup
from kb.documents import Selection
from kb.ingest import Ingest
from kb.library.library import Library, State, Trust
from kb.library.store import FILE
from kb.ranking.queries import prepared_query
from kb.search import HybridSearch
from kb.shelf.local import LocalShelf
from kb.shelf.search import LibrarySearch
from kb.starter.fact_search import FactSearch
from tests.fakes.documents.source import FakeSource, cut, listed, parse

TODAY = datetime(2026, 6, 1, tzinfo=UTC)
PENSIONS = "Newcomers paid more into the pension fund than they drew from it in that year."
TEXTS = {
    "fake:pay": f"The fund looked at ten years of contributions.\f{PENSIONS}\nThe fund has 900 members.",
    "fake:jobs": "When newcomers found work, the number of jobs for people born in the region rose as well.",
    "fake:school": "Pupils who use wheelchairs missed more lessons where the school had no lift.",
    "fake:law": "La ley protege a los inmigrantes frente a los despidos y la discriminación en el trabajo.",
}
DOCUMENTS = [
    listed("pay", target_groups=frozenset({TargetGroup.MIGRANTS}), publisher="Fund", year=2015, document="F/15"),
    listed("jobs", target_groups=frozenset({TargetGroup.MIGRANTS}), expires=date(2026, 12, 31)),
    listed("school", target_groups=frozenset({TargetGroup.DISABILITIES})),
    listed("law", language="es", target_groups=frozenset({TargetGroup.MIGRANTS}), jurisdiction="ES"),
]


@pytest.fixture
async def shelf(tmp_path: Path, embedder: SentenceEmbedder) -> AsyncIterator[LocalShelf]:
    library = Library(tmp_path)
    library.set_trust("fake", Trust.HIGH)
    await Ingest(FakeSource({"all": [DOCUMENTS]}, TEXTS), library, parse, cut).build(Selection())
    made = LocalShelf(library, embedder)
    made.follow()
    yield made
    library.close()


def search_of(shelf: LocalShelf, embedder: SentenceEmbedder, now: datetime = TODAY) -> HybridSearch:
    class NoFacts(FactSearch):
        def __init__(self) -> None:
            super().__init__((), None, embedder)  # type: ignore[arg-type]

        def ranked(self, wanted, query):
            return []

    return HybridSearch(NoFacts(), embedder, [LibrarySearch(shelf, embedder, clock=lambda: now)])


def asked(text: str, group: TargetGroup | None = TargetGroup.MIGRANTS, **narrowed: Any) -> EvidenceQuery:
    return EvidenceQuery((text,), "", group, **narrowed)


async def test_a_passage_is_its_stored_span(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    """Protects the receipt: the exact words, the page, and an address that people can open."""
    found = (await search_of(shelf, embedder).search(asked("Immigrants drain the pension fund."))).passages
    best = found[0]
    assert best.text == PENSIONS
    assert (best.source.publisher, best.source.document, best.source.url) == (
        "Fund", "F/15, p. 2", "https://example.org/pay",
    )  # fmt: skip
    assert best.id.startswith("fake:pay#")
    assert best.target_group is TargetGroup.MIGRANTS
    assert {"bm25", "fused", "claim"} <= set(best.scores)
    assert len({passage.id.partition("#")[0] for passage in found}) == len(found)


async def test_what_bears_on_nothing_is_not_found(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    search = search_of(shelf, embedder)
    assert (await search.search(asked("qwxz vbnm"))).passages == ()
    assert (await search.search(asked("Jews control the banks.", TargetGroup.JEWS))).passages == ()


async def test_a_search_is_narrowed_down(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    search = search_of(shelf, embedder)

    async def documents(**narrowed: Any) -> set[str]:
        found = await search.search(asked("Immigrants take our jobs and our pensions.", **narrowed))
        return {passage.id.partition("#")[0] for passage in found.passages}

    assert await documents() >= {"fake:pay", "fake:jobs"}
    assert await documents(since=2016) == {"fake:jobs"}
    assert await documents(publishers=("Fund",)) == {"fake:pay"}
    assert await documents(languages=("fr",)) == set()
    assert await documents(groups=(TargetGroup.DISABILITIES,)) <= {"fake:school"}


async def test_an_expired_document_is_not_found(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    late = search_of(shelf, embedder, datetime(2027, 1, 1, tzinfo=UTC))
    found = await late.search(asked("Immigrants take our jobs."))
    assert "fake:jobs" not in {passage.id.partition("#")[0] for passage in found.passages}


async def test_a_local_source_is_found_by_its_words(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    """Protects communities whose language the embedding model cannot read; where it holds is said."""
    search = search_of(shelf, embedder)
    found = (await search.search(asked("Los inmigrantes no tienen ley que les proteja de despidos."))).passages
    law = next(passage for passage in found if passage.id.startswith("fake:law#"))
    assert law.caution == "It holds in: ES."
    assert "claim" not in law.scores


async def test_the_index_follows_what_people_decide(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    library, search = shelf.library, search_of(shelf, embedder)
    first = shelf.follow()
    assert (first.added, first.removed, shelf.follow().version) == (0, 0, first.version)

    library.set_trust("fake", Trust.NORMAL)
    changed = TEXTS | {"fake:pay": "The fund closed, and its members moved to another pension fund."}
    await Ingest(FakeSource({"all": [DOCUMENTS]}, changed), library, parse, cut, refetch=True).build(Selection())
    assert shelf.follow().added == 0  # the new revision waits
    library.decide(library.waiting()[0].revision, State.ACCEPTED, "Ada")
    done = shelf.follow()
    assert (done.added, done.removed) == (1, 3)
    found = (await search.search(asked("Immigrants drain the pension fund."))).passages
    assert PENSIONS not in {passage.text for passage in found}

    library.remove("fake:pay")
    assert shelf.count()[0] == 3
    assert (shelf.follow().added, shelf.faults()) == (0, [])


async def test_new_words_about_a_document_reach_the_index(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    """Protects filters: a document that turns out to be about another group, too, is found for that one."""
    shelf.library.note(listed("jobs", publisher="Another"))
    query = asked("Immigrants take our jobs.", publishers=("Another",))
    assert len((await search_of(shelf, embedder).search(query)).passages) == 1


async def test_a_damaged_library_is_left_out_and_said(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    """Protects from a passage that nobody accepted: its words were changed behind our back."""
    with closing(sqlite3.connect(shelf.library.folder / FILE)) as database, database:
        database.execute("UPDATE pages SET text = replace(text, 'more', 'less')")
    found = await search_of(shelf, embedder).search(asked("Immigrants drain the pension fund."))
    assert found.passages == ()
    assert "left out" in found.notes[0]
    with pytest.raises(IndexUnavailable, match="verify"):
        shelf.paragraphs(list(range(1, 10)))


async def test_a_source_of_low_trust_comes_last(shelf: LocalShelf, embedder: SentenceEmbedder) -> None:
    query = asked("Immigrants drain the pension fund.")
    part = LibrarySearch(shelf, embedder, clock=lambda: TODAY)
    wanted = prepared_query(query, embedder.languages, None)
    before = part.ranked(wanted, query)[0]
    shelf.library.set_trust("fake", Trust.LOW)
    after = part.ranked(wanted, query)[0]
    assert after.evidence.id == before.evidence.id
    assert after.order == pytest.approx(before.order - 0.1, abs=1e-6)
