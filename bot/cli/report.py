"""A suggestion as the JSON document of ``antiphon draft --json``: a stable interface.

Its published schema is made from the models here. Fields may be added to version 1; none is ever renamed or taken away.
``docs/reference/json.md`` explains them.
"""

from dataclasses import asdict
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.cli.missing_codes import CODES, OTHER, note_of
from core.desk.rules.shortfalls import why_no_draft
from core.engine.scoring.rewards import MissingScore
from core.models import Action, Evidence, Intent, Kind, Origin, ReadBy, Suggestion, TargetGroup, Verdict

VERSION: Final = "antiphon/draft/1"
Share = Annotated[float, Field(ge=0, le=1)]
OfTen = Annotated[float, Field(ge=0, le=10)]
Count = Annotated[int, Field(ge=0)]


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
