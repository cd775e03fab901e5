"""Argument cards made from a few words; every text is invented."""

from collections.abc import Mapping, Sequence

from core.engine.cards.bank import ArgumentCard, Stereotype
from core.models import Intent, TargetGroup
from tests.fakes.engine.brief import CLAIM


def stereotype_of(id_: str = "migrants/welfare", *, is_violent: bool = False) -> Stereotype:
    """A stereotype about migrants; one whose id ends in "/any" stands for the group."""
    gist = {} if id_.endswith("/any") else {"en": "migrants live on welfare"}
    return Stereotype(id_, TargetGroup.MIGRANTS, gist, {}, (), is_violent)


def card_of(
    id_: str = "migrants/welfare-1",
    replies: Mapping[Intent, Sequence[str]] | None = None,
    *,
    claim: str = CLAIM,
    fact: str | None = None,
    own: Mapping[Intent, Sequence[str]] | None = None,
    is_violent: bool = False,
) -> ArgumentCard:
    stereotype = stereotype_of(id_.rpartition("-")[0], is_violent=is_violent)
    return ArgumentCard(
        id_,
        stereotype,
        argument=f"An argument of {id_}.",
        claim=claim,
        fact=fact,
        no_fact=None if fact else "needs none",
        caution=None,
        replies={intent: tuple((replies or {}).get(intent, ())) for intent in Intent},
        own={intent: tuple(texts) for intent, texts in (own or {}).items()},
    )
