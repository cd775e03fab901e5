"""Stage 2: counter-claims, and the vote that picks one (F2RL, section 3.1).

Claims that overstate are dropped before the vote, and those that the reader of drafts refuses or doubts, also because
they would fit any post. The vote is read from one-token log-probabilities, with the order rotated.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from string import ascii_uppercase

import numpy as np
from numpy.typing import NDArray

from core.engine.cards.bank import ArgumentCard
from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.ports import Generation, Message, StageOutcome
from core.engine.readers.networks import Readers
from core.engine.scoring.check import read_drafts
from core.engine.wording.giveaways import leak_in, speaks_as_tool, wordings_of
from core.engine.wording.language import name_of
from core.engine.wording.text import sentences, words
from core.errors import ModelUnavailable
from core.i18n.sentences import listed, sentence
from core.models import Claim, FlaggedPost

MOST = 5
"""So many claims are voted on at most."""
_BALLOTS = 2
_LEAST_SHARE = 0.001
_MOST_PREPARED = 3
_NUMBERING = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")


def fault_of(claim: str, language: str | None) -> str | None:
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
    """At most ``MOST`` claims, the arguments of the cards first, and what was lost on the way.

    Args:
        cards: what answers the post, the likeliest first. Those for any post about the group count only where there
            are no others: a claim that aims at nothing loses.
        asks_model: whether the model writes some, too.
    """
    aimed = [card for card in cards if not card.stereotype.is_general] or list(cards)
    prepared = list(dict.fromkeys(card.claim for card in aimed if card.claim))[:_MOST_PREPARED]
    degraded = list[str]()
    try:
        written = await _write(post, language, model, MOST - len(prepared)) if asks_model else []
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
    return StageOutcome(list(dict.fromkeys([*prepared, *standing]))[:MOST], degraded)


async def _write(post: FlaggedPost, language: str, model: MeteredModel, count: int) -> list[str]:
    prompt = load_prompt("claims").fill(post=quoted(post.text), count=str(count), language=name_of(language))
    how = Generation(max_tokens=32 * count, temperature=0.4, seed=1)
    answer = await model.generate(prompt, how)
    lines = [_NUMBERING.sub("", line).strip() for line in answer.texts[0].splitlines()]
    return [line for line in dict.fromkeys(lines) if line]


def _without_faults(claims: Sequence[str], post: str, language: str, readers: Readers) -> StageOutcome[list[str]]:
    """The claims that are kept, and for each of the others why it is dropped."""
    faults = {claim: fault_of(claim, language) for claim in claims}
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
