"""Erasure in the database: of what a case says, of a whole case, and of one person's words in others' cases.

``WORDS`` names the tables that hold words, of people or about them. The audit log stays: it holds pseudonyms and
sentences of the project.
"""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Text, cast, delete, exists, or_, select, update

from core import models
from core.desk import schema
from core.desk.database.connection import Session
from core.desk.store.audit import record
from core.desk.store.campaigns import forget_lead
from core.desk.store.suggestions import suggestion_from_json, suggestion_to_json
from core.errors import StoreUnavailable

ERASED: Final = "[erased]"
"""The text that replaces a person's words."""
FORGOTTEN: Final = "erased-"
"""How the id of a post begins that can no longer be found on its platform."""
WORDS: Final = (
    "cases", "suggestions", "previews", "claim_choices", "proposals", "approvals", "notes", "jobs", "memberships",
    "persons", "prepared_replies", "own_cards", "flaggers", "updates", "accounts", "account_people", "web_sessions",
    "api_tokens",
)  # fmt: skip
"""The tables that hold words or names, and so must be cleaned after an erasure."""

_OF_CASES: Final = (
    schema.ApprovalRow, schema.FirstApprovalRow, schema.OutcomeRow, schema.SuggestionRow, schema.ClaimChoiceRow,
    schema.PreviewRow, schema.ProposalRow, schema.ReviewCardRow, schema.NoticeRow, schema.FlaggerRow, schema.JobRow,
)  # fmt: skip


async def erase_case(session: Session, case_id: str, *, is_final: bool = True) -> None:
    """Erase every word of a case; states, hashes, times, scores and counts stay.

    Args:
        is_final: whether the replies are erased, too: not yet while one is on its way.
    """
    erased_at = session.moment if is_final else None
    nothing: dict[str, Any] = {"text": "", "author_name": "", "thread": [], "words": {}, "wish": {}}
    nothing |= {"held_by": None, "held_until": None}
    await session.execute(
        update(schema.CaseRow)
        .where(schema.CaseRow.id == case_id)
        .values(nothing | {"erased_at": erased_at, "unshown": schema.CaseRow.unshown + 1})
    )
    # The card itself is shown once more, without words: a digest of them would tell a guess from another.
    await session.execute(update(schema.ReviewCardRow).where(schema.ReviewCardRow.case_id == case_id).values(digest=""))
    for row in await session.scalars(select(schema.SuggestionRow).filter_by(case_id=case_id)):
        row.document = _without_words(row.document)
    for table in (schema.ClaimChoiceRow, schema.PreviewRow, schema.ProposalRow, schema.FlaggerRow, schema.JobRow):
        await session.execute(delete(table).where(table.case_id == case_id))
    await session.execute(delete(schema.NoteRow).where(schema.NoteRow.stream == case_id))
    await forget_lead(session, case_id)
    if is_final:
        await session.execute(
            update(schema.ApprovalRow).where(schema.ApprovalRow.case_id == case_id).values(text="", footer="", quote="")
        )
    await session.flush()


async def forget_place(session: Session, case_id: str) -> None:
    """Put the case's own id in place of that by which the platform finds the post, and with it its author.

    Nothing leads back. A person who writes, is flagged and is erased again causes no collision.
    """
    row = await session.get_one(schema.CaseRow, case_id, populate_existing=True)
    row.message = row.root = FORGOTTEN + case_id
    await session.flush()


async def delete_case(session: Session, case_id: str) -> None:
    """Delete every row of a case but its audit lines, of which the last says so."""
    case = await session.get_one(schema.CaseRow, case_id)
    reason = "its statistics were deleted"
    await record(session, case_id, case.version + 1, actor="schedule", reason=reason, change=schema.Change.DELETED)
    approvals = select(schema.ApprovalRow.id).where(schema.ApprovalRow.case_id == case_id).scalar_subquery()
    await session.execute(delete(schema.OutboxRow).where(schema.OutboxRow.approval_id.in_(approvals)))
    for table in _OF_CASES:
        await session.execute(delete(table).where(table.case_id == case_id))
    await session.execute(delete(schema.NoteRow).where(schema.NoteRow.stream == case_id))
    await forget_lead(session, case_id)
    led = select(schema.CampaignRow.id).where(schema.CampaignRow.lead_case_id == case_id).scalar_subquery()
    await session.execute(update(schema.CaseRow).where(schema.CaseRow.campaign_id.in_(led)).values(campaign_id=None))
    await session.execute(delete(schema.CampaignRow).where(schema.CampaignRow.lead_case_id == case_id))
    await session.execute(delete(schema.CaseRow).where(schema.CaseRow.id == case_id))


async def cases_quoting(session: Session, person: str) -> list[str]:
    """The ids of cases that quote a person, or name them in the thread around the post, or in a suggestion's copy."""
    in_case = or_(cast(schema.CaseRow.thread, Text).contains(person), cast(schema.CaseRow.words, Text).contains(person))
    in_copy = select(schema.SuggestionRow.case_id).where(schema.SuggestionRow.document.contains(person))
    return sorted(await session.scalars(select(schema.CaseRow.id).where(in_case).union(in_copy)))


async def erase_turns(session: Session, case_id: str, person: str) -> int:
    """Erase what a person wrote in another person's case, in its thread or as a quote; returns how much that was."""
    case = await session.get_one(schema.CaseRow, case_id, populate_existing=True)
    turns = [turn["author"] for turn in (*case.thread, *case.words.get("parts", ()))].count(person)
    case.thread = _without_turns(case.thread, person)
    case.text, case.words = _without_parts(case.text, case.words, person)
    case.unshown += 1
    for row in await session.scalars(select(schema.SuggestionRow).filter_by(case_id=case_id)):
        document = json.loads(row.document)
        post = document["post"]
        post["thread"] = _without_turns(post["thread"], person)
        post["text"], post["words"] = _without_parts(post["text"], post.get("words", {}), person)
        row.document = json.dumps(document, ensure_ascii=False)
    await session.flush()
    return turns


def _without_turns(thread: list[dict[str, Any]], person: str) -> list[dict[str, Any]]:
    return [{"author": "", "text": ERASED} if turn["author"] == person else turn for turn in thread]


def _without_parts(text: str, words: dict[str, Any], person: str) -> tuple[str, dict[str, Any]]:
    """A post's text and parts without what a person wrote that it quotes."""
    parts = words.get("parts", [])
    if person not in [part["author"] for part in parts]:
        return text, words
    remaining = [
        part | {"author": "", "name": "", "text": ERASED} if part["author"] == person else part for part in parts
    ]
    return models.joined_parts(
        models.Part(models.PartKind(part["kind"]), part["text"]) for part in remaining
    ), words | {"parts": remaining}


async def forget_unknown(session: Session, before: datetime) -> int:
    """Delete the link to people first seen before ``before`` whom no case, role, card or review names any longer."""
    in_case = exists().where(
        or_(schema.CaseRow.author == schema.PersonRow.id, schema.CaseRow.flagged_by == schema.PersonRow.id)
    )
    has_role = exists().where(schema.MembershipRow.person_id == schema.PersonRow.id)
    reviewed = exists().where(schema.PreparedReplyRow.reviewed_by == schema.PersonRow.id)
    signed = exists().where(
        or_(schema.OwnCardRow.proposed_by == schema.PersonRow.id, schema.OwnCardRow.reviewed_by == schema.PersonRow.id)
    )
    waits = exists().where(schema.FlaggerRow.person_id == schema.PersonRow.id)
    unknown = schema.PersonRow.created_at < before, ~in_case, ~has_role, ~reviewed, ~signed, ~waits
    old = set(await session.scalars(select(schema.PersonRow.id).where(*unknown)))
    if old:
        query = select(schema.CaseRow.thread, schema.CaseRow.words).where(schema.CaseRow.erased_at.is_(None))
        async for thread, words in await session.stream(query):
            old -= {turn["author"] for turn in (*thread, *words.get("parts", ()))}
    for person in old:
        await session.execute(delete(schema.PersonRow).where(schema.PersonRow.id == person))
    return len(old)


def has_words(document: str) -> bool:
    """Whether a suggestion's document holds more than what can be counted."""
    return bool(document) and document != _without_words(document)


def _without_words(document: str) -> str:
    """A suggestion's document without words; one of an unknown form holds nothing that can be kept."""
    try:
        return suggestion_to_json(without_words(suggestion_from_json(document)))
    except StoreUnavailable:
        return "{}"


def without_words(suggestion: models.Suggestion) -> models.Suggestion:
    """A suggestion of which only what can be counted is left: language, group, severity, votes, scores, verdicts, cost.

    Sources of evidence stay, since they are the knowledge base's; what was written from the post does not.
    """
    ref = suggestion.post.ref
    reading = suggestion.reading
    return models.Suggestion(
        post=models.FlaggedPost(
            models.PostRef(ref.platform, ref.community, "", ""), "", "", "", "", priority=suggestion.post.priority
        ),
        reading=models.Reading(
            language=reading.language,
            target_group=reading.target_group,
            offensiveness=None,
            speaker_intent=None,
            power_dynamics=None,
            implied_meaning=None,
            emotional_reaction=None,
            cognitive_reaction=None,
            severity=reading.severity,
            recommended_action=reading.recommended_action,
            reason="",
            read_by=reading.read_by,
            stereotypes=(),
        ),
        claims=tuple(models.Claim("", claim.votes) for claim in suggestion.claims),
        claim=None,
        queries=(),
        evidence=tuple(_passage(passage) for passage in suggestion.evidence),
        drafts=tuple(_draft(draft) for draft in suggestion.drafts),
        cost=suggestion.cost,
    )


def _passage(passage: models.Evidence) -> models.Evidence:
    return replace(passage, text="", summary="", caution=None)


def _draft(draft: models.Draft) -> models.Draft:
    receipts = tuple(
        models.Receipt("", receipt.evidence_id, receipt.verdict, receipt.probability) for receipt in draft.receipts
    )
    return replace(
        draft, text=ERASED, receipts=receipts, warnings=(), prepared=(), answers=None, caution=None, reasons=()
    )
