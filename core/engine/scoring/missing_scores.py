"""Why scores are missing, by what a reader can do about it: a code for programs, and words for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.engine.llm.budget import Budget
from core.engine.readers.networks import Readers
from core.engine.scoring.rewards import WEIGHTS, in_words
from core.i18n.sentences import Sentence, listed, sentence
from core.models import Brief, Scores

_OF_READER = ("stance", "non_toxicity", "fit", "faithfulness_post")


class MissingScore(StrEnum):
    """Why a score is missing, by what a reader can do about it; the value is its code, which keeps its meaning."""

    LANGUAGE = "no_scorer_for_language"
    NOT_INSTALLED = "scorer_not_installed"
    NOT_REACHED = "not_reached"
    FAILED = "scorer_failed"
    UNCHECKED = "fact_not_checked"
    NOT_APPLICABLE = "not_applicable"


def why_in_words(why: MissingScore) -> Sentence:
    """The reason as part of a sentence."""
    return {
        MissingScore.LANGUAGE: sentence("no scorer knows the language"),
        MissingScore.NOT_INSTALLED: sentence("no scorer is installed, and the profile does not ask the language model"),
        MissingScore.NOT_REACHED: sentence("the profile does not measure it, or ended before"),
        MissingScore.FAILED: sentence("the scorer or the language model did not answer"),
        MissingScore.UNCHECKED: sentence("what is stated could not be checked"),
        MissingScore.NOT_APPLICABLE: sentence("it does not apply to this draft"),
    }[why]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of a draft's scoring beside the scores.

    Attributes:
        states_fact: the draft states something that needs a source.
        quality: why no model told the argument quality, where one was asked or configured.
        failed: the names of the scores whose scorers failed.
    """

    states_fact: bool = False
    quality: MissingScore | None = None
    failed: Collection[str] = ()


def unscored(scores: Scores, brief: Brief, readers: Readers, circumstances: Circumstances) -> dict[str, MissingScore]:
    """Why each score that a draft lacks is missing, by its name."""
    language = brief.reading.language
    is_unlike = language not in readers.embedder.languages
    why = {
        "argument_quality": circumstances.quality or MissingScore.NOT_INSTALLED,
        "factuality": MissingScore.UNCHECKED if circumstances.states_fact else MissingScore.NOT_APPLICABLE,
        "faithfulness_claim": _unlike(is_unlike=is_unlike, is_there=bool(brief.claim)),
        "faithfulness_evidence": _unlike(is_unlike=is_unlike, is_there=bool(brief.evidence)),
        "judge": MissingScore.NOT_REACHED,
        "judge_spread": MissingScore.NOT_REACHED,
    }
    unread = MissingScore.NOT_REACHED if readers.drafts.knows(language) else MissingScore.LANGUAGE
    why |= dict.fromkeys(_OF_READER, unread) | dict.fromkeys(circumstances.failed, MissingScore.FAILED)
    why["total"] = Counter(why[name] for name in WEIGHTS).most_common(1)[0][0]  # it is missing where all of them are
    return {name: reason for name, reason in why.items() if getattr(scores, name) is None}


def _unlike(*, is_unlike: bool, is_there: bool) -> MissingScore:
    if is_unlike:
        return MissingScore.LANGUAGE
    return MissingScore.NOT_REACHED if is_there else MissingScore.NOT_APPLICABLE


def unanswered(budget: Budget) -> MissingScore:
    """Why a model that was asked for a score gave none."""
    return MissingScore.NOT_REACHED if budget.exhausted() else MissingScore.FAILED


def note_of_missing(drafts: Sequence[Mapping[str, MissingScore]]) -> Sentence | None:
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
