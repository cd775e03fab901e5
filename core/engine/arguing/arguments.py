"""What the drafts argue: the cards that answer the post, a counter-claim, and the evidence for it.

The cheap way comes first: claims are written while the post is read, and the model is asked for claims only where no
card answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.engine.arguing.claims import propose_claims, vote
from core.engine.arguing.evidence import ANY_SOURCES, Sources, find_evidence, summarise, write_queries
from core.engine.cards import basque
from core.engine.cards.answers import with_answers
from core.engine.cards.bank import UNCHANGED, ArgumentCard, Changes, cards_on, changed, general_cards
from core.engine.cards.own import OwnCard, with_own_cards
from core.engine.cards.router import Router
from core.engine.llm.budget import MeteredModel
from core.engine.ports import EvidenceSource, StageOutcome
from core.engine.readers.networks import Readers
from core.engine.wording.accusations import brought_in
from core.models import Brief, Claim, Evidence, FlaggedPost, Intent, Reading, TargetGroup

MOST_CHARACTERS_BESIDE: Final = 1_000
"""The longest post whose claims are written beside its reading."""


@dataclass(frozen=True, slots=True)
class EarlyClaims:
    """Claims that were written during the reading, for the cards that most likely answer the post."""

    cards: list[ArgumentCard]
    claims: StageOutcome[list[Claim]]


@dataclass(frozen=True, slots=True)
class Argument:
    """What the drafts argue: the brief, all claims (the brief holds the first), the queries and the cards."""

    brief: Brief
    claims: list[Claim]
    queries: list[str]
    cards: list[ArgumentCard]


@dataclass(frozen=True)
class ArgumentStage:
    """Stages 2 and 3 for one post.

    Attributes:
        post: the post, with disguised names in plain words.
        source: the knowledge base.
        claim: the claim that a person chose; ``None`` where nobody did.
        sources: which sources the community wants.
        intents: of which prepared replies may be.
        prepared: what the community took out of the prepared texts, and added.
        own: the community's own cards.
    """

    post: FlaggedPost
    model: MeteredModel
    readers: Readers
    source: EvidenceSource
    router: Router
    claim: str | None = None
    sources: Sources = ANY_SOURCES
    intents: Collection[Intent] = tuple(Intent)
    prepared: Changes = UNCHANGED
    own: Sequence[OwnCard] = ()

    async def cards(self, reading: Reading) -> list[ArgumentCard]:
        """What answers the post: the cards on its stereotypes, and last those for any post about the group.

        The card whose argument a person chose comes first. No prepared reply brings in a smear that the post does not
        make.
        """
        language, group = reading.language or "en", reading.target_group or TargetGroup.OTHER
        on_stereotypes = [card for name in reading.stereotypes for card in cards_on(name, language)]
        cards = changed([*on_stereotypes, *general_cards(group, language)], language, self.prepared)
        cards = with_own_cards(cards, self.own, reading.stereotypes, language)
        post, prepared = self.post.text, self.prepared
        cards = _without_smears(cards, post, language)
        if language == basque.LANGUAGE:
            cards = await asyncio.to_thread(basque.with_answers, cards, post, self.router, prepared)
        else:
            embedder = self.readers.embedder
            cards = await asyncio.to_thread(
                with_answers, cards, post, language, self.router, embedder, prepared, self.intents
            )
        return sorted(cards, key=lambda card: self.claim not in {card.claim, card.argument})

    def guesses(self, reading: Reading) -> list[ArgumentCard]:
        """The cards on what the post may put forward, for drafts alone: no claim or fact comes from a guess."""
        language = reading.language or "en"
        on_guesses = [card for name in reading.guesses for card in cards_on(name, language)]
        return _without_smears(changed(on_guesses, language, self.prepared), self.post.text, language)

    async def evidence(
        self, queries: Sequence[str], reading: Reading, claim: str, cards: Sequence[ArgumentCard], offered: int = 0
    ) -> StageOutcome[list[Evidence]]:
        """The facts that the cards rest on, and what else bears on the claim; ``offered`` as in ``find_evidence``."""
        facts = list(dict.fromkeys(card.fact for card in cards if card.fact))
        return await find_evidence(queries, reading, claim, self.source, self.sources, facts, offered)

    async def early(self, likely: Reading | None) -> EarlyClaims | None:
        """Write claims while the post is read.

        Two answers at the same time take less time than one after the other. A long post is the exception: reading it
        takes longer than writing, and the advice should not wait for the claims.
        """
        is_long = len(self.post.text) > MOST_CHARACTERS_BESIDE
        if is_long or likely is None or likely.target_group is None or likely.language is None:
            return None
        cards = await self.cards(likely)
        return EarlyClaims(cards, await self._claims(likely.language, cards)) if cards else None

    async def argue(
        self, reading: Reading, early: EarlyClaims | None, report: Callable[[str, str], None]
    ) -> StageOutcome[Argument]:
        """A counter-claim and the evidence for it.

        Args:
            early: used if it is for the same cards.
            report: is told the stage and what came of it.
        """
        cards = await self.cards(reading)
        fits = early is not None and early.cards == cards
        claims = early.claims if early and fits else await self._claims(reading.language or "en", cards)
        claim = claims.value[0].text if claims.value else ""
        report("claims", claim)
        proposed = [claim.text for claim in claims.value]
        queries = await write_queries(self.post, reading, proposed, self.model)
        passages = await self.evidence(queries.value, reading, claim, cards)
        evidence = await summarise(passages.value, self.model)
        report("evidence", ", ".join(passage.source.publisher for passage in evidence.value) or "none")
        brief = Brief(self.post, reading, claim, tuple(evidence.value))
        notes = [*claims.notes, *queries.notes, *passages.notes, *evidence.notes]
        return StageOutcome(Argument(brief, claims.value, queries.value, cards), notes)

    async def _claims(self, language: str, cards: Sequence[ArgumentCard]) -> StageOutcome[list[Claim]]:
        """Counter-claims, the winner of the vote first. A claim that a person chose is the only one.

        Where cards answer the post, the model that ships is asked in the published search alone: people wait, and
        what it writes aims less well than they do.
        """
        if self.claim:
            return StageOutcome([Claim(self.claim, None)], [])
        is_answered = any(not card.stereotype.is_general for card in cards)
        asks_model = self.model.budget.profile.is_published or not is_answered
        proposed = await propose_claims(self.post, language, cards, self.model, self.readers, asks_model=asks_model)
        if not asks_model:
            return StageOutcome([Claim(text, None) for text in proposed.value], proposed.notes)
        voted = await vote(self.post, proposed.value, self.model)
        return StageOutcome(voted.value, [*proposed.notes, *voted.notes])


def _without_smears(cards: Sequence[ArgumentCard], post: str, language: str) -> list[ArgumentCard]:
    """The cards without the prepared replies of ours that would bring in a smear that the post did not make."""

    def kept(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if not brought_in(text, post, language))

    return [replace(card, replies={intent: kept(texts) for intent, texts in card.replies.items()}) for card in cards]
