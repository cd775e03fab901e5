"""A suggestion as the JSON document of ``antiphon draft --json``: a stable interface.

Owns the names of its fields. They may be added to; none is ever renamed or taken away.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from core.models import Draft, Evidence, Suggestion

READING_FIELDS = (
    "target_group",
    "offensiveness",
    "speaker_intent",
    "power_dynamics",
    "implied_meaning",
    "emotional_reaction",
    "cognitive_reaction",
    "severity",
    "recommended_action",
    "reason",
    "read_by",
    "stereotypes",
)


def document(suggestion: Suggestion) -> dict[str, Any]:
    """The document; what could not be computed is ``None`` and has its reason in ``degraded``."""
    reading = suggestion.reading
    return {
        "post": {"text": suggestion.post.text, "language": reading.language},
        "reading": {name: getattr(reading, name) for name in READING_FIELDS},
        "claims": [asdict(claim) for claim in suggestion.claims],
        "claim": suggestion.claim,
        "queries": list(suggestion.queries),
        "evidence": [evidence_document(passage) for passage in suggestion.evidence],
        "drafts": [_draft(draft) for draft in suggestion.drafts],
        "cost": asdict(suggestion.cost),
        "degraded": list(suggestion.degraded),
    }


def evidence_document(passage: Evidence) -> dict[str, Any]:
    """One passage, also as ``antiphon kb search --json`` gives it."""
    return {
        "id": passage.id,
        "text": passage.text,
        "summary": passage.summary,
        "source": asdict(passage.source),
        "scores": passage.scores,
        "target_group": passage.target_group,
        "caution": passage.caution,
        "confirmed": passage.confirmed,
    }


def _draft(draft: Draft) -> dict[str, Any]:
    return {
        "rank": draft.rank,
        "text": draft.text,
        "kind": draft.kind,
        "intent": draft.intent,
        "scores": asdict(draft.scores),
        "receipts": [asdict(receipt) for receipt in draft.receipts],
        "warnings": list(draft.warnings),
        "origins": list(draft.origins),
        "prepared": list(draft.prepared),
        "read_by": draft.read_by,
        "answers": draft.answers,
        "caution": draft.caution,
        "language": draft.language,
        "writer": draft.writer,
        "reasons": list(draft.reasons),
        "unscored": dict(draft.unscored),
    }
