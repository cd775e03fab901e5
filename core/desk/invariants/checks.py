"""The invariants, each as a function that gives what breaks it; ``INVARIANTS`` lists them in order.

I11, I13, I14, I15 and I18 say that what is stored is whole, valid, and deleted when it must be. I1, I2, I7, I8, I9 and
I12 say that a reply on the platform is what a person approved, once, and while they had the right. I3 to I6, I10, I16
and I17 say that nothing that was flagged is lost, done twice, or left without an owner. ``antiphon doctor --audit``
asks them of a live database, a test after every step.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.desk.database.connection import Database
from core.desk.database.revisions import may_use
from core.desk.invariants.facts import ArrivedReply, AuditLimits, AuditLine, Facts, OutsideRecord, Violation, read_facts
from core.desk.rules.approval import CLOSED, CaseState, text_hash
from core.desk.runtime.findings import Finding
from core.desk.schema import ApprovalRow, CaseRow, Change, JobRow, JobState, OutboxState
from core.desk.store.audit import note_hash
from core.desk.store.cases import DRAFT
from core.desk.store.communities import EVERYWHERE
from core.desk.store.erasure import FORGOTTEN, has_words
from core.engine.wording.text import is_unseen
from core.models import PostRef

_SHOWN: Final = frozenset("\n\t\u200d")
_GUARDS: Final = (
    frozenset({"audit_refuses_update", "audit_refuses_delete"}),
    frozenset({"audit_refuses_changes"}),
)


def moves_are_declared_and_kept(facts: Facts) -> Iterator[Violation]:
    """I11: a case moves along the declared graph only, and the log of its moves is a chain that nobody changed."""
    yield from facts.tables.log.faults
    yield from _as_digested(facts)
    heads = {stream: lines[-1] for stream, lines in facts.chains.items()}
    for case in facts.tables.cases:
        yield from _at_head(case.id, case.version, case.state, heads.get(case.id))
    for community in facts.tables.communities:
        yield from _at_head(community.id, community.version, None, heads.get(community.id))
    lines_of = {(stream, line.seq): line for stream, lines in facts.chains.items() for line in lines}
    for note in facts.tables.notes:
        line = lines_of.get((note.stream, note.seq))
        if line is None or line.note_sha256 != note_hash(note.text, note.salt):
            yield Violation(note.stream, f"The note of version {note.seq} is not the one that was written.")
    if facts.schema and not any(guard <= facts.schema.triggers for guard in _GUARDS):
        yield Violation("audit", "The database no longer refuses to change the audit log: its triggers are gone.")


def _as_digested(facts: Facts) -> Iterator[Violation]:
    """The newest digest matches the log up to its last line: no chain that was there at that time is gone."""
    if facts.tables.digests:
        digest, log = max(facts.tables.digests, key=lambda row: row.last_line), facts.tables.log
        if (log.streams, log.sha256) != (digest.streams, digest.sha256):
            yield Violation("audit", f"The digest of slot {digest.slot} is of another log: lines or chains are gone.")


def _at_head(where: str, version: int, state: CaseState | None, head: AuditLine | None) -> Iterator[Violation]:
    if head is None:
        yield Violation(where, "It has no line in the audit log.")
    elif (head.seq, head.to_state) != (version, state):
        yield Violation(
            where, f"It is {state}, version {version}; its log ends as {head.to_state}, version {head.seq}."
        )


def drafts_are_valid(facts: Facts) -> Iterator[Violation]:
    """I13: a moderator is shown drafts only that can be read, ranked, and posted as they are."""
    drafted = set()
    for row in facts.tables.suggestions:
        suggestion = facts.suggestions[row.id]
        if suggestion is None:
            if row.document:
                yield Violation(row.case_id, f"Suggestion {row.id} cannot be read.")
            continue
        if suggestion.drafts:
            drafted.add(row.case_id)
        if sorted(draft.rank for draft in suggestion.drafts) != list(range(1, len(suggestion.drafts) + 1)):
            yield Violation(row.case_id, f"The drafts of suggestion {row.id} are not ranked from 1.")
        for draft in suggestion.drafts:
            if fault := _fault_of(draft.text, facts.limits.max_characters):
                yield Violation(row.case_id, f"Draft {draft.rank} of suggestion {row.id} {fault}.")
    for preview in facts.tables.previews:
        if facts.cases[preview.case_id].state is not CaseState.DRAFTING:
            yield Violation(preview.case_id, "It is not being drafted, and what was drafted so far is still shown.")
    for case in facts.tables.cases:
        head = facts.chains.get(case.id, [])[-1:]
        came_from_worker = head and head[0].from_state is CaseState.DRAFTING
        if case.state is CaseState.IN_REVIEW and came_from_worker and case.erased_at is None and case.id not in drafted:
            yield Violation(case.id, "A worker put it in review, and it has no draft.")


def _fault_of(text: str, max_characters: int) -> str:
    """The reason why a draft cannot be posted as it is; "" if it can."""
    if not text.strip():
        return "is empty"
    if len(text) > max_characters:
        return f"has {len(text)} characters"
    if any(is_unseen(character) and character not in _SHOWN for character in text):
        return "holds characters that nobody sees"
    return ""


def evidence_can_be_opened(facts: Facts) -> Iterator[Violation]:
    """I14: each receipt names a passage of its suggestion, and what a moderator sees of it is what was read."""
    passages = facts.record.passages if facts.record else None
    under_review = {case.id for case in facts.tables.cases if case.state is CaseState.IN_REVIEW}
    newest = {row.case_id: row.id for row in facts.tables.suggestions}
    for row in facts.tables.suggestions:
        suggestion = facts.suggestions[row.id]
        if suggestion is None:
            continue
        hashes = {passage.id: text_hash(passage.text) for passage in suggestion.evidence}
        for draft in suggestion.drafts:
            cited = {receipt.evidence_id for receipt in draft.receipts} - {None}
            for missing in sorted(str(passage_id) for passage_id in cited - hashes.keys()):
                yield Violation(row.case_id, f"Draft {draft.rank} of suggestion {row.id} cites {missing}, not shown.")
            if passages is None or row.case_id not in under_review or newest[row.case_id] != row.id:
                continue
            for passage_id in sorted(str(passage_id) for passage_id in cited & hashes.keys()):
                if passages.get(passage_id) != hashes[passage_id]:
                    yield Violation(
                        row.case_id, f"Passage {passage_id} of draft {draft.rank} is not in the knowledge base so."
                    )


def erased_leave_no_trace(facts: Facts) -> Iterator[Violation]:
    """I15: a person who was erased has no key any more, and a case that was erased no text."""
    keys = {person.id for person in facts.tables.persons}
    for person in facts.record.erased if facts.record else ():
        if person in keys:
            yield Violation(person, "Their erasure was acknowledged, and their key is still there.")
    erased = {case.id: case for case in facts.tables.cases if case.erased_at is not None}
    for case in erased.values():
        if case.text or case.author_name or case.thread or case.words:
            yield Violation(case.id, "It was erased, and its text is still there.")
    suggestions = [row for row in facts.tables.suggestions if row.case_id in erased]
    traces = (
        ("word of a suggestion", [row.case_id for row in suggestions if has_words(row.document)]),
        ("chosen claim", [row.case_id for row in facts.tables.claim_choices if row.claim]),
        ("preview", [row.case_id for row in facts.tables.previews]),
        ("proposed text", [row.case_id for row in facts.tables.proposals]),
        ("note", [row.stream for row in facts.tables.notes]),
        ("approved text", [row.case_id for row in facts.tables.approvals if row.text or row.quote]),
    )
    for what, case_ids in traces:
        for case_id in sorted(set(case_ids) & erased.keys()):
            yield Violation(case_id, f"It was erased, and a {what} of it is still there.")


def schema_is_the_newest(facts: Facts) -> Iterator[Violation]:
    """I18: the tables are those of the newest revision, with every constraint that the other promises rest on.

    What a later version added is its own to look at.
    """
    if facts.schema is None:
        return
    if facts.schema.revision != facts.schema.newest:
        if may_use(facts.schema.revision, facts.schema.newest):
            return
        yield Violation("database", f"It is at revision {facts.schema.revision}, not {facts.schema.newest}.")
    for difference in facts.schema.differences:
        yield Violation("database", f"It differs from its revision: {difference}.")


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
    for reply in _replies(facts):
        yield from _sent_as_approved(facts, reply)


def _found_by_person(facts: Facts, case: CaseRow) -> bool:
    """Whether a person looked on the platform, and said that a reply of unknown fate is there."""
    lines = facts.moves(case.id, CaseState.POSTED)
    return bool(lines) and lines[-1].from_state is CaseState.NEEDS_PERSON


def _never_arrived(facts: Facts, approval_id: str) -> bool:
    """Whether a person looked at the platform, and there never was such a reply."""
    if facts.record is None or facts.record.sent is None:
        return False
    return all(reply.approval_id != approval_id for reply in facts.record.sent)


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


def _sent_as_approved(facts: Facts, reply: ArrivedReply) -> Iterator[Violation]:
    approval = facts.approvals.get(reply.approval_id)
    if approval is None or approval.case_id not in facts.cases:
        yield Violation(
            reply.approval_id, f"Message {reply.ref.message} stands on the platform, and nobody approved it."
        )
        return
    case = facts.cases[approval.case_id]
    if reply.sha256 != approval.sha256:
        yield Violation(case.id, f"Message {reply.ref.message} has other bytes than approval {approval.id}.")
    if reply.in_reply_to != _place(case, reply):
        yield Violation(case.id, f"Message {reply.ref.message} answers another post than the case's.")
    if not facts.intents(approval):
        yield Violation(case.id, f"Message {reply.ref.message} was sent before the intent was committed.")


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
    for approval_id, count in Counter(reply.approval_id for reply in _replies(facts)).items():
        if count > 1:
            yield Violation(approval_id, f"The reply of one approval was posted {count} times.")


def approver_may_approve(facts: Facts) -> Iterator[Violation]:
    """I7: a person who lost the right to approve approves nothing, and nothing of theirs is sent from then on."""
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
        expected = int(case.state in (CaseState.APPROVED, CaseState.SENDING))
        if waiting[case.id] != expected:
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
    for reply in _replies(facts):
        approved = facts.approvals.get(reply.approval_id)
        if approved is not None and reply.target_sha256 not in (None, approved.target_sha256):
            yield Violation(approved.case_id, f"Message {reply.ref.message} answers a post that had been changed.")


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
    posted = {reply.approval_id for reply in _replies(facts)}
    for case, approval, row in facts.approvals_with_sends():
        if row.state in _STOPPED and (row.remote_message or row.posted_at):
            yield Violation(
                case.id, f"The reply of approval {approval.id} was {row.state}, and is posted all the same."
            )
        if row.state in _STOPPED and row.approval_id in posted:
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
        changes = [earlier.change for earlier in facts.chains.get(scope, ()) if earlier.at <= line.at]
        for closed, opened in ((Change.STOPPED, Change.RESUMED), (Change.SHADOW, Change.POSTING)):
            if [change for change in changes if change in (closed, opened)][-1:] == [closed]:
                return scope
    return ""


def _never_opened(facts: Facts, community_id: str) -> bool:
    """Whether a community never left shadow mode, by its audit stream."""
    return all(line.change is not Change.POSTING for line in facts.chains.get(community_id, []))


def _replies(facts: Facts) -> tuple[ArrivedReply, ...]:
    return (facts.record.sent or ()) if facts.record else ()


def _place(case: CaseRow, reply: ArrivedReply) -> PostRef:
    """Where the case's post is; if its author was erased, the message can no longer be identified."""
    is_forgotten = case.message.startswith(FORGOTTEN)
    message = reply.in_reply_to.message if is_forgotten else case.message
    return PostRef(case.platform, case.community, case.channel, message)


def nothing_is_lost(facts: Facts) -> Iterator[Violation]:
    """I3: every capture that was acknowledged, or that the audit log tells of, is a case."""
    for stream, lines in facts.chains.items():
        if lines[0].to_state is not None and stream not in facts.cases and not facts.is_deleted(stream):
            yield Violation(stream, "The audit log tells of a case that is gone.")
    refs = {case.ref for case in facts.tables.cases}
    for ref in facts.record.acknowledged if facts.record else ():
        if ref not in refs:
            yield Violation(ref.message, f"The flag of a post in {ref.community} was acknowledged, and has no case.")


def one_case_per_post(facts: Facts) -> Iterator[Violation]:
    """I4: one case for each platform, community, channel and message."""
    refs = Counter((case.platform, case.community, case.channel, case.message) for case in facts.tables.cases)
    for (_, community, _, message), count in refs.items():
        if count > 1:
            yield Violation(message, f"A post in {community} has {count} cases.")


def work_has_an_owner(facts: Facts) -> Iterator[Violation]:
    """I5: what is being worked on has an owner who was heard of within two leases; what waits has work that waits."""
    jobs: dict[str | None, list[JobRow]] = {}
    for job in facts.tables.jobs:
        if job.state in (JobState.READY, JobState.RUNNING):
            if job.kind == DRAFT:
                jobs.setdefault(job.case_id, []).append(job)
            yield from _owned(facts, job)
    for case in facts.tables.cases:
        expected = {CaseState.QUEUED: [JobState.READY], CaseState.DRAFTING: [JobState.RUNNING]}.get(case.state, [])
        states = [job.state for job in jobs.get(case.id, ())]
        if states != expected:
            has = ", ".join(states) or "no"
            yield Violation(case.id, f"A case that is {case.state} has {has} work that waits or is done.")
    for _, approval, row in facts.approvals_with_sends():
        is_late = (
            row.lease_until is not None and facts.limits.lease and row.lease_until + facts.limits.lease < facts.moment
        )
        if row.state is OutboxState.SENDING and is_late:
            yield Violation(approval.case_id, f"The reply of approval {approval.id} is being sent by nobody.")


def _owned(facts: Facts, job: JobRow) -> Iterator[Violation]:
    where = job.case_id or job.id
    if job.state is JobState.RUNNING and (job.lease_until is None or not job.owner):
        yield Violation(where, f"Work of kind {job.kind} is done by nobody.")
    elif job.lease_until is not None and facts.limits.lease and job.lease_until + facts.limits.lease < facts.moment:
        yield Violation(where, f"Who does work of kind {job.kind} was not heard of for two leases.")


def poison_stops(facts: Facts) -> Iterator[Violation]:
    """I6: a piece of work that fails again and again is begun three times, and then given up with a reason."""
    most = facts.limits.max_attempts
    for job in facts.tables.jobs:
        if job.kind != DRAFT:
            continue
        if job.attempts - job.excused > most:
            yield Violation(job.case_id or job.id, f"Work of kind {job.kind} was begun {job.attempts} times.")
        if job.state is JobState.DEAD and not job.error:
            yield Violation(job.case_id or job.id, f"Work of kind {job.kind} was given up without a reason.")


def one_wins(facts: Facts) -> Iterator[Violation]:
    """I10: of those who decide at once on one version of a case, one wins: each approval has a move of its own."""
    for case in facts.tables.cases:
        approvals = len(facts.approvals_by_case.get(case.id, ()))
        moves = sum(line.from_state is CaseState.IN_REVIEW for line in facts.moves(case.id, CaseState.APPROVED))
        if approvals != moves:
            yield Violation(case.id, f"It was approved {moves} times, and has {approvals} approvals.")
    yield from facts.tables.log.doubled


def backlog_is_bounded(facts: Facts) -> Iterator[Violation]:
    """I16: no community has more cases in the queue than the settings allow, and none waits unseen."""
    waiting = Counter(
        job.community_id for job in facts.tables.jobs if job.kind == DRAFT and job.state is JobState.READY
    )
    for community, count in waiting.items():
        if facts.limits.max_queued is not None and count > facts.limits.max_queued:
            yield Violation(community, f"{count} cases wait for drafts; {facts.limits.max_queued} may.")
    campaigns = {campaign.id: campaign for campaign in facts.tables.campaigns}
    for case in facts.tables.cases:
        campaign = campaigns.get(case.campaign_id or "")
        if case.state is CaseState.FOLDED and not _is_stood_for(facts, campaign.lead_case_id if campaign else None):
            yield Violation(case.id, "It is folded, and no case stands for it.")
    members = Counter(case.campaign_id for case in facts.tables.cases)
    for campaign in campaigns.values():
        if members[campaign.id] > campaign.posts:
            what = f"It stands for {campaign.posts} posts, and {members[campaign.id]} are there."
            yield Violation(campaign.lead_case_id, what)


def _is_stood_for(facts: Facts, lead_id: str | None) -> bool:
    """Whether a folded case has an open lead case that is decided for it, or one that was decided not long ago."""
    lead = facts.cases.get(lead_id or "")
    if lead is None or lead.state not in CLOSED or facts.limits.folded is None:
        return lead is not None
    return facts.moment - lead.updated_at <= facts.limits.folded


def once_per_slot(facts: Facts) -> Iterator[Violation]:
    """I17: what is scheduled is done once for each slot, and one process leads."""
    for key, count in Counter(job.key for job in facts.tables.jobs).items():
        if count > 1:
            yield Violation(key, f"The same work was enqueued {count} times.")
    for slot, count in Counter(digest.slot for digest in facts.tables.digests).items():
        if count > 1:
            yield Violation(slot, f"{count} digests were written for one slot.")
    for office, count in Counter(row.office for row in facts.tables.leaderships).items():
        if count > 1:
            yield Violation(office, f"{count} processes hold one office.")


_MOST_SHOWN = 5
_REMEDY: Final = "Pause all posting, keep a copy of the database, and look at these in the audit log before you go on."


@dataclass(frozen=True, slots=True)
class Invariant:
    """One promise: its number, what it says, and the function that looks for a violation."""

    id: str
    promise: str
    look: Callable[[Facts], Iterable[Violation]]


INVARIANTS: Final = (
    Invariant("I1", "each post matches one approval by a person, of exactly those bytes", posted_as_approved),
    Invariant("I2", "at most one post for each approval", posted_once),
    Invariant("I3", "no acknowledged capture is lost", nothing_is_lost),
    Invariant("I4", "one case for each post", one_case_per_post),
    Invariant("I5", "no work without a live owner", work_has_an_owner),
    Invariant("I6", "what fails again and again stops after the configured attempts", poison_stops),
    Invariant("I7", "who lost the right neither approves nor is the approver of a send", approver_may_approve),
    Invariant("I8", "no approval survives a change", approval_holds),
    Invariant("I9", "what was undone is never posted", undone_is_not_posted),
    Invariant("I10", "two moderators never both win", one_wins),
    Invariant("I11", "cases move along the graph, and the log is a whole chain", moves_are_declared_and_kept),
    Invariant("I12", "nothing posts while paused or in shadow mode", nothing_posts_while_closed),
    Invariant("I13", "only valid drafts reach review", drafts_are_valid),
    Invariant("I14", "evidence that is shown is in the knowledge base", evidence_can_be_opened),
    Invariant("I15", "who was erased leaves no trace", erased_leave_no_trace),
    Invariant("I16", "the backlog is bounded", backlog_is_bounded),
    Invariant("I17", "scheduled work runs once for each slot", once_per_slot),
    Invariant("I18", "the schema is the newest one, whole", schema_is_the_newest),
)


def violations(facts: Facts) -> dict[str, list[Violation]]:
    by_number = {invariant.id: list(invariant.look(facts)) for invariant in INVARIANTS}
    return {name: broken for name, broken in by_number.items() if broken}


async def check(
    database: Database,
    record: OutsideRecord | None = None,
    limits: AuditLimits | None = None,
    *,
    looks_at_schema: bool = True,
) -> dict[str, list[Violation]]:
    """Read the database in one transaction, and ask every invariant; what is broken, by number.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    facts = await database.run(
        "audit the database", lambda session: read_facts(session, record, limits, looks_at_schema=looks_at_schema)
    )
    return violations(facts)


async def audit(database: Database, limits: AuditLimits | None = None) -> list[Finding]:
    """Ask every invariant of a live database; one finding for each, without a word of any post.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    broken = await check(database, limits=limits)
    return [_finding(invariant, broken.get(invariant.id, [])) for invariant in INVARIANTS]


def _finding(invariant: Invariant, broken: list[Violation]) -> Finding:
    name = f"{invariant.id} {invariant.promise}"
    if not broken:
        return Finding(name, True, "holds")
    rest = f" (and {len(broken) - _MOST_SHOWN} more)" if len(broken) > _MOST_SHOWN else ""
    return Finding(name, False, "; ".join(map(str, broken[:_MOST_SHOWN])) + rest, _REMEDY)
