"""One call of the engine: the post, how its community speaks, and what is known beside the post."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Final

from core.engine.arguing.evidence import ANY_SOURCES, Sources
from core.engine.cards.bank import UNCHANGED, Changes
from core.engine.cards.own import OwnCard
from core.engine.llm.budget import Profile
from core.engine.ports import Turn
from core.engine.reading.posts import is_debatable
from core.engine.reading.signals import Signals
from core.engine.wording.community_rules import NO_RULES, TextRules, broken_rule
from core.models import Action, FlaggedPost, Intent, Reading

SURE: Final = 0.6
"""How many of the prepared drafts shown first a reader would publish, at least, where nobody sets another share."""


@dataclass(frozen=True, slots=True)
class Voice:
    """How a community speaks: the language it expects, its style, the intents it allows, the platform's limit.

    ``notices`` are its notices on the rules, by language; a language without one gets no draft of that kind. ``also``
    are the ISO 639-1 codes of languages that Antiphon itself does not write, in which a larger model reads and writes
    alone. ``sure`` is the share in [0, 1] of prepared drafts shown first that a reader would publish, at least: those
    that are less likely to be published are held back (``core.engine.cards.answers.Vectors.limit``), none where it is
    0. ``rules`` hold for every text, whoever wrote it.
    """

    language: str = "en"
    style: str = "warm, plain and brief"
    intents: tuple[Intent, ...] = tuple(Intent)
    max_characters: int = 2000
    notices: Mapping[str, str] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    sure: float = SURE
    rules: TextRules = NO_RULES

    def notice_in(self, language: str) -> str:
        """The notice in a language; "" where there is none, it is too long for the platform, or breaks a rule."""
        text = self.notices.get(language, "")
        return text if len(text) <= self.max_characters and not broken_rule(text, self.rules) else ""


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the engine.

    Attributes:
        language: a language that a person named; ``None`` to detect it.
        force: make drafts even where a reply is advised against, whatever the reason.
        is_asked: make drafts even where silence is advised, except for posts that are not open to debate: threats,
            posts about one person, and posts that nobody here can read (``core.engine.reading.posts.is_debatable``).
        sources: which evidence is preferred.
        claim: the counter-claim that a moderator chose; ``None`` to write some and vote.
        recent: replies posted lately, so that a draft does not sound the same.
        exemplars: approved replies of the community, the closest first; three are used at most (CoARL, Appendix D).
        variant: how often the post was drafted before; another number seeds another search.
        prepared: what the community changed of the prepared replies.
        cards: the community's own cards that somebody accepted.
        waits_for_model: where the model is away, the request ends with an error, and whoever made it asks again later;
            otherwise what stands without a model is the answer.
        turn: what each call of the model waits for; no time passes for the suggestion meanwhile.
        offers_all: a person wants to see the prepared replies, too, that are held back since they seldom fit.
    """

    post: FlaggedPost
    profile: Profile
    voice: Voice = Voice()
    language: str | None = None
    force: bool = False
    claim: str | None = None
    recent: tuple[str, ...] = ()
    exemplars: tuple[str, ...] = ()
    is_asked: bool = False
    sources: Sources = ANY_SOURCES
    variant: int = 0
    prepared: Changes = UNCHANGED
    cards: tuple[OwnCard, ...] = ()
    turn: Turn = nullcontext
    waits_for_model: bool = True
    offers_all: bool = False

    def wants_drafts(self, reading: Reading, signals: Signals) -> bool:
        """Whether to draft a reply to a post with this reading."""
        is_advised = reading.recommended_action is Action.REPLY
        return is_advised or self.force or (self.is_asked and is_debatable(reading, signals))

    @property
    def holds_back(self) -> bool:
        """Whether prepared replies that seldom fit are held back: not where a person asked for all or for a claim."""
        return not (self.offers_all or self.force or self.claim)
