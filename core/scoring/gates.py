"""What no draft may contain, and what a moderator is warned of.

Owns the two levels. A draft is refused for what a rule can tell with certainty (form, links, hidden characters, slurs,
figures, dates and credits without evidence, language, leaks, injections) and for what the reader of drafts is sure of.
It is shown with a warning, and ranked lower, for a name without evidence and for what the reader thinks likely. No list
of words decides alone what a sentence means. Prepared sentences are exempt from the rules on wording and from the
reader. The gates run after retrieval, since evidence lowers safety a little (RAG paper, section 4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

from core.i18n.sentences import sentence
from core.llm.prompting import load_prompt
from core.models import Brief, Intent, Scores
from core.scoring.grounding.grounding import NAME, Item, unsupported
from core.scoring.readers.outputs import DraftFault
from core.scoring.readers.readers import DraftSigns
from core.wording.figures.figures import FigureKind
from core.wording.final_text import hidden_characters
from core.wording.giveaways.giveaways import leak_in, wordings_of
from core.wording.injection.injection import obeys
from core.wording.language import detect
from core.wording.links import LINK
from core.wording.targets.slurs import slurs_in
from core.wording.text import content_stems, longest_shared_run, sentences, words

MAX_SENTENCES = 2
LEAST_INFERRED_STANCE = 0.5
"""The least score of inference in a language that the reader of drafts does not know: no reply entails the post."""
LEAST_NON_TOXICITY = 0.5
_LEAK = 8
_NEARLY_SAME = 0.6
_CREDITED = 0.7
_SAID, _SAID_SHARE = 3, 0.7
"""Two sentences say the same if they share this many words of meaning, and this part of the shorter one's."""

_GENERIC = 0.7

_MENTION = re.compile(r"@\w|(?<!\w)#\w|<[@#!&:]|\[[^\]]*\]\s*[(\[]")


@dataclass(frozen=True, slots=True)
class GateContext:
    """What a draft is compared with. ``prepared`` are prepared sentences, exempt from the gates on wording."""

    brief: Brief
    max_characters: int
    prepared: frozenset[str] = frozenset()
    recent: tuple[str, ...] = ()
    known_names: frozenset[str] = field(default_factory=frozenset)


def own_sentences(text: str, context: GateContext) -> list[str]:
    """The sentences of a draft that are neither prepared nor in the evidence word for word."""
    quoted = {sentence for passage in context.brief.evidence for sentence in sentences(passage.text)}
    return [sentence for sentence in sentences(text) if sentence not in context.prepared and sentence not in quoted]


def fault_of(text: str, context: GateContext) -> str | None:
    """The first gate that a draft's text fails, in words, or ``None`` if it passes them all."""
    form = form_fault(text, context.brief.language, context.max_characters)
    return form or _wording_fault(text, context) or _sameness_fault(text, context)


def form_fault(text: str, language: str, max_characters: int) -> str | None:
    """The first gate on form that a text fails, no matter who wrote it, or ``None``."""
    parts = sentences(text)
    if not words(text):
        return sentence("empty")
    if len(parts) > MAX_SENTENCES:
        return sentence("too many sentences")
    if len(text) > max_characters:
        return sentence("too long for the platform")
    if not parts[-1].rstrip("\"'”’)").endswith((".", "!", "?", "…")):
        return sentence("cut off")
    if LINK.search(text) or _MENTION.search(text):
        return sentence("link or mention")
    if hidden_characters(text):
        return sentence("hidden characters")
    if slurs_in(text, language):
        return sentence("slur or insult")
    return None


def _wording_fault(text: str, context: GateContext) -> str | None:
    own = " ".join(own_sentences(text, context)).replace("’", "'")
    if not own:
        return None
    return (
        leak_in(own)
        or (sentence("obeys an instruction") if obeys(own) else None)
        or _unsupported_fault(own, context)
        or _credit_fault(own, context.brief)
        or _language_fault(own, context.brief)
        or _leak_fault(own)
    )


def _unsupported_fault(own: str, context: GateContext) -> str | None:
    strange = {item.kind for item in _strange(own, context)}
    if strange - {NAME, FigureKind.DATE}:
        return sentence("a number that no evidence holds")
    return sentence("a date that no evidence holds") if FigureKind.DATE in strange else None


def _strange(own: str, context: GateContext) -> Sequence[Item]:
    """The figures, dates and names that neither the evidence nor the post holds."""
    brief = context.brief
    known = frozenset(words(brief.post.text)) | context.known_names
    return unsupported(own, brief.evidence, brief.language, known)


def doubts_of(text: str, context: GateContext) -> tuple[str, ...]:
    """What a moderator should look at before they approve a draft that passes the rules: names without evidence."""
    own = " ".join(own_sentences(text, context)).replace("’", "'")
    names = dict.fromkeys(item.text for item in _strange(own, context) if item.kind == NAME) if own else {}
    return tuple(sentence("No evidence holds the name “{name}”.", name=name) for name in names)


def reader_fault(signs: DraftSigns, limits: tuple[float, float]) -> str | None:
    """Why a draft that the reader is sure about may not be shown, or ``None``. ``limits``: ``DraftReader.limits``."""
    return in_words(signs.worst) if signs.unfit >= limits[1] else None


def reader_doubt(signs: DraftSigns, limits: tuple[float, float]) -> str | None:
    """What a moderator should look at in a draft that the reader would not refuse, or ``None``."""
    if signs.unfit >= limits[0]:
        return sentence("Look twice: the reader of drafts thinks that it perhaps {fault}.", fault=in_words(signs.worst))
    if signs.faults[DraftFault.GENERIC] >= _GENERIC:
        return sentence("It would fit any hateful post: say something about this one.")
    return None


def in_words(fault: DraftFault | None) -> str:
    """What is wrong with a draft, as the end of a sentence that begins with the draft; ``None`` is agreement."""
    if fault is None:
        return sentence("does not oppose the post")
    return {
        DraftFault.CONCEDES: sentence("softens or concedes"),
        DraftFault.PRESUPPOSES: sentence("presupposes the claim"),
        DraftFault.MIRRORS: sentence("sets one group above another"),
        DraftFault.STEREOTYPES: sentence("stereotypes or patronises the people attacked"),
        DraftFault.INSULTS: sentence("insults the author"),
        DraftFault.CALLS_FOR_HARM: sentence("calls for harm or exclusion"),
        DraftFault.OFF_SUBJECT: sentence("is about another group or subject"),
        DraftFault.GENERIC: sentence("would fit any post"),
        DraftFault.RESTATES: sentence("repeats the post"),
    }[fault]


def _credit_fault(own: str, brief: Brief) -> str | None:
    """Find a source that is credited with more than it says: one passage must hold most of the sentence's words."""
    passages = [set(content_stems(passage.text, brief.language)) for passage in brief.evidence]
    for part in sentences(own):
        if wordings_of(brief.language).credits.search(part):
            said = set(content_stems(part, brief.language))
            if not any(len(said & passage) >= _CREDITED * len(said) for passage in passages):
                return sentence("credits a source with more than it says")
    return None


def _language_fault(own: str, brief: Brief) -> str | None:
    return None if detect(own, brief.language) in {brief.language, None} else sentence("another language")


@cache
def _system_prompts() -> tuple[tuple[str, ...], ...]:
    named = ("draft", "rewrite", "claims")
    return tuple(tuple(words(load_prompt(name).messages[0].content)) for name in named)


def _leak_fault(own: str) -> str | None:
    mine = words(own)
    leaks = any(longest_shared_run(mine, list(prompt)) >= _LEAK for prompt in _system_prompts())
    return sentence("prompt text") if leaks else None


def _sameness_fault(text: str, context: GateContext) -> str | None:
    """Find a reply that begins like a recent one, or nearly repeats it: it would look like a bot's."""
    opening = words(text)[:5]
    if any(words(old)[:5] == opening for old in context.recent):
        return sentence("same skeleton as a recent reply")
    if _says_twice(text, context):
        return sentence("says the same twice")
    mine = set(content_stems(text, context.brief.language))
    for old in context.recent:
        other = set(content_stems(old, context.brief.language))
        if len(mine | other) > 3 and len(mine & other) >= _NEARLY_SAME * len(mine | other):
            return sentence("nearly a recent reply")
    return None


def _says_twice(text: str, context: GateContext) -> bool:
    """Whether one of the draft's own sentences repeats another one nearly word for word."""
    own = own_sentences(text, context)
    stems = [(part in own, set(content_stems(part, context.brief.language))) for part in sentences(text)]
    return any(
        (is_own or is_others_own) and len(one & other) >= max(_SAID, _SAID_SHARE * min(len(one), len(other)))
        for (is_own, one), (is_others_own, other) in combinations(stems, 2)
    )


def intent_fault(text: str, intent: Intent) -> str | None:
    """Find a draft of the questioning intent that asks no question."""
    return sentence("asks nothing") if intent is Intent.QUESTIONING and "?" not in text else None


def score_fault(scores: Scores, *, is_read: bool) -> str | None:
    """The gate on scores where they are known: a draft must not be toxic, and must oppose the post.

    Args:
        is_read: the reader of drafts has read the draft, and tells agreement better than inference does.
    """
    if not is_read and scores.stance is not None and scores.stance < LEAST_INFERRED_STANCE:
        return sentence("does not oppose the post")
    if scores.non_toxicity is not None and scores.non_toxicity < LEAST_NON_TOXICITY:
        return sentence("toxic")
    return None
