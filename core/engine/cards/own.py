"""Argument cards that a community wrote: which of them answer a post, and in which place.

They come before the project's, and so do a community's own stereotypes: the community knows best. Only cards that a
second person accepted get here (``core.desk.communities.own_cards``).

The shipped router cannot know a stereotype that a community described, so its closeness to a few wordings has to do.
Where that is not sure it names none: no card is better than a wrong one.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.engine.cards.bank import OWN, ArgumentCard, Stereotype, gist_in_words, load_stereotypes
from core.engine.cards.router import MOST, vectors_of
from core.engine.ports import Embedder
from core.engine.wording.giveaways import checkable_in
from core.engine.wording.near_duplicates import NEAR_IDENTICAL, unbanded_likeness_of
from core.engine.wording.text import sentences
from core.models import Action, Reading, TargetGroup

CLOSE: Final = 0.5
"""The least cosine of a post and the nearest wording of a stereotype that it puts forward.

With ``AHEAD`` it rests on ``python -m training.heads.closeness``: each shipped stereotype in turn is taken for a
community's own, with three to ten of its wordings, and English posts of the development split about its group are
compared with them. Where both limits are passed, a reader saw the stereotype in 68 to 71 of 100 posts, on posts of
another writer in 79 to 82. With ``AHEAD`` at 0 it is every second post, and one of eight without that comparison. Few
posts are that close: of those that put the stereotype forward, 2 in 100 with three wordings and 6 to 7 with ten. It
was measured with all-MiniLM-L6-v2 alone.
"""
AHEAD: Final = 0.1
"""By how much the nearest wording must be closer than that of any shipped stereotype about the group."""


def put_forward(
    text: str,
    language: str,
    stereotypes: Sequence[Stereotype],
    embedder: Embedder,
    groups: Collection[TargetGroup] = (),
) -> list[Stereotype]:
    """The stereotypes that the post surely enough puts forward, the closest first; two at most.

    A post that is nearly identical to a wording counts in every language and whatever its group, any other only in a
    language that the embedder knows. Blocking.

    Args:
        groups: whom the post is about; nobody where that is not sure.

    Raises:
        IndexUnavailable: the embedding model cannot be loaded.
    """
    candidates = [stereotype for stereotype in stereotypes if language in stereotype.wordings]
    closeness = {stereotype.id: 1.0 for stereotype in candidates if _repeats(text, stereotype.wordings[language])}
    if candidates and language in embedder.languages:
        post = vectors_of([text], language, embedder)[0]
        for stereotype in (stereotype for stereotype in candidates if not groups or stereotype.target_group in groups):
            near = nearest(post, vectors_of(stereotype.wordings[language], language, embedder))
            if near >= CLOSE and near >= AHEAD + _rival(post, stereotype.target_group, language, embedder):
                closeness.setdefault(stereotype.id, near)
    close = [stereotype for stereotype in candidates if stereotype.id in closeness]
    return sorted(close, key=lambda stereotype: -closeness[stereotype.id])[:MOST]


def nearest(post: NDArray[np.float32], wordings: NDArray[np.float32]) -> float:
    """The cosine of a post and the nearest of some wordings; -1 without any."""
    return float((wordings @ post).max(initial=-1.0))


def _rival(post: NDArray[np.float32], group: TargetGroup, language: str, embedder: Embedder) -> float:
    """How close the post is to the nearest wording of a shipped stereotype about the group."""
    texts = [
        text
        for stereotype in load_stereotypes().values()
        if stereotype.target_group is group and not stereotype.is_general
        for text in stereotype.wordings.get(language, ())
    ]
    return nearest(post, vectors_of(texts, language, embedder)) if texts else -1.0


def _repeats(text: str, wordings: Sequence[str]) -> bool:
    post = unbanded_likeness_of(text)
    return any(post.to(unbanded_likeness_of(wording)) >= NEAR_IDENTICAL for wording in wordings)


@dataclass(frozen=True, slots=True)
class OwnCard:
    """A community's card, in the one language in which it was written; its replies are the card's ``own``."""

    language: str
    card: ArgumentCard


def own_stereotype(language: str, group: TargetGroup, gist: str, wordings: Iterable[str]) -> Stereotype:
    """A stereotype that a community described. Cards with the same gist answer the same one."""
    digest = hashlib.sha256("\n".join((language, group, gist)).encode()).hexdigest()[:10]
    return Stereotype(OWN + digest, group, {language: gist}, {language: tuple(wordings)}, (), is_violent=False)


def with_own_stereotypes(
    reading: Reading, text: str, cards: Sequence[OwnCard], embedder: Embedder, groups: Collection[TargetGroup] = ()
) -> Reading:
    """The reading with the community's own stereotypes that the post puts forward, before the others.

    The likeliest settles the group, and is told as the gist: but not where silence is advised, since a post that
    objects to a stereotype is close to its wordings, too. Blocking.

    Args:
        groups: whom the post is about; nobody where that is not sure.

    Raises:
        IndexUnavailable: the embedding model cannot be loaded.
    """
    stereotypes = put_forward(text, reading.language or "", _stereotypes(cards), embedder, groups)
    if not stereotypes:
        return reading
    first = stereotypes[0]
    others = reading.stereotypes if reading.target_group is first.target_group else ()
    is_told = reading.recommended_action is not Action.STAY_SILENT
    return replace(
        reading,
        target_group=first.target_group,
        stereotypes=(*(stereotype.id for stereotype in stereotypes), *others),
        guesses=(),
        implied_meaning=gist_in_words(first) if is_told else reading.implied_meaning,
    )


def _stereotypes(cards: Iterable[OwnCard]) -> list[Stereotype]:
    """The stereotypes that the cards describe, each once, with the wordings of all its cards."""
    by_id = dict[str, Stereotype]()
    for card in cards:
        stereotype = card.card.stereotype
        if stereotype.is_own:
            before = by_id.get(stereotype.id)
            wordings = (*(before.wordings[card.language] if before else ()), *stereotype.wordings[card.language])
            by_id[stereotype.id] = replace(stereotype, wordings={card.language: tuple(dict.fromkeys(wordings))})
    return list(by_id.values())


def in_need_of_source(cards: Iterable[ArgumentCard], language: str) -> frozenset[str]:
    """The sentences of a community's cards that state something: they may, where the card names a fact.

    They get a receipt all the same, as what the model writes does: ours state nothing.
    """
    texts = (text for card in cards if card.fact and any(card.own.values()) for _, text in card.texts)
    return frozenset(part for text in texts for part in sentences(text) if checkable_in(part, language))


def with_own_cards(
    cards: Sequence[ArgumentCard], own: Sequence[OwnCard], stereotypes: Sequence[str], language: str
) -> list[ArgumentCard]:
    """The cards that answer a post, with the community's own before the others on the same stereotype.

    Args:
        cards: ours, those on one stereotype together.
        stereotypes: the ids of those that the post puts forward, the likeliest first.
    """
    mine = [card.card for card in own if card.language == language]
    order = dict.fromkeys([*stereotypes, *(card.stereotype.id for card in cards)])
    return [card for id_ in order for card in (*mine, *cards) if card.stereotype.id == id_]
