"""The chores, one by one: what each closes, erases, deletes, looks after and writes down, and what it lets alone."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from adapters.sample.community import SampleCommunity
from bot.chores.backups import Backups
from bot.chores.digest import Digest, broken_digests
from bot.chores.expiry import Expiry
from bot.chores.follow_ups import FollowUps
from bot.chores.pruning import Pruning
from bot.chores.retention import Retention
from bot.chores.stale import StaleCases
from bot.desk import Desk
from bot.draft_queue import DraftQueue
from bot.proposals import Proposals
from bot.store import jobs
from bot.store.cases import Case, transition
from bot.store.database import Database, Session
from bot.store.erasing import DELETED, has_words
from bot.store.schema import AuditRow, CaseRow, JobRow, JobState, OutboxRow, OutcomeRow, SuggestionRow
from core.decline import DeclineReason
from core.errors import Conflict, PlatformUnavailable
from core.models import FlaggedPost, PostRef
from core.review import CaseState
from tests.fakes import suggestion_for
from tests.fakes.chores import NOW, job
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import approve, drafted, execute, one_row, take
from tests.fakes.people import MODERATOR
from tests.fakes.traces import everything

DAY = 24 * 3600


async def _posted(database: Database, desk: Desk, case: Case, message: str | None = None) -> Case:
    """Bring an approved case to ``posted``, as the outbox does."""

    async def work(session: Session) -> Case:
        now = await session.get_one(CaseRow, case.id)
        sending = await transition(session, case.id, now.version, CaseState.SENDING, actor="outbox", reason="sending")
        return await transition(session, case.id, sending.version, CaseState.POSTED, actor="outbox", reason="posted")

    posted = await database.run("post", work)
    remote = "NULL" if message is None else f"'{message}'"
    await execute(
        database,
        f"UPDATE outbox SET state = 'posted', remote_message = {remote}, posted_at = updated_at WHERE approval_id IN "
        f"(SELECT id FROM approvals WHERE case_id = '{case.id}')",
    )
    return posted


async def _closed(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Case:
    case = await drafted(desk, queue, post)
    return await desk.decline(case.id, case.version, MODERATOR, DeclineReason.OTHER, "typed by a moderator")


def _other(post: FlaggedPost, message: str) -> FlaggedPost:
    return replace(post, ref=replace(post.ref, message=message))


# Expiry


async def test_drafts_that_nobody_decides_expire_after_a_day(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Not before: the moderators' day is as long as everybody's."""
    expiry = Expiry(database, draft_hours=24)
    clock.advance(DAY - 1)
    await expiry.do(NOW)
    assert (await desk.case(in_review.id)).state is CaseState.IN_REVIEW
    clock.advance(1)
    done = await expiry.do(NOW)
    assert done.what.startswith("1 undecided")
    assert (await desk.history(in_review.id))[-1].reason == "nobody decided in time"
    assert (await desk.case(in_review.id)).state is CaseState.EXPIRED


async def test_a_case_that_nobody_drafts_expires_with_its_work(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """What has been said a day ago is not answered any more."""
    case = await desk.flag(post)
    clock.advance(DAY)
    await Expiry(database).do(NOW)
    assert (await desk.case(case.id)).state is CaseState.EXPIRED
    assert await queue.take() is None


async def test_a_case_that_somebody_looks_at_does_not_expire(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Not under their hands; when they let go, it does."""
    clock.advance(DAY)
    await _claim(database, in_review, clock, seconds=600)
    await Expiry(database).do(NOW)
    assert (await desk.case(in_review.id)).state is CaseState.IN_REVIEW
    clock.advance(601)
    await Expiry(database).do(NOW)
    assert (await desk.case(in_review.id)).state is CaseState.EXPIRED


async def _claim(database: Database, case: Case, clock: FakeClock, seconds: float) -> None:
    async def work(session: Session) -> None:
        row = await session.get_one(CaseRow, case.id)
        row.claimed_by, row.claimed_until = "p-somebody", clock() + timedelta(seconds=seconds)

    await database.run("claim", work)


async def test_a_claim_that_ran_out_is_given_up(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """A forgotten claim blocks nobody; one that holds is let alone."""
    await _claim(database, in_review, clock, seconds=600)
    await Expiry(database).do(NOW)
    assert (await desk.case(in_review.id)).claimed_by == "p-somebody"
    clock.advance(601)
    await Expiry(database).do(NOW)
    assert await desk.case(in_review.id) == in_review


async def test_an_approval_that_expired_is_never_sent(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """The case expires, and its reply leaves the outbox."""
    await approve(desk, in_review)
    clock.advance(DAY - 1)
    await Expiry(database).do(NOW)
    assert (await desk.case(in_review.id)).state is CaseState.APPROVED
    clock.advance(1)
    await Expiry(database).do(NOW)
    assert (await desk.case(in_review.id)).state is CaseState.EXPIRED
    assert await one_row(database, "SELECT state FROM outbox") == ("cancelled",)


async def test_a_reply_that_is_being_sent_does_not_expire(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Its fate is the outbox's to find out."""
    await approve(desk, in_review)
    await _to_sending(database, in_review)
    clock.advance(90 * DAY)
    await Expiry(database).do(NOW)
    assert (await desk.case(in_review.id)).state is CaseState.SENDING


async def _to_sending(database: Database, case: Case) -> None:
    async def work(session: Session) -> None:
        row = await session.get_one(CaseRow, case.id)
        await transition(session, case.id, row.version, CaseState.SENDING, actor="outbox", reason="sending")

    await database.run("send", work)
    await execute(database, "UPDATE outbox SET state = 'sending'")


async def test_what_a_person_never_took_care_of_expires_after_the_retention(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Else its words would be kept for ever."""
    await desk.flag(post)
    case = await queue.give_up(await take(queue), "The engine has no draft to offer.")
    expiry = Expiry(database, person_days=30)
    clock.advance(30 * DAY - 1)
    await expiry.do(NOW)
    assert (await desk.case(case.id)).state is CaseState.NEEDS_PERSON
    clock.advance(1)
    await expiry.do(NOW)
    assert (await desk.case(case.id)).state is CaseState.EXPIRED


async def test_more_cases_than_one_transaction_takes_expire_at_once(
    database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """Batches keep the others' wait short, and leave nothing behind."""
    for number in range(53):
        await desk.flag(_other(post, str(1000 + number)))
    clock.advance(DAY)
    assert (await Expiry(database).do(NOW)).what.startswith("53 undecided")


# Retention


async def test_thirteen_months_of_retention(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Words go after 30 days, statistics after 12 months, the audit log never."""
    begin = clock()
    retention = Retention(database, days=30, months=12)
    case = await _closed(desk, queue, post)
    lines = len(await desk.history(case.id))
    gone_at = dict[str, float]()
    for day in range(13 * 31):
        await retention.do(job(f"retention:{day}"))
        said = await everything(database)
        here = {"words": post.text in said, "drafts": "newcomers work" in said, "note": "typed by" in said}
        rows = await _count(database, CaseRow)
        for what, is_there in {**here, "statistics": bool(rows)}.items():
            if not is_there:
                gone_at.setdefault(what, (clock() - begin).days)
        clock.advance(DAY)
    assert gone_at == {"words": 30, "drafts": 30, "note": 30, "statistics": 365}
    assert [entry.reason for entry in await _lines(database, case.id)][lines:] == [DELETED]


async def _count(database: Database, table: type[CaseRow] | type[SuggestionRow]) -> int:
    return len(await database.run("count", lambda session: _all(session, table)))


async def _all(session: Session, table: type[CaseRow] | type[SuggestionRow]) -> list[object]:
    return list(await session.scalars(select(table)))


async def _lines(database: Database, stream: str) -> list[AuditRow]:
    async def work(session: Session) -> list[AuditRow]:
        return list(await session.scalars(select(AuditRow).filter_by(stream=stream).order_by(AuditRow.seq)))

    return await database.run("read lines", work)


async def test_what_can_be_counted_is_kept_without_the_words(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """State, hashes, severity, scores and costs; the desk can still show the case."""
    reply = await approve(desk, in_review)
    posted = await _posted(database, desk, in_review, "900")
    before = await desk.suggestion(in_review.id)
    assert before is not None
    clock.advance(30 * DAY)
    await Retention(database).do(NOW)
    case, after = await desk.case(in_review.id), await desk.suggestion(in_review.id)
    assert (case.state, case.version, case.post.text, case.post.thread) == (posted.state, posted.version, "", ())
    assert after is not None
    kept = after.suggestion
    assert (kept.reading.severity, kept.reading.target_group) == (2, before.suggestion.reading.target_group)
    assert [draft.scores for draft in kept.drafts] == [draft.scores for draft in before.suggestion.drafts]
    assert kept.cost == before.suggestion.cost
    assert await one_row(database, "SELECT text, footer, sha256 FROM approvals") == ("", "", reply.sha256)
    assert await desk.posted_replies(in_review.post.ref, 10) == []
    assert not has_words((await _documents(database))[0])


async def _documents(database: Database) -> list[str]:
    async def work(session: Session) -> list[str]:
        return list(await session.scalars(select(SuggestionRow.document)))

    return await database.run("read documents", work)


async def test_a_text_that_was_shown_and_not_approved_is_forgotten_after_a_day(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Or when its case is closed; one that somebody may still be reading stays."""
    proposals, left = Proposals(database, desk), "SELECT count(*) FROM proposals"
    await proposals.propose(in_review.id, in_review.version, MODERATOR, rank=1)
    clock.advance(DAY - 1)
    await proposals.propose(in_review.id, in_review.version, MODERATOR, rank=2)
    await Retention(database).do(NOW)
    assert await one_row(database, left) == (2,)
    clock.advance(1)
    await Retention(database).do(NOW)
    assert await one_row(database, left) == (1,)
    await desk.stay_silent(in_review.id, in_review.version, MODERATOR, "no use")
    await Retention(database).do(NOW)
    assert await one_row(database, left) == (0,)


async def test_an_open_case_keeps_its_words(database: Database, desk: Desk, in_review: Case, clock: FakeClock) -> None:
    """They are still worked with."""
    clock.advance(400 * DAY)
    await Retention(database).do(NOW)
    assert await desk.case(in_review.id) == in_review


async def test_a_post_flagged_again_after_the_retention_keeps_its_case(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """The case without words still says that this was decided (invariant I4)."""
    case = await _closed(desk, queue, post)
    clock.advance(30 * DAY)
    await Retention(database).do(NOW)
    assert (await desk.flag(post)).id == case.id


async def test_people_whom_nothing_names_any_more_are_forgotten(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Who is in a thread of an open case, or has a role, stays."""
    await _closed(desk, queue, replace(post, author="gone", flagged_by="gone too", thread=()))
    clock.advance(366 * DAY)
    fresh = await desk.flag(_other(post, "104"))
    people = await one_row(database, "SELECT count(*) FROM persons")
    done = await Retention(database).do(NOW)
    assert done.what == "1 cases without words, 1 deleted, 2 people forgotten"
    assert await one_row(database, "SELECT count(*) FROM persons") == (int(str(people[0])) - 2,)
    assert (await desk.case(fresh.id)).post.thread == fresh.post.thread


async def test_erased_words_are_to_be_scrubbed_off_the_disk(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """In the same transaction as the erasure, so that no stop in between is forgotten; once for a slot."""
    await _closed(desk, queue, post)
    await Retention(database).do(job("retention:one"))
    assert await one_row(database, "SELECT count(*) FROM jobs WHERE kind = 'scrub'") == (0,)
    clock.advance(30 * DAY)
    await Retention(database).do(job("retention:two"))
    assert await one_row(database, "SELECT key FROM jobs WHERE kind = 'scrub'") == ("scrub:retention:two",)


# Stale cases


async def _no_sends() -> list[object]:
    return []


async def test_a_draft_whose_worker_is_gone_is_queued_again_with_its_attempts(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Two leases after the last sign of life; the lost worker can keep nothing (invariant I5)."""
    await desk.flag(post)
    taken = await take(queue)
    reaper = StaleCases(database, _no_sends, lease_seconds=60)
    clock.advance(120)
    await reaper.do(NOW)
    assert (await desk.case(taken.case.id)).state is CaseState.DRAFTING
    clock.advance(1)
    assert (await reaper.do(NOW)).what == "1 drafts queued again, 0 sends settled"
    assert (await desk.case(taken.case.id)).state is CaseState.QUEUED
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(post))
    assert (await take(DraftQueue(database, "worker-2"))).job.attempts == 2


async def test_a_worker_that_is_alive_is_let_alone(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """However long it takes."""
    await desk.flag(post)
    taken = await take(queue)
    for _ in range(10):
        clock.advance(45)
        assert await queue.keep(taken)
        await StaleCases(database, _no_sends, lease_seconds=60).do(NOW)
    await queue.store(taken, suggestion_for(post))


async def test_a_draft_without_any_work_gets_new_work(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """A case that nobody could ever take again would be lost."""
    await desk.flag(post)
    await take(queue)
    await execute(database, "DELETE FROM jobs")
    clock.advance(121)
    await StaleCases(database, _no_sends).do(NOW)
    assert (await take(queue)).job.attempts == 1


async def test_interrupted_sends_are_left_to_the_outbox_s_recovery(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Called only when one is stale; nothing is sent from here."""
    calls = list[str]()

    async def recover() -> list[object]:
        calls.append("recover")
        return ["settled"]

    await approve(desk, in_review)
    await _to_sending(database, in_review)
    reaper = StaleCases(database, recover, lease_seconds=60)
    clock.advance(119)
    await reaper.do(NOW)
    assert calls == []
    clock.advance(2)
    assert (await reaper.do(NOW)).what == "0 drafts queued again, 1 sends settled"
    assert calls == ["recover"]


async def test_a_send_under_a_live_lease_is_let_alone(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """A platform may take its time."""

    async def recover() -> list[object]:
        raise AssertionError("there is nothing to recover")

    await approve(desk, in_review)
    await _to_sending(database, in_review)
    clock.advance(600)

    async def renew(session: Session) -> None:
        await session.execute(update(OutboxRow).values(lease_until=session.moment + timedelta(seconds=1)))

    await database.run("renew", renew)
    await StaleCases(database, recover, lease_seconds=60).do(NOW)


# Digest


async def test_the_digest_shows_that_a_chain_is_missing_or_changed(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """What happens later does not change it; what is taken away does (threat T21)."""
    first = await _closed(desk, queue, post)
    done = await Digest(database).do(job("audit digest:one"))
    await _closed(desk, queue, _other(post, "104"))
    clock.advance(DAY)
    await Digest(database).do(job("audit digest:two"))
    assert await database.run("check digests", broken_digests) == []
    assert await one_row(database, "SELECT streams FROM digests ORDER BY last_line LIMIT 1") == (2,)
    assert done.what.startswith("2 chains")
    for statement in _off(database):
        await execute(database, statement)
    await execute(database, f"DELETE FROM audit WHERE stream = '{first.id}'")
    assert await database.run("check digests", broken_digests) == ["audit digest:one", "audit digest:two"]


def _off(database: Database) -> list[str]:
    """Take away what refuses changes of the audit log, as an intruder with the database's password would."""
    if database.is_postgresql:
        return ["ALTER TABLE audit DISABLE TRIGGER ALL"]
    return ["DROP TRIGGER audit_refuses_update", "DROP TRIGGER audit_refuses_delete"]


async def test_a_slot_has_one_digest(database: Database, desk: Desk, post: FlaggedPost) -> None:
    """The first one stands."""
    await Digest(database).do(job("audit digest:one"))
    kept = await one_row(database, "SELECT sha256 FROM digests")
    await desk.flag(post)
    await Digest(database).do(job("audit digest:one"))
    assert await one_row(database, "SELECT sha256 FROM digests") == kept


# Pruning


async def test_jobs_that_are_over_are_deleted_after_a_week(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """What waits or runs is never deleted."""
    await _closed(desk, queue, post)
    await desk.flag(_other(post, "104"))
    await database.run("ask", lambda session: jobs.enqueue(session, "tidy:1", "tidy"))
    clock.advance(7 * DAY)
    assert (await Pruning(database).do(NOW)).what == "0 jobs deleted"
    clock.advance(1)
    assert (await Pruning(database).do(NOW)).what == "1 jobs deleted"

    async def states(session: Session) -> set[JobState]:
        return set(await session.scalars(select(JobRow.state)))

    assert await database.run("read states", states) == {JobState.READY}


# Backups


async def test_a_backup_is_made_and_old_ones_are_deleted(database: Database, tmp_path: Path, clock: FakeClock) -> None:
    """Who was erased is in no backup for longer than it is kept."""
    folder = tmp_path / "backups"

    async def make(into: Path) -> Path:
        made = into / f"{clock():%j}.db"
        made.write_text("a backup")
        os.utime(made, (clock().timestamp(),) * 2)
        return made

    backups = Backups(database, make, folder, kept_days=3)
    for _ in range(6):
        await backups.do(NOW)
        clock.advance(DAY)
    assert sorted(file.name for file in folder.iterdir()) == ["063.db", "064.db", "065.db", "066.db"]
    assert folder.stat().st_mode & 0o077 == 0


# Follow-ups


@pytest.fixture
def community() -> SampleCommunity:
    """The platform of the posts."""
    return SampleCommunity()


async def _outcomes(database: Database) -> list[tuple[int, bool | None, bool | None, int]]:
    async def work(session: Session) -> list[tuple[int, bool | None, bool | None, int]]:
        rows = await session.scalars(select(OutcomeRow).order_by(OutcomeRow.after_hours))
        return [(row.after_hours, row.reply_stands, row.original_stands, row.author_flagged_again) for row in rows]

    return await database.run("read outcomes", work)


async def _replied(database: Database, desk: Desk, case: Case, community: SampleCommunity) -> str:
    """Our reply stands on the platform; its message."""
    reply = await approve(desk, case)
    message = community.add("antiphon", reply.text, case.post.ref.message).id
    await _posted(database, desk, case, message)
    return message


async def test_a_reply_is_looked_after_after_a_day_a_week_and_four_weeks(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """Once each: does the reply stand, does the post, was its author flagged again?"""
    message = await _replied(database, desk, in_review, community)
    follow_ups = FollowUps(database, {"sample": community})
    for hour in range(29 * 24):
        if hour == 25:
            community.delete(message)
            again = community.add("north_gate_74", "They take and take.")
            await desk.flag(replace(in_review.post, ref=community.ref(again.id), author="north_gate_74"))
        if hour == 8 * 24:
            community.delete(in_review.post.ref.message)
        if hour % 12 == 0:
            await follow_ups.do(NOW)
        clock.advance(3600)
    assert await _outcomes(database) == [(24, True, True, 0), (168, False, True, 1), (672, False, False, 1)]


async def test_a_look_that_comes_late_counts_for_the_later_point(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """Antiphon was off for nine days: nobody knows what was there after one."""
    await _replied(database, desk, in_review, community)
    clock.advance(9 * DAY)
    await FollowUps(database, {"sample": community}).do(NOW)
    assert await _outcomes(database) == [(168, True, True, 0)]


async def test_a_platform_that_does_not_answer_is_asked_again_and_its_silence_is_written_down_in_the_end(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """What could not be told is no finding."""
    await _replied(database, desk, in_review, community)

    class Silent(SampleCommunity):
        async def read(self, ref: PostRef) -> str | None:
            raise PlatformUnavailable("The platform is down.")

    follow_ups = FollowUps(database, {"sample": Silent()})
    clock.advance(DAY)
    assert (await follow_ups.do(NOW)).what == "0 of 1 replies looked after"
    clock.advance(DAY)
    await follow_ups.do(NOW)
    assert await _outcomes(database) == [(24, None, None, 0)]


async def test_what_was_not_posted_is_not_looked_after(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """Nor is a reply on a platform that is not connected."""
    await approve(desk, in_review)
    clock.advance(DAY)
    assert (await FollowUps(database, {"sample": community}).do(NOW)).what == "0 of 0 replies looked after"
    await _posted(database, desk, in_review, "900")
    clock.advance(DAY)
    assert (await FollowUps(database, {}).do(NOW)).what == "0 of 0 replies looked after"


async def test_a_follow_up_never_posts(
    database: Database, desk: Desk, in_review: Case, community: SampleCommunity, clock: FakeClock
) -> None:
    """It reads, and nothing on the platform changes."""
    await _replied(database, desk, in_review, community)
    before = community.thread()
    clock.advance(28 * DAY)
    await FollowUps(database, {"sample": community}).do(NOW)
    assert community.thread() == before
    assert await _outcomes(database) == [(672, True, True, 0)]
