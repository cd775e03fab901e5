"""What no draft may contain, whatever its score.

Owns the hard gates. A draft that fails one is dropped, with the reason counted; nothing here is a matter of taste.
The gates run after retrieval, since evidence lowers safety a little (RAG paper, section 4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from core.language import detect
from core.models import Brief, Scores
from core.prompting import load_prompt
from core.text import content_stems, longest_shared_run, names, numbers, sentences, words

MAX_SENTENCES = 2
LEAST_STANCE = 0.8
LEAST_NON_TOXICITY = 0.5
_LEAK = 8

_LINK = re.compile(r"https?://|www\.|\b[\w-]+\.(?:com|org|net|eu|io|gg|me)\b", re.IGNORECASE)
_MENTION = re.compile(r"(?<!\w)[@#]\w|<[@#!&:]|\[[^\]]*\]\(")
_LABEL = re.compile(
    r"\b(?:you(?:'re| are)|people like you|your kind)\s+(?:just\s+|all\s+|such\s+|so\s+|nothing\s+|clearly\s+)?"
    r"(?:a|an|the|racist|sexist|bigot\w*|hateful|ignorant|sick|wrong|evil|pathetic|disgusting|full of|liar|mean)\b|"
    r"\bpeople like you\b|\b(?:you|your) (?:racism|ignorance|bigotry|hatred)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\bas an ai\b|\blanguage model\b|\bi (?:can(?:no|')t|am unable to|won't) (?:assist|help|provide|write|generate|"
    r"comply|create)|\bi'?m sorry,? (?:but )?i (?:can|am)|\bi apologi[sz]e\b|\bno puedo ayudar|\bnon posso aiutar",
    re.IGNORECASE,
)
_SCAFFOLD = re.compile(
    r"counter-?claim:|counter-?speech|\bevidence:|\breply:|words that may help|</?post>|\bhateful post\b|\bthe post\b|"
    r"^\s*(?:sure|certainly|here(?:'s| is))\b[^.]*:",
    re.IGNORECASE,
)
_SOFTENING = re.compile(
    r"\b(?:i|we) (?:do )?(?:understand|see|share|hear|get) (?:your|the|why|where|how)\b|\bunderstandable\b|"
    r"\bi agree\b|\byou(?:'re| are) (?:partly |absolutely )?right\b|\b(?:good|valid|fair) point\b|"
    r"\bit(?:'s| is|'s also| is also) (?:true|a fact|undeniable|correct) that\b|\babsolutely\b|"
    r"\bthere (?:may|might) be (?:some )?truth\b|\bboth sides\b|\bentitled to (?:your|their|an) opinion\b|"
    r"\b(?:not all|not every|not always|not the only|some of them|many of them)\b|"
    r"\bwhile (?:it|some|there|many|not|i|they)\b|\balthough\b|\beven if\b|\bdespite\b|"
    r"\bthank(?:s| you) for sharing\b|\bi appreciate your\b|\bcomplex issue\b|\bto some extent\b|"
    r"\bmay have (?:some|a)\b|\binherently\b",
    re.IGNORECASE,
)
_PRESUPPOSING = re.compile(
    r"\bwhat makes you (?:think|believe|say|feel)\b|"
    r"\bwhy (?:do|does|are|is|can|can't|don't|would|should) (?!we\b|not\b)|\bdo(?:es)? this mean\b|"
    r"\bhow (?:can|could|do) (?:they|these|those)\b|\bwhat are the reasons\b",
    re.IGNORECASE,
)
_IDENTITY = re.compile(
    r"\bas an? (?:\w+ )?(?:survivor|muslim|jew|woman|migrant|immigrant|refugee|mother|father|black|gay|lesbian|trans|"
    r"disabled|victim)\b",
    re.IGNORECASE,
)
_WORDINGS = (
    (_LABEL, "labels a person"),
    (_REFUSAL, "refusal"),
    (_SCAFFOLD, "prompt text"),
    (_SOFTENING, "softens or concedes"),
    (_PRESUPPOSING, "presupposes the claim"),
    (_IDENTITY, "claims an identity"),
)
_NEGATION = re.compile(r"\b(?:not|no|never|nor|isn't|aren't|don't|doesn't|can't|won't)\b", re.IGNORECASE)
_DISGUISE = str.maketrans("01345@$!7", "oleasasit")


@dataclass(frozen=True, slots=True)
class GateContext:
    """What a draft is held against. ``vetted`` are sentences that people wrote, exempt from gates on wording."""

    brief: Brief
    max_characters: int
    vetted: frozenset[str] = frozenset()
    recent: tuple[str, ...] = ()
    known_names: frozenset[str] = field(default_factory=frozenset)


@cache
def _slurs() -> frozenset[str]:
    lines = resources.files("core").joinpath("slurs.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip().casefold() for line in lines if line.strip() and not line.startswith("#"))


def slurs_in(text: str) -> set[str]:
    """The slurs and insults in a text, disguises undone."""
    plain = text.casefold()
    undone = re.sub(r"(.)\1{2,}", r"\1", plain.translate(_DISGUISE))
    spaced = re.sub(r"\b(\w)(?:[\s.*_-]+(?=\w\b))", r"\1", undone)
    return (set(words(plain)) | set(words(undone)) | set(words(spaced))) & _slurs()


def own_sentences(text: str, context: GateContext) -> list[str]:
    """The sentences of a draft that neither people vetted nor the evidence holds word for word."""
    quoted = [passage.text for passage in context.brief.evidence]
    return [
        sentence
        for sentence in sentences(text)
        if sentence not in context.vetted and not any(sentence in passage for passage in quoted)
    ]


def fault_of(text: str, context: GateContext) -> str | None:
    """The first gate that a draft's text fails, in words, or ``None`` if it passes them all."""
    return _form_fault(text, context) or _wording_fault(text, context) or _sameness_fault(text, context.recent)


def _form_fault(text: str, context: GateContext) -> str | None:
    parts = sentences(text)
    if not words(text):
        return "empty"
    if len(parts) > MAX_SENTENCES:
        return "too many sentences"
    if len(text) > context.max_characters:
        return "too long for the platform"
    if not parts[-1].rstrip("\"'”’)").endswith((".", "!", "?", "…")):
        return "cut off"
    if _LINK.search(text) or _MENTION.search(text):
        return "link or mention"
    if slurs_in(text):
        return "slur or insult"
    return None


def _wording_fault(text: str, context: GateContext) -> str | None:
    own = " ".join(own_sentences(text, context))
    if not own:
        return None
    for pattern, name in _WORDINGS:
        if pattern.search(own):
            return name
    return (
        _echo_fault(own, context.brief)
        or _unsupported_fault(text, own, context)
        or _language_fault(text, context.brief)
        or _leak_fault(own)
    )


def _echo_fault(own: str, brief: Brief) -> str | None:
    """Restating the stereotype strengthens it, also when it is negated."""
    language = brief.reading.language
    post = content_stems(brief.post.text, language)
    mine = content_stems(own, language)
    run = longest_shared_run(mine, post)
    shared = set(mine) & set(post)
    if run >= 3 or (post and len(shared) * 2 > len(set(post)) and len(shared) > 1):
        return "repeats the post"
    if len(shared) > 1 and any(
        _NEGATION.search(part) and len(set(content_stems(part, language)) & shared) > 1 for part in sentences(own)
    ):
        return "restates the stereotype"
    return None


def _unsupported_fault(text: str, own: str, context: GateContext) -> str | None:
    brief = context.brief
    held = " ".join(
        f"{passage.text} {passage.source.year or ''} {passage.source.publisher}" for passage in brief.evidence
    )
    if not numbers(own) <= numbers(held):
        return "a number that no evidence holds"
    known = {word for part in (held, brief.post.text, brief.claim) for word in words(part)} | context.known_names
    strange = {name for name in names(text) if not set(words(name)) <= known}
    return "a name that no evidence holds" if strange else None


def _language_fault(text: str, brief: Brief) -> str | None:
    return None if detect(text, brief.language) in {brief.language, None} else "another language"


@cache
def _system_prompts() -> tuple[tuple[str, ...], ...]:
    named = ("draft", "rewrite", "claims")
    return tuple(tuple(words(load_prompt(name).messages[0].content)) for name in named)


def _leak_fault(own: str) -> str | None:
    mine = words(own)
    leaks = any(longest_shared_run(mine, list(prompt)) >= _LEAK for prompt in _system_prompts())
    return "prompt text" if leaks else None


def _sameness_fault(text: str, recent: Sequence[str]) -> str | None:
    opening = words(text)[:5]
    return "same skeleton as a recent reply" if any(words(old)[:5] == opening for old in recent) else None


def score_fault(scores: Scores) -> str | None:
    """The gate on scores: a draft must oppose the post and must not be toxic, as far as that could be told."""
    if scores.stance is not None and scores.stance < LEAST_STANCE:
        return "does not oppose the post"
    if scores.non_toxicity is not None and scores.non_toxicity < LEAST_NON_TOXICITY:
        return "toxic"
    return None
