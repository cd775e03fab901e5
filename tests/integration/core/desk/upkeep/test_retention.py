"""Retention: words go some weeks after a case was closed, its statistics some months after."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.invariants.checks import check
from core.desk.invariants.facts import AuditLimits
from core.desk.rules.closures import CloseReason
from core.desk.schema import Change
from core.desk.store.cases import Case
from core.desk.store.erasure import has_words
from core.desk.store.suggestions import posted_replies
from core.desk.upkeep.retention import Retention
from core.models import FlaggedPost
from tests.fakes.desk.audit_log import lines_of
from tests.fakes.desk.chores import DAY, NOW, closed, job, other, posted
from tests.fakes.desk.decisions import approve, one_row
from tests.fakes.desk.people import COMMUNITY, MODERATOR, PLATFORM
from tests.fakes.desk.traces import everything
from tests.fakes.machine.clock import FakeClock

_DAYS = (*range(0, 28, 7), *range(28, 33), *range(40, 360, 20), *range(363, 368), 403)
"""When it is done and looked at: each day around those on which something must go."""


async def test_thirteen_months_of_retention(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Words go after 30 days, statistics after 12 months, the audit log never."""
    begin = clock()
    retention = Retention(database, days=30, months=12)
    case = await closed(desk, queue, post)
    lines = len(await desk.queries.history(case.id))
    gone_at = dict[str, int]()
    for day in _DAYS:
        clock.now = begin + timedelta(days=day)
        await retention.do(job(f"retention:{day}"))
        said = await everything(database)
        here = {"words": post.text in said, "drafts": "newcomers work" in said, "note": "typed by" in said}
        rows = await one_row(database, "SELECT count(*) FROM cases")
        for what, is_there in {**here, "statistics": rows != (0,)}.items():
            if not is_there:
                gone_at.setdefault(what, day)
    assert gone_at == {"words": 30, "drafts": 30, "note": 30, "statistics": 365}
    assert [line.change for line in await lines_of(database, case.id)][lines:] == [Change.DELETED]
    assert await check(database, limits=AuditLimits(lease=None)) == {}


@pytest.mark.both_databases
async def test_what_can_be_counted_is_kept_without_the_words(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """State, hashes, severity, scores and costs; the desk can still show the case."""
    reply = await approve(desk, in_review)
    done = await posted(database, desk, in_review, "900")
    before = await desk.queries.suggestion(in_review.id)
    assert before is not None
    clock.advance(30 * DAY)
    await Retention(database).do(NOW)
    case, after = await desk.queries.case(in_review.id), await desk.queries.suggestion(in_review.id)
    assert (case.state, case.version, case.post.text, case.post.thread) == (done.state, done.version, "", ())
    assert after is not None
    kept = after.suggestion
    assert (kept.reading.severity, kept.reading.target_group) == (2, before.suggestion.reading.target_group)
    assert [draft.scores for draft in kept.drafts] == [draft.scores for draft in before.suggestion.drafts]
    assert kept.cost == before.suggestion.cost
    assert await one_row(database, "SELECT text, footer, sha256 FROM approvals") == ("", "", reply.sha256)
    replies = await database.run("read replies", lambda session: posted_replies(session, PLATFORM, COMMUNITY, 10))
    assert replies == []
    (document,) = await one_row(database, "SELECT document FROM suggestions")
    assert not has_words(str(document))


@pytest.mark.both_databases
async def test_a_text_that_was_shown_and_not_approved_is_forgotten_after_a_day(
    database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Or when its case is closed; one that somebody may still be reading stays."""
    proposals, left = desk.proposals, "SELECT count(*) FROM proposals"
    await proposals.propose(in_review.id, in_review.version, MODERATOR, rank=1)
    clock.advance(DAY - 1)
    await proposals.propose(in_review.id, in_review.version, MODERATOR, rank=2)
    await Retention(database).do(NOW)
    assert await one_row(database, left) == (2,)
    clock.advance(1)
    await Retention(database).do(NOW)
    assert await one_row(database, left) == (1,)
    await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.SILENCE, "no use")
    await Retention(database).do(NOW)
    assert await one_row(database, left) == (0,)


@pytest.mark.both_databases
async def test_an_open_case_keeps_its_words(database: Database, desk: Desk, in_review: Case, clock: FakeClock) -> None:
    clock.advance(400 * DAY)
    await Retention(database).do(NOW)
    assert await desk.queries.case(in_review.id) == in_review


async def test_a_post_flagged_again_after_the_retention_keeps_its_case(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """The case without words still says that this was decided (invariant I4)."""
    case = await closed(desk, queue, post)
    clock.advance(30 * DAY)
    await Retention(database).do(NOW)
    assert (await desk.intake.flag(post)).id == case.id


async def test_people_whom_nothing_names_any_more_are_forgotten(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Who is in a thread of an open case, or has a role, stays."""
    await closed(desk, queue, replace(post, author="gone", flagged_by="gone too", thread=()))
    clock.advance(366 * DAY)
    fresh = await desk.intake.flag(other(post, "104"))
    people = await one_row(database, "SELECT count(*) FROM persons")
    done = await Retention(database).do(NOW)
    assert done.what == "1 case without words, 1 deleted, 2 people forgotten"
    assert await one_row(database, "SELECT count(*) FROM persons") == (int(str(people[0])) - 2,)
    assert (await desk.queries.case(fresh.id)).post.thread == fresh.post.thread


async def test_erased_words_are_to_be_scrubbed_off_the_disk(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """In the same transaction as the erasure, so that no stop in between is forgotten; once for a slot."""
    await closed(desk, queue, post)
    await Retention(database).do(job("retention:one"))
    assert await one_row(database, "SELECT count(*) FROM jobs WHERE kind = 'scrub'") == (0,)
    clock.advance(30 * DAY)
    await Retention(database).do(job("retention:two"))
    assert await one_row(database, "SELECT key FROM jobs WHERE kind = 'scrub'") == ("scrub:retention:two",)
