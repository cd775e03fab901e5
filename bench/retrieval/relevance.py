"""How often a fact that answers a post is among the first three: ``python -m bench.retrieval.relevance --posts FILE``.

A fact answers a post if it is tagged with a stereotype that the post shows (``stereotypes.toml``) and is about its
target group. The patterns replace people's labels: they miss and mistake some, for every ranking alike. Compared are
BM25, dense vectors, both fused, and the knowledge base's own search: by the raw post, guided by a claim (the argument
of a card, and, as a bound, the reply that a person wrote), and with the facts of the cards first, as the engine does.
Each cross-encoder of ``--reranker`` orders what the knowledge base finds, by the post and by a card's argument; beside
the order stands what a search costs. The target group comes from the reading, not from the data's label.
"""

import argparse
import asyncio
import re
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path

from bench.measures.output import Row, save, show
from bench.measures.samples import Sample, read_rows, read_samples
from bot.compose.engine import open_embedder
from bot.settings import load_settings
from core.engine.backends.classifiers import RelevanceCrossEncoder
from core.engine.cards.bank import ArgumentCard, cards_on, general_cards
from core.engine.cards.router import Router, shipped_router
from core.engine.ports import EvidenceQuery
from core.engine.readers.networks import Readers
from core.engine.reading.signals import attacked_group
from core.engine.wording.language import detect
from core.errors import AntiphonError
from core.models import TargetGroup
from kb.ranking.fusion import candidates
from kb.search import HybridSearch, open_starter
from kb.starter.fact_search import KnowledgeIndex
from kb.starter.facts import STARTER_FACTS, Fact, load_facts

FIRST = 3
_CANDIDATES = 20
_OURS = "the cards' facts first"


@dataclass(frozen=True)
class PatternedStereotype:
    """A claim of posts about a group: patterns for the posts, and for the tags of the facts that answer it."""

    group: TargetGroup
    name: str
    posts: re.Pattern[str]
    facts: re.Pattern[str]


@dataclass(frozen=True)
class Post:
    """A post with the facts that answer it; ``text`` may be in another language than the one that was labelled."""

    text: str
    language: str
    label: TargetGroup
    group: TargetGroup | None
    human_reply: str
    answers: frozenset[str]


Search = Callable[[Post], list[str]]
"""The ids of the first facts for a post, best first."""


@cache
def stereotypes() -> list[PatternedStereotype]:
    """The list beside this file."""
    tables = tomllib.loads(resources.files("bench.replies").joinpath("stereotypes.toml").read_text(encoding="utf-8"))
    return [
        PatternedStereotype(
            TargetGroup(group), row["name"], *(re.compile(row[key], re.IGNORECASE) for key in ("posts", "facts"))
        )
        for group, rows in tables.items()
        for row in rows
    ]


def answers_to(post: str, group: TargetGroup, facts: Sequence[Fact]) -> frozenset[str]:
    """The facts of the group (of any group for "other") that are tagged with a stereotype that the post shows."""
    repeated = [
        stereotype for stereotype in stereotypes() if stereotype.group is group and stereotype.posts.search(post)
    ]
    return frozenset(
        fact.id
        for fact in facts
        if group in (fact.target_group, TargetGroup.OTHER)
        and any(stereotype.facts.search("; ".join(fact.stereotypes)) for stereotype in repeated)
    )


def post_of(text: str, language: str, labelled: str, sample: Sample, facts: Sequence[Fact], readers: Readers) -> Post:
    """A sample's post in some language; the stereotypes that it shows are read off the English text ``labelled``."""
    label = TargetGroup(sample.target_group)
    posts = readers.posts
    shares = posts.read([text], language)[0].groups if posts.knows(language) else {}
    answers = answers_to(labelled, label, facts)
    return Post(text, language, label, attacked_group(text, language, shares), sample.human_reply, answers)


def rankings(
    facts: Sequence[Fact],
    index: KnowledgeIndex,
    search: HybridSearch,
    readers: Readers,
    reranking: Mapping[str, HybridSearch],
) -> dict[str, Search]:
    """All ways to search for facts.

    Args:
        search: the knowledge base without a cross-encoder.
        reranking: the same with one, by its name.
    """
    embedder, router = readers.embedder, shipped_router()

    def words(post: Post) -> list[tuple[int, float]]:
        return index.bm25(post.text, _CANDIDATES)

    def meaning(post: Post) -> list[tuple[int, float]]:
        return index.dense(embedder.encode([post.text])[0], _CANDIDATES)

    def ids(rows: Sequence[int]) -> list[str]:
        return [facts[row].id for row in rows[:FIRST]]

    def guided(
        claim: Callable[[Post], str], named: Callable[[Post], tuple[str, ...]] = lambda _: (), by: HybridSearch = search
    ) -> Search:
        def found(post: Post) -> list[str]:
            text = claim(post)
            queries = tuple(filter(None, (post.text, text)))
            query = EvidenceQuery(queries, text, post.group, FIRST, named=named(post))
            return [passage.id for passage in asyncio.run(by.search(query)).passages]

        return found

    def argument(post: Post) -> str:
        return next((card.claim for card in cards_for(post, router)), "")

    def rests_on(post: Post) -> tuple[str, ...]:
        return tuple(dict.fromkeys(card.fact for card in cards_for(post, router) if card.fact))

    return {
        "BM25": lambda post: ids([row for row, _ in words(post)]),
        "dense": lambda post: ids([row for row, _ in meaning(post)]),
        "hybrid": lambda post: ids([hit.row for hit in candidates([words(post)], [meaning(post)])]),
        "reranked, raw post": guided(lambda _: ""),
        "reranked to a card's argument": guided(argument),
        "the cards' facts first": guided(argument, rests_on),
        "reranked to a person's reply": guided(lambda post: post.human_reply),
        **{f"{name}, raw post": guided(lambda _: "", by=by) for name, by in reranking.items()},
        **{f"{name}, to a card's argument": guided(argument, by=by) for name, by in reranking.items()},
    }


def cards_for(post: Post, router: Router) -> list[ArgumentCard]:
    """The cards that the engine would use for a post: on its stereotypes, and last on its group."""
    group = post.group or TargetGroup.OTHER
    cards = [
        card for route in router.route(post.text, post.language, group) for card in cards_on(route.stereotype.id, "en")
    ]
    return [*cards, *general_cards(group, "en")]


def hits(name: str, search: Search, posts: Sequence[Post], norms: frozenset[str]) -> Row:
    """How often an answering fact comes first, and among the first three; ``none`` is the share without evidence.

    ``ms`` is what a search takes.

    ``beside it`` is how often what comes first neither answers the post nor is one of ``norms``, which hold whatever a
    post says.
    """
    for post in posts[:1]:
        search(post)  # what is loaded once costs no search
    began = time.perf_counter()
    rankings = [(search(post), post) for post in posts]
    seconds = time.perf_counter() - began
    return {
        "ranking": name,
        "posts": len(posts),
        "first": _share(bool(ids) and ids[0] in post.answers for ids, post in rankings),
        f"in the first {FIRST}": _share(bool(post.answers.intersection(ids)) for ids, post in rankings),
        "beside it": _share(bool(ids) and ids[0] not in post.answers | norms for ids, post in rankings),
        "none": _share(not ids for ids, _ in rankings),
        "ms": round(1000 * seconds / max(1, len(posts)), 1),
    }


def _share(outcomes: Iterable[bool]) -> float:
    listed = list(outcomes)
    return sum(listed) / len(listed) if listed else 0.0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=Path, required=True, help="JSON lines; labelled in English")
    parser.add_argument("--multilingual", type=Path, help="JSON lines with `pair`: the same posts in several languages")
    parser.add_argument(
        "--reranker", type=Path, action="append", default=[], help="the folder of a cross-encoder; can be repeated"
    )
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    return parser.parse_args()


def main() -> None:
    options = _options()
    settings = load_settings()
    try:
        embedder = open_embedder(settings)
        facts, readers = load_facts(STARTER_FACTS), Readers.load(embedder)
        index = KnowledgeIndex(facts, embedder, settings.cache_folder)
        opened = partial(open_starter, settings.cache_folder, embedder, language_of=lambda text: detect(text, "en"))
        others = {str(name): opened(reranker=RelevanceCrossEncoder(str(name))) for name in options.reranker}
        ways = rankings(facts, index, opened(), readers, others)
        norms = frozenset(fact.id for fact in facts if fact.is_universal)
        samples = read_samples(options.posts)
        posts = [post_of(sample.post, "en", sample.post, sample, facts, readers) for sample in samples]
        posts = [post for post in posts if post.answers]
        tables = {"posts": [hits(name, way, posts, norms) for name, way in ways.items()]}
        tables["by group"] = [
            {"group": group.value, **hits(_OURS, ways[_OURS], of_group, norms)}
            for group in TargetGroup
            if (of_group := [post for post in posts if post.label is group])
        ]
        if options.multilingual:
            tables |= _multilingual(options.multilingual, facts, readers, ways)
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    print(f"{len(posts)} of {len(samples)} posts show a stereotype that a fact answers.")  # noqa: T201 - a command
    for title, rows in tables.items():
        show(title, rows)
    save(options.out, tables)


def _multilingual(file: Path, facts: Sequence[Fact], readers: Readers, ways: dict[str, Search]) -> dict[str, list[Row]]:
    """The same for each language; what a post shows is read off its English version."""
    norms = frozenset(fact.id for fact in facts if fact.is_universal)
    rows = list(zip(read_rows(file), read_samples(file), strict=True))
    english = {row["pair"]: sample.post for row, sample in rows if row["language"] == "en"}
    posts = [
        post_of(sample.post, row["language"], english[row["pair"]], sample, facts, readers)
        for row, sample in rows
        if row["pair"] in english
    ]
    return {
        f"the same posts in {language}": [hits(name, way, own, norms) for name, way in ways.items()]
        for language in sorted({post.language for post in posts})
        if (own := [post for post in posts if post.language == language and post.answers])
    }


if __name__ == "__main__":
    main()
