"""I1, I2, I7, I8, I9 and I12: what is on the platform is what a person approved, once, and while they had the right.

Owns only the questions. If a record of the platform is given, each question is asked about what was really sent;
without one, about what the database says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from bot.invariants.facts import Facts
from bot.invariants.log import AuditLine
from bot.invariants.record import Sent
from bot.invariants.violation import Violation
from bot.store.people.communities import EVERYWHERE
from bot.store.schema import ApprovalRow, CaseRow, Change, OutboxState
from bot.store.upkeep.erasing import FORGOTTEN
from core.models import PostRef
from core.moderation.approval import CaseState, text_hash

_BEGUN: Final = frozenset(
    {OutboxState.SENDING, OutboxState.POSTED, OutboxState.UNKNOWN, OutboxState.FAILED, OutboxState.RETRACTED}
)
_STOPPED: Final = frozenset({OutboxState.CANCELLED, OutboxState.SHADOWED})
_SWITCH: Final = (Change.STOPPED, Change.RESUMED)


def posted_as_approved(facts: Facts) -> Iterator[Violation]:
    """I1: each post on the platform matches one approval by a person, of exactly those bytes."""
    for approval in facts.tables.approvals:
        yield from _approved_by_somebody(facts, approval)
    for row in facts.tables.outbox:
        if row.approval_id not in facts.approvals:
            yield Violation(row.approval_id, "A reply waits in the outbox that nobody approved.")
    for case, approval, row in facts.approvals_with_sends():
        if row.state is OutboxState.POSTED and not row.remote_message and not _found_by_person(facts, case):
            yield Violation(case.id, f"Approval {approval.id} is posted, and nobody knows where.")
        if row.state in _BEGUN and not facts.intents(approval):
            yield Violation(case.id, f"The reply of approval {approval.id} is {row.state} without a recorded intent.")
        if row.state is OutboxState.POSTED and _never_arrived(facts, approval.id):
            yield Violation(case.id, f"The reply of approval {approval.id} is called posted, and never was.")
    for sent in _sent(facts):
        yield from _sent_as_approved(facts, sent)


def _found_by_person(facts: Facts, case: CaseRow) -> bool:
    """Whether a person looked on the platform, and said that a reply of unknown fate is there."""
    lines = facts.moves(case.id, CaseState.POSTED)
    return bool(lines) and lines[-1].from_state is CaseState.NEEDS_PERSON


def _never_arrived(facts: Facts, approval_id: str) -> bool:
    """Whether a person looked at the platform, and there never was such a reply."""
    if facts.record is None or facts.record.sent is None:
        return False
    return all(sent.approval_id != approval_id for sent in facts.record.sent)


def _approved_by_somebody(facts: Facts, approval: ApprovalRow) -> Iterator[Violation]:
    case, line = facts.cases.get(approval.case_id), facts.approval_lines.get(approval.id)
    if case is None:
        yield Violation(approval.case_id, f"Approval {approval.id} belongs to no case.")
        return
    is_erased = case.erased_at is not None and not approval.text
    if not is_erased and text_hash(approval.text, approval.quote) != approval.sha256:
        yield Violation(case.id, f"The text of approval {approval.id} is not the one that was approved.")
    if not is_erased and not approval.text.endswith(approval.footer):
        yield Violation(case.id, f"The text of approval {approval.id} lacks its own footer.")
    if line is None or line.actor not in (approval.moderator, approval.seconded_by):
        yield Violation(
            case.id, f"No line of the audit log says that approval {approval.id} was given by its approver."
        )


def _sent_as_approved(facts: Facts, sent: Sent) -> Iterator[Violation]:
    approval = facts.approvals.get(sent.approval_id)
    if approval is None or approval.case_id not in facts.cases:
        yield Violation(sent.approval_id, f"Message {sent.ref.message} stands on the platform, and nobody approved it.")
        return
    case = facts.cases[approval.case_id]
    if sent.sha256 != approval.sha256:
        yield Violation(case.id, f"Message {sent.ref.message} has other bytes than approval {approval.id}.")
    if sent.in_reply_to != _place(case, sent):
        yield Violation(case.id, f"Message {sent.ref.message} answers another post than the case's.")
    if not facts.intents(approval):
        yield Violation(case.id, f"Message {sent.ref.message} was sent before the intent was committed.")


def posted_once(facts: Facts) -> Iterator[Violation]:
    """I2: at most one post, and one send, for each approval."""
    for approval_id, rows in facts.sends.items():
        if len(rows) > 1:
            yield Violation(approval_id, f"The outbox holds {len(rows)} sends of one approval.")
    places = Counter(
        (case.platform, case.community, case.channel, row.remote_message)
        for case, _, row in facts.approvals_with_sends()
        if row.remote_message
    )
    for (_, _, _, message), count in places.items():
        if count > 1:
            yield Violation(str(message), f"One message of the platform is said to be the reply of {count} approvals.")
    for approval_id, count in Counter(sent.approval_id for sent in _sent(facts)).items():
        if count > 1:
            yield Violation(approval_id, f"The reply of one approval was posted {count} times.")


def approver_may_approve(facts: Facts) -> Iterator[Violation]:
    """I7: who lost the right to approve neither approves, nor is the approver of what is sent from then on."""
    for approval in facts.tables.approvals:
        case = facts.cases.get(approval.case_id)
        if case is None:
            continue
        for person in filter(None, (approval.moderator, approval.seconded_by)):
            if not person.startswith("p-"):
                yield Violation(case.id, f"Approval {approval.id} was given by {person}, who is no person.")
            for moment in (approval.approved_at, *(line.at for line in facts.intents(approval))):
                if _had_no_right(facts, person, case.community_id, moment):
                    yield Violation(case.id, f"{person} had no right to approve at {moment}: approval {approval.id}.")


def _had_no_right(facts: Facts, person: str, community_id: str, moment: datetime) -> bool:
    times = facts.record.revoked if facts.record else ()
    return any(
        (time.person_id, time.community_id) == (person, community_id)
        and time.since <= moment
        and (time.until is None or moment < time.until)
        for time in times
    )


def approval_holds(facts: Facts) -> Iterator[Violation]:
    """I8: no approval survives a change: of the case, of the post that it answers, of its text, or of its time."""
    waiting = Counter(
        case.id
        for case, _, row in facts.approvals_with_sends()
        if row.state in (OutboxState.QUEUED, OutboxState.SENDING)
    )
    for case in facts.tables.cases:
        wanted = int(case.state in (CaseState.APPROVED, CaseState.SENDING))
        if waiting[case.id] != wanted:
            yield Violation(case.id, f"A case that is {case.state} has {waiting[case.id]} replies waiting to be sent.")
    for case, approval, row in facts.approvals_with_sends():
        if row.state in (*_BEGUN, OutboxState.QUEUED) and approval.target_sha256 != case.target_sha256:
            yield Violation(case.id, f"Approval {approval.id} answers another text than the one that was flagged.")
        if row.state is OutboxState.QUEUED and case.state is CaseState.APPROVED:
            newest = facts.approvals_by_case[case.id][-1]
            if newest.id != approval.id:
                yield Violation(case.id, f"Approval {approval.id} waits to be sent, though a later one was given.")
        for line in facts.intents(approval):
            if line.at > approval.expires_at:
                yield Violation(case.id, f"Approval {approval.id} was used after it had expired.")
            if approval.policy_version not in _rules_at(facts, case.community_id, line.at):
                yield Violation(case.id, f"Approval {approval.id} was used after the community's rules had changed.")
    for community in facts.tables.communities:
        if community.rules_version not in _rules_at(facts, community.id):
            yield Violation(community.id, f"By its log its rules are not of version {community.rules_version}.")
    for sent in _sent(facts):
        approved = facts.approvals.get(sent.approval_id)
        if approved is not None and sent.target_sha256 not in (None, approved.target_sha256):
            yield Violation(approved.case_id, f"Message {sent.ref.message} answers a post that had been changed.")


def _rules_at(facts: Facts, community_id: str, moment: datetime | None = None) -> frozenset[int]:
    """The versions that name a community's rules at a moment, or now, by its audit stream alone.

    It is one version, since the kill switch changes no rule. In logs of before, a use of the switch made a new version
    of the same rules.
    """
    lines = [line for line in facts.chains.get(community_id, ()) if moment is None or line.at <= moment]
    last = max((line.seq for line in lines if line.change not in (Change.SETTING, *_SWITCH)), default=1)
    return frozenset({last, *(line.seq for line in lines if line.change in _SWITCH and line.seq > last)})


def undone_is_not_posted(facts: Facts) -> Iterator[Violation]:
    """I9: an approval that was taken back within its window is never posted, and none is before the window is over."""
    sent = {one.approval_id for one in _sent(facts)}
    for case, approval, row in facts.approvals_with_sends():
        if row.state in _STOPPED and (row.remote_message or row.posted_at):
            yield Violation(
                case.id, f"The reply of approval {approval.id} was {row.state}, and is posted all the same."
            )
        if row.state in _STOPPED and row.approval_id in sent:
            yield Violation(
                case.id, f"The reply of approval {approval.id} was {row.state}, and stands on the platform."
            )
        if _is_undone(facts, approval) and (row.state in _BEGUN or row.state is OutboxState.QUEUED):
            yield Violation(case.id, f"Approval {approval.id} was undone, and its reply is {row.state}.")
        intents = facts.intents(approval)
        if row.state in _BEGUN and intents and intents[-1].at < row.not_before:
            yield Violation(case.id, f"The reply of approval {approval.id} was sent before its time.")


def _is_undone(facts: Facts, approval: ApprovalRow) -> bool:
    """Whether the case went back from ``approved`` to a moderator while this approval was the one that counted."""
    line = facts.approval_lines.get(approval.id)
    chain = facts.chains.get(approval.case_id, [])
    if line is None:
        return False
    for later in chain:
        if later.seq <= line.seq:
            continue
        if later.to_state is CaseState.APPROVED and later.from_state is CaseState.IN_REVIEW:
            return False
        if later.from_state is CaseState.APPROVED and later.to_state is not CaseState.SENDING:
            return True
    return False


def nothing_posts_while_closed(facts: Facts) -> Iterator[Violation]:
    """I12: nothing is posted while the kill switch is on, or in shadow mode, which is how a community begins."""
    for case, approval, row in facts.approvals_with_sends():
        if case.state is CaseState.SHADOWED and row.state in _BEGUN:
            yield Violation(case.id, f"The case is shadowed, and the reply of approval {approval.id} is {row.state}.")
        for line in facts.intents(approval):
            if scope := _closed_at(facts, case, line):
                yield Violation(case.id, f"Approval {approval.id} was used at {line.at}, while {scope} was closed.")
        if facts.intents(approval) and _never_opened(facts, case.community_id):
            yield Violation(case.id, f"Approval {approval.id} was used in a community that never left shadow mode.")


def _closed_at(facts: Facts, case: CaseRow, line: AuditLine) -> str:
    """Which scope was closed when an intent was committed, by the record or the audit log, "" if none was."""
    for time in facts.record.closed if facts.record else ():
        is_here = time.scope in (EVERYWHERE, case.community_id)
        if is_here and time.since <= line.at and (time.until is None or line.at < time.until):
            return time.scope
    for scope in (EVERYWHERE, case.community_id):
        changes = [one.change for one in facts.chains.get(scope, ()) if one.at <= line.at]
        for closed, opened in ((Change.STOPPED, Change.RESUMED), (Change.SHADOW, Change.POSTING)):
            if [change for change in changes if change in (closed, opened)][-1:] == [closed]:
                return scope
    return ""


def _never_opened(facts: Facts, community_id: str) -> bool:
    """Whether a community never left shadow mode, by its audit stream."""
    return all(line.change is not Change.POSTING for line in facts.chains.get(community_id, []))


def _sent(facts: Facts) -> tuple[Sent, ...]:
    return (facts.record.sent or ()) if facts.record else ()


def _place(case: CaseRow, sent: Sent) -> PostRef:
    """Where the case's post is; if its author was erased, the message can no longer be identified."""
    is_forgotten = case.message.startswith(FORGOTTEN)
    message = sent.in_reply_to.message if is_forgotten else case.message
    return PostRef(case.platform, case.community, case.channel, message)
