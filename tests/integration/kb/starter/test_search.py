"""What is found for a post, with the real parts: MiniLM, FTS5, faiss and the facts that ship with Antiphon."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.ports import EvidenceQuery, EvidenceSource
from core.models import Evidence, TargetGroup
from kb.ranking.fusion import candidates
from kb.search import HybridSearch, open_starter
from kb.starter.fact_search import FactSearch, KnowledgeIndex
from kb.starter.facts import Fact

TODAY = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def search(index_cache: Path, embedder: SentenceEmbedder, index: KnowledgeIndex) -> EvidenceSource:
    """The search as the application opens it, on a fixed day."""
    return open_starter(index_cache, embedder, clock=lambda: TODAY)


def about(text: str, group: TargetGroup | None = None, limit: int = 3) -> EvidenceQuery:
    return EvidenceQuery(queries=(text,), claim=text, target_group=group, limit=limit)


async def passages(search: EvidenceSource, query: EvidenceQuery) -> list[Evidence]:
    return list((await search.search(query)).passages)


@pytest.mark.parametrize(
    ("post", "group", "word"),
    [
        ("Take the vote away from Muslims, they do not belong here.", TargetGroup.MUSLIMS, "terror"),
        ("More foreigners in our town, and everything gets worse.", TargetGroup.MIGRANTS, "crime"),
        ("Black people always play the innocent.", TargetGroup.PEOPLE_OF_COLOUR, "prison"),
    ],
)
async def test_a_fact_brings_up_no_more_than_the_post(
    search: EvidenceSource, post: str, group: TargetGroup, word: str
) -> None:
    """Protects a group from being tied to terror or crime by the answer; who raises it is answered with such facts."""
    found = await passages(search, about(post, group))
    assert not any(word in evidence.text for evidence in found)
    raised = await passages(
        search, about(f"{post} They are criminals, rapists and terrorists, send them to jail.", group)
    )
    assert any(word in evidence.text for evidence in raised)


@pytest.mark.parametrize(
    ("post", "meaning", "group", "wanted"),
    [
        ("Strange how the cable goes missing whenever the caravans are here.", "Roma people are thieves",
         TargetGroup.OTHER, "other-018"),
        ("They all forgot the wife but kept the iphone. Funny.", "migrants are young men who are not in need",
         TargetGroup.MIGRANTS, "migrants-009"),
        ("Since they moved into the old school my daughter takes no bus.", "migrants are rapists",
         TargetGroup.MIGRANTS, "migrants-017"),
        ("Otra que denuncia por dinero y otro con la vida rota.", "women accuse men of rape falsely",
         TargetGroup.WOMEN, "women-020"),
    ],
)  # fmt: skip
async def test_who_chooses_is_offered_what_answers_the_meaning_of_a_hint(
    search: EvidenceSource, post: str, meaning: str, group: TargetGroup, wanted: str
) -> None:
    """Protects that what a reader says of a post finds its fact, which the post's own words do not."""
    query = EvidenceQuery((post, meaning), "", group, 12, is_offered=True)
    found = await search.search(query)
    assert wanted in [passage.id for passage in found.passages]
    assert len(found.passages) == 12
    assert not found.notes
    alone = await passages(search, EvidenceQuery((post,), "", group, 12))
    assert wanted not in [passage.id for passage in alone]


async def test_who_chooses_is_offered_the_norms_of_a_gap_and_facts_beside(search: EvidenceSource) -> None:
    """Protects that one word which recalls a gap takes no fact away: whoever chooses says what answers."""
    words = "They are all gold-diggers who want a man's money and accuse him."
    plain = await search.search(EvidenceQuery((words,), "", TargetGroup.WOMEN))
    assert [note.split(" (")[0] for note in plain.notes] == ["evidence: no fact answers this, a question may"]
    offered = await passages(search, EvidenceQuery((words,), "", TargetGroup.WOMEN, 12, is_offered=True))
    assert {passage.id for passage in plain.passages} < {passage.id for passage in offered}
    assert {"women-020", "women-021"} & {passage.id for passage in offered}


async def test_evidence_carries_all_that_is_shown(search: EvidenceSource, facts: tuple[Fact, ...]) -> None:
    """Protects that the passage is word for word the fact, with source, caution and scores, stereotypes unseen."""
    found = (await passages(search, about("Immigrants steal our jobs", TargetGroup.MIGRANTS)))[0]
    fact = next(fact for fact in facts if fact.id == found.id)
    assert (found.text, found.summary, found.source, found.caution) == (fact.text, fact.text, fact.source, fact.caution)
    assert set(found.scores) == {"bm25", "dense", "fused", "claim"}
    assert all(score == round(score, 4) for score in found.scores.values())
    assert not any(words in repr(found) for words in fact.stereotypes)


async def test_several_queries_reranked_to_the_claim(search: EvidenceSource) -> None:
    """Protects that the claim decides between passages that answer the post alike."""
    queries = ("women are not fit to lead", "women are less intelligent")
    banks = await passages(search, EvidenceQuery(queries, "Banks with women on their boards are more stable"))
    school = await passages(search, EvidenceQuery(queries, "Girls read better than boys at school"))
    assert banks[0].id == "women-017"
    assert "women-006" in [evidence.id for evidence in school]
    assert "women-006" not in [evidence.id for evidence in banks]


async def test_target_group_is_preferred(search: EvidenceSource) -> None:
    """Protects that a post about one group is answered with its own facts, or norms for everybody."""
    for group in set(TargetGroup) - {TargetGroup.OTHER}:
        found = await passages(search, about("They should be eliminated, they are criminals.", group))
        assert found, group
        assert {evidence.target_group for evidence in found} <= {group, TargetGroup.OTHER}


async def test_an_unclear_group_prefers_no_facts(search: EvidenceSource) -> None:
    """Protects that "other" is not taken for the groups that are filed under it, such as Roma."""
    found = await passages(search, about("Indians are lazy and should not be let into Europe.", TargetGroup.OTHER))
    assert "Roma" not in found[0].text


@pytest.mark.parametrize("name", ["Gypsies", "gitanos", "Zingari"])
async def test_other_names_of_a_group_find_it(search: EvidenceSource, name: str) -> None:
    """Protects that a post which uses another word than the reports is answered with what they say."""
    found = await passages(search, about(f"{name} do not want to work.", TargetGroup.OTHER))
    assert "Roma" in found[0].text


@pytest.mark.parametrize(
    "words", ["qwxz vbnm", "asdkjh qwoeiu zmxncb", "", "   ", "...!?", 'AND OR ( : "', "+-^~*[]{}"]
)
async def test_nothing_for_gibberish(search: EvidenceSource, words: str) -> None:
    """Protects that no evidence is an empty answer: no passage is better than a wrong one, and no text breaks it."""
    for group in (None, *TargetGroup):
        assert await passages(search, about(words, group)) == []


@pytest.mark.parametrize("words", ["AND", 'OR ( : "', "text:women", "a" * 100_000, "jews\0 AND", "women^9 -men", "🙂"])
def test_bm25_survives_any_text(index: KnowledgeIndex, words: str) -> None:
    """Protects that a post is words to the index, never query syntax."""
    assert len(index.bm25(words, 5)) <= 5


def test_dense_agrees_with_closeness(index: KnowledgeIndex, embedder: SentenceEmbedder) -> None:
    """Protects that both ways to a dense score give the same number, best first, one for each row."""
    vector = embedder.encode(["women cannot lead"])[0]
    found = index.dense(vector, 10)
    assert len({row for row, _ in found}) == 10
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    for row, score in found:
        assert score == pytest.approx(index.closeness(vector, row), abs=1e-5)


async def test_one_passage_for_each_document(search: EvidenceSource) -> None:
    """Protects that three passages are three sources."""
    found = await passages(search, about("The Refugee Convention protects refugees", TargetGroup.MIGRANTS, limit=5))
    titles = [evidence.source.title for evidence in found]
    assert len(set(titles)) == len(titles) > 1


async def test_limit_is_kept(search: EvidenceSource) -> None:
    """Protects the reader: at most as many passages as asked for, none for none."""
    for limit in (0, 1, 2):
        assert len(await passages(search, about("women cannot lead", TargetGroup.WOMEN, limit))) == limit


def small_search(
    facts: Sequence[Fact], embedder: SentenceEmbedder, cache: Path, today: datetime = TODAY
) -> HybridSearch:
    index = KnowledgeIndex(facts, embedder, cache)
    return HybridSearch(FactSearch(facts, index, embedder, clock=lambda: today), embedder)


async def test_near_duplicates_are_dropped(facts: tuple[Fact, ...], embedder: SentenceEmbedder, tmp_path: Path) -> None:
    """Protects that the same finding under two titles is shown once."""
    fact = facts[0]
    copy = replace(fact, id="copy", title="Another title", text=fact.text.replace("about ", ""))
    search = small_search([fact, copy, *facts[1:4]], embedder, tmp_path)
    found = await passages(search, about(fact.text))
    assert len({evidence.id for evidence in found} & {fact.id, "copy"}) == 1


async def test_expired_facts_are_not_returned(
    facts: tuple[Fact, ...], embedder: SentenceEmbedder, tmp_path: Path
) -> None:
    """Protects that an old figure is never cited, and that another fact takes its place."""
    aged = [replace(facts[0], valid_until=date(2026, 5, 31)), replace(facts[7], valid_until=date(2026, 6, 1))]
    search = small_search(aged, embedder, tmp_path)
    words = about("violence against women and girls", TargetGroup.WOMEN)
    assert [evidence.id for evidence in await passages(search, words)] == [facts[7].id]


async def test_foreign_post_gets_the_norms(
    index_cache: Path, embedder: SentenceEmbedder, index: KnowledgeIndex
) -> None:
    """Protects that vectors which cannot be trusted are not used: the norms answer, and no dense score is claimed."""
    search = open_starter(index_cache, embedder, clock=lambda: TODAY, language_of=lambda _: "it")
    found = await passages(search, about("Le donne devono stare zitte.", TargetGroup.WOMEN))
    assert found[0].id == "other-013"
    assert {evidence.target_group for evidence in found} <= {TargetGroup.WOMEN, TargetGroup.OTHER}
    assert all(not {"dense", "claim"} & set(evidence.scores) for evidence in found)


async def test_foreign_post_finds_names(index_cache: Path, embedder: SentenceEmbedder, index: KnowledgeIndex) -> None:
    """Protects that names which are the same in every language are still found by BM25."""
    search = open_starter(index_cache, embedder, clock=lambda: TODAY, language_of=lambda _: "it")
    found = await passages(search, about("Auschwitz e Birkenau sono una bugia.", TargetGroup.JEWS))
    assert [evidence.id for evidence in found] == ["jews-011"]


async def test_english_claim_serves_a_foreign_post(
    index_cache: Path, embedder: SentenceEmbedder, index: KnowledgeIndex
) -> None:
    """Protects that a claim in a known language is enough for the dense search."""
    search = open_starter(
        index_cache, embedder, clock=lambda: TODAY, language_of=lambda text: "it" if "donne" in text else "en"
    )
    query = EvidenceQuery(("Le donne guidano male.",), "Men die more often on the road than women", TargetGroup.WOMEN)
    found = await passages(search, query)
    assert found[0].id == "women-010"
    assert "dense" in found[0].scores


def test_reciprocal_rank_fusion() -> None:
    """Protects the published formula: the sum of 1 / (60 + rank)."""
    fused = {hit.row: hit.fused for hit in candidates([[(4, 2.5), (7, 1.5)]], [[(7, 0.5)]])}
    assert fused == pytest.approx({4: 1 / 61, 7: 1 / 62 + 1 / 61})


async def test_a_search_of_the_facts_is_narrowed_down(search: EvidenceSource, facts: tuple[Fact, ...]) -> None:
    """Protects who asks for one publisher, year, group or language: nothing else comes."""
    by_id = {fact.id: fact for fact in facts}

    async def found(**narrowed: Any) -> list[Fact]:
        query = EvidenceQuery(("discrimination at work and in housing",), "", None, 10, **narrowed)
        return [by_id[passage.id] for passage in await passages(search, query)]

    everything = await found()
    assert len({fact.publisher for fact in everything}) > 1
    assert {fact.publisher for fact in await found(publishers=(everything[0].publisher,))} == {everything[0].publisher}
    assert all(fact.year and fact.year >= 2020 for fact in await found(since=2020))
    assert {fact.target_group for fact in await found(groups=(TargetGroup.WOMEN,))} == {TargetGroup.WOMEN}
    assert await found(languages=("fr",)) == []
