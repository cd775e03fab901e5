"""What people can do with a case, on a real database file: nothing is answered without a person's decision."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from adapters.sample.community import SampleCommunity
from bot.desk import Desk
from bot.store.cases import Case
from bot.store.database import Database
from bot.store.documents import suggestion_to_json
from core.errors import AntiphonError, BadAnswer, BadInput, Conflict, NotAllowed
from core.models import Claim, FlaggedPost
from core.review import CaseState, text_hash
from tests.fakes import DRAFT_TEXTS, suggestion_for
from tests.fakes.clock import FakeClock
from tests.fakes.decisions import OWN_TEXT, approve, one_row


async def test_a_case_goes_from_flag_to_approval(desk: Desk, post: FlaggedPost, database: Database) -> None:
    """The way of every reply, and each step of it in the audit log with its actor."""
    case = await desk.flag(post)
    assert (case.state, case.version, case.post) == (CaseState.QUEUED, 2, post)
    taken = await desk.take_next()
    assert taken is not None
    reviewed = await desk.store_suggestion(taken.id, taken.version, suggestion_for(post))
    assert reviewed.state is CaseState.IN_REVIEW
    stored = await desk.suggestion(case.id)
    assert stored is not None
    assert stored.suggestion == suggestion_for(post)
    reply = await desk.approve(
        case.id,
        reviewed.version,
        DRAFT_TEXTS[0],
        text_hash(DRAFT_TEXTS[0]),
        "moderator_one",
        suggestion_id=stored.id,
        draft_rank=1,
    )
    assert (reply.text, reply.in_reply_to) == (DRAFT_TEXTS[0], post.ref)
    entries = await desk.history(case.id)
    assert [(entry.from_state, entry.to_state, entry.actor) for entry in entries] == [
        (None, "captured", "mill_pond"),
        ("captured", "queued", "desk"),
        ("queued", "drafting", "worker"),
        ("drafting", "in_review", "worker"),
        ("in_review", "approved", "moderator_one"),
    ]
    assert [entry.version for entry in entries] == [1, 2, 3, 4, 5]
    row = await one_row(database, "SELECT edited, draft_rank, sha256, target_sha256, moderator FROM approvals")
    assert row == (False, 1, text_hash(DRAFT_TEXTS[0]), text_hash(post.text), "moderator_one")


async def test_the_same_post_has_one_case(desk: Desk, post: FlaggedPost) -> None:
    """Events come twice and people flag at once (invariant I4)."""
    flagged = await asyncio.gather(*(desk.flag(replace(post, flagged_by=f"person_{n}")) for n in range(5)))
    assert len({case.id for case in flagged}) == 1
    assert len(await desk.cases()) == 1
    assert len(await desk.history(flagged[0].id)) == 2


async def test_the_same_id_in_another_channel_is_another_case(desk: Desk, post: FlaggedPost) -> None:
    """Telegram's message ids are unique in one chat only (invariant I4)."""
    await desk.flag(post)
    await desk.flag(replace(post, ref=replace(post.ref, channel="harbour")))
    assert len(await desk.cases()) == 2


async def test_a_post_without_a_place_is_refused(desk: Desk, post: FlaggedPost) -> None:
    """A post that cannot be answered must not be taken in as if it could."""
    with pytest.raises(BadInput):
        await desk.flag(replace(post, ref=replace(post.ref, message=" ")))


async def test_broken_unicode_is_refused_clearly(desk: Desk, post: FlaggedPost, in_review: Case) -> None:
    """A lone surrogate has no bytes to hash, store or post; it must not crash half-way."""
    with pytest.raises(BadInput, match="surrogate"):
        await desk.flag(replace(post, text="half \ud83d", ref=replace(post.ref, message="1")))
    with pytest.raises(BadInput, match="surrogate"):
        await desk.approve(in_review.id, in_review.version, "half \ud83d", "0" * 64, "moderator_one")
    with pytest.raises(BadAnswer):
        suggestion_to_json(suggestion_for(post, ("half \ud83d",)))


async def test_the_oldest_case_is_taken_first_and_once(desk: Desk, clock: FakeClock) -> None:
    """Who waited longest comes first, and two workers never get the same case."""
    community = SampleCommunity()
    ids = []
    for message in ("105", "103", "107"):
        ids.append((await desk.flag(community.flag(message, "mill_pond"))).id)
        clock.advance(1)
    first = await desk.take_next()
    assert first is not None
    rest = await asyncio.gather(desk.take_next(), desk.take_next(), desk.take_next())
    assert first.id == ids[0]
    assert sorted(case.id for case in rest if case is not None) == sorted(ids[1:])
    assert await desk.take_next() is None


async def test_a_suggestion_without_drafts_needs_a_person(desk: Desk, post: FlaggedPost) -> None:
    """When the engine has nothing to offer, somebody is told, and why."""
    await desk.flag(post)
    case = await desk.take_next()
    assert case is not None
    after = await desk.store_suggestion(case.id, case.version, suggestion_for(post, ()))
    assert after.state is CaseState.NEEDS_PERSON
    assert "The judge gave no answer." in (await desk.history(case.id))[-1].reason


async def test_two_moderators_never_both_win(desk: Desk, in_review: Case, database: Database) -> None:
    """Of two decisions on the same version exactly one holds; the other is told who was faster (invariant I10)."""
    results = await asyncio.gather(
        approve(desk, in_review, "moderator_one"),
        approve(desk, in_review, "moderator_two"),
        desk.decline(in_review.id, in_review.version, "moderator_three", "off topic"),
        return_exceptions=True,
    )
    conflicts = [result for result in results if isinstance(result, Conflict)]
    assert len(conflicts) == 2
    winner = (await desk.history(in_review.id))[-1]
    assert all(winner.actor in str(conflict) and winner.to_state in str(conflict) for conflict in conflicts)
    approvals = await one_row(database, "SELECT count(*) FROM approvals")
    assert approvals == (1 if winner.to_state is CaseState.APPROVED else 0,)


@pytest.mark.parametrize("rank", [1, None])
async def test_an_edit_is_recorded(desk: Desk, in_review: Case, database: Database, rank: int | None) -> None:
    """Later drafts learn from edits, and the audit must tell a person's words from the engine's."""
    stored = await desk.suggestion(in_review.id)
    assert stored is not None
    await desk.approve(
        in_review.id,
        in_review.version,
        OWN_TEXT,
        text_hash(OWN_TEXT),
        "moderator_one",
        suggestion_id=stored.id if rank else None,
        draft_rank=rank,
    )
    assert await one_row(database, "SELECT edited FROM approvals") == (True,)


@pytest.mark.parametrize(("suggestion_id", "rank"), [("no-such-id", 1), (None, 1), ("real", 9), ("real", None)])
async def test_a_draft_that_is_not_there_is_refused(
    desk: Desk, in_review: Case, suggestion_id: str | None, rank: int | None
) -> None:
    """An approval must not claim to come from a draft that nobody saw; nothing of it is kept."""
    stored = await desk.suggestion(in_review.id)
    assert stored is not None
    with pytest.raises(BadInput):
        await desk.approve(
            in_review.id,
            in_review.version,
            OWN_TEXT,
            text_hash(OWN_TEXT),
            "moderator_one",
            suggestion_id=stored.id if suggestion_id == "real" else suggestion_id,
            draft_rank=rank,
        )
    assert await desk.case(in_review.id) == in_review


async def test_a_draft_of_another_case_is_refused(desk: Desk, in_review: Case) -> None:
    """The audit must not say that a reply came from a draft written for another post."""
    stored = await desk.suggestion(in_review.id)
    other = await desk.flag(SampleCommunity().flag("105", "mill_pond"))
    taken = await desk.take_next()
    assert stored is not None
    assert taken is not None
    reviewed = await desk.store_suggestion(other.id, taken.version, suggestion_for(other.post))
    with pytest.raises(BadInput):
        await desk.approve(
            other.id,
            reviewed.version,
            DRAFT_TEXTS[0],
            text_hash(DRAFT_TEXTS[0]),
            "moderator_one",
            suggestion_id=stored.id,
            draft_rank=1,
        )
    assert await desk.case(other.id) == reviewed


async def test_another_text_than_the_shown_one_is_not_approved(desk: Desk, in_review: Case) -> None:
    """The whole transaction is undone: the case stays in review, with its version."""
    with pytest.raises(NotAllowed):
        await desk.approve(in_review.id, in_review.version, OWN_TEXT, text_hash("something else"), "moderator_one")
    assert await desk.case(in_review.id) == in_review


async def test_nobody_cannot_approve(desk: Desk, in_review: Case) -> None:
    """There is no reply without a person."""
    with pytest.raises(NotAllowed):
        await approve(desk, in_review, " ")
    assert await desk.case(in_review.id) == in_review


async def test_undo_brings_the_case_back(desk: Desk, in_review: Case, database: Database) -> None:
    """Within the window an approval can be taken back, and another text approved."""
    await approve(desk, in_review)
    undone = await desk.undo(in_review.id, in_review.version + 1, "moderator_two")
    assert undone.state is CaseState.IN_REVIEW
    assert await one_row(database, "SELECT state FROM outbox") == ("cancelled",)
    await desk.approve(in_review.id, undone.version, DRAFT_TEXTS[1], text_hash(DRAFT_TEXTS[1]), "moderator_two")
    assert await one_row(database, "SELECT count(*) FROM outbox WHERE state = 'queued'") == (1,)


async def test_withdrawing_an_approved_case_cancels_its_reply(desk: Desk, in_review: Case, database: Database) -> None:
    """However a case leaves ``approved``, its waiting reply goes with it (invariant I8)."""
    await approve(desk, in_review)
    await desk.withdraw(in_review.id, in_review.version + 1, "moderator_two", "the person asked us to")
    assert await one_row(database, "SELECT state, error FROM outbox") == ("cancelled", "the person asked us to")


async def test_only_an_approved_case_can_be_undone(desk: Desk, in_review: Case) -> None:
    """Undo means one thing: taking an approval back."""
    with pytest.raises(NotAllowed):
        await desk.undo(in_review.id, in_review.version, "moderator_one")


async def test_a_late_suggestion_does_not_disturb_an_approval(desk: Desk, in_review: Case, post: FlaggedPost) -> None:
    """A worker that comes back late must not put an approved case in review again."""
    await approve(desk, in_review)
    with pytest.raises(Conflict):
        await desk.store_suggestion(in_review.id, in_review.version - 1, suggestion_for(post))
    with pytest.raises(NotAllowed):
        await desk.store_suggestion(in_review.id, in_review.version + 1, suggestion_for(post))


async def test_another_claim_brings_other_drafts(
    desk: Desk, in_review: Case, clock: FakeClock, database: Database
) -> None:
    """The audit says who chose which claim; the new drafts are shown, the old ones and every claim are kept."""
    queued = await desk.redraft(in_review.id, in_review.version, " Newcomers\n work. ", "moderator_two")
    assert (queued.state, await desk.chosen_claim(in_review.id)) == (CaseState.QUEUED, "Newcomers work.")
    entry = (await desk.history(in_review.id))[-1]
    assert (entry.actor, entry.reason) == ("moderator_two", "to argue: Newcomers work.")
    taken = await desk.take_next()
    assert taken is not None
    clock.advance(1)
    chosen = Claim("Newcomers work.", None)
    made = replace(suggestion_for(in_review.post, ("They work.",)), claims=(chosen,), claim=chosen.text)
    await desk.store_suggestion(taken.id, taken.version, made)
    stored = await desk.suggestion(in_review.id)
    assert stored is not None
    assert stored.suggestion == made
    assert await desk.claims(in_review.id) == ["Newcomers work.", "Newcomers pay taxes."]
    assert await one_row(database, "SELECT count(*) FROM suggestions") == (2,)


async def test_the_claim_chosen_last_is_argued(desk: Desk, in_review: Case, clock: FakeClock) -> None:
    """A moderator may try one claim after the other, and without a choice there is none."""
    assert await desk.chosen_claim(in_review.id) is None
    case = in_review
    for claim in ("Newcomers work.", "Everybody was new once."):
        await desk.redraft(case.id, case.version, claim, "moderator_one")
        assert await desk.chosen_claim(case.id) == claim
        taken = await desk.take_next()
        assert taken is not None
        clock.advance(1)
        case = await desk.store_suggestion(case.id, taken.version, suggestion_for(case.post))


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (" \u200b\n", "empty"),
        ("word " * 61, "304 characters; 300 at most"),
        ("newcomers  pay taxes.", "argue this claim already"),
        ("half \ud83d", "surrogate"),
    ],
    ids=["empty", "long", "current", "broken"],
)
async def test_a_claim_that_cannot_be_argued_is_refused(desk: Desk, in_review: Case, claim: str, said: str) -> None:
    """The moderator reads what to do, and the drafts are still there."""
    with pytest.raises(BadInput, match=said) as caught:
        await desk.redraft(in_review.id, in_review.version, claim, "moderator_one")
    assert caught.value.remedy
    assert await desk.case(in_review.id) == in_review
    assert await desk.chosen_claim(in_review.id) is None


async def test_only_a_case_in_review_is_drafted_again(desk: Desk, in_review: Case) -> None:
    """Not one that is approved, nor one that somebody else moved, nor for nobody."""
    with pytest.raises(NotAllowed):
        await desk.redraft(in_review.id, in_review.version, "Newcomers work.", " ")
    await approve(desk, in_review)
    with pytest.raises(Conflict):
        await desk.redraft(in_review.id, in_review.version, "Newcomers work.", "moderator_two")
    with pytest.raises(NotAllowed):
        await desk.redraft(in_review.id, in_review.version + 1, "Newcomers work.", "moderator_two")
    assert await desk.chosen_claim(in_review.id) is None


@pytest.mark.parametrize("decision", ["decline", "stay_silent", "withdraw"])
@pytest.mark.parametrize(("moderator", "reason"), [("moderator_one", "  "), ("", "off topic")])
async def test_a_decision_needs_a_person_and_a_reason(
    desk: Desk, in_review: Case, decision: str, moderator: str, reason: str
) -> None:
    """A closed case must say who closed it and why."""
    with pytest.raises(AntiphonError) as caught:
        await getattr(desk, decision)(in_review.id, in_review.version, moderator, reason)
    assert caught.value.remedy
    assert await desk.case(in_review.id) == in_review


@pytest.mark.parametrize(
    ("decision", "state"),
    [("decline", CaseState.DECLINED), ("stay_silent", CaseState.NO_REPLY), ("withdraw", CaseState.WITHDRAWN)],
)
async def test_a_closed_case_stays_closed(desk: Desk, in_review: Case, decision: str, state: CaseState) -> None:
    """After a decision there is no way back to a reply (invariant I11)."""
    closed: Case = await getattr(desk, decision)(in_review.id, in_review.version, "moderator_one", "off topic")
    assert closed.state is state
    with pytest.raises(NotAllowed):
        await approve(desk, closed)
    assert [case.id for case in await desk.cases(state)] == [closed.id]
    assert (await desk.history(closed.id))[-1].reason == "off topic"


async def test_a_case_that_is_not_there_is_said_so(desk: Desk) -> None:
    """A mistyped id is a clear answer, never an empty one."""
    for call in (desk.case, desk.history, desk.suggestion):
        with pytest.raises(BadInput, match="no case nothing"):
            await call("nothing")
