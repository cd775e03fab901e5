"""How often the right fact is found: posts in our own words, each with the facts that answer it."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.ports import EvidenceQuery, EvidenceSource
from core.engine.wording.language import detect
from core.models import TargetGroup
from kb.search import HybridSearch, open_starter
from kb.starter.fact_search import FactSearch, KnowledgeIndex
from kb.starter.facts import STARTER_GAPS, Fact, Gaps, load_gaps

TODAY = datetime(2026, 11, 30, tzinfo=UTC)
FAR = datetime(2029, 6, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Labelled:
    """A post with the facts that answer it, labelled before anything was searched.

    The claim is in English: for a post in another language it stands for the English queries that a model writes.
    """

    id: str
    language: str
    target_group: TargetGroup
    post: str
    claim: str
    facts: frozenset[str]


@pytest.fixture(scope="module")
def labelled() -> list[Labelled]:
    lines = (Path(__file__).parents[3] / "data" / "relevance.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Labelled(**row | {"target_group": TargetGroup(row["target_group"]), "facts": frozenset(row["facts"])})
        for row in rows
    ]


@pytest.fixture(scope="module")
def search(index_cache: Path, embedder: SentenceEmbedder, index: KnowledgeIndex) -> EvidenceSource:
    """The search as the application opens it, on a fixed day."""
    return open_starter(index_cache, embedder, clock=lambda: TODAY, language_of=lambda text: detect(text, "en"))


async def hits(search: EvidenceSource, rows: list[Labelled], *, group: bool = True, claim: bool = True) -> list[float]:
    """The share of posts with a labelled fact in the first place, and among the first three."""
    first = three = 0
    for row in rows:
        query = EvidenceQuery((row.post,), row.claim if claim else "", row.target_group if group else None)
        found = [passage.id for passage in (await search.search(query)).passages]
        first += bool(row.facts & set(found[:1]))
        three += bool(row.facts & set(found))
    return [first / len(rows), three / len(rows)]


def test_labels_are_sound(labelled: list[Labelled], facts: tuple[Fact, ...]) -> None:
    """Protects the measure: posts of every group and of four languages, each with facts that exist."""
    known = {fact.id for fact in facts}
    assert len({row.id for row in labelled}) == len(labelled) >= 48
    for group in TargetGroup:
        assert sum(row.target_group is group for row in labelled) >= 6, group
    assert {row.language for row in labelled} == {"en", "es", "it", "eu"}
    assert sum(row.language != "en" for row in labelled) >= 8
    assert [row.id for row in labelled if not row.facts or row.facts - known] == []


async def test_english_posts_find_their_facts(search: EvidenceSource, labelled: list[Labelled]) -> None:
    """Protects relevance: measured 96 % in the first place and 98 % among three; without claim 91 % and 92 %."""
    english = [row for row in labelled if row.language == "en"]
    first, three = await hits(search, english)
    assert first >= 0.9
    assert three >= 0.94
    first, three = await hits(search, english, claim=False)
    assert first >= 0.85
    assert three >= 0.88


async def test_posts_without_a_group_find_their_facts(search: EvidenceSource, labelled: list[Labelled]) -> None:
    """Protects posts whose target nobody could tell: measured 87 % in the first place and 89 % among three."""
    first, three = await hits(search, [row for row in labelled if row.language == "en"], group=False)
    assert first >= 0.8
    assert three >= 0.84


async def test_foreign_posts_find_their_facts(search: EvidenceSource, labelled: list[Labelled]) -> None:
    """Protects Spanish, Italian and Basque posts with an English claim: measured 10 of 11 first, 11 among three."""
    first, three = await hits(search, [row for row in labelled if row.language != "en"])
    assert first >= 0.8
    assert three >= 0.9


async def test_no_expired_fact_comes_up(
    labelled: list[Labelled], facts: tuple[Fact, ...], index: KnowledgeIndex, embedder: SentenceEmbedder
) -> None:
    """Protects from old figures, now and years from now, when many shipped facts have expired."""
    for day in (TODAY, FAR):
        part = FactSearch(facts, index, embedder, clock=lambda day=day: day)  # type: ignore[misc]
        search = HybridSearch(part, embedder)
        expired = {fact.id for fact in facts if fact.is_expired(day.date())}
        for row in labelled:
            query = EvidenceQuery((row.post,), row.claim, row.target_group, limit=5)
            assert not {passage.id for passage in (await search.search(query)).passages} & expired
    assert len(expired) > 20


def test_answered_posts_fall_into_no_gap(
    labelled: list[Labelled], facts: tuple[Fact, ...], embedder: SentenceEmbedder
) -> None:
    """Protects facts that are there: measured 2 of 53 posts fall into a gap, one of them rightly."""
    gaps = Gaps(load_gaps(STARTER_GAPS), facts, embedder)
    english = [row for row in labelled if row.language == "en"]
    assert sum(gaps.nearest(row.post, row.target_group) is not None for row in english) <= 3


@pytest.mark.parametrize(
    ("words", "group", "stereotype"),
    [
        ("Hollywood and every newspaper are in Jewish hands.", TargetGroup.JEWS, "own Hollywood and the media"),
        ("Because of the migrants our rents keep going up.", TargetGroup.MIGRANTS, "make rents and house prices rise"),
        ("Gay men go to bed with anybody.", TargetGroup.LGBT, "promiscuous, they sleep with everybody"),
        ("Their Quran tells Muslims to kill.", TargetGroup.MUSLIMS, "the Quran orders believers to kill"),
        ("Beggars and thieves, that is what Romanians are.", None, "Romanians: thieves and beggars"),
    ],
)
def test_posts_fall_into_their_gap(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, words: str, group: TargetGroup | None, stereotype: str
) -> None:
    """Protects that what no fact answers is recognised, in other words."""
    found = Gaps(load_gaps(STARTER_GAPS), facts, embedder).nearest(words, group)
    assert found is not None
    assert found.stereotype == stereotype
