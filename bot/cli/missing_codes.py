"""The codes of what a suggestion lacks, for programs; people read the sentence beside each.

A code is never given another meaning.
"""

from dataclasses import dataclass, field, fields
from typing import Final

from core.i18n.sentences import Sentence
from core.models import Scores

HELD_BACK: Final = "no_prepared_reply_fits"
"""The code of prepared replies that are held back where there is nothing else."""
OTHER: Final = "other"
"""The code of a sentence that has none of its own yet."""
CODES: Final = {
    "claims: no draft argues the claim that was chosen": "chosen_claim_not_argued",
    "claims: no vote was held ({why}); the first is used": "claims_not_voted_on",
    "claims: the model wrote no claim ({why}); prepared claims are used": "claims_not_written",
    "claims: {lost} of {written} written claims were dropped ({faults})": "claims_dropped",
    "drafts: no answer of the published search passed the gates; prepared drafts are shown": "search_found_no_draft",
    "drafts: no prepared reply surely fits; of the likeliest of them readers would publish {share}": HELD_BACK,
    "drafts: no reply is free of doubt; silence may serve better": "best_reply_weak",
    "drafts: prepared replies that are less sure to fit are held back: {count}": "prepared_replies_held_back",
    "drafts: the model wrote no draft ({why})": "drafts_not_written",
    "drafts: the model wrote {wrote} of {wanted} drafts ({why})": "drafts_partly_written",
    "drafts: the model wrote no draft with the evidence ({why})": "draft_with_evidence_not_written",
    "drafts: they are written in the community's language ({language})": "drafts_in_community_language",
    "evidence: a part of the knowledge base was left out ({why})": "knowledge_partly_unavailable",
    "evidence: no fact answers this, a norm does ({why})": "no_fact_but_norm",
    "evidence: no fact answers this, a question may ({why})": "no_fact_but_question",
    "evidence: no fact answers this, empathy does ({why})": "no_fact_but_empathy",
    "evidence: no passage bears on the claim; the drafts state no facts": "evidence_none_found",
    "evidence: no passage is left; the drafts state no facts": "evidence_none_left",
    "evidence: nothing by {publishers} bears on the claim; all publishers were searched": "publishers_ignored",
    "evidence: the model wrote no queries ({why}); post and claim are searched for": "queries_not_asked",
    "evidence: the model wrote no queries; post and claim are searched for": "queries_not_written",
    "evidence: the reranker could not be used ({why}); the passages are ordered by closeness": "reranker_unavailable",
    "evidence: there is none, since the knowledge base is unavailable ({why})": "knowledge_unavailable",
    "evidence: which passage answers the post was not asked ({why})": "answering_passage_not_asked",
    "evidence: {passage} is cut, not summarised ({why})": "evidence_not_summarised",
    "evidence: {passage} was dropped, it reads as an instruction to a model": "evidence_instructs",
    "gates: drafts dropped for a word that the community forbids: {count} ({faults})": "drafts_with_forbidden_words",
    "gates: drafts dropped: {count} ({faults})": "drafts_dropped",
    "judge: a pair of drafts got no readable answer": "judge_unreadable",
    "judge: not every pair of drafts that matters was compared ({why})": "judge_incomplete",
    "judge: one draft alone cannot be compared": "judge_one_draft",
    "judge: the profile asks no judge; the rewards decide": "judge_not_in_profile",
    "model: answers that came to no end: {count}": "answers_cut",
    "model: the language model could not be loaded ({why})": "model_not_loaded",
    "model: its server gives no probabilities; how sure it is was counted from a few answers": "probabilities_counted",
    "post: the post tries to give the model instructions; they are read as text and not followed": "post_instructs",
    "post: {count} control or bidirectional characters were taken out": "post_characters_removed",
    "readers: the model {model} was found unfit to read {language}; the small readers read alone": (
        "model_unfit_to_read"
    ),
    "reading: how sure the model is, it says itself; no probabilities were read": "probabilities_stated",
    "reading: no target group was recognised; the drafts stand up for people in general": "group_unknown",
    "reading: the explanations were not asked for ({why})": "explanations_not_asked",
    "reading: the model did not read the post ({why}); the small readers read it": "model_did_not_read",
    "reading: the model did not say whether the post is {what}": "reading_not_told",
    "reading: the model's explanations could not be used ({why})": "explanations_unusable",
    "reading: the post's language was not recognised": "language_unknown",
    "reading: the small reader does not know {language}, and no language model said whether the post is hateful; only "
    "rules looked at it": "read_by_rules_only",
    "reading: the small reader is not good enough in {language} by itself; whether the post is hateful was read with "
    "the language model, threats and attacks on one person by words alone": "read_by_words_in_part",
    "reading: the small reader does not know {language}; what the post does is the language model's word alone": (
        "read_by_model_only"
    ),
    "reading: whether the post is {what} was not asked ({why})": "reading_not_asked",
    "receipts: a fact was checked as a whole, not triplet by triplet ({why})": "fact_checked_as_whole",
    "receipts: the model of inference failed ({why})": "inference_failed",
    "review: the drafts were not reviewed ({why})": "drafts_not_reviewed",
    "rewards: no draft has these scores: {scores}": "score_missing",
    "rewards: some drafts have no score for {reward} ({why})": "score_partly_missing",
    "rewards: the model of argument quality could not be loaded ({why}); the language model is used": (
        "argument_scorer_unavailable"
    ),
    "rewards: the model of inference could not be loaded ({why}); the built-in head and the language model are used": (
        "inference_unavailable"
    ),
    "rewards: the model of toxicity could not be loaded ({why}); the built-in head is used": (
        "toxicity_scorer_unavailable"
    ),
    "support: each prepared word of support is too long here, or breaks a rule of the community": "support_unsendable",
    "support: the model wrote no words of support ({why})": "support_not_written",
    "support: what the model wrote was dropped ({fault})": "support_dropped",
}
"""The code of each sentence, by its template; the word before the colon is the stage."""
_SCORES: Final = tuple(score.name for score in fields(Scores))


@dataclass(frozen=True, slots=True)
class Note:
    """What a stage could not do: a code, the sentence, and the stage.

    ``missing_scores``: for each score that the sentence misses, the code of the reason.
    """

    code: str
    message: str
    stage: str
    missing_scores: dict[str, str] = field(default_factory=dict)


def note_of(text: str) -> Note:
    """A sentence of ``Suggestion.degraded`` with its code; the sentence begins without the name of the stage."""
    code = CODES.get(text.template, OTHER) if isinstance(text, Sentence) else OTHER
    stage, colon, message = text.partition(": ")
    if not colon or " " in stage:
        stage, message = "engine", str(text)
    end = "" if message.endswith((".", "!", "?")) else "."
    values = text.values if isinstance(text, Sentence) and code == "score_missing" else {}
    missing = {name: str(values[name]) for name in _SCORES if name in values}
    return Note(code, f"{message[:1].upper()}{message[1:]}{end}", stage, missing)
