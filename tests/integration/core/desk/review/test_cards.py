"""What stands in a review channel: each open case once, as it is now, and no word of one that was erased."""

from dataclasses import replace

import pytest

from adapters.sample import SampleCommunity
from bot.compose.desk import Desk, build_desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.review.board import ReviewBoard
from core.desk.review.casework import note_original
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from core.desk.store.jobs import Job
from core.desk.store.suggestions import Preview
from core.desk.upkeep.erasure import Erasure
from core.desk.upkeep.retention import Retention
from core.desk.views.cards import build, digest_of
from core.models import FlaggedPost
from tests.fakes.desk.boards import CHANNEL, all_steps, board_of, choose_channel, posts_apart
from tests.fakes.desk.canary import CANARY
from tests.fakes.desk.decisions import approve, execute, one_row, take
from tests.fakes.desk.people import MODERATOR, PLATFORM
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.surface import FakeSurface


async def _place(database: Database) -> tuple[object, ...]:
    return await one_row(database, "SELECT channel, message, digest FROM review_cards")


async def test_a_card_follows_its_case_in_one_place(
    board: ReviewBoard,
    surface: FakeSurface,
    desk: Desk,
    queue: DraftQueue,
    post: FlaggedPost,
    database: Database,
    clock: FakeClock,
) -> None:
    """From the flag to the end, each change is shown once, in the card that stands there."""
    case = await desk.intake.flag(post)
    assert await all_steps(board) == 1
    seen = [surface.of(case.id)]
    taken = await take(queue)
    await board.step()
    seen.append(surface.of(case.id))
    made = suggestion_for(post)
    await queue.keep(taken, "draft", Preview(made.reading, made.drafts[0], made.evidence))
    await board.step()
    seen.append(surface.of(case.id))
    case = await queue.store(taken, suggestion_for(taken.case.post))
    await board.step()
    seen.append(surface.of(case.id))
    await desk.decisions.hold(case.id, MODERATOR)
    await board.step()
    seen.append(surface.of(case.id))
    await approve(desk, case)
    await board.step()
    seen.append(surface.of(case.id))
    assert [card.state for card in seen] == [
        CaseState.QUEUED, CaseState.DRAFTING, CaseState.DRAFTING, CaseState.IN_REVIEW, CaseState.IN_REVIEW,
        CaseState.APPROVED,
    ]  # fmt: skip
    assert (seen[2].is_preview, len(seen[3].drafts)) == (True, 2)
    assert seen[4].holder is not None
    assert seen[4].holder.name == "moderator_one"
    assert len(surface.cards) == 1
    assert len(surface.calls) == 6
    (place,) = surface.cards
    channel, message, digest = await _place(database)
    assert (channel, message) == (CHANNEL, place.message)
    assert digest == digest_of(await database.run("build", lambda s: build(s, case.id)))
    assert await board.step() == 0, "nothing changed"


async def test_a_flag_that_came_late_is_late_on_its_card_and_in_the_log(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database
) -> None:
    """How it was flagged stays what it was."""
    case = await desk.intake.flag(replace(post, flagged_how="/counter", is_late=True))
    await all_steps(board)
    shown = surface.of(case.id).post
    assert (shown.flagged_how, shown.is_late) == ("/counter", True)
    said = "SELECT count(*) FROM audit WHERE CAST(reason AS TEXT) LIKE '%flagged: /counter, late%'"
    assert await one_row(database, said) == (1,)


@pytest.mark.both_databases
async def test_what_only_the_clock_changes_is_not_shown_anew(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, post: FlaggedPost, database: Database, clock: FakeClock
) -> None:
    """Estimates and places in the queue move all the time; a card that said so would be edited all the time."""
    case = await desk.intake.flag(post)
    await board.step()
    await desk.intake.flag(replace(post, ref=replace(post.ref, message="104"), text="Another post.", root="104"))
    clock.advance(60)
    before = surface.of(case.id)
    assert before.waiting is not None
    later = replace(before, waiting=replace(before.waiting, ahead=7, expected_seconds=3.5))
    assert digest_of(later) == digest_of(before)
    assert digest_of(replace(before, waiting=replace(before.waiting, stage="anneal"))) != digest_of(before)
    await execute(database, "UPDATE cases SET unshown = unshown + 1")
    await all_steps(board)
    assert [card.case_id for card, _, _ in surface.calls].count(case.id) == 1
    assert await one_row(database, "SELECT sum(unshown) FROM cases") == (0,)


async def test_posts_that_others_stand_for_or_that_wait_for_room_have_no_card(
    board: ReviewBoard, surface: FakeSurface, database: Database, post: FlaggedPost
) -> None:
    """A raid is one card that counts; what waits for room is shown when it is queued."""
    desk = build_desk(database, max_queued=1, campaign_hours=24)
    lead = await desk.intake.flag(post)
    for number in range(3):
        copy = replace(post, ref=replace(post.ref, message=str(200 + number)), root=str(200 + number))
        assert (await desk.intake.flag(copy)).state is CaseState.FOLDED
    waiting = await desk.intake.flag(posts_apart(post, 1)[0])
    assert waiting.state is CaseState.CAPTURED
    assert await all_steps(board) == 1
    assert surface.of(lead.id).campaign_posts == 4
    assert len(surface.cards) == 1


async def test_a_closed_case_is_shown_in_its_last_form_once_and_never_begun(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, queue: DraftQueue, in_review: Case, post: FlaggedPost
) -> None:
    """One that was closed before anybody saw it gets no card."""
    await board.step()
    await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.PREACHY)
    await board.step()
    card = surface.of(in_review.id)
    assert (card.state, card.closed_because) == (CaseState.DECLINED, "declined: preachy")
    late = await desk.intake.flag(posts_apart(post, 1)[0])
    await desk.decisions.close(late.id, late.version, MODERATOR, CloseReason.MISTAKE, "a mistake")
    await all_steps(board)
    assert len(surface.cards) == 1
    assert len(surface.calls) == 2


async def test_who_hears_of_all_cases_hears_of_one_that_was_closed_before_it_had_a_card(
    database: Database, surface: FakeSurface, desk: Desk, post: FlaggedPost
) -> None:
    """Once: a platform's own moderators wait for what became of their report. Of an erased one they hear nothing."""
    await choose_channel(database, CHANNEL)
    board = ReviewBoard(database, surface, PLATFORM, "process-1", poll_seconds=0.001, hears_all=True)
    heard, erased = [await desk.intake.flag(each) for each in posts_apart(post, 2)]
    for case in (heard, erased):
        await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.NOT_HATEFUL)
    await execute(database, f"UPDATE cases SET erased_at = updated_at WHERE id = '{erased.id}'")
    await all_steps(board)
    assert [(card.case_id, card.state) for card, _, _ in surface.calls] == [(heard.id, CaseState.NO_REPLY)]
    assert await all_steps(board) == 0


async def test_a_card_of_long_ago_is_left_as_it_is(
    board: ReviewBoard, surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Unless its words were erased."""
    await board.step()
    await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.SILENCE, "no use")
    await all_steps(board)
    clock.advance(31 * 86400)
    await database.run("note", lambda s: note_original(s, in_review.post.ref, None))
    assert await all_steps(board) == 1
    assert not surface.of(in_review.id).is_original_gone
    assert len(surface.calls) == 2


async def test_what_the_platform_says_of_the_original_is_shown(
    board: ReviewBoard, surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """Of a posted reply, so that a moderator can take it away."""
    outbox = Outbox(database, {PLATFORM: SampleCommunity(clock=clock)})
    await approve(desk, in_review)
    clock.advance(16)
    await outbox.send_due()
    await board.step()
    assert not surface.cards, "closed before it was ever shown"
    await execute(database, "UPDATE cases SET state = 'in_review', unshown = 1")
    await board.step()
    await execute(database, "UPDATE cases SET state = 'posted', unshown = 1")
    await board.step()
    await database.run("note", lambda s: note_original(s, in_review.post.ref, "I was angry."))
    await board.step()
    card = surface.of(in_review.id)
    assert (card.state, card.is_original_edited) == (CaseState.POSTED, True)
    assert card.reply is not None


async def test_a_card_that_somebody_deleted_is_shown_anew(
    board: ReviewBoard, surface: FakeSurface, desk: Desk, in_review: Case, database: Database
) -> None:
    """At the next change, in its new place."""
    await board.step()
    surface.cards.clear()
    await desk.decisions.hold(in_review.id, MODERATOR)
    await board.step()
    (place,) = surface.cards
    assert (await _place(database))[:2] == (CHANNEL, place.message)


# Erasure


@pytest.mark.parametrize("channel", [CHANNEL, ""])
async def test_a_card_shows_no_word_of_an_erased_case(
    board: ReviewBoard,
    surface: FakeSurface,
    database: Database,
    desk: Desk,
    queue: DraftQueue,
    post: FlaggedPost,
    clock: FakeClock,
    channel: str,
) -> None:
    """Also where the community shows no new cards any more."""
    post = replace(post, text=f"They take, {CANARY}, and take.")
    made = suggestion_for(post, (f"It answers {CANARY}.",))
    await desk.intake.flag(post)
    taken = await take(queue)
    case = await queue.store(taken, replace(made, degraded=(f"Nothing on {CANARY}.",)))
    await desk.decisions.redraft(case.id, case.version, f"A claim on {CANARY}.", MODERATOR)
    await all_steps(board)
    assert CANARY in str(surface.of(case.id))
    await choose_channel(database, channel)
    await all_steps(board)
    await Erasure(database).erase(PLATFORM, post.author)
    clock.advance(61)
    await all_steps(board)
    card = surface.of(case.id)
    assert CANARY not in str(card)
    assert (card.state, card.post.text, card.drafts, card.claims) == (CaseState.WITHDRAWN, "", (), ())


async def test_the_retention_takes_the_words_off_a_card_that_is_a_month_old(
    surface: FakeSurface, database: Database, desk: Desk, in_review: Case, clock: FakeClock
) -> None:
    """And what is deleted for good leaves no row behind."""
    board = board_of(database, surface)
    await board.step()
    await desk.decisions.close(in_review.id, in_review.version, MODERATOR, CloseReason.SILENCE, "no use")
    await board.step()
    chore, job = Retention(database, days=30, months=2), Job("1", "retention:1", "retention", "", None, 1, "test")
    clock.advance(31 * 86400)
    await chore.do(job)
    await all_steps(board)
    assert (surface.of(in_review.id).post.text, surface.of(in_review.id).gist) == ("", None)
    clock.advance(60 * 86400)
    await chore.do(job)
    assert await one_row(database, "SELECT count(*) FROM review_cards") == (0,)
    assert await all_steps(board) == 0
