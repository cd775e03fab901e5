"""Drafts that argue another counter-claim, because a moderator asks for them."""

from dataclasses import replace

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.store.cases import Case
from core.desk.store.suggestions import chosen_claim
from core.errors import BadInput, Conflict, NotAllowed
from core.models import Claim, FlaggedPost, Kind, Suggestion
from tests.fakes.desk.decisions import approve, one_row, take
from tests.fakes.desk.people import MODERATOR, OTHER_MODERATOR
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock

pytestmark = pytest.mark.both_databases


async def _chosen(database: Database, case: Case) -> str | None:
    return await database.run("read the claim", lambda session: chosen_claim(session, case.id))


async def test_another_claim_brings_other_drafts(
    desk: Desk, queue: DraftQueue, in_review: Case, clock: FakeClock, database: Database
) -> None:
    """The audit says who chose which claim; the new drafts are shown, the old ones and every claim are kept.

    The claim that was chosen last is argued; without a choice there is none.
    """
    assert await _chosen(database, in_review) is None
    queued = await desk.decisions.redraft(in_review.id, in_review.version, " Newcomers\n work. ", OTHER_MODERATOR)
    assert (queued.state, await _chosen(database, in_review)) == (CaseState.QUEUED, "Newcomers work.")
    entry = (await desk.queries.history(in_review.id))[-1]
    assert (entry.reason, entry.note) == ("to argue another claim", "Newcomers work.")
    taken = await take(queue)
    clock.advance(1)
    chosen = Claim("Newcomers work.", None)
    made = replace(suggestion_for(in_review.post, ("They work.",)), claims=(chosen,), claim=chosen.text)
    again = await queue.store(taken, made)
    stored = await desk.queries.suggestion(in_review.id)
    assert stored is not None
    assert stored.suggestion == made
    assert await one_row(database, "SELECT count(*) FROM suggestions") == (2,)
    await desk.decisions.redraft(again.id, again.version, "Everybody was new once.", MODERATOR)
    assert await _chosen(database, in_review) == "Everybody was new once."


async def test_a_claim_that_cannot_be_argued_is_refused(desk: Desk, in_review: Case, database: Database) -> None:
    """The moderator reads what to do, and the drafts are still there."""
    wrong = {
        " \u200b\n": "empty",
        "word " * 61: "304 characters; 300 at most",
        "newcomers  pay taxes.": "argue this claim already",
        "half \ud83d": "surrogate",
    }
    for claim, said in wrong.items():
        with pytest.raises(BadInput, match=said) as caught:
            await desk.decisions.redraft(in_review.id, in_review.version, claim, MODERATOR)
        assert caught.value.remedy
    assert await desk.queries.case(in_review.id) == in_review
    assert await _chosen(database, in_review) is None


async def test_only_a_case_in_review_is_drafted_again(desk: Desk, in_review: Case, database: Database) -> None:
    """Not one that is approved, nor one that somebody else moved."""
    await approve(desk, in_review)
    with pytest.raises(Conflict):
        await desk.decisions.redraft(in_review.id, in_review.version, "Newcomers work.", OTHER_MODERATOR)
    with pytest.raises(NotAllowed):
        await desk.decisions.redraft(in_review.id, in_review.version + 1, "Newcomers work.", OTHER_MODERATOR)
    assert await _chosen(database, in_review) is None


async def test_a_late_suggestion_does_not_disturb_an_approval(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> None:
    """A worker that comes back late must not put an approved case in review again."""
    await desk.intake.flag(post)
    taken = await take(queue)
    await approve(desk, await queue.store(taken, suggestion_for(taken.case.post)))
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(taken.case.post))
    assert (await desk.queries.case(taken.case.id)).state is CaseState.APPROVED


async def test_a_notice_alone_is_offered_once_and_takes_nobodys_drafts(
    desk: Desk, queue: DraftQueue, post: FlaggedPost, in_review: Case
) -> None:
    """Where there is no reply a moderator can post the notice; who asked for other drafts keeps the earlier ones."""
    await desk.decisions.redraft(in_review.id, in_review.version, "Newcomers work.", MODERATOR)
    kept = await queue.store(await take(queue), _notice_alone(in_review.post))
    assert kept.state is CaseState.IN_REVIEW
    assert "earlier drafts are still there" in (await desk.queries.history(kept.id))[-1].reason
    stored = await desk.queries.suggestion(kept.id)
    assert stored is not None
    assert stored.suggestion.has_answer
    await desk.intake.flag(replace(post, ref=replace(post.ref, message="77"), text="Another post."))
    taken = await take(queue)
    first = await queue.store(taken, _notice_alone(taken.case.post))
    assert first.state is CaseState.IN_REVIEW
    offered = await desk.queries.suggestion(first.id)
    assert offered is not None
    assert [draft.kind for draft in offered.suggestion.drafts] == [Kind.NOTICE]


def _notice_alone(post: FlaggedPost) -> Suggestion:
    made = suggestion_for(post, ("Please keep to the subject.",))
    return replace(made, drafts=(replace(made.drafts[0], kind=Kind.NOTICE),))
