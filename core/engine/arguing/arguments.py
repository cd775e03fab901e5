"""What the drafts argue: the cards that answer the post, a counter-claim, and the evidence for it.

The cheap way comes first: claims are written while the post is read, and the model is asked for claims only where no
card answers.

Counter-claims, and the vote that picks one, are stage 2 (F2RL, section 3.1). Claims that overstate are dropped before
the vote, and those that the reader of drafts refuses or doubts, also because they would fit any post. The vote is read
from one-token log-probabilities, with the order rotated.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.engine.arguing.evidence import ANY_SOURCES, Sources, find_evidence, summarise, write_queries
from core.engine.cards import abroad
from core.engine.cards.answers import with_answers
from core.engine.cards.bank import UNCHANGED, ArgumentCard, Changes, cards_on, changed, general_cards
from core.engine.cards.own import OwnCard, with_own_cards
from core.engine.cards.router import Router
from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.ports import EvidenceSource, Generation, Message, StageOutcome
from core.engine.readers.networks import Readers
from core.engine.scoring.check import read_drafts
from core.engine.wording.accusations import brought_in
from core.engine.wording.giveaways import leak_in, speaks_as_tool, wordings_of
from core.engine.wording.language import name_of
from core.engine.wording.text import sentences, words
from core.errors import ModelUnavailable
from core.i18n.sentences import listed, sentence
from core.models import Brief, Claim, Evidence, FlaggedPost, Intent, Reading, TargetGroup

MOST_CLAIMS = 5
"""So many claims are voted on at most."""
_BALLOTS = 2
_LEAST_SHARE = 0.001
_MOST_PREPARED = 3
_NUMBERING = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")


def fault_of_claim(claim: str, language: str | None) -> str | None:
    """What a rule alone finds wrong with a claim, in words, or ``None``.

    A claim overstates if it speaks of all, of none or of most. Whether it opposes the post, or restates, presupposes or
    mirrors the stereotype, the reader of drafts says.
    """
    if len(words(claim)) < 4 or len(sentences(claim)) > 1:
        return sentence("not one plain sentence")
    if wordings_of(language).absolutes.search(claim):
        return sentence("overstates")
    return leak_in(claim) or (sentence("prompt text") if speaks_as_tool(claim) else None)


async def propose_claims(
    post: FlaggedPost,
    language: str,
    cards: Sequence[ArgumentCard],
    model: MeteredModel,
    readers: Readers,
    *,
    asks_model: bool = True,
) -> StageOutcome[list[str]]:
    """At most ``MOST_CLAIMS`` claims, the arguments of the cards first, and what was lost on the way.

    Args:
        cards: what answers the post, the likeliest first. Those for any post about the group count only where there
            are no others: a claim that aims at nothing loses.
        asks_model: whether the model writes some, too.
    """
    aimed = [card for card in cards if not card.stereotype.is_general] or list(cards)
    prepared = list(dict.fromkeys(card.claim for card in aimed if card.claim))[:_MOST_PREPARED]
    degraded = list[str]()
    try:
        written = await _write_claims(post, language, model, MOST_CLAIMS - len(prepared)) if asks_model else []
    except ModelUnavailable as err:
        written = []
        degraded.append(sentence("claims: the model wrote no claim ({why}); prepared claims are used", why=err.message))
    standing, lost = await asyncio.to_thread(_without_faults, written, post.text, language, readers)
    if lost:
        degraded.append(
            sentence(
                "claims: {lost} of {written} written claims were dropped ({faults})",
                lost=len(lost),
                written=len(written),
                faults=listed(sorted(set(lost)), " / "),
            )
        )
    return StageOutcome(list(dict.fromkeys([*prepared, *standing]))[:MOST_CLAIMS], degraded)


async def _write_claims(post: FlaggedPost, language: str, model: MeteredModel, count: int) -> list[str]:
    prompt = load_prompt("claims").fill(post=quoted(post.text), count=str(count), language=name_of(language))
    how = Generation(max_tokens=32 * count, temperature=0.4, seed=1)
    answer = await model.generate(prompt, how)
    lines = [_NUMBERING.sub("", line).strip() for line in answer.texts[0].splitlines()]
    return [line for line in dict.fromkeys(lines) if line]


def _without_faults(claims: Sequence[str], post: str, language: str, readers: Readers) -> StageOutcome[list[str]]:
    """The claims that are kept, and for each of the others why it is dropped."""
    faults = {claim: fault_of_claim(claim, language) for claim in claims}
    plain = [claim for claim, fault in faults.items() if fault is None]
    for claim, opinion in zip(plain, read_drafts(readers.drafts, post, plain, language), strict=True):
        faults[claim] = (opinion.fault or opinion.doubt) if opinion else None
    kept = [claim for claim, fault in faults.items() if fault is None]
    return StageOutcome(kept, [fault for fault in faults.values() if fault])


async def vote(post: FlaggedPost, claims: Sequence[str], model: MeteredModel) -> StageOutcome[list[Claim]]:
    """The claims with their share of the vote, the winner first, and why the vote is missing if it is.

    Each ballot shows the claims in another order and reads the log-probabilities of one letter. A fit separates the
    effect of a claim's place from the effect of the claim, so that two ballots are enough; the published vote has each
    claim in each place. If a ballot is missing, there is no vote.
    """
    if len(claims) < 2:
        return StageOutcome([Claim(text, 1.0) for text in claims], [])
    count, problem = len(claims), ""
    logits = np.zeros((count if model.budget.profile.is_published else _BALLOTS, count))
    for turn, ballot in enumerate(logits):
        try:
            order = [*claims[turn:], *claims[:turn]]
            shares = await model.choose(_ballot(post, order), ascii_uppercase[:count])
        except ModelUnavailable as err:
            shares, problem = None, err.message
        if shares is None:
            why = problem or sentence("the model gave no letter")
            note = sentence("claims: no vote was held ({why}); the first is used", why=why)
            return StageOutcome([Claim(text, None) for text in claims], [note])
        ballot[:] = np.log([max(shares[letter], _LEAST_SHARE) for letter in ascii_uppercase[:count]])
    votes = _without_places(logits)
    ranked = sorted(range(count), key=lambda index: -votes[index])
    return StageOutcome([Claim(claims[index], round(votes[index], 4)) for index in ranked], [])


def _without_places(logits: NDArray[np.float64]) -> list[float]:
    """The claims' shares, from logits of shape (ballots, places); ballot t shows claim (t + p) mod n at place p."""
    ballots, count = logits.shape
    design = np.zeros((ballots * count, 2 * count + ballots))
    for turn in range(ballots):
        for place in range(count):
            design[turn * count + place, [(turn + place) % count, count + place, 2 * count + turn]] = 1
    effects = np.linalg.lstsq(design, logits.ravel(), rcond=None)[0][:count]
    shares = np.exp(effects - effects.max())
    return [float(share) for share in np.round(shares / shares.sum(), 6)]


def _ballot(post: FlaggedPost, order: Sequence[str]) -> list[Message]:
    lines = "\n".join(f"{letter}. {claim}" for letter, claim in zip(ascii_uppercase, order, strict=False))
    return load_prompt("vote").fill(post=quoted(post.text), claims=lines)


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
        if language in abroad.LANGUAGES:
            cards = await asyncio.to_thread(
                abroad.with_answers, cards, post, language, self.router, prepared, self.intents
            )
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
