"""Stage 4, second half: the reduced simulated annealing that improves the drafts (CODEOFCONDUCT, section 3).

Each round raises T, picks drafts with a probability proportional to T^E, has the model rewrite them with sampled words
as hints, scores them, and keeps the best. The paper appends the words to the answer, which misleads the judge. Here
they are only hints to the rewriter and are never shown.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

from core.engine.cards.bank import ArgumentCard
from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.outcomes import Search
from core.engine.ports import Generation
from core.engine.review.assessment import Assessor
from core.engine.review.candidates import Candidate
from core.engine.wording.language import name_of
from core.engine.wording.slurs import is_slur
from core.engine.wording.text import content_stems, words
from core.engine.writing.first_drafts import tidy
from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Brief

SAMPLED_WORDS = 5
Show = Callable[[Sequence[Candidate]], Awaitable[None]]
"""Called after each round with all candidates so far, best first."""


async def unshown(_: Sequence[Candidate]) -> None:
    """Nobody watches."""


def weights_of(energies: Sequence[float], temperature: float) -> list[float]:
    """Numbers proportional to T^E (Algorithm 2), scaled so that the greatest is 1 and none overflows a float."""
    top = max(energies)
    return [temperature ** (energy - top) for energy in energies]


def pick(candidates: Sequence[Candidate], temperature: float, count: int, chance: random.Random) -> list[Candidate]:
    """``count`` different candidates, drawn with P proportional to T^E; better ones are likelier since T > 1.

    Raises:
        ValueError: T is not above 1; the draw would prefer the worse candidates.
    """
    if temperature <= 1:
        raise ValueError(f"T must be above 1, but is {temperature}")
    left, drawn = list(candidates), list[Candidate]()
    while left and len(drawn) < count:
        choice = chance.choices(left, weights_of([candidate.energy for candidate in left], temperature))[0]
        left.remove(choice)
        drawn.append(choice)
    return drawn


def vocabulary(brief: Brief, cards: Sequence[ArgumentCard]) -> list[str]:
    """The words to sample from: the prepared sentences', the evidence's, and the post's without slurs or blame.

    A word of the post is taken only if the prepared sentences or the evidence use it too: the others may be insults.
    """
    own = [text for card in cards[:2] for _, text in card.texts]
    good = [word for text in [*own, *(p.summary for p in brief.evidence)] for word in words(text)]
    shared = set(words(brief.post.text)) & set(good)
    words_left = {word for word in [*good, *shared] if content_stems(word, brief.language) and not is_slur(word)}
    return sorted(words_left)


async def anneal(
    start: Sequence[Candidate],
    brief: Brief,
    cards: Sequence[ArgumentCard],
    model: MeteredModel,
    assessor: Assessor,
    chance: random.Random,
    show: Show = unshown,
) -> Search[Candidate]:
    """Improve the drafts within the budget; all candidates that passed the gates."""
    profile = model.budget.profile
    pool = sorted(start, key=lambda candidate: -candidate.energy)
    bag = vocabulary(brief, cards)
    for done in range(profile.rounds):
        ended = _end(pool, model)
        if ended:
            return Search(pool, done, ended)
        drawn = -(-profile.proposals // profile.samples)
        parents = pick(pool, profile.t0 + done * profile.t_step, drawn, chance)
        proposals = await _rewrite(parents, brief, bag, model, chance)
        texts = {candidate.text for candidate in pool}
        fresh = await assessor.best([proposal for proposal in proposals if proposal.text not in texts])
        pool = sorted([*pool, *fresh], key=lambda candidate: -candidate.energy)
        await show(pool)
    return Search(pool, profile.rounds, _end(pool, model) or sentence("round limit"))


def _end(pool: Sequence[Candidate], model: MeteredModel) -> str | None:
    if not pool:
        return sentence("no draft passed the gates")
    reached = pool[0].energy >= model.budget.profile.target_score
    return model.budget.exhausted() or (sentence("target score") if reached else model.budget.is_late())


async def _rewrite(
    parents: Sequence[Candidate], brief: Brief, bag: Sequence[str], model: MeteredModel, chance: random.Random
) -> list[Candidate]:
    profile, left, jobs = model.budget.profile, model.budget.profile.proposals, []
    for parent in parents:
        hints = chance.sample(bag, min(SAMPLED_WORDS, len(bag)))
        prompt = load_prompt("rewrite").fill(
            post=quoted(brief.post.text), reply=parent.text, words=", ".join(hints), language=name_of(brief.language)
        )
        seed, samples = chance.randrange(2**31), min(profile.samples, left)
        left -= samples
        how = Generation(max_tokens=64, temperature=profile.temperature, n=samples, seed=seed)
        jobs.append(model.generate(prompt, how))
    answers = await asyncio.gather(*jobs, return_exceptions=True)
    rewritten = []
    for parent, answer in zip(parents, answers, strict=True):
        if isinstance(answer, ModelUnavailable):
            continue  # the budget is spent or the server is gone: the loop ends with the best so far
        if isinstance(answer, BaseException):
            raise answer
        rewritten += [
            Candidate(tidy(text), parent.intent, is_prepared=False, rewrites=parent.text) for text in answer.texts
        ]
    return list({candidate.text: candidate for candidate in rewritten if candidate.text}.values())
