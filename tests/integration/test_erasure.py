"""Erasure of a person: nothing of theirs is left in the database, its files, the exports and the logs (I15)."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL, select

from bot import faults
from bot.chores.chore import Chore
from bot.chores.runner import Chores
from bot.desk import Desk
from bot.draft_queue import DraftQueue
from bot.export import Format, export, write_export
from bot.privacy import ERASURE, ERASURES, Erased, Erasure
from bot.proposals import Proposals
from bot.store import communities, people
from bot.store.cases import Case, transition
from bot.store.database import Database, Session
from bot.store.documents import Preview
from bot.store.schema import AuditRow, CampaignBandRow, CampaignRow, CaseRow, JobRow, JobState
from bot.store.scrub import scrub
from core.decline import DeclineReason
from core.errors import Conflict, NotAllowed, StoreUnavailable
from core.models import FlaggedPost, Suggestion, ThreadMessage
from core.review import CaseState
from core.roles import Role
from tests.fakes import suggestion_for
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import approve, drafted, execute, one_row, take
from tests.fakes.people import ADMIN, COMMUNITY_ID, MANAGER, MODERATOR, OTHER_MODERATOR, PLATFORM, SECRET
from tests.fakes.traces import everything, files_with

CANARY = "canarybird"
AUTHOR = f"{CANARY}-author"


@pytest.fixture
def post(post: FlaggedPost) -> FlaggedPost:
    """A post of which every word that leads to its author holds the canary."""
    return replace(
        post, ref=replace(post.ref, message=f"{CANARY}-1"), text=f"They take, {CANARY}, and take.", author=AUTHOR
    )


async def _erase(database: Database, user: str = AUTHOR) -> Erased:
    return await Erasure(database).erase(PLATFORM, user)


def _suggestion(post: FlaggedPost) -> Suggestion:
    """All that an engine may copy from the post or write about it."""
    made = suggestion_for(post, (f"A draft that quotes the {CANARY}.",))
    return replace(
        made,
        reading=replace(made.reading, implied_meaning=f"{CANARY} means", reason=f"because of {CANARY}"),
        claims=tuple(replace(claim, text=f"{CANARY} pays, too.") for claim in made.claims),
        claim=f"{CANARY} pays, too.",
        queries=(f"{CANARY} taxes",),
        evidence=tuple(replace(passage, summary=f"What it says of {CANARY}.") for passage in made.evidence),
        drafts=tuple(
            replace(
                draft,
                warnings=(f"It names {CANARY}.",),
                receipts=tuple(replace(receipt, sentence=f"{CANARY} works.") for receipt in draft.receipts),
            )
            for draft in made.drafts
        ),
        degraded=(f"Nothing on {CANARY}.",),
    )


async def _reviewed(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Case:
    await desk.flag(post)
    taken = await take(queue)
    return await queue.store(taken, _suggestion(taken.case.post))


async def _move(database: Database, case: Case, *states: CaseState) -> None:
    async def work(session: Session) -> None:
        for state in states:
            row = await session.get_one(CaseRow, case.id, populate_existing=True)
            await transition(session, case.id, row.version, state, actor="outbox", reason="moved")

    await database.run("move", work)


async def _approved(database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Case:
    case = await _reviewed(desk, queue, post)
    await approve(desk, case, reply=f"We answer {CANARY}.")
    return await desk.case(case.id)


async def _in_state(database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, state: CaseState) -> Case:
    """A case of the post, brought to a state as the parts of Antiphon do it, with as many words as it can have."""
    if state is CaseState.QUEUED:
        return await desk.flag(post)
    if state is CaseState.DRAFTING:
        await desk.flag(post)
        taken, made = await take(queue), _suggestion(post)
        await queue.keep(taken, "draft", Preview(made.reading, made.drafts[0], made.evidence))
        return taken.case
    if state is CaseState.NEEDS_PERSON:
        await desk.flag(post)
        return await queue.give_up(await take(queue), "no draft")
    if state in (CaseState.APPROVED, CaseState.POSTED, CaseState.FAILED):
        case = await _approved(database, desk, queue, post)
        if state is not CaseState.APPROVED:
            await _move(database, case, CaseState.SENDING, state)
            await execute(database, f"UPDATE outbox SET state = '{state}', remote_message = '900'")
        return await desk.case(case.id)
    case = await _reviewed(desk, queue, post)
    if state is CaseState.DECLINED:
        case = await desk.redraft(case.id, case.version, f"A claim about {CANARY}", MODERATOR)
        taken = await take(queue)
        case = await queue.store(taken, _suggestion(taken.case.post))
        return await desk.decline(case.id, case.version, MODERATOR, DeclineReason.OTHER, f"I know {CANARY}.")
    await Proposals(database, desk).propose(case.id, case.version, MODERATOR, text=f"We answer {CANARY}.")
    return case


SETTLED = [
    CaseState.QUEUED, CaseState.DRAFTING, CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.APPROVED,
    CaseState.FAILED, CaseState.POSTED, CaseState.DECLINED,
]  # fmt: skip


@pytest.mark.parametrize("state", SETTLED)
async def test_nothing_is_left_of_an_author_in_whatever_state_their_case_is(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, state: CaseState, tmp_path: Path
) -> None:
    """Not in any column, nor, of SQLite, in any byte of its files; what was open is withdrawn, the rest is closed."""
    case = await _in_state(database, desk, queue, post, state)
    erased = await _erase(database)
    is_open = state not in (CaseState.POSTED, CaseState.DECLINED)
    assert (erased.is_known, erased.cases, erased.closed, erased.waiting) == (True, 1, int(is_open), 0)
    said = await everything(database)
    assert [line for line in said.splitlines() if CANARY in line.lower()] == []
    assert files_with(tmp_path, CANARY) == []
    now = await desk.case(case.id)
    assert now.state is (CaseState.WITHDRAWN if is_open else state)
    assert await queue.take() is None
    assert await one_row(database, "SELECT count(*) FROM outbox WHERE state IN ('queued', 'sending')") == (0,)


async def test_what_the_canary_looks_for_is_there_before(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path, server: URL | None
) -> None:
    """Else these tests could not fail."""
    await _in_state(database, desk, queue, post, CaseState.DECLINED)
    said = await everything(database)
    for table in ("cases", "suggestions", "claim_choices", "notes"):
        assert any(line.startswith(f"{table}:") and CANARY in line for line in said.splitlines())
    assert bool(files_with(tmp_path, CANARY)) is (server is None)


async def test_deleting_without_scrubbing_would_leave_the_bytes(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path, server: URL | None
) -> None:
    """Why a file of SQLite is rewritten: its log keeps every page that was."""
    await _in_state(database, desk, queue, post, CaseState.IN_REVIEW)
    await execute(database, "UPDATE cases SET text = '', message = '-'")
    await execute(database, "UPDATE suggestions SET document = ''")
    await execute(database, "DELETE FROM proposals")
    if server is None:
        assert files_with(tmp_path, CANARY)
    await scrub(database)
    assert files_with(tmp_path, CANARY) == []


async def test_a_database_in_use_is_scrubbed_later(tmp_path: Path, clock: FakeClock, post: FlaggedPost) -> None:
    """The erasure itself is committed; the runner rewrites the file as soon as it can."""
    path = tmp_path / "busy.sqlite"
    opened = await Database.open(path, secret=SECRET, clock=clock, busy_seconds=0.1)
    await Desk(opened).flag(post)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM cases").fetchone()
    with pytest.raises(StoreUnavailable):
        await Erasure(opened).erase(PLATFORM, AUTHOR)
    assert CANARY not in await everything(opened)
    assert files_with(tmp_path, CANARY)
    reader.close()
    clock.advance(301)
    await Chores(opened, [Chore(ERASURE, Erasure(opened).do, must_end=True)], "one").drain()
    assert files_with(tmp_path, CANARY) == []
    await opened.close()


async def test_a_reply_on_its_way_is_settled_first(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """The words of the post go at once; the approved text, which the outbox needs to read back, when it is over."""
    case = await _approved(database, desk, queue, post)
    await _move(database, case, CaseState.SENDING)
    await execute(database, "UPDATE outbox SET state = 'sending'")
    erased = await _erase(database)
    assert (erased.cases, erased.waiting) == (0, 1)
    assert (await desk.case(case.id)).post.text == ""
    left = {line.partition(":")[0] for line in (await everything(database)).splitlines() if CANARY in line}
    assert left == {"cases", "approvals"}  # where the post is, and our reply to it
    runner = Chores(database, [Chore(ERASURE, Erasure(database).do, must_end=True)], "one")
    for _ in range(5):
        clock.advance(301)
        assert len(await runner.drain()) == 1
    assert (await desk.case(case.id)).state is CaseState.SENDING
    await _move(database, case, CaseState.POSTED)
    await execute(database, "UPDATE outbox SET state = 'posted'")
    clock.advance(301)
    await runner.drain()
    assert CANARY not in await everything(database)
    clock.advance(301)
    assert await runner.drain() == []


async def test_a_worker_that_drafts_for_an_erased_author_keeps_nothing(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """It has the post in memory, and would write it down again."""
    await desk.flag(post)
    taken = await take(queue)
    await _erase(database)
    assert not await queue.keep(taken)
    with pytest.raises(Conflict):
        await queue.store(taken, _suggestion(taken.case.post))
    assert CANARY not in await everything(database)


def _quoting(post: FlaggedPost) -> FlaggedPost:
    """Another one's post, with words of the author in the thread before it."""
    thread = (ThreadMessage(AUTHOR, f"I am {CANARY}."), ThreadMessage("mill_pond", "The cheese stall opens at eight."))
    return replace(
        post, ref=replace(post.ref, message="105"), text="An answer.", author="grey_heron", thread=(*thread, thread[0])
    )


async def test_their_words_go_from_the_threads_of_others(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path
) -> None:
    """From the case and from the suggestion's copy of it; what the others said stays."""
    case = await drafted(desk, queue, _quoting(post))
    erased = await _erase(database)
    assert (erased.cases, erased.turns) == (0, 2)
    assert CANARY not in await everything(database)
    assert files_with(tmp_path, CANARY) == []
    now, stored = await desk.case(case.id), await desk.suggestion(case.id)
    assert stored is not None
    assert now.state is CaseState.IN_REVIEW
    for thread in (now.post.thread, stored.suggestion.post.thread):
        assert [turn.text for turn in thread] == ["[erased]", "The cheese stall opens at eight.", "[erased]"]
    assert now.post.text == "An answer."


async def test_a_draft_that_is_written_from_their_words_is_written_anew(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The worker read the thread before; what it makes of it is refused, and the case is drafted again."""
    await desk.flag(_quoting(post))
    taken = await take(queue)
    erased = await _erase(database)
    assert erased.requeued == 1
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(taken.case.post))
    again = await take(DraftQueue(database, "worker-2"))
    assert again.case.post.thread[0].text == "[erased]"
    assert CANARY not in await everything(database)


async def test_a_moderator_s_notes_roles_and_claim_go(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path
) -> None:
    """What they decided stays, by a pseudonym that nobody can tie to them."""
    person = replace(MODERATOR, user=f"{CANARY}-moderator", name=f"{CANARY} the Moderator")
    await database.run("grant", lambda s: people.grant(s, COMMUNITY_ID, person, {Role.MODERATOR}, by="test"))
    case = await drafted(desk, queue, replace(post, ref=replace(post.ref, message="105"), text="x", author="y"))
    closed = await desk.decline(case.id, case.version, person, DeclineReason.OTHER, f"I, {CANARY}, say no.")
    erased = await _erase(database, person.user)
    assert (erased.cases, erased.notes, erased.memberships) == (0, 1, 1)
    assert CANARY not in await everything(database)
    assert files_with(tmp_path, CANARY) == []
    last = (await desk.history(case.id))[-1]
    assert (last.to_state, last.note) == (CaseState.DECLINED, "")
    assert last.actor.startswith("p-")
    assert await desk.case(case.id) == closed


async def test_what_a_moderator_was_shown_to_approve_goes_with_them(
    database: Database, desk: Desk, in_review: Case
) -> None:
    """It is their text; and a card that named them is to be shown anew."""
    bold = "We all live here, and 93% of us are glad."
    proposals = Proposals(database, desk)
    await proposals.approve(
        (await proposals.propose(in_review.id, in_review.version, MODERATOR, text=bold)).id, MODERATOR
    )
    (before,) = await one_row(database, "SELECT unshown FROM cases")
    await _erase(database, MODERATOR.user)
    assert await one_row(database, "SELECT count(*) FROM proposals") == (0,)
    (after,) = await one_row(database, "SELECT unshown FROM cases")
    assert int(str(after)) > int(str(before))


async def test_a_moderator_who_was_erased_may_do_nothing_any_more(
    database: Database, desk: Desk, in_review: Case
) -> None:
    """Their roles went with them; coming back, they are somebody new."""
    await _erase(database, MODERATOR.user)
    with pytest.raises(NotAllowed):
        await approve(desk, in_review)
    await approve(desk, in_review, by=OTHER_MODERATOR)


async def test_the_key_is_shredded(database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost) -> None:
    """The pseudonym that is left in counts and in the audit log cannot be made again, even with the secret."""
    case = await drafted(desk, queue, post)
    before = case.post.author
    await _erase(database)
    assert (await desk.case(case.id)).post.author == before

    async def known(session: Session) -> str | None:
        return await people.known_pseudonym(session, PLATFORM, AUTHOR)

    assert await database.run("look", known) is None
    again = await desk.flag(replace(post, ref=replace(post.ref, message="200")))
    assert again.post.author != before


async def test_the_audit_log_says_that_somebody_was_erased_and_not_who(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Each erasure is a line of a stream of its own, by whoever asked for it."""
    await drafted(desk, queue, post)
    await Erasure(database).erase(PLATFORM, AUTHOR, by=ADMIN, community_id=COMMUNITY_ID)
    await _erase(database, "mill_pond")

    async def lines(session: Session) -> list[tuple[int, bool, str]]:
        rows = await session.scalars(select(AuditRow).filter_by(stream=ERASURES).order_by(AuditRow.seq))
        return [(row.seq, row.actor.startswith("p-"), row.reason) for row in rows]

    said = "a person was erased on request"
    assert await database.run("read lines", lines) == [(1, True, said), (2, False, said)]


async def test_only_an_administrator_may_erase_somebody(database: Database, desk: Desk, post: FlaggedPost) -> None:
    """It cannot be undone; who is refused has changed nothing."""
    await desk.flag(post)
    before = await everything(database)
    for person in (MANAGER, MODERATOR):
        with pytest.raises(NotAllowed):
            await Erasure(database).erase(PLATFORM, AUTHOR, by=person, community_id=COMMUNITY_ID)
    assert await everything(database) == before


async def test_who_is_flagged_again_for_the_same_post_can_be_erased_again(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The post may stand on the platform still; each time its case is another one, and nothing of it is left."""
    for _ in range(3):
        await drafted(desk, queue, post)
        assert (await _erase(database)).cases == 1
        assert CANARY not in await everything(database)
    assert len({case.id for case in await desk.cases()}) == 3


async def test_what_is_typed_about_an_erased_case_is_not_kept(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """A reply to them may be retracted afterwards, and the moderator says why: that it was is written down, no more."""
    case = await _in_state(database, desk, queue, post, CaseState.POSTED)
    await _erase(database)

    now = await desk.case(case.id)

    async def retract(session: Session) -> None:
        said = {"actor": "p-somebody", "reason": "retracted", "note": f"I know {CANARY}."}
        await transition(session, case.id, now.version, CaseState.RETRACTED, **said)

    await database.run("retract", retract)
    assert (await desk.history(case.id))[-1].to_state is CaseState.RETRACTED
    assert CANARY not in await everything(database)


async def test_somebody_unknown_is_said_to_be_unknown(database: Database) -> None:
    """A slip in the id must not look like an erasure; and the same erasure twice does no harm."""
    assert await _erase(database, "nobody") == Erased(is_known=False)
    assert (await _erase(database, MODERATOR.user)).is_known
    assert await _erase(database, MODERATOR.user) == Erased(is_known=False)


async def test_another_post_leads_the_campaign_of_an_erased_one(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The others were folded into the case that is gone; what it was like is forgotten."""
    lead = await drafted(desk, queue, post)
    other = await desk.flag(replace(post, ref=replace(post.ref, message="200"), text="Take!", author="grey_heron"))

    async def fold(session: Session) -> None:
        now = session.moment
        row = {"posts": 2, "created_at": now, "updated_at": now}
        session.add(CampaignRow(id="c1", community_id=COMMUNITY_ID, lead_case_id=lead.id, **row))
        await session.flush()
        session.add(CampaignBandRow(community_id=COMMUNITY_ID, band=CANARY, campaign_id="c1"))
        for case_id in (lead.id, other.id):
            (await session.get_one(CaseRow, case_id)).campaign_id = "c1"

    await database.run("fold", fold)
    await execute(database, f"UPDATE cases SET state = 'folded' WHERE id = '{other.id}'")
    await execute(database, "DELETE FROM jobs")
    await _erase(database)
    assert CANARY not in await everything(database)
    assert await one_row(database, "SELECT lead_case_id FROM campaigns") == (other.id,)
    assert (await take(queue)).case.id == other.id


class Crash(Exception):
    """The process died here."""


async def _points(run: Callable[[], Awaitable[object]]) -> list[str]:
    """Every point that a run passes, in order."""
    passed = list[str]()

    async def note(point: str) -> None:
        passed.append(point)

    with faults.installed(note):
        await run()
    return passed


async def test_an_erasure_that_was_cut_off_anywhere_is_finished(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock, tmp_path: Path
) -> None:
    """At each named point the process dies once: before the request is kept nothing has changed, after it all goes."""
    await _reviewed(desk, queue, post)
    await drafted(desk, queue, _quoting(post))
    points = await _points(lambda: _erase(database))
    assert "shred a person's key: after the commit" in points
    runner = Chores(database, [Chore(ERASURE, Erasure(database).do, must_end=True)], "one")
    for number in range(len(points)):
        again = replace(post, ref=replace(post.ref, message=f"{CANARY}-{number + 10}"))
        await _reviewed(desk, queue, again)
        quoting = _quoting(post)
        await drafted(desk, queue, replace(quoting, ref=replace(quoting.ref, message=str(number + 500))))
        left = [number]

        async def die(_: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Crash

        with faults.installed(die), pytest.raises(Crash):
            await _erase(database)
        if number == 0:
            assert CANARY in await everything(database)
            assert (await _erase(database)).is_known
        clock.advance(301)
        await runner.drain()
        assert CANARY not in await everything(database), points[number]
        assert files_with(tmp_path, CANARY) == [], points[number]
        await execute(database, "DELETE FROM jobs")


async def test_no_word_of_a_case_is_logged(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, caplog: pytest.LogCaptureFixture
) -> None:
    """Logs are kept elsewhere, and cannot be erased."""
    caplog.set_level(logging.DEBUG)
    await _in_state(database, desk, queue, post, CaseState.DECLINED)
    await _erase(database)
    assert CANARY not in caplog.text


async def test_an_export_made_afterwards_does_not_know_them(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path
) -> None:
    """Their case is left out whole; who flagged another's post is nobody any more."""
    case = await drafted(desk, queue, post)
    await desk.decline(case.id, case.version, MODERATOR, DeclineReason.OTHER, "no")
    kept = await drafted(desk, queue, replace(post, ref=replace(post.ref, message="200"), text="x", author="y"))
    pseudonym = case.post.author
    for user in (AUTHOR, "mill_pond"):
        await _erase(database, user)
    for how in Format:
        file = tmp_path / f"export.{how}"
        count = await write_export(export(database, COMMUNITY_ID), file, how)
        said = file.read_text()
        assert count == 1
        assert kept.id in said
        assert CANARY not in said
        assert pseudonym not in said
        assert case.post.flagged_by not in said


async def test_a_finished_erasure_is_not_begun_again(
    database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock
) -> None:
    """The job that stands by is over when all is done."""
    await desk.flag(post)
    await _erase(database)

    async def states(session: Session) -> list[JobState]:
        return list(await session.scalars(select(JobRow.state).filter_by(kind=ERASURE)))

    assert await database.run("read jobs", states) == [JobState.DONE]
    clock.advance(3600)
    assert await Chores(database, [Chore(ERASURE, Erasure(database).do)], "one").drain() == []


async def test_a_pause_or_role_that_they_gave_stands(database: Database) -> None:
    """What an erased manager decided for the community holds on."""

    async def pause(session: Session) -> None:
        who = await people.pseudonym(session, PLATFORM, MANAGER.user)
        await communities.pause(session, COMMUNITY_ID, who)

    await database.run("pause", pause)
    await _erase(database, MANAGER.user)
    scopes = [COMMUNITY_ID]
    assert await database.run("look", lambda session: communities.paused(session, scopes)) == scopes
