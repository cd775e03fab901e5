"""Erasure in cases that are not the person's own: their words in threads, a moderator's part; the rest stands (I15)."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Role
from core.desk.schema import CampaignBandRow, CampaignRow, CaseRow
from core.desk.store import communities, people
from core.desk.store.cases import Case
from core.errors import Conflict, NotAllowed
from core.models import FlaggedPost, MessageWords, Part, PartKind
from tests.fakes.desk.canary import AUTHOR, CANARY, canary_post, erase, quoting
from tests.fakes.desk.decisions import approve, drafted, execute, one_row, take
from tests.fakes.desk.people import COMMUNITY_ID, MANAGER, MODERATOR, OTHER_MODERATOR, PLATFORM
from tests.fakes.desk.traces import everything, files_with
from tests.fakes.engine.suggestions import suggestion_for


@pytest.fixture
def post(post: FlaggedPost) -> FlaggedPost:
    return canary_post(post)


async def test_their_words_go_from_the_threads_of_others(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path
) -> None:
    """From the case and from the suggestion's copy of it; what the others said stays."""
    case = await drafted(desk, queue, quoting(post))
    erased = await erase(database)
    assert (erased.cases, erased.turns) == (0, 2)
    assert CANARY not in await everything(database)
    assert files_with(tmp_path, CANARY) == []
    now, stored = await desk.queries.case(case.id), await desk.queries.suggestion(case.id)
    assert stored is not None
    assert now.state is CaseState.IN_REVIEW
    for thread in (now.post.thread, stored.suggestion.post.thread):
        assert [turn.text for turn in thread] == ["[erased]", "The cheese stall opens at eight.", "[erased]"]
    assert now.post.text == "An answer."


@pytest.mark.both_databases
async def test_their_words_go_where_others_quote_them(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path
) -> None:
    """From the case and from the suggestion's copy, with their name; what whoever quotes them said stays."""
    parts = (Part(PartKind.OWN, "So true."), Part(PartKind.QUOTED, f"I am {CANARY}.", AUTHOR, f"The {CANARY}"))
    words = MessageWords.of(parts)
    quote = replace(quoting(post), text=words.text, thread=(), words=words)
    case = await drafted(desk, queue, quote)
    erased = await erase(database)
    assert (erased.cases, erased.turns) == (0, 1)
    assert CANARY not in await everything(database)
    assert files_with(tmp_path, CANARY) == []
    now, stored = await desk.queries.case(case.id), await desk.queries.suggestion(case.id)
    assert stored is not None
    for said in (now.post, stored.suggestion.post):
        assert said.text == "So true.\n\n[erased]"
        assert said.words.parts == (Part(PartKind.OWN, "So true."), Part(PartKind.QUOTED, "[erased]"))


@pytest.mark.both_databases
async def test_a_draft_that_is_written_from_their_words_is_written_anew(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The worker read the thread before; what it makes of it is refused, and the case is drafted again."""
    await desk.intake.flag(quoting(post))
    taken = await take(queue)
    await erase(database)
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(taken.case.post))
    again = await take(DraftQueue(database, "worker-2"))
    assert again.case.post.thread[0].text == "[erased]"
    assert CANARY not in await everything(database)


@pytest.mark.both_databases
async def test_a_moderator_s_notes_roles_and_claim_go(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, tmp_path: Path
) -> None:
    """What they decided stays, by a pseudonym that nobody can tie to them."""
    person = replace(MODERATOR, user=f"{CANARY}-moderator", name=f"{CANARY} the Moderator")
    await database.run("grant", lambda s: people.grant(s, COMMUNITY_ID, person, {Role.MODERATOR}, by="test"))
    case = await drafted(
        desk, queue, replace(post, ref=replace(post.ref, message="105"), text="x", author="y", author_name="y")
    )
    closed = await desk.decisions.close(case.id, case.version, person, CloseReason.OTHER, f"I, {CANARY}, say no.")
    erased = await erase(database, person.user)
    assert (erased.cases, erased.notes, erased.memberships) == (0, 1, 1)
    assert CANARY not in await everything(database)
    assert files_with(tmp_path, CANARY) == []
    last = (await desk.queries.history(case.id))[-1]
    assert (last.to_state, last.note) == (CaseState.DECLINED, "")
    assert last.actor.startswith("p-")
    assert await desk.queries.case(case.id) == closed


async def test_what_a_moderator_was_shown_to_approve_goes_with_them(
    database: Database, desk: Desk, in_review: Case
) -> None:
    """It is their text; and a card that named them is to be shown anew."""
    bold = "We all live here, and 93% of us are glad."
    shown = await desk.proposals.propose(in_review.id, in_review.version, MODERATOR, text=bold)
    await desk.approvals.approve(shown.id, MODERATOR)
    (before,) = await one_row(database, "SELECT unshown FROM cases")
    await erase(database, MODERATOR.user)
    assert await one_row(database, "SELECT count(*) FROM proposals") == (0,)
    (after,) = await one_row(database, "SELECT unshown FROM cases")
    assert int(str(after)) > int(str(before))


async def test_a_moderator_who_was_erased_may_do_nothing_any_more(
    database: Database, desk: Desk, in_review: Case
) -> None:
    """Their roles went with them; coming back, they are somebody new."""
    await erase(database, MODERATOR.user)
    with pytest.raises(NotAllowed):
        await approve(desk, in_review)
    await approve(desk, in_review, by=OTHER_MODERATOR)


@pytest.mark.both_databases
async def test_another_post_leads_the_campaign_of_an_erased_one(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The others were folded into the case that is gone; what it was like is forgotten."""
    lead = await drafted(desk, queue, post)
    other = await desk.intake.flag(
        replace(post, ref=replace(post.ref, message="200"), text="Take!", author="grey_heron", author_name="")
    )

    async def fold(session: Session) -> None:
        now = session.moment
        row = {"posts": 2, "created_at": now, "updated_at": now}
        session.add(CampaignRow(id="c1", community_id=COMMUNITY_ID, lead_case_id=lead.id, **row))
        await session.flush()
        session.add(CampaignBandRow(community_id=COMMUNITY_ID, band=CANARY, campaign_id="c1", begun_at=now))
        for case_id in (lead.id, other.id):
            (await session.get_one(CaseRow, case_id)).campaign_id = "c1"

    await database.run("fold", fold)
    await execute(database, f"UPDATE cases SET state = 'folded' WHERE id = '{other.id}'")
    await execute(database, "DELETE FROM jobs")
    await erase(database)
    assert CANARY not in await everything(database)
    assert await one_row(database, "SELECT lead_case_id FROM campaigns") == (other.id,)
    assert (await take(queue)).case.id == other.id


async def test_a_pause_or_role_that_they_gave_stands(database: Database) -> None:
    """What an erased manager decided for the community holds on."""

    async def pause(session: Session) -> None:
        who = await people.pseudonym(session, PLATFORM, MANAGER.user)
        await communities.pause(session, COMMUNITY_ID, who)

    await database.run("pause", pause)
    await erase(database, MANAGER.user)
    scopes = [COMMUNITY_ID]
    assert await database.run("look", lambda session: communities.paused(session, scopes)) == scopes
