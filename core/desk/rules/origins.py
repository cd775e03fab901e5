"""What a draft is, where it comes from and who read it, in words that a moderator reads.

A prepared reply is called reviewed only where a person of the community reviewed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from core.i18n.sentences import Sentence, listed, sentence
from core.models import Draft, Kind, Origin, ReadBy


@dataclass(frozen=True, slots=True)
class ReviewOfPrepared:
    """Who reviewed a prepared reply in a community, by the name that they gave, and when."""

    name: str
    at: datetime


def prepared_of(drafts: Iterable[Draft]) -> list[str]:
    """The ids of the prepared replies in drafts, each once."""
    return list(dict.fromkeys(id_ for draft in drafts for id_ in draft.prepared))


def kind_in_words(kind: Kind) -> Sentence | None:
    """What a draft is that is no reply; ``None`` for a reply, of which its intent tells more."""
    if kind is Kind.REPLY:
        return None
    return sentence("A word of support") if kind is Kind.SUPPORT else sentence("A notice on the rules")


def origin_in_words(draft: Draft, reviews: Mapping[str, ReviewOfPrepared]) -> Sentence:
    """Where the draft's sentences come from, each kind once, in their order.

    Args:
        reviews: the community's reviews, by the id of the prepared reply.
    """
    words = {
        Origin.PREPARED: sentence("prepared in advance")
        if draft.kind is Kind.NOTICE
        else prepared_in_words(draft.prepared, reviews),
        Origin.EVIDENCE: sentence("quotation from the evidence"),
        Origin.MODEL: sentence("written by {writer}", writer=draft.writer)
        if draft.writer
        else sentence("written by the model"),
    }
    return listed([words[origin] for origin in dict.fromkeys(draft.origins)], " + ")


def read_by_in_words(who: ReadBy) -> Sentence:
    """Whose word counts on what a post or a draft does."""
    return {
        ReadBy.SMALL: sentence("small reader"),
        ReadBy.LARGE: sentence("language model"),
        ReadBy.BOTH: sentence("small reader and language model"),
        ReadBy.RULES: sentence("rules only"),
    }[who]


def origin_and_reader(draft: Draft, reviews: Mapping[str, ReviewOfPrepared]) -> Sentence:
    """Where the draft comes from and, as far as that was kept, whose word it is that it may be shown."""
    origin = origin_in_words(draft, reviews)
    if draft.read_by is None:
        return origin
    return sentence("{origin}; judged by: {who}", origin=origin, who=read_by_in_words(draft.read_by))


def prepared_in_words(ids: tuple[str, ...], reviews: Mapping[str, ReviewOfPrepared]) -> Sentence:
    """Whether all, some or none of the prepared replies were reviewed, and by whom."""
    done = [reviews[id_] for id_ in ids if id_ in reviews]
    if not done:
        return sentence("prepared reply, not reviewed")
    who = listed(
        [sentence("{name} on {date}", name=review.name, date=f"{review.at:%Y-%m-%d}") for review in dict.fromkeys(done)]
    )
    if len(done) < len(ids):
        return sentence("prepared reply, reviewed in part by {who}", who=who)
    return sentence("prepared reply, reviewed by {who}", who=who)
