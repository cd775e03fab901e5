"""Stage 4, first half: the drafts that the search starts from, one or more for each intent.

Prepared sentences are put together with evidence, and the model is asked for drafts of its own (CoARL, Table 5; F2RL,
Appendix C.4; RAG paper, Appendix B). A few examples help small models most; approved replies of the community are added
to them.
"""

import asyncio
import random
import re
from collections.abc import Sequence

from core.engine.arguing.evidence import far_from
from core.engine.cards.bank import ArgumentCard
from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.ports import Generation, StageOutcome
from core.engine.review.candidates import Candidate
from core.engine.review.judge import LEADING
from core.engine.scoring.gates import MAX_SENTENCES
from core.engine.wording.accusations import brought_in
from core.engine.wording.language import detect, name_of
from core.engine.wording.text import join, sentences
from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Brief, Intent

DESCRIPTIONS = {
    Intent.INFORMATIVE: "informative: it gives a reason or the fact of the evidence",
    Intent.EMPATHETIC: "empathetic: it speaks from the heart for the people who are hurt",
    Intent.QUESTIONING: "questioning: one open question that makes readers think and assumes nothing bad",
    Intent.DENOUNCING: "denouncing: it says calmly that talking like this is not acceptable",
    Intent.POSITIVE: "positive: it says something good about the people attacked",
}
_OPENINGS = 2
_EXAMPLES = 2
_MAX_TOKENS = 90
TEMPERATURE = 0.5
_VOICES = 3
_LABEL = re.compile(r"^(?:reply|answer|counterspeech|respuesta|risposta|erantzuna)\s*:\s*", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "«": "»", "'": "'"}


def compose(
    brief: Brief, cards: Sequence[ArgumentCard], intents: Sequence[Intent], chance: random.Random
) -> list[Candidate]:
    """Drafts from prepared replies and evidence, without any model.

    A reply stands as it was written. First come those that answer what the post says; then two of each card for each
    intent. For the informative intent a card's argument with the fact that it rests on comes instead, where there is
    one; a card for any post about the group takes the first passage that bears on the post. The community's own replies
    for an intent leave no room for others.
    """
    drafts: dict[str, Candidate] = {}
    own = {intent for card in cards for intent, texts in card.own.items() if texts}
    for card in cards:
        for answer in card.answers:
            if answer.intent in intents and answer.intent not in own:
                draft = Candidate(answer.text, answer.intent, is_prepared=True, card=card, answer=answer)
                drafts.setdefault(answer.text, draft)
    is_answered = bool(drafts)
    for intent in intents:
        for card in _first_choice(cards, intent, brief):
            for text in _texts(card, intent, brief, chance):
                if len(sentences(text)) <= MAX_SENTENCES:
                    is_rare = is_answered and intent not in LEADING and not card.is_from_community(text)
                    may_miss = is_rare and text in card.replies[intent]
                    draft = Candidate(text, intent, is_prepared=True, card=card, may_miss=may_miss)
                    drafts.setdefault(text, draft)
    return list(drafts.values())


def _first_choice(cards: Sequence[ArgumentCard], intent: Intent, brief: Brief) -> Sequence[ArgumentCard]:
    """Where the community has replies of its own, the cards that hold them; else those that a fact carries, if any."""
    own = [card for card in cards if card.own.get(intent)]
    if own or intent is not Intent.INFORMATIVE:
        return own or cards
    return [card for card in cards if _fact_reply(card, brief)] or cards


def _texts(card: ArgumentCard, intent: Intent, brief: Brief, chance: random.Random) -> list[str]:
    sourced = _fact_reply(card, brief) if intent is Intent.INFORMATIVE and not card.own.get(intent) else ""
    return [sourced] if sourced else _openings(card, intent, chance)


def _fact_reply(card: ArgumentCard, brief: Brief) -> str:
    """The card's argument with the fact that carries it; "" without one, or where both are too long for a reply."""
    fact = _fact_for(card, brief) if card.claim and card.is_translated else ""
    text = join([card.claim, fact])
    is_spared = not brought_in(card.claim, brief.post.text, brief.language)
    return text if fact and is_spared and len(sentences(text)) <= MAX_SENTENCES else ""


def _openings(card: ArgumentCard, intent: Intent, chance: random.Random) -> list[str]:
    """Two replies of a card, the community's own first."""
    own, others = card.own.get(intent, ()), card.replies[intent]
    mine = chance.sample(own, min(_OPENINGS, len(own)))
    return [*mine, *chance.sample(others, min(_OPENINGS - len(mine), len(others)))]


def _fact_for(card: ArgumentCard, brief: Brief) -> str:
    """The words of the passage that carries a card's argument, in the draft's language; "" where there is none."""
    far = far_from(brief.evidence)
    for passage in brief.evidence:
        bears = passage.id not in far if card.stereotype.is_general else passage.id == card.fact
        if bears and detect(passage.summary, brief.language) == brief.language:
            return passage.summary
    return ""


def weakest(intents: Sequence[Intent], candidates: Sequence[Candidate]) -> list[Intent]:
    """The intents, sorted so that those with no candidate, or with the weakest best candidate, come first."""
    best = {intent: max((c.energy for c in candidates if c.intent is intent), default=0.0) for intent in intents}
    return sorted(intents, key=lambda intent: best[intent])


async def write(
    brief: Brief,
    intents: Sequence[Intent],
    model: MeteredModel,
    *,
    style: str,
    exemplars: Sequence[str],
    cards: Sequence[ArgumentCard] = (),
    variant: int = 0,
) -> StageOutcome[list[Candidate]]:
    """Drafts by the model, one for every intent, all asked for at once, and why some are missing.

    Args:
        exemplars: replies that the community approved.
        cards: the arguments that answer the post; their replies show the model what fits.
    """
    seeds = [list(Intent).index(intent) + variant * len(Intent) for intent in intents]
    answers = await asyncio.gather(
        *(
            _write_for(
                brief,
                intent,
                model,
                style=style,
                exemplars=exemplars,
                fitting=_first_replies(cards, intent),
                how=Generation(max_tokens=_MAX_TOKENS, temperature=TEMPERATURE, seed=seed),
            )
            for intent, seed in zip(intents, seeds, strict=True)
        ),
        return_exceptions=True,
    )
    drafts, lost = dict[str, Candidate](), []
    for intent, answer in zip(intents, answers, strict=True):
        if isinstance(answer, ModelUnavailable):
            lost.append(answer.message)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            for text in answer:
                drafts.setdefault(text, Candidate(text, intent, is_prepared=False))
    wrote = len(intents) - len(lost)
    if not lost:
        return StageOutcome(list(drafts.values()), [])
    note = sentence(
        "drafts: the model wrote {wrote} of {wanted} drafts ({why})", wrote=wrote, wanted=len(intents), why=lost[0]
    )
    return StageOutcome(list(drafts.values()), [note])


def _first_replies(cards: Sequence[ArgumentCard], intent: Intent) -> list[str]:
    """A reply to what the post says, and a prepared one of each of the first cards."""
    cards_told = (card for card in cards if not card.stereotype.is_general)
    answers = ([answer.text for answer in card.answers if answer.intent is intent] for card in cards)
    replies = [*answers, *([*card.own.get(intent, ()), *card.replies[intent]] for card in cards_told)]
    return [texts[0] for texts in replies if texts][:_EXAMPLES]


async def _write_for(
    brief: Brief,
    intent: Intent,
    model: MeteredModel,
    *,
    style: str,
    exemplars: Sequence[str],
    fitting: Sequence[str],
    how: Generation,
) -> list[str]:
    passage = brief.evidence[0].summary if brief.evidence else ""
    prompt = load_prompt("draft").fill(
        exemplars="".join(f"\n- in this community's own voice: {text}" for text in exemplars[:_VOICES]),
        post=quoted(brief.post.text),
        gist=f"The post: {brief.reading.implied_meaning}\n" if brief.reading.implied_meaning else "",
        claim=brief.claim,
        evidence=passage or "none",
        fitting="".join(f"\nA reply of this kind that fits, to be said in other words: {text}" for text in fitting),
        intent=DESCRIPTIONS[intent],
        style=style,
        language=name_of(brief.language),
    )
    return [tidy(text) for text in (await model.generate(prompt, how)).texts]


def tidy(answer: str) -> str:
    """The reply in a model's answer: its first two whole sentences, on one line, without label or quotation marks."""
    parts = sentences(bare_reply(answer))[:MAX_SENTENCES]
    if len(parts) > 1 and not parts[-1].endswith((".", "!", "?", "…")):
        parts = parts[:-1]
    return " ".join(parts)


def bare_reply(answer: str) -> str:
    """The reply in a model's answer, on one line, without a label or quotation marks around the whole."""
    text = _LABEL.sub("", " ".join(answer.split())).strip()
    closing = _QUOTES.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing) and closing not in text[1:-1]:
        text = text[1:-1].strip()
    return text
