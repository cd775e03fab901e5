"""What no draft may contain, whatever its score.

Owns the hard gates. A draft that fails one is dropped, and the reason is counted. Prepared sentences are exempt from
the gates on wording. The gates run after retrieval, since evidence lowers safety a little (RAG paper, section 4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

from core.i18n.sentences import sentence
from core.llm.prompting import load_prompt
from core.models import Brief, Intent, Scores
from core.scoring.grounding.grounding import NAME, unsupported
from core.wording.figures.figures import FigureKind
from core.wording.final_text import hidden_characters
from core.wording.giveaways.giveaways import fault_in, wordings_of
from core.wording.injection.injection import obeys
from core.wording.language import detect
from core.wording.links import LINK
from core.wording.targets.accusations import raised_in, said_of
from core.wording.targets.slurs import slurs_in
from core.wording.text import content_stems, longest_shared_run, sentences, stem, words

MAX_SENTENCES = 2
LEAST_STANCE = 0.8
"""The least score of the stance head. Of held-out replies 77 % of those that oppose pass, and 2 % of the others."""
LEAST_INFERRED_STANCE = 0.5
"""The least score of inference, where no head knows the language: the reply must not entail the post."""
LEAST_NON_TOXICITY = 0.5
_LEAK = 8
_NEARLY_SAME = 0.6
_CREDITED = 0.7
_SAID, _SAID_SHARE = 3, 0.7
"""Two sentences say the same if they share this many words of meaning, and this part of the shorter one's."""

_MENTION = re.compile(r"@\w|(?<!\w)#\w|<[@#!&:]|\[[^\]]*\]\s*[(\[]")
_EVERYBODY = frozenset(
    map(stem, "person human child children kid persona pertsona country país paese herrialde".split())
)
"""Words in the lists of groups that do not name a group."""
_REACH_OF_NEGATION = 5  # words
_SHARE_OF_GROUP = re.compile(
    r"\b(?:some|(?:a |only )?few|most|(?:the |a )?(?:minority|majority|handful|part|number) of)\s+(?:the\s+)?"
    r"(\w+)(?:\s+(\w+))?",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?<!what )(?<!how )\b(?:do|does|did) (\w+)\b(?=[^?]*$)", re.IGNORECASE)


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
        fault_in(own)
        or (sentence("obeys an instruction") if obeys(own) else None)
        or _echo_fault(own, context.brief)
        or _mirror_fault(own, context.brief.language)
        or _accusation_fault(own, context.brief)
        or _unsupported_fault(own, context)
        or _credit_fault(own, context.brief)
        or _language_fault(own, context.brief)
        or _leak_fault(own)
    )


def _echo_fault(own: str, brief: Brief) -> str | None:
    """Find a restated stereotype: restating strengthens it, also when it is negated or told as another's claim."""
    language = brief.reading.language
    post = content_stems(brief.post.text, language)
    mine = content_stems(own, language)
    groups = wordings_of(language).group_stems
    run = longest_shared_run(mine, post)
    shared = set(mine) & set(post)
    if run >= 3 or (post and len(shared) * 2 > len(set(post)) and len(shared) > 1):
        return sentence("repeats the post")
    if any(stem(match.group(1).casefold()) in shared - groups for match in _EMPHASIS.finditer(own)):
        return sentence("repeats the post")
    if any(_denies(part, shared, language) or _retells(part, shared, language) for part in sentences(own)):
        return sentence("restates the stereotype")
    counted = {stem(word.casefold()) for match in _SHARE_OF_GROUP.finditer(own) for word in match.groups("")}
    return sentence("softens or concedes") if counted & (shared | (groups - _EVERYBODY)) else None


def _denies(sentence: str, shared: set[str], language: str | None) -> bool:
    """Whether a negated sentence shares two words with the post, or negates words of the post."""
    wordings = wordings_of(language)
    negation = wordings.negation.search(sentence)
    if negation is None:
        return False
    within = " ".join(sentence[negation.end() :].split()[:_REACH_OF_NEGATION])
    negated = set(content_stems(within, language)) & shared - wordings.group_stems
    return bool(negated) or len(set(content_stems(sentence, language)) & shared) > 1


def _retells(sentence: str, shared: set[str], language: str | None) -> bool:
    """Whether a sentence speaks of "the claim that" and then has a word of the post."""
    wordings = wordings_of(language)
    told = wordings.retells.search(sentence) is not None
    return told and bool(set(content_stems(sentence, language)) & shared - wordings.group_stems)


def _mirror_fault(own: str, language: str) -> str | None:
    """Find one group set above another, which is the stereotype turned round."""
    wordings = wordings_of(language)
    below = {stem(word) for match in wordings.above.finditer(own) for word in words(match.group("whom"))}
    return sentence("sets one group above another") if below & (wordings.group_stems - _EVERYBODY) else None


def _accusation_fault(own: str, brief: Brief) -> str | None:
    """Find terror or crime that the post does not speak of: such a reply ties the group to it."""
    brought_up = said_of(own, brief.reading.target_group) - raised_in(brief.post.text)
    return sentence("brings up what nobody said") if brought_up else None


def _unsupported_fault(own: str, context: GateContext) -> str | None:
    brief = context.brief
    known = frozenset(words(brief.post.text)) | context.known_names
    strange = {item.kind for item in unsupported(own, brief.evidence, brief.language, known)}
    if strange - {NAME, FigureKind.DATE}:
        return sentence("a number that no evidence holds")
    if FigureKind.DATE in strange:
        return sentence("a date that no evidence holds")
    return sentence("a name that no evidence holds") if strange else None


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


def score_fault(scores: Scores, least_stance: float = LEAST_STANCE) -> str | None:
    """The gate on scores: a draft must oppose the post and must not be toxic, as far as these scores are known."""
    if scores.stance is not None and scores.stance < least_stance:
        return sentence("does not oppose the post")
    if scores.non_toxicity is not None and scores.non_toxicity < LEAST_NON_TOXICITY:
        return sentence("toxic")
    return None
