"""A suggestion as the JSON document of ``antiphon draft --json``: a stable interface.

Its published schema is made from the models here. Fields may be added to version 1; none is ever renamed or taken away.
What a suggestion lacks has codes for programs, none of which is given another meaning; people read the sentence beside
each. ``docs/reference/json.md`` explains them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.desk.rules.shortfalls import why_no_draft
from core.engine.scoring.rewards import MissingScore
from core.i18n.sentences import Sentence
from core.models import Action, Evidence, Intent, Kind, Origin, ReadBy, Scores, Suggestion, TargetGroup, Verdict

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
VERSION: Final = "antiphon/draft/1"
Share = Annotated[float, Field(ge=0, le=1)]
OfTen = Annotated[float, Field(ge=0, le=10)]
Count = Annotated[int, Field(ge=0)]


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


def _open(schema: dict[str, Any]) -> None:
    """Allow fields that later versions add; here, ``extra`` refuses those that nobody described."""
    schema.pop("additionalProperties", None)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_open)


class PostPart(_Part):
    """The post, as it was read."""

    text: str
    language: Annotated[str | None, Field(description="ISO 639-1 code; null where it is not known.")]


class ReadingPart(_Part):
    """What the post says and does, and what is advised."""

    target_group: TargetGroup | None
    offensiveness: str | None
    speaker_intent: str | None
    power_dynamics: str | None
    implied_meaning: Annotated[str | None, Field(description="The gist; null where no stereotype was recognised.")]
    emotional_reaction: str | None
    cognitive_reaction: str | None
    severity: Annotated[int | None, Field(ge=1, le=5, description="1 (mild) to 5 (incites violence).")]
    recommended_action: Action
    reason: Annotated[str, Field(description="Why, in a sentence.")]
    read_by: Annotated[ReadBy | None, Field(description="Whose word it is that the post is hateful, or not.")]
    stereotypes: list[str]
    guesses: Annotated[list[str], Field(description="What it may put forward, where nobody is sure.")]
    forced: Annotated[bool, Field(description="Drafts were forced against the advice.")]


class ClaimPart(_Part):
    """A counter-claim that was proposed."""

    text: str
    votes: Annotated[Share | None, Field(description="Its share of the vote; null where none was held.")]


class SourcePart(_Part):
    """Where a fact is published."""

    publisher: str
    title: str
    year: int | None
    document: str | None
    url: str


class EvidencePart(_Part):
    """A passage that bears on the claim."""

    id: str
    text: str
    summary: str
    source: SourcePart
    scores: Annotated[dict[str, float], Field(description="Of each ranking; higher is better, the scales differ.")]
    target_group: TargetGroup | None
    caution: str | None
    confirmed: Annotated[str | None, Field(description="How well the fact was checked; null for your own documents.")]


class ScoresPart(_Part):
    """The rewards of a draft, from 0 to 1, higher is better; total, judge and judge_spread from 0 to 10."""

    total: OfTen | None
    stance: Annotated[Share | None, Field(description="1: it opposes the post.")]
    argument_quality: Share | None
    non_toxicity: Share | None
    fit: Annotated[Share | None, Field(description="A reader would post it.")]
    factuality: Share | None
    faithfulness_post: Annotated[Share | None, Field(description="It is about this post.")]
    faithfulness_claim: Share | None
    faithfulness_evidence: Share | None
    judge: OfTen | None
    judge_spread: Annotated[OfTen | None, Field(description="How far the judge's two orders disagree.")]
    parts: Annotated[Count, Field(description="How many rewards the total rests on.")]


class TripletPart(_Part):
    """One statement of a sentence."""

    subject: str
    relation: str
    object: str
    probability: Share


class ReceiptPart(_Part):
    """What the evidence says about a sentence that states a fact."""

    sentence: str
    evidence_id: str | None
    verdict: Verdict
    probability: Share | None
    triplets: list[TripletPart]


class DraftPart(_Part):
    """A text that a moderator may approve."""

    rank: Annotated[int, Field(ge=1)]
    text: str
    kind: Kind
    intent: Intent
    scores: ScoresPart
    receipts: list[ReceiptPart]
    warnings: list[str]
    origins: Annotated[list[Origin], Field(description="Where each sentence comes from, in their order.")]
    prepared: list[str]
    read_by: ReadBy | None
    answers: str | None
    caution: str | None
    language: Annotated[str | None, Field(description="ISO 639-1 code of the draft's language.")]
    writer: Annotated[str | None, Field(description="The model that wrote it; null where nothing was written.")]
    reasons: list[str]
    unscored: Annotated[dict[str, str], Field(description="Why a score is null, by its name.")]


class CostPart(_Part):
    """What the suggestion cost."""

    profile: str
    seconds: float
    first_draft_seconds: float | None
    model_calls: Count
    judge_calls: Count
    prompt_tokens: Count
    completion_tokens: Count
    rounds: Count
    stopped_because: str


def _meanings() -> list[dict[str, str]]:
    """Each code with what it says: the part of the engine, and its sentence."""
    templates = {**{code: template for template, code in CODES.items()}, OTHER: "There is no code yet."}
    return [{"const": code, "description": templates[code]} for code in sorted(templates)]


class NotePart(_Part):
    """What could not be done, or not fully."""

    code: Annotated[str, Field(json_schema_extra={"oneOf": _meanings()})]
    message: Annotated[str, Field(description="The same for people, with the reason.")]
    stage: Annotated[str, Field(description="The part of the engine that says so.")]
    missing_scores: Annotated[dict[str, MissingScore], Field(description="Of score_missing: why, by the score's name.")]


class DraftDocument(_Part):
    """What Antiphon has to say about one post."""

    schema_: Annotated[Literal["antiphon/draft/1"], Field(alias="schema")]
    post: PostPart
    reading: ReadingPart
    claims: list[ClaimPart]
    claim: Annotated[str | None, Field(description="The claim that the drafts argue.")]
    queries: list[str]
    evidence: list[EvidencePart]
    drafts: list[DraftPart]
    no_draft: Annotated[
        str | None,
        Field(
            description="Why no draft is offered, except perhaps the notice on the rules; null where one is. The "
            "claims and the evidence are then points to write a reply from."
        ),
    ]
    cost: CostPart
    degraded: list[NotePart]


def schema() -> dict[str, Any]:
    """The JSON Schema of the document, as ``antiphon draft --schema`` prints it."""
    made = DraftDocument.model_json_schema(mode="serialization", by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{VERSION.replace('/', ':')}",
        **made,
    }


def document(suggestion: Suggestion, *, force: bool = False) -> dict[str, Any]:
    """The document; what could not be computed is ``None``.

    Args:
        force: the person forced drafts, whatever the advice.
    """
    reading = asdict(suggestion.reading)
    language = reading.pop("language")
    is_forced = force and suggestion.reading.recommended_action is not Action.REPLY
    content = {
        "schema": VERSION,
        "post": {"text": suggestion.post.text, "language": language},
        "reading": {**reading, "forced": is_forced},
        "claims": [asdict(claim) for claim in suggestion.claims],
        "claim": suggestion.claim,
        "queries": suggestion.queries,
        "evidence": [evidence_document(passage) for passage in suggestion.evidence],
        "drafts": [asdict(draft) for draft in suggestion.drafts],
        "no_draft": None if suggestion.has_answer else str(why_no_draft(suggestion)),
        "cost": asdict(suggestion.cost),
        "degraded": [asdict(note_of(note)) for note in suggestion.degraded],
    }
    return DraftDocument.model_validate(content).model_dump(mode="json", by_alias=True)


def evidence_document(passage: Evidence) -> dict[str, Any]:
    """One passage, also as ``antiphon kb search --json`` gives it."""
    return EvidencePart.model_validate(asdict(passage)).model_dump(mode="json")
