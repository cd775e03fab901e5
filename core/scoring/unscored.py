"""Why scores are missing: a code for programs, and words for people.

Owns the reasons, which of them holds for a draft, and the one note on what no draft has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.i18n.sentences import Sentence, listed, sentence
from core.llm.budget import Budget
from core.models import Brief, Scores
from core.scoring.readers.readers import Readers
from core.scoring.rewards import WEIGHTS, in_words

_OF_READER = ("stance", "non_toxicity", "fit", "faithfulness_post")


class Missing(StrEnum):
    """Why a score is missing; the value is its code, which is never given another meaning."""

    LANGUAGE = "no_scorer_for_language"
    NOT_INSTALLED = "scorer_not_installed"
    TIME = "time_over"
    LIMIT = "limit_reached"
    NO_ANSWER = "no_answer"
    FAILED = "scorer_failed"
    OVERRULED = "reader_overruled"
    NO_FACT = "states_no_fact"
    UNCHECKED = "fact_not_checked"
    NO_CLAIM = "no_claim"
    NO_EVIDENCE = "no_evidence"
    NO_JUDGE = "no_judge_in_profile"
    NOT_COMPARED = "not_compared"
    ONE_ORDER = "compared_in_one_order"
    NO_PART = "no_reward"
    NOT_SCORED = "not_scored"


def why_in_words(why: Missing) -> Sentence:
    """The reason as part of a sentence."""
    return {
        Missing.LANGUAGE: sentence("no scorer knows the language"),
        Missing.NOT_INSTALLED: sentence("no scorer is installed, and the profile does not ask the language model"),
        Missing.TIME: sentence("the time was over"),
        Missing.LIMIT: sentence("the profile allows no more calls of the model"),
        Missing.NO_ANSWER: sentence("the language model did not answer"),
        Missing.FAILED: sentence("the scorer failed"),
        Missing.OVERRULED: sentence("a larger model overruled the reader of drafts"),
        Missing.NO_FACT: sentence("nothing is stated that needs a source"),
        Missing.UNCHECKED: sentence("what is stated could not be checked"),
        Missing.NO_CLAIM: sentence("there is no claim"),
        Missing.NO_EVIDENCE: sentence("there is no evidence"),
        Missing.NO_JUDGE: sentence("the profile asks no judge"),
        Missing.NOT_COMPARED: sentence("it was not compared"),
        Missing.ONE_ORDER: sentence("it was not compared in both orders"),
        Missing.NO_PART: sentence("no reward could be computed"),
        Missing.NOT_SCORED: sentence("it was not scored"),
    }[why]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of a draft's scoring beside the scores.

    Attributes:
        asks_judge: the profile asks a judge.
        states_fact: the draft states something that needs a source.
        is_overruled: a larger model showed what the reader of drafts would refuse.
        quality: why no model told the argument quality, where one was asked or configured.
        failed: the names of the scores whose scorers failed.
    """

    asks_judge: bool = False
    states_fact: bool = False
    is_overruled: bool = False
    quality: Missing | None = None
    failed: Collection[str] = ()


def unscored(scores: Scores, brief: Brief, readers: Readers, known: Circumstances) -> dict[str, Missing]:
    """Why each score that a draft lacks is missing, by its name."""
    language = brief.reading.language
    is_unlike = language not in readers.embedder.languages
    why = {
        "total": Missing.NO_PART,
        "argument_quality": known.quality or Missing.NOT_INSTALLED,
        "factuality": Missing.UNCHECKED if known.states_fact else Missing.NO_FACT,
        "faithfulness_claim": _unlike(Missing.NO_CLAIM, is_unlike=is_unlike, is_there=bool(brief.claim)),
        "faithfulness_evidence": _unlike(Missing.NO_EVIDENCE, is_unlike=is_unlike, is_there=bool(brief.evidence)),
        "judge": Missing.NOT_COMPARED if known.asks_judge else Missing.NO_JUDGE,
        "judge_spread": Missing.ONE_ORDER,
    }
    if known.is_overruled:
        unread = Missing.OVERRULED
    else:
        unread = Missing.NOT_SCORED if readers.drafts.knows(language) else Missing.LANGUAGE
    why |= dict.fromkeys(_OF_READER, unread) | dict.fromkeys(known.failed, Missing.FAILED)
    return {name: reason for name, reason in why.items() if getattr(scores, name) is None}


def _unlike(otherwise: Missing, *, is_unlike: bool, is_there: bool) -> Missing:
    if is_unlike:
        return Missing.LANGUAGE
    return Missing.NOT_SCORED if is_there else otherwise


def unanswered(budget: Budget) -> Missing:
    """Why a model that was asked for a score gave none."""
    if not budget.exhausted():
        return Missing.NO_ANSWER
    return Missing.LIMIT if budget.seconds_left else Missing.TIME


def note_of_missing(drafts: Sequence[Mapping[str, Missing]]) -> Sentence | None:
    """One sentence on the rewards that no draft has, grouped by their reasons; ``None`` where each is there.

    The code of each reason is among the sentence's values, by the name of the score.

    Args:
        drafts: for each draft, what ``unscored`` says of it. Where drafts differ, the commonest reason is told.
    """
    names = [name for name in WEIGHTS if drafts and all(name in draft for draft in drafts)]
    if not names:
        return None
    codes = {name: Counter(draft[name] for draft in drafts).most_common(1)[0][0] for name in names}
    groups = {why: [in_words(name) for name in names if codes[name] is why] for why in codes.values()}
    parts = [sentence("{scores} ({why})", scores=listed(group), why=why_in_words(why)) for why, group in groups.items()]
    return sentence("rewards: no draft has these scores: {scores}", scores=listed(parts, "; "), **codes)
