"""What no draft may contain, and what a moderator is warned of.

A draft is refused for what a rule can tell with certainty (form, links, hidden characters, slurs, figures, dates and
credits without evidence, language, leaks, injections) and for what the reader of drafts is sure of. It is shown with a
warning, and ranked lower, for a name or a count without evidence, for a slur that it only mentions, and for what the
reader thinks likely. A rule refuses only where it is right in 99 of 100: none of them refuses more than 1 in 100 of the
good replies that writers made for training, in any language. No list of words decides alone what a sentence means.
Prepared sentences are exempt from the rules on wording and from the reader. The gates run after retrieval, since
evidence lowers safety a little (RAG paper, section 4). Where a larger model reviews the drafts, what no evidence holds
is shown with a warning unless the review, too, would not publish it.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

from core.engine.llm.prompts import load_prompt
from core.engine.readers.networks import DraftSigns
from core.engine.readers.outputs import DraftFault
from core.engine.scoring.grounding import NAME, Item, repeated, unsupported, without_unaffirmed
from core.engine.scoring.proper_names import is_place, of_people
from core.engine.wording.community_rules import NO_RULES, TextRules, broken_rule
from core.engine.wording.figures import FigureKind, Weight
from core.engine.wording.final_text import has_link, hidden_characters
from core.engine.wording.giveaways import leak_in, speaks_as_tool, wordings_of
from core.engine.wording.injection import obeys
from core.engine.wording.language import detect
from core.engine.wording.slurs import homonyms_in, told_apart
from core.engine.wording.text import content_stems, sentence_spans, sentences, words
from core.i18n.sentences import sentence
from core.models import Brief, Intent, Scores

MAX_SENTENCES = 2
"""What Antiphon writes, and what a prepared reply may hold."""
MOST_SENTENCES = 4
"""What is read to the end in a chat: of the good replies of other writers one in forty has more than two sentences."""
LEAST_INFERRED_STANCE = 0.5
"""The least score of inference in a language that the reader of drafts does not know: no reply entails the post."""
LEAST_NON_TOXICITY = 0.5
UNPROVEN = (sentence("a number that no evidence holds"), sentence("a date that no evidence holds"))
"""The faults of a text that states what no evidence holds; ``unsupported_in_words`` names each such item."""
UNSOURCED = (*UNPROVEN, sentence("credits a source with more than it says"))
"""The faults that a source could mend, and that a larger model's review may take back to a warning."""
_LEAK = 8
_NEARLY_SAME = 0.6
_CREDITED = 0.7
_COPIED = 4
"""A sentence of the post of so many words is not said again by chance."""
_QUOTED = re.compile(r"[\"“”«»„]")
_SAID, _SAID_SHARE = 3, 0.7
"""Two sentences say the same if they share this many words of meaning, and this part of the shorter one's."""
_COMPARED = 50
"""Sentences of a text that are compared with one another: no chat takes a reply of more."""
_GENERIC = 0.7

_END = ".!?…"
_MARKS = "\"'”’»)*_~ "
_SMILEY = re.compile(r"(?<!\w)(?:[:;=8]-?[()DPp/|]{1,3}|<3|[xX]D)\s{0,9}\Z")
_DANGLING = re.compile(
    r"[,;:(–—-]$|\b(?:and|or|but|because|the|an?|of|with|y|o|pero|porque|el|los|de|con|un|una|e|ma|perché|il|lo|gli|di|"
    r"eta|edo|baina)$",
    re.IGNORECASE,
)
_ABOUT_EVIDENCE = 0.4
"""A sentence that shares this part of its words with a passage is about it, and each of its numbers must be there."""

_MENTION = re.compile(r"@\w|(?<!\w)#\w|<[@#!&:]|\[[^\[\]]{0,300}\]\s{0,9}[(\[]")


@dataclass(frozen=True, slots=True)
class GateContext:
    """What a draft is compared with.

    ``prepared`` are prepared sentences, exempt from the gates on wording; ``rules`` are the community's, from which
    nothing is exempt.
    """

    brief: Brief
    max_characters: int
    prepared: frozenset[str] = frozenset()
    recent: tuple[str, ...] = ()
    known_names: frozenset[str] = field(default_factory=frozenset)
    rules: TextRules = NO_RULES


def own_sentences(text: str, context: GateContext) -> list[str]:
    """The sentences of a draft that are neither prepared nor in the evidence word for word."""
    quoted = {sentence for passage in context.brief.evidence for sentence in sentences(passage.text)}
    return [sentence for sentence in sentences(text) if sentence not in context.prepared and sentence not in quoted]


def fault_of(text: str, context: GateContext, besides: Container[str] = ()) -> str | None:
    """The first gate that a draft's text fails, in words, or ``None`` if it passes all but those ``besides``."""
    return next((fault for fault in faults_of(text, context) if fault not in besides), None)


def faults_of(text: str, context: GateContext) -> Iterator[str]:
    """Every gate that a draft's text fails, in words; of form and the community's rules only the first."""
    faults = (
        whole_fault(text, context),
        *(_wording_faults(text, context)),
        _sameness_fault(text, context),
    )
    yield from (fault for fault in faults if fault)


def whole_fault(text: str, context: GateContext) -> str | None:
    """The first gate that a text fails no matter who wrote it: on form, then the community's rules; or ``None``."""
    fault = form_fault(text, context.brief.language, context.max_characters)
    return fault or broken_rule(text, context.rules)


def form_fault(text: str, language: str, max_characters: int) -> str | None:
    """The first gate on form that a text fails, no matter who wrote it, or ``None``."""
    if not words(text):
        return sentence("empty")
    if len(sentences(text)) > MOST_SENTENCES:
        return sentence("too many sentences")
    if len(text) > max_characters:
        return sentence("too long for the platform")
    if _is_cut_off(text):
        return sentence("cut off")
    return fragment_fault(text, language)


def fragment_fault(text: str, language: str) -> str | None:
    """The first gate on form that words fail wherever they were cut, as in a quote, or ``None``."""
    if has_link(text) or _MENTION.search(text):
        return sentence("link or mention")
    if hidden_characters(text):
        return sentence("hidden characters")
    if told_apart(text, language).used:
        return sentence("slur or insult")
    return None


def _is_cut_off(text: str) -> bool:
    """Whether a text stops in the middle. One that begins in lower case, as in a chat, may end without a full stop."""
    if _SMILEY.search(text):
        return False
    bare = text.strip().rstrip(_MARKS)
    if not bare or bare[-1] in _END or not (bare[-1].isalnum() or bare[-1] in ",;:(–—-"):
        return False  # an emoji ends a text, too
    first = next((character for character in bare if character.isalpha()), "")
    return first.isupper() or bool(_DANGLING.search(bare))


def _wording_faults(text: str, context: GateContext) -> Iterator[str | None]:
    own = " ".join(own_sentences(text, context)).replace("’", "'")
    if own:
        yield leak_in(own)
        yield sentence("obeys an instruction") if obeys(own) else None
        yield from _unsupported_faults(own, context)
        yield _credit_fault(own, context.brief)
        yield _language_fault(own, context.brief)
        yield _leak_fault(own)


def _unsupported_faults(own: str, context: GateContext) -> Iterator[str]:
    kinds = {item.kind for item in _strange(own, context)[0]}
    number, date = UNPROVEN
    if kinds - {FigureKind.DATE}:
        yield number
    if FigureKind.DATE in kinds:
        yield date


def _strange(own: str, context: GateContext) -> tuple[list[Item], list[Item]]:
    """What the evidence does not hold: the findings, which a draft may not state, and what a person should look at.

    A figure that the post states needs no evidence, unless the draft affirms it: then it is looked at. A number in a
    sentence about a passage must be in a passage, however small it is. The country of the people whom the post names is
    known, and so is any in a sentence that states no figure and is about no passage.
    """
    brief = context.brief
    known_names = frozenset(words(brief.post.text)) | context.known_names
    stated = without_unaffirmed(own, brief.post.text, brief.language)
    strange = unsupported(stated, brief.evidence, brief.language, known_names)
    repeats = repeated(strange, own, brief.post.text, brief.language)
    spans = sentence_spans(own)
    about = [span for span in spans if _is_about_evidence(own[slice(*span)], brief)]
    counted = [span for span in spans if any(span[0] <= item.start < span[1] for item in strange if item.kind != NAME)]
    named = frozenset(words(brief.post.text))
    findings, doubtful = list[Item](), list[Item]()
    for item in strange:
        is_looked_up = any(start <= item.start < end for start, end in (*about, *counted))
        if item.kind == NAME and (of_people(item.text, named) or (is_place(item.text) and not is_looked_up)):
            continue
        is_claimed = item.weight is Weight.FINDING or any(start <= item.start < end for start, end in about)
        if item.kind != NAME and item not in repeats and is_claimed:
            findings.append(item)
        elif item.kind == NAME or item.weight is not Weight.EVERYDAY:
            doubtful.append(item)
    return findings, doubtful


def _is_about_evidence(part: str, brief: Brief) -> bool:
    stems = set(content_stems(part, brief.language))
    stems_of_passages = (set(content_stems(passage.text, brief.language)) for passage in brief.evidence)
    return any(len(stems & passage) >= max(_SAID, _ABOUT_EVIDENCE * len(stems)) for passage in stems_of_passages)


def doubts_of(text: str, context: GateContext) -> tuple[str, ...]:
    """What a moderator should look at before they approve a draft that passes the rules."""
    own = " ".join(own_sentences(text, context)).replace("’", "'")
    doubts = [unsupported_in_words(item) for item in _strange(own, context)[1]] if own else []
    slurs = sorted(told_apart(text, context.brief.language).mentioned)
    doubts += [
        sentence("It holds the word “{word}”, which hurts even where it is only mentioned.", word=w) for w in slurs
    ]
    doubts += [
        sentence("It holds the word “{word}”, which is a slur where it is no name and has no other sense.", word=w)
        for w in sorted(homonyms_in(own, context.brief.language))
    ]
    if own and speaks_as_tool(own):
        doubts.append(sentence("It speaks of its task (“the post”, “counterspeech”), as a person rarely does."))
    return tuple(dict.fromkeys(doubts))


def doubts_without_source(text: str, context: GateContext) -> tuple[str, ...]:
    """What a moderator should look up in a draft that states what no evidence holds, and is shown all the same."""
    own = " ".join(own_sentences(text, context)).replace("’", "'")
    doubts = [unsupported_in_words(item) for item in _strange(own, context)[0]] if own else []
    if own and _credit_fault(own, context.brief):
        doubts.append(sentence("It credits a source with more than the evidence says."))
    return tuple(dict.fromkeys(doubts))


def unsupported_in_words(item: Item) -> str:
    """What is wrong with a figure, date or name that no passage holds."""
    if item.kind == NAME:
        return sentence("No evidence holds the name “{name}”.", name=item.text)
    return sentence("No evidence holds the figure “{figure}”.", figure=item.text)


def reader_fault(signs: DraftSigns, limits: tuple[float, float]) -> str | None:
    """Why a draft that the reader is sure about may not be shown, or ``None``. ``limits``: ``DraftReader.limits``."""
    return in_words(signs.worst) if signs.unfit >= limits[1] else None


def second_doubt(fault: str) -> str:
    """What a moderator should look at in a draft of which a language model thinks that it perhaps has a fault."""
    return sentence("Look twice: the language model thinks that it perhaps {fault}.", fault=fault)


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
        DraftFault.PRESUPPOSES: sentence("presupposes what the post says"),
        DraftFault.MIRRORS: sentence("sets one group above another"),
        DraftFault.STEREOTYPES: sentence("treats the people attacked as all alike, or patronises them"),
        DraftFault.INSULTS: sentence("insults the author"),
        DraftFault.CALLS_FOR_HARM: sentence("calls for harm or exclusion"),
        DraftFault.OFF_SUBJECT: sentence("is about another group or subject"),
        DraftFault.GENERIC: sentence("would fit any post"),
        DraftFault.RESTATES: sentence("repeats the post"),
    }[fault]


def _credit_fault(own: str, brief: Brief) -> str | None:
    """Find a source that is credited with more than it says: one passage must hold most of the sentence's words."""
    passages = [
        set(content_stems(f"{passage.text} {passage.source.publisher} {passage.source.title}", brief.language))
        for passage in brief.evidence
    ]
    for part in sentences(own):
        if wordings_of(brief.language).credits.search(part):
            stems = set(content_stems(part, brief.language))
            if not any(len(stems & passage) >= _CREDITED * len(stems) for passage in passages):
                return UNSOURCED[-1]
    return None


def _language_fault(own: str, brief: Brief) -> str | None:
    return None if detect(own, brief.language) in {brief.language, None} else sentence("another language")


@cache
def _runs_of_prompts() -> frozenset[tuple[str, ...]]:
    """Every run of so many words in our prompts that a text with one of them repeats the prompt."""
    texts = (load_prompt(name).messages[0].content for name in ("draft", "rewrite", "claims"))
    return frozenset(run for prompt in texts for run in _runs(words(prompt)))


def _runs(tokens: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[at:] for at in range(_LEAK)), strict=False)


def _leak_fault(own: str) -> str | None:
    return None if _runs_of_prompts().isdisjoint(_runs(words(own))) else sentence("prompt text")


def _sameness_fault(text: str, context: GateContext) -> str | None:
    """Find a reply that repeats the post, or that begins like a recent one or nearly repeats it, as a bot would."""
    if _repeats_post(text, context):
        return sentence("repeats the post")
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


def _repeats_post(text: str, context: GateContext) -> bool:
    """Whether one of the draft's own sentences is one of the post's, word for word, and does not question it."""
    questions = {tuple(words(part)): "?" in part for part in sentences(context.brief.post.text)}
    own = ((tuple(words(part)), "?" in part) for part in own_sentences(text, context) if not _QUOTED.search(part))
    return any(len(mine) >= _COPIED and mine in questions and asks <= questions[mine] for mine, asks in own)


def _says_twice(text: str, context: GateContext) -> bool:
    """Whether one of the draft's own sentences repeats another one nearly word for word."""
    own = own_sentences(text, context)
    compared = sentences(text)[:_COMPARED]
    stems = [(part in own, set(content_stems(part, context.brief.language))) for part in compared]
    return any(
        (is_own or is_others_own) and len(first & second) >= max(_SAID, _SAID_SHARE * min(len(first), len(second)))
        for (is_own, first), (is_others_own, second) in combinations(stems, 2)
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
