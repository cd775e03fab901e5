"""Where a draft comes from, in words that a moderator reads: prepared, quoted, or written by the model.

Owns the words, and the rule that a prepared reply is called reviewed only where a person of the community reviewed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from core.i18n.sentences import Sentence, listed, sentence
from core.models import Draft, Origin


@dataclass(frozen=True, slots=True)
class ReviewOfPrepared:
    """Who reviewed a prepared reply in a community, by the name that they gave, and when."""

    name: str
    at: datetime


def prepared_of(drafts: Iterable[Draft]) -> list[str]:
    """The ids of the prepared replies in drafts, each once."""
    return list(dict.fromkeys(id_ for draft in drafts for id_ in draft.prepared))


def origin_in_words(draft: Draft, reviews: Mapping[str, ReviewOfPrepared]) -> Sentence:
    """Where the draft's sentences come from, each kind once, in their order.

    Args:
        reviews: the community's reviews, by the id of the prepared reply.
    """
    said = {
        Origin.PREPARED: prepared_in_words(draft.prepared, reviews),
        Origin.EVIDENCE: sentence("quotation from the evidence"),
        Origin.MODEL: sentence("written by the model"),
    }
    return listed([said[origin] for origin in dict.fromkeys(draft.origins)], " + ")


def prepared_in_words(ids: tuple[str, ...], reviews: Mapping[str, ReviewOfPrepared]) -> Sentence:
    """Whether all, some or none of the prepared replies were reviewed, and by whom."""
    found = [reviews[id_] for id_ in ids if id_ in reviews]
    if not found:
        return sentence("prepared reply, not reviewed")
    who = listed(
        [sentence("{name} on {date}", name=one.name, date=f"{one.at:%Y-%m-%d}") for one in dict.fromkeys(found)]
    )
    if len(found) < len(ids):
        return sentence("prepared reply, reviewed in part by {who}", who=who)
    return sentence("prepared reply, reviewed by {who}", who=who)
