"""Stage 4, first half: the drafts that the search starts from, one or more for each intent.

Owns how prepared sentences and evidence are put together, and how the model is asked for drafts of its own (CoARL,
Table 5; F2RL, Appendix C.4; RAG paper, Appendix B). A few examples help small models most; approved replies of the
community are added to them.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.llm.budget import MeteredModel
from core.llm.prompting import load_prompt, quoted
from core.models import Brief, Intent, ReadBy, Receipt, Scores, Verdict
from core.ports import Generation
from core.scoring.gates import MAX_SENTENCES
from core.scoring.readers.readers import DraftSigns
from core.stages.outcomes import Noted
from core.wording.language import detect, name_of
from core.wording.prepared.bank import Theme
from core.wording.text import join, sentences

DESCRIPTIONS = {
    Intent.INFORMATIVE: "informative: it gives a reason or the fact of the evidence",
    Intent.EMPATHETIC: "empathetic: it speaks from the heart for the people who are hurt",
    Intent.QUESTIONING: "questioning: one open question that makes readers think and assumes nothing bad",
    Intent.DENOUNCING: "denouncing: it says calmly that talking like this is not acceptable",
    Intent.POSITIVE: "positive: it says something good about the people attacked",
}
_OPENINGS = 2
_WRAPPING = re.compile(r"^(?:reply|answer|counterspeech)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft during the search.

    ``is_prepared``: it was put together from prepared sentences and evidence; the model may have summarised a long
    passage. ``rewrites`` is the text that it rewords; "" where it is not a rewrite. ``doubts``: what a moderator is
    warned of before any receipt (``core.scoring.gates``). ``signs``: what the small reader says of it, ``None`` in a
    language that it does not know; ``doubt``: what the readers think likely, "" for nothing. ``contested``: why the
    small reader would refuse it, while a larger model has still to be asked; ``is_heard``: that model was asked.
    ``read_by``: whose word this is.
    """

    text: str
    intent: Intent
    is_prepared: bool
    scores: Scores = field(default_factory=Scores)
    receipts: tuple[Receipt, ...] = ()
    warnings: tuple[str, ...] = ()
    rewrites: str = ""
    doubts: tuple[str, ...] = ()
    signs: DraftSigns | None = None
    doubt: str = ""
    contested: str = ""
    is_heard: bool = False
    read_by: ReadBy = ReadBy.RULES

    @property
    def is_unsupported(self) -> bool:
        """Whether one of its sentences states a fact without known evidence: such drafts come last."""
        return any(receipt.verdict is not Verdict.SUPPORTED for receipt in self.receipts)

    @property
    def last(self) -> int:
        """What sends a draft down the list before any score: a fact without evidence, and each doubt about it."""
        return self.is_unsupported + len(self.doubts) + bool(self.doubt)

    @property
    def energy(self) -> float:
        """E of CODEOFCONDUCT (section 3): the weighted reward on the 0-10 scale, 0 where nothing could be scored."""
        return self.scores.total or 0.0


def compose(brief: Brief, theme: Theme, intents: Sequence[Intent], chance: random.Random) -> list[Candidate]:
    """Drafts from prepared sentences and evidence for a theme, two for each intent, without any model.

    Informative drafts join a claim and a passage, one for each of the first two passages in the draft's language. The
    others are whole replies. A reply of one sentence gets the theme's claim as a second one, unless it is a question,
    which should stay open.
    """
    facts = [p.summary for p in brief.evidence[:2] if detect(p.summary, brief.language) == brief.language]
    found: dict[str, Candidate] = {}
    for intent in intents:
        for opening in _openings(theme, intent, chance):
            for text in _texts(intent, opening, theme.claim, facts):
                if len(sentences(text)) <= MAX_SENTENCES:
                    found.setdefault(text, Candidate(text, intent, is_prepared=True))
    return list(found.values())


def _openings(theme: Theme, intent: Intent, chance: random.Random) -> list[str]:
    """Two replies of a theme, the community's own first."""
    own, others = theme.own.get(intent, ()), theme.replies[intent]
    mine = chance.sample(own, min(_OPENINGS, len(own)))
    return [*mine, *chance.sample(others, min(_OPENINGS - len(mine), len(others)))]


def _texts(intent: Intent, opening: str, claim: str, facts: Sequence[str]) -> list[str]:
    if intent is Intent.INFORMATIVE:
        starts = [text for text in (claim, opening) if text]
        return [join([start, fact]) for start, fact in zip(starts, facts, strict=False)] or [join(starts)]
    if intent is Intent.QUESTIONING or len(sentences(opening)) > 1:
        return [opening]
    return [join([opening, claim])]


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
    temperature: float,
    exemplars: Sequence[str],
    variant: int = 0,
) -> Noted[list[Candidate]]:
    """One draft by the model for each intent, all asked for at once, without duplicates, and why some are missing."""
    seeds = [list(Intent).index(intent) + variant * len(Intent) for intent in intents]
    answers = await asyncio.gather(
        *(
            _write_one(brief, intent, model, style, temperature, exemplars, seed)
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
            drafts.setdefault(answer, Candidate(answer, intent, is_prepared=False))
    wrote = len(intents) - len(lost)
    if not lost:
        return Noted(list(drafts.values()), [])
    note = sentence(
        "drafts: the model wrote {wrote} of {wanted} ({why})", wrote=wrote, wanted=len(intents), why=lost[0]
    )
    return Noted(list(drafts.values()), [note])


async def _write_one(
    brief: Brief,
    intent: Intent,
    model: MeteredModel,
    style: str,
    temperature: float,
    exemplars: Sequence[str],
    seed: int,
) -> str:
    passage = brief.evidence[0].summary if brief.evidence else "none"
    prompt = load_prompt("draft").fill(
        exemplars="".join(f"\n- in this community's own voice: {text}" for text in exemplars[:3]),
        post=quoted(brief.post.text),
        claim=brief.claim,
        evidence=passage,
        intent=DESCRIPTIONS[intent],
        style=style,
        language=name_of(brief.language),
    )
    how = Generation(max_tokens=64, temperature=temperature, seed=seed)
    return tidy((await model.generate(prompt, how)).texts[0])


def tidy(answer: str) -> str:
    """The reply in a model's answer: its first two whole sentences, on one line, without label or quotation marks."""
    text = _WRAPPING.sub("", " ".join(answer.split())).strip('"“” ')
    parts = sentences(text)[:MAX_SENTENCES]
    if len(parts) > 1 and not parts[-1].endswith((".", "!", "?", "…")):
        parts = parts[:-1]
    return " ".join(parts)
