"""Cases of every kind as cards, with mild sentences of our own."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core import models
from core.desk.rules.approval import CaseState, text_hash
from core.desk.rules.case_cards import (
    ApprovedText,
    Card,
    DraftProgress,
    EarlierCases,
    Holder,
    LastMove,
    ProposedReply,
    ReviewOfPrepared,
)
from core.desk.rules.closures import CloseReason, RetractReason, close_words, retract_words
from core.i18n.sentences import sentence

CASE_ID = "0123456789abcdef0123456789abcdef"
AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
POST_TEXT = "They only came for the benefits, **everybody** knows it. See www.example.net"
POST = models.FlaggedPost(
    ref=models.PostRef("discord", "111", "222", "333"),
    text=POST_TEXT,
    author="slate_roof",
    flagged_by="900",
    flagged_how="context menu",
    author_name="slate_roof",
    thread=(models.ThreadMessage("ferry_rower", "Who moved in next door?"),),
)
SOURCE = models.Source("OECD", "International Migration Outlook", 2021, None, "https://example.org/outlook?a=1")
EVIDENCE = (
    models.Evidence("m-1", "In most countries newcomers pay in more than they draw.", "They pay in.", SOURCE),
    models.Evidence(
        "m-2",
        "The figures differ between countries.",
        "It differs.",
        replace(SOURCE, title="Country Notes"),
        caution="It covers 25 countries only.",
    ),
)
DRAFTS = (
    models.Draft(
        1,
        "Most newcomers work. In most countries they pay in more than they draw.",
        models.Intent.INFORMATIVE,
        models.Scores(total=8.1, stance=0.95, argument_quality=0.8, non_toxicity=0.99, factuality=0.9),
        (
            models.Receipt("In most countries they pay in more than they draw.", "m-1", models.Verdict.SUPPORTED, 0.92),
            models.Receipt("Most newcomers work.", "m-2", models.Verdict.UNVERIFIED, None),
        ),
        ("The second source covers some countries only.",),
        origins=(models.Origin.PREPARED, models.Origin.EVIDENCE),
        prepared=("en-5eed5eed00",),
        caution="Do not suggest that those who do draw support are the bad ones.",
    ),
    models.Draft(
        2,
        "Do you know somebody who came here? What did they tell you about it?",
        models.Intent.QUESTIONING,
        models.Scores(total=6.4, stance=0.7, argument_quality=0.5, judge_spread=3.0),
        origins=(models.Origin.MODEL, models.Origin.MODEL),
    ),
)
NOTICE = models.Draft(
    1,
    "Attacks on people for who they are break the rules here. Please keep to the subject.",
    models.Intent.DENOUNCING,
    models.Scores(),
    origins=(models.Origin.PREPARED, models.Origin.PREPARED),
    reasons=(sentence("It is the community's own notice on its rules."),),
    kind=models.Kind.NOTICE,
)
SUPPORT = models.Draft(
    1,
    "If this was about you, you owe nobody an answer. You have our support here.",
    models.Intent.EMPATHETIC,
    models.Scores(),
    origins=(models.Origin.PREPARED, models.Origin.PREPARED),
    reasons=(sentence("It was prepared for any person who is attacked: it says nothing of this one."),),
    kind=models.Kind.SUPPORT,
)
REVIEWED = Card(
    case_id=CASE_ID,
    version=3,
    state=CaseState.IN_REVIEW,
    community="111",
    post=POST,
    opened_at=AT,
    gist="It says that migrants come to live on public money.",
    is_gist_ours=True,
    flagger="Jon",
    earlier=EarlierCases(answered=2, not_hateful=1),
    target_group=models.TargetGroup.MIGRANTS,
    severity=2,
    language="en",
    advice=models.Action.REPLY,
    drafts=DRAFTS,
    suggestion_id="s-1",
    evidence=EVIDENCE,
    claims=("Newcomers pay taxes.", "Newcomers work.", "Nobody chooses where they are born."),
    argued="Newcomers pay taxes.",
    notes=("The judge gave no answer.",),
)
_TOLD = (
    "Most people who move here find work within a few years, and pay taxes and rent like everybody else. In most "
    "countries of the OECD they pay in more than they draw.",
    "I have heard this a lot lately. Whom do you have in mind, and what did they tell you about how they live?",
    "Our neighbours look after our parents and drive our buses. Talking about them like this hurts people here.",
    "That is not true, and it makes life harder for families in this town. Please do not say such things here.",
)
REALISTIC = replace(
    REVIEWED,
    post=replace(POST, text=f"{POST_TEXT} They get a flat and money for nothing, and our own people wait for years."),
    drafts=tuple(
        replace(DRAFTS[0], rank=rank, text=text, receipts=DRAFTS[0].receipts + DRAFTS[0].receipts[:1])
        for rank, text in enumerate(_TOLD, start=1)
    ),
    notes=("No model answered, so these drafts were put together from prepared replies.",),
)
"""A card of the usual length: four drafts, each with receipts."""
PROPOSAL = ProposedReply(
    "0123456789abcdef",
    CASE_ID,
    3,
    "Most newcomers work.\n\nDrafted with Antiphon, checked and approved by a moderator.",
    "Most newcomers work.",
    text_hash("Most newcomers work.\n\nDrafted with Antiphon, checked and approved by a moderator."),
    warnings=("The second source covers some countries only.",),
)


APPROVED = ApprovedText(PROPOSAL.text, ("Ane",), AT)


def _ended(state: CaseState, by: str, reason: str, **changes: Any) -> Card:
    """A closed case as the desk builds its card; the drafts and what was said of the post are still there."""
    moved = LastMove(by, AT + timedelta(minutes=1))
    return replace(REVIEWED, state=state, earlier=None, last_move=moved, closed_because=reason, **changes)


def _bare(state: CaseState, **changes: Any) -> Card:
    return replace(REVIEWED, state=state, drafts=(), evidence=(), claims=(), notes=(), suggestion_id=None, **changes)


def samples() -> dict[str, Card]:
    """A card of each kind, by what it shows."""
    unread: dict[str, Any] = {"gist": None, "target_group": None, "severity": None, "language": None, "advice": None}
    soon = AT + timedelta(seconds=15)
    return {
        "Captured, no room yet": _bare(CaseState.CAPTURED, **unread),
        "Queued": _bare(CaseState.QUEUED, waiting=DraftProgress(ahead=2, expected_seconds=90.0), **unread),
        "Drafting, first drafts shown": replace(
            REVIEWED,
            state=CaseState.DRAFTING,
            drafts=DRAFTS[:1],
            notes=(),
            is_preview=True,
            suggestion_id=None,
            waiting=DraftProgress("anneal"),
        ),
        "In review": REVIEWED,
        "In review, held by somebody, a prepared reply reviewed": replace(
            REVIEWED,
            holder=Holder("Ane", AT + timedelta(minutes=5)),
            reviews={"en-5eed5eed00": ReviewOfPrepared("Ane", AT)},
        ),
        "In review, two persons needed, one approved": replace(
            REVIEWED,
            advice=models.Action.SUPPORT_TARGET,
            advice_reason="The post attacks one person.",
            why_two=("The post attacks one person.",),
            first_approvals=("Ane",),
            first_texts=("Most newcomers work, and all of us live here.",),
        ),
        "In review, weak replies, the notice on the rules first": replace(
            REVIEWED, drafts=(NOTICE, *(replace(draft, rank=draft.rank + 1) for draft in DRAFTS))
        ),
        "In review, a word of support": replace(
            REVIEWED, drafts=(SUPPORT,), advice=models.Action.SUPPORT_TARGET, evidence=(), claims=(), notes=()
        ),
        "In review, a campaign, in shadow mode, paused, the post edited": replace(
            REVIEWED, campaign_posts=7, is_shadow=True, is_paused=True, is_original_edited=True
        ),
        "In review, words from elsewhere": replace(
            REVIEWED, post=replace(POST, thread=(), is_from_elsewhere=True, author_name=""), earlier=None
        ),
        "In review, advice to report, no draft": replace(
            _bare(CaseState.IN_REVIEW), advice=models.Action.REPORT, advice_reason="It threatens people.", severity=5
        ),
        "Approved": replace(REVIEWED, state=CaseState.APPROVED, send_at=soon, approved=APPROVED),
        "Approved in shadow mode": replace(
            REVIEWED, state=CaseState.APPROVED, send_at=soon, approved=APPROVED, is_shadow=True
        ),
        "Being sent": replace(REVIEWED, state=CaseState.SENDING, approved=APPROVED),
        "Unknown whether posted": replace(REVIEWED, state=CaseState.UNKNOWN, approved=APPROVED),
        "Needs a person": replace(
            REVIEWED,
            state=CaseState.NEEDS_PERSON,
            approved=APPROVED,
            closed_because="The answer of the platform was lost. Look on the platform.",
            may_be_posted=True,
        ),
        "Needs a person, nothing was sent": replace(
            REVIEWED,
            state=CaseState.NEEDS_PERSON,
            approved=APPROVED,
            closed_because="The post that the reply answers is gone.",
        ),
        "Needs a person, no draft": replace(
            REVIEWED,
            state=CaseState.NEEDS_PERSON,
            drafts=(),
            argued=None,
            notes=(),
            closed_because=sentence("Antiphon has no draft to offer."),
        ),
        "Queued, the last attempt failed": _bare(
            CaseState.QUEUED, waiting=DraftProgress(error="The model cannot be reached."), **unread
        ),
        "Failed": replace(
            REVIEWED, state=CaseState.FAILED, approved=APPROVED, closed_because="The channel is closed to us."
        ),
        "Folded into a campaign": _bare(CaseState.FOLDED),
        "Posted": _ended(CaseState.POSTED, "", "posted", approved=APPROVED, reply=replace(POST.ref, message="444")),
        "Posted, approved by two, the post deleted since": _ended(
            CaseState.POSTED,
            "",
            "posted",
            approved=replace(APPROVED, by=("Ane", "Jon")),
            reply=replace(POST.ref, message="444"),
            is_original_gone=True,
        ),
        "Shadowed": _ended(
            CaseState.SHADOWED,
            "",
            "The community is in shadow mode: this would be posted now.",
            approved=APPROVED,
            is_shadow=True,
        ),
        "Declined": _ended(CaseState.DECLINED, "Ane", close_words(CloseReason.OFF_TONE), is_shadow=True),
        "Left without a reply": _ended(CaseState.NO_REPLY, "Ane", close_words(CloseReason.NOT_HATEFUL)),
        "Expired": _ended(CaseState.EXPIRED, "", sentence("nobody decided in time")),
        "Withdrawn": _ended(CaseState.WITHDRAWN, "Ane", close_words(CloseReason.MISTAKE)),
        "Retracted": _ended(CaseState.RETRACTED, "Jon", retract_words(RetractReason.HARM), approved=APPROVED),
    }
