"""I3 to I6, I10, I16 and I17: nothing that was flagged is lost, done twice, or left without an owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bot.invariants.facts import Facts
from bot.invariants.violation import Violation
from bot.store.cases.cases import DRAFT
from bot.store.schema import JobRow, JobState, OutboxState
from core.models import PostRef
from core.moderation.approval import CLOSED, CaseState


def nothing_is_lost(facts: Facts) -> Iterator[Violation]:
    """I3: every capture that was acknowledged, or that the audit log tells of, is a case."""
    for stream, lines in facts.chains.items():
        if lines[0].to_state is not None and stream not in facts.cases and not facts.is_deleted(stream):
            yield Violation(stream, "The audit log tells of a case that is gone.")
    known = {PostRef(case.platform, case.community, case.channel, case.message) for case in facts.tables.cases}
    for ref in facts.record.acknowledged if facts.record else ():
        if ref not in known:
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
        wanted = {CaseState.QUEUED: [JobState.READY], CaseState.DRAFTING: [JobState.RUNNING]}.get(case.state, [])
        found = [job.state for job in jobs.get(case.id, ())]
        if found != wanted:
            has = ", ".join(found) or "no"
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
            said = f"It stands for {campaign.posts} posts, and {members[campaign.id]} are there."
            yield Violation(campaign.lead_case_id, said)


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
