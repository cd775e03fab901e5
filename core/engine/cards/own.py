"""Argument cards that a community wrote: which of them answer a post, and in which place.

They come before the project's, and so do a community's own stereotypes: the community knows best. Only cards that a
second person accepted get here (``core.desk.communities.own_cards``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from core.engine.cards.bank import OWN, ArgumentCard, Stereotype, gist_in_words
from core.engine.cards.closeness import put_forward
from core.engine.ports import Embedder
from core.engine.wording.giveaways import checkable_in
from core.engine.wording.text import sentences
from core.models import Action, Reading, TargetGroup


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
