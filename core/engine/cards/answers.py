"""Replies to what a post says, offered under a post that says the same.

A bank of replies: some were each written to one post; others to a claim, with a place for the name of the people, and
with kinds of people of whom they are true; others to what posts say that put a stereotype forward. Those whose posts
and claims are nearest are read with the post by a small network: whole, their first sentence alone, and, where the post
wants something, that sentence before one that refuses it (``core.engine.cards.demands``). The network tells how likely
a reader would publish each under the post; from a chance on they are offered, and where nothing fits there is none.
English alone: ``core.engine.cards.abroad`` has those in Spanish, Italian and Basque. ``training.heads.answers`` makes
the vectors and fits chance and limits, ``training.heads.fit`` trains the network.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.backends.encoders import SmallEncoder
from core.engine.backends.minilm import NAME
from core.engine.cards.bank import ArgumentCard, Changes, FittingReply, Stereotype, prepared_id
from core.engine.cards.demands import Demand, Wanted, wanted
from core.engine.cards.router import Router, vectors_of
from core.engine.ports import Embedder, TextClassifier
from core.engine.wording.accusations import brought_in
from core.engine.wording.encoder_text import readable
from core.engine.wording.target_groups import THOSE, Name, named, unnamed
from core.engine.wording.text import sentences
from core.models import Intent, TargetGroup

ANSWERED: Final = frozenset({"en"})
"""The languages in which there are such replies."""
MOST: Final = 3
"""How many are drafts for one post; a place is left for what a community or a model wrote, or a fact carries."""
READ: Final = 24
"""How many of the nearest are read with the post."""
_REMEMBERED: Final = 8
"""Of how many posts the replies are remembered: the stages of one suggestion ask for the same."""
JOINED: Final = 8
"""How many of their first sentences are read before each sentence that refuses what the post wants."""
FOLDER: Final = Path(str(resources.files("core.engine.cards")))
SAID: Final = FOLDER / "answers.jsonl"
VECTORS: Final = FOLDER / "answers.safetensors"
FIT: Final = FOLDER / "fit.safetensors"
_HELD: Final = ("posts", "replies", "claims", "shares", "rates")
_MATRICES: Final = ("to_posts", "to_replies", "to_claims")
_LONG: Final = 200
"""The characters that make the unit of a reply's length."""
PLACE: Final = "{people}"
"""Where the people's name stands in a reply to a claim."""
_FIRST: Final = re.compile(rf"(^|[.!?] ){re.escape(PLACE)}")
_CONTRACTED: Final = re.compile(rf"\b(di|a|da|su|in) {re.escape(PLACE)}", re.IGNORECASE)
_CONTRACTIONS: Final = {"di": "de", "a": "a", "da": "da", "su": "su", "in": "ne"}
_ARTICLES: Final = {"i": "i", "gli": "gli", "le": "lle"}
"""What follows the beginning of a contraction for an Italian article: "di" and "i" are "dei"."""
_THEIR_CHILDREN: Final = re.compile(rf"\b(?:the )?children of {re.escape(PLACE)}", re.IGNORECASE)
_AS_PEOPLE: Final = {"Jews": "Jewish people"}
"""Names that a reply says in another way than a post is searched for."""
NAMES_OF_GROUPS: Final = {
    TargetGroup.MUSLIMS: "Muslims",
    TargetGroup.JEWS: "Jews",
    TargetGroup.MIGRANTS: "migrants",
    TargetGroup.PEOPLE_OF_COLOUR: "people of colour",
    TargetGroup.WOMEN: "women",
    TargetGroup.LGBT: "LGBT people",
    TargetGroup.DISABILITIES: "disabled people",
}
"""What a reply to a claim calls the people of a group where a post names nobody."""
_LIKELY: Final = 0.8


@dataclass(frozen=True)
class Answer:
    """A reply, and what the posts that it answers say or want ("says that ...", "wants ...").

    Attributes:
        text, says: with ``PLACE`` for the people's name where it was written to a claim.
        intent, group: what the reply does, and the group of the people of whom it was written.
        who: the people whom it speaks of; "" where it has a place for their name.
        demand: what the posts want besides what they say, in a few words; "" for nothing.
        kinds: of which kinds of people it is true, where it was written to a claim.
    """

    text: str
    says: str
    intent: Intent
    group: TargetGroup
    who: str = ""
    demand: str = ""
    kinds: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The people's name, as posts are searched for names."""
        return _plurals_in(self.who)

    @property
    def claim(self) -> str:
        """What the posts say and want, of nobody in particular."""
        wants = f", and wants {self.demand}" if self.demand else ""
        return unnamed(self.says.replace(PLACE, THOSE)) + wants

    def of(self, names: Sequence[Name]) -> Name | None:
        """Those of the people for whom the reply was written, or may be said; ``None`` for none of them."""
        if self.who:
            return next((name for name in names if not self.names.isdisjoint({name.plural, *name.within})), None)
        return next((name for name in names if name.kinds & self.kinds), None)

    def called(self, name: Name | None) -> tuple[str, str]:
        """The reply and what it answers, with the people's name in its place."""
        if not name:
            return self.text, self.says
        people = name.said or _AS_PEOPLE.get(name.plural, name.plural)
        text = _THEIR_CHILDREN.sub(PLACE, self.text) if people.endswith("children") else self.text
        return _filled(text, people), _filled(self.says, people)


@cache
def _plurals_in(who: str) -> frozenset[str]:
    return frozenset(name.plural for name in named(who))


def _filled(text: str, people: str) -> str:
    article, _, noun = people.partition(" ")
    if article in _ARTICLES:
        text = _CONTRACTED.sub(lambda of: f"{_contraction(of.group(1))}{_ARTICLES[article]} {noun}", text)
    return _FIRST.sub(lambda start: start.group(1) + people[0].upper() + people[1:], text).replace(PLACE, people)


def _contraction(preposition: str) -> str:
    contraction = _CONTRACTIONS[preposition.lower()]
    return contraction.capitalize() if preposition[0].isupper() else contraction


class Spoken(NamedTuple):
    """A reply as it would be said under one post.

    Attributes:
        text, says: with the people's name, and what it answers.
        at: the place in the bank of the reply that it is, or whose first sentence it begins with.
        refuses: its second sentence where that refuses a demand; "" elsewhere.
        is_whole: whether it is the reply as it was written.
    """

    text: str
    says: str
    at: int
    refuses: str = ""
    is_whole: bool = True


class Limit(NamedTuple):
    """From which chance on prepared replies are offered, so that enough of those shown first are publishable.

    ``publishable`` and ``posts`` are shares in [0, 1]: of the first drafts that a reader would publish, at least, and
    of the posts that then have one, both by cross-validation.
    """

    publishable: float
    chance: float
    posts: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chances:
    """From which chances on replies are offered in a language.

    Attributes:
        least: the chance from which a reply is one of the drafts, even for who asks.
        limits: from which chance on any is offered, by the share of publishable ones, the highest share first.
    """

    least: float
    limits: tuple[Limit, ...]

    def limit(self, publishable: float) -> Limit | None:
        """The limit under which no prepared reply is offered; ``None`` where each is.

        Args:
            publishable: the share in [0, 1] of the drafts shown first that a reader would publish, at least.
        """
        enough = [limit for limit in self.limits if limit.publishable >= publishable]
        last = self.limits[-1].publishable
        return None if publishable <= last else (enough or self.limits[:1])[-1]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Vectors(Chances):
    """What is known of the English replies, one row for each, as ``SAID`` has them.

    Attributes:
        posts, replies, claims: of the answered post, the reply and what the post says, each without names, turned
            (``training.heads.projections``) and shortened, shape (answers, width). Where several posts make the claim,
            it is their mean.
        to_posts, to_replies, to_claims: what turns a post's vector, so that it lies near posts that say the same, near
            replies that fit and near what it says; shape (384, width).
        shares, stereotypes: the square roots of the router's largest shares of the post, and which outputs of it they
            are, both of shape (answers, few).
        rates: the share of readers who would publish the whole reply, and its first sentence, under other posts, drawn
            to the mean where few were asked; shape (answers, 2).
        of_nearest, of_answers, of_others: what was fitted of what ``features``, ``features_of`` and
            ``features_of_other`` give, each with the offset.
    """

    posts: NDArray[np.float32]
    replies: NDArray[np.float32]
    claims: NDArray[np.float32]
    shares: NDArray[np.float32]
    stereotypes: NDArray[np.uint16]
    rates: NDArray[np.float32]
    to_posts: NDArray[np.float32]
    to_replies: NDArray[np.float32]
    to_claims: NDArray[np.float32]
    of_nearest: NDArray[np.float32]
    of_answers: NDArray[np.float32]
    of_others: NDArray[np.float32]

    def features(self, text: str, language: str, router: Router, embedder: Embedder) -> NDArray[np.float32]:
        """What tells which replies are near, shape (answers, 8). Blocking.

        They are the cosines of the turned post with the answered one, with the reply and with what the answered post
        says, and of the stereotypes of both posts; whether the reply is about people whom the post names, or about
        others alone; whether the post names nobody; and whether the reply has a place for a name.

        Raises:
            IndexUnavailable: the embedding model or the router cannot be loaded.
        """
        post = vectors_of([unnamed(text)], language, embedder)[0]
        shares = np.sqrt(router.shares(text, language))
        names = named(text)
        whose = [one.of(names) is not None for one in answers()]
        columns = [
            self.posts @ turned(post, self.to_posts),
            (self.shares * shares[self.stereotypes]).sum(axis=1),
            self.replies @ turned(post, self.to_replies),
            self.claims @ turned(post, self.to_claims),
            np.array(whose),
            np.array([bool(names and one.names and not ours) for one, ours in zip(answers(), whose, strict=True)]),
            np.full(len(whose), not names),
            np.array([bool(one.kinds) for one in answers()]),
        ]
        return np.stack(columns, axis=1).astype(np.float32)

    def nearest(self, features: NDArray[np.float32]) -> NDArray[np.intp]:
        """All replies, the one first that stands nearest to the post by ``features``."""
        return np.argsort(-chance_of(features, self.of_nearest), kind="stable")

    def chances(
        self, spoken: Sequence[Spoken], fits: NDArray[np.float32], features: NDArray[np.float32], wants: float
    ) -> NDArray[np.float32]:
        """How likely a reader would publish replies, shape (n,).

        Args:
            fits: what ``fits_of`` says of each, shape (n,).
            features: of the post, shape (answers, 8).
            wants: how likely the post wants anything, in [0, 1].
        """
        return chance_of(self.features_of(spoken, fits, features, wants), self.of_answers)

    def features_of(
        self, spoken: Sequence[Spoken], fits: NDArray[np.float32], features: NDArray[np.float32], wants: float
    ) -> NDArray[np.float32]:
        """What tells whether replies fit, shape (n, 12); the arguments of ``chances``.

        The logit and the rate of each, its features, and what the post wants, also times whether the reply has one
        sentence: that most often answers a claim alone.
        """
        places = [one.at for one in spoken]
        rates = self.rates[places, [int(not one.is_whole) for one in spoken]]
        is_open = [wants * (len(sentences(one.text)) == 1) for one in spoken]
        return np.column_stack([fits, rates, features[places], np.full(len(spoken), wants), is_open])

    def chance_of_other(self, text: str, fit: float, cosine: float) -> float:
        """How likely a reader would publish a reply that is not in the bank, as a card's argument with its fact.

        Args:
            fit: what ``fits_of`` says of it.
            cosine: of the reply and the post.
        """
        return float(chance_of(features_of_other(text, fit, cosine), self.of_others))


def fits_of(
    post: str, replies: Sequence[tuple[str, str]], network: TextClassifier | None = None
) -> NDArray[np.float32]:
    """How well replies fit under an English post, shape (n,), as logits. Blocking.

    Args:
        replies: each with what it answers.
        network: which is asked instead of the one that ships.

    Raises:
        IndexUnavailable: the network cannot be loaded.
    """
    pairs = [as_read(post, text, says) for text, says in replies]
    return (network or shipped_fit()).logits(pairs)[:, 0]


def says(stereotype: Stereotype) -> str:
    """What a card's argument with its fact answers."""
    return f"says that {stereotype.gist.get('en', '')}"


def as_read(post: str, text: str, says: str) -> tuple[str, str]:
    """A post and a reply as the network reads them: the reply behind what it answers."""
    return readable(post, "en"), f"{says}. {text}"


def turned(vectors: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit vectors, of shape (384,) or (n, 384), times a matrix, of length 1 again."""
    products = vectors @ matrix
    return np.asarray(products / np.linalg.norm(products, axis=-1, keepdims=True))


def features_of_other(text: str, fit: float, cosine: float) -> NDArray[np.float32]:
    """What tells whether a reply that is not in the bank fits, shape (3,); the arguments of ``chance_of_other``."""
    return np.array([fit, cosine, len(text) / _LONG], np.float32)


def chance_of(features: NDArray[np.float32], fitted: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(1 / (1 + np.exp(-(features @ fitted[:-1] + fitted[-1]))))


def with_answers(
    cards: Sequence[ArgumentCard],
    text: str,
    language: str,
    router: Router,
    embedder: Embedder,
    changes: Changes,
    intents: Collection[Intent] = tuple(Intent),
) -> list[ArgumentCard]:
    """The cards, the first with the replies to what this post says, the likeliest first. Blocking.

    Neither what a community took out is among them nor what brings in a smear that the post does not make.

    Args:
        embedder: asked where it is the one that ships, of which the vectors are; otherwise that is loaded beside it.
        intents: of which the replies may be.

    Raises:
        IndexUnavailable: the embedding model, the router or the network cannot be loaded.
    """
    if not cards or language not in ANSWERED:
        return list(cards)
    found = _fitting(text, language, router, packaged(embedder), changes, tuple(intents))  # type: ignore[arg-type]
    originals = {reply.text: original for reply, original in found}
    replies = tuple(reply for reply, _ in found)
    return [replace(cards[0], answers=replies, originals={**cards[0].originals, **originals}), *cards[1:]]


@lru_cache(_REMEMBERED)
def _fitting(
    text: str, language: str, router: Router, embedder: Embedder, changes: Changes, intents: tuple[Intent, ...]
) -> tuple[tuple[FittingReply, str], ...]:
    """The replies to a post, the likeliest first, each with its original in the bank; asked for in several stages."""
    vectors = shipped_vectors()
    features = vectors.features(text, language, router, embedder)
    names = named(text) or _likely_names(router.groups(text, language))
    places = (at for at in map(int, vectors.nearest(features)) if answers()[at].intent in intents)
    near = [Spoken(*called, at) for at, called in islice(_sayable(places, text, names, language, changes), READ)]
    if not near:
        return ()
    spoken = [*near, *_first_sentences(near)]
    fits = fits_of(text, [(one.text, one.says) for one in spoken])
    likeliest = [spoken[at] for at in np.argsort(-fits, kind="stable") if not spoken[at].is_whole]
    wants = wanted(text, embedder)
    if joined := _joined(likeliest[:JOINED], text, names, wants, changes):
        spoken += joined
        fits = np.concatenate([fits, fits_of(text, [(one.text, one.says) for one in joined])])
    chances = vectors.chances(spoken, fits, features, wants.chance)
    found, said = list[tuple[FittingReply, str]](), set[int | str]()
    for place in np.argsort(-chances, kind="stable"):
        one, chance = spoken[place], float(chances[place])
        if chance < vectors.least or len(found) == MOST:
            break
        if said.isdisjoint({one.at, one.refuses} - {""}):
            said |= {one.at, one.refuses}
            original = answers()[one.at]
            found.append((FittingReply(one.text, one.says, original.intent, chance), original.text))
    return tuple(found)


def _first_sentences(replies: Iterable[Spoken]) -> Iterator[Spoken]:
    """The first sentences of replies that have more, each once."""
    seen = set[str]()
    for reply in replies:
        first, *others = sentences(reply.text)
        if others and first not in seen:
            seen.add(first)
            yield reply._replace(text=first, is_whole=False)


def _joined(
    firsts: Sequence[Spoken], text: str, names: Sequence[Name], wants: Wanted, changes: Changes
) -> list[Spoken]:
    """First sentences before those that refuse what the post likely wants, if it wants anything."""
    joined = list[Spoken]()
    for demand in wants.demands:
        refusals = [one for one in demand.refused(names, text) if prepared_id("en", one) not in changes.hidden]
        for first, refusal in zip(firsts, cycle(refusals), strict=False):
            joined.append(joined_with(first, refusal, demand))
    return joined


def joined_with(first: Spoken, refusal: str, demand: Demand) -> Spoken:
    """A first sentence with one that refuses a demand behind it."""
    says = f"{first.says}, and wants {demand.wants}"
    return first._replace(text=f"{first.text} {refusal}", says=says, refuses=refusal)


def _sayable(
    places: Iterable[int], text: str, names: Sequence[Name], language: str, changes: Changes
) -> Iterator[tuple[int, tuple[str, str]]]:
    """The replies that may be said to these people, each at its place with its words and what it answers."""
    for at in places:
        one = answers()[at]
        name = one.of(names)
        if (one.kinds and not name) or prepared_id(language, one.text) in changes.hidden:
            continue
        if not brought_in(one.text, text, language):
            yield at, one.called(name)


def _likely_names(groups: Mapping[TargetGroup, float]) -> list[Name]:
    """The name of the group that a post without a name is about, where one is likelier than all others together."""
    likely = [NAMES_OF_GROUPS[group] for group, share in groups.items() if share > _LIKELY and group in NAMES_OF_GROUPS]
    return [name for called in likely for name in named(called)]


def packaged(embedder: Embedder) -> Embedder:
    """The embedding model that ships: this one, or one that is loaded beside it."""
    return embedder if embedder.name == NAME else _packaged()


@cache
def _packaged() -> Embedder:
    return SentenceEmbedder()


@cache
def answers(file: Path = SAID) -> tuple[Answer, ...]:
    """All replies, in the order of the vectors; the English ones where no other file is named."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return tuple(
        Answer(
            row["text"],
            row["says"],
            Intent(row["intent"]),
            TargetGroup(row["group"]),
            row.get("who", ""),
            row.get("demand", ""),
            frozenset(row.get("kinds", ())),
        )
        for row in rows
    )


@cache
def shipped_vectors() -> Vectors:
    """The vectors that ship, which are read at the first use."""
    with safe_open(VECTORS, framework="numpy") as file:
        about: dict[str, Any] = json.loads(file.metadata()["about"])
        held = {name: file.get_tensor(name).astype(np.float32) / 127 for name in _HELD}
        held |= {name: file.get_tensor(name).astype(np.float32) for name in _MATRICES}
        stereotypes = file.get_tensor("stereotypes")
    fitted = {name: np.array(about[name], np.float32) for name in ("of_nearest", "of_answers", "of_others")}
    limits = tuple(Limit(*limit) for limit in about["limits"])
    return Vectors(**held, **fitted, stereotypes=stereotypes, least=about["least"], limits=limits)


@cache
def shipped_fit() -> TextClassifier:
    """The network that ships, which is read at the first use."""
    return SmallEncoder(FIT)
