"""What a community does with prepared replies: who may, what is on record, whose drafts change, who is forgotten."""

from dataclasses import replace

import pytest

from bot.compose.desk import Desk
from core.desk.communities import own_cards as module
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.native_roles import LiveRoles
from core.desk.communities.own_cards import PreparedReplies, PreparedReply
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.invariants.checks import audit
from core.desk.review.casework import Casework
from core.desk.rules.own_cards import checked_reply
from core.desk.rules.roles import Person, Role
from core.desk.store.cases import Case
from core.desk.store.own_cards import changes_of
from core.desk.upkeep.erasure import Erasure
from core.desk.upkeep.retention import Retention
from core.engine.cards.bank import Changes, load_cards, prepared_id
from core.errors import BadInput, NotAllowed
from core.models import FlaggedPost, Intent, TargetGroup
from tests.fakes.desk.chores import DAY, NOW
from tests.fakes.desk.decisions import approve, drafted_from, one_row
from tests.fakes.desk.people import (
    ADMIN,
    COMMUNITY,
    COMMUNITY_ID,
    FLAGGER,
    KEEPER,
    MANAGER,
    MODERATOR,
    PLATFORM,
    pseudonym_of,
)
from tests.fakes.machine.clock import FakeClock

OWN = checked_reply("We are glad of our neighbours.", "en", TargetGroup.MIGRANTS, Intent.POSITIVE)
CLAIM = load_cards("en")[0].claim
CLAIM_ID = prepared_id("en", CLAIM)
ANE = replace(ADMIN, name="Ane Etxebarria")


@pytest.fixture
def replies(database: Database) -> PreparedReplies:
    return PreparedReplies(database, LiveRoles(database, {}))


async def found(replies: PreparedReplies, id_: str) -> PreparedReply:
    """A reply as it stands now."""
    return next(reply for reply in await replies.listed(PLATFORM, COMMUNITY, MODERATOR) if reply.id == id_)


async def changes(database: Database, community_id: str = COMMUNITY_ID) -> Changes:
    """What a worker would be given."""
    return await database.run("read", lambda session: changes_of(session, community_id))


async def test_every_step_is_on_record_and_ends_no_approval(
    replies: PreparedReplies, database: Database, desk: Desk, in_review: Case
) -> None:
    """What was approved stays as exact as it was; whoever reads the log later knows who changed the replies."""
    await approve(desk, in_review)
    managing = CommunityDesk(database)
    before = (await managing.view(COMMUNITY_ID, MANAGER)).community
    id_ = await replies.add(PLATFORM, COMMUNITY, OWN, MANAGER)
    await replies.review(PLATFORM, COMMUNITY, id_, ANE)
    await replies.remove(PLATFORM, COMMUNITY, CLAIM_ID, MANAGER)
    await replies.remove(PLATFORM, COMMUNITY, CLAIM_ID, MANAGER, is_undone=True)
    await replies.remove(PLATFORM, COMMUNITY, id_, MANAGER, "our own words")
    who, ane = await pseudonym_of(database, MANAGER), await pseudonym_of(database, ADMIN)
    after = (await managing.view(COMMUNITY_ID, MANAGER)).community
    assert (after.version, after.rules_version) == (before.version + 5, before.rules_version)
    lines = (await managing.history(COMMUNITY_ID, MANAGER))[before.version :]
    assert [(line.actor, line.reason, line.note) for line in lines] == [
        (who, f"prepared reply {id_} added", ""),
        (ane, f"prepared reply {id_} reviewed by {ane}", ""),
        (who, f"prepared reply {CLAIM_ID} removed", ""),
        (who, f"prepared reply {CLAIM_ID} taken in again", ""),
        (who, f"prepared reply {id_} removed", "our own words"),
    ]
    assert [finding for finding in await audit(database) if not finding.ok] == []


async def test_a_reply_with_a_forbidden_word_is_not_added(replies: PreparedReplies, database: Database) -> None:
    """It would never be drafted."""
    word = OWN.text.split()[-1].strip(".?!")
    await CommunityDesk(database).configure(COMMUNITY_ID, lambda _: {"forbidden": [word]}, KEEPER)
    with pytest.raises(BadInput, match=f"“{word}”, which this community forbids"):
        await replies.add(PLATFORM, COMMUNITY, OWN, MANAGER)


async def test_only_managers_change_what_is_prepared(replies: PreparedReplies) -> None:
    """Their drafts go out under the community's name."""
    with pytest.raises(NotAllowed):
        await replies.add(PLATFORM, COMMUNITY, OWN, MODERATOR)
    with pytest.raises(NotAllowed):
        await replies.review(PLATFORM, COMMUNITY, CLAIM_ID, MODERATOR)
    with pytest.raises(NotAllowed):
        await replies.remove(PLATFORM, COMMUNITY, CLAIM_ID, MODERATOR)


@pytest.mark.both_databases
async def test_the_worker_gets_what_the_community_changed(replies: PreparedReplies, database: Database) -> None:
    """Its own replies and what it took out; another community gets nothing of it."""
    assert await changes(database) == Changes()
    await replies.add(PLATFORM, COMMUNITY, OWN, MANAGER)
    await replies.remove(PLATFORM, COMMUNITY, CLAIM_ID, MANAGER)
    await replies.review(PLATFORM, COMMUNITY, prepared_id("en", load_cards("en")[1].claim), ANE)
    assert await changes(database) == Changes((OWN,), frozenset({CLAIM_ID}))
    assert await changes(database, "sample/elsewhere") == Changes()


async def test_a_reply_for_one_stereotype_is_kept_for_it(replies: PreparedReplies, database: Database) -> None:
    """The worker would otherwise answer every post about the group with it."""
    own = replace(OWN, stereotype="migrants/jobs")
    id_ = await replies.add(PLATFORM, COMMUNITY, own, MANAGER)
    assert (await changes(database)).own == (own,)
    assert (await found(replies, id_)).stereotype == "migrants/jobs"


async def test_a_reviewer_stands_by_name(replies: PreparedReplies, database: Database) -> None:
    """By the name that they have on the page, or the one that the community knows; a date alone stands for nothing."""
    with pytest.raises(BadInput, match="80 at most"):
        await replies.review(PLATFORM, COMMUNITY, CLAIM_ID, replace(MANAGER, name="A" * 81))
    assert (await found(replies, CLAIM_ID)).review is None
    assert (await replies.review(PLATFORM, COMMUNITY, CLAIM_ID, replace(ANE, name=""))).name == ADMIN.name
    given = await replies.review(PLATFORM, COMMUNITY, CLAIM_ID, replace(ANE, name="  Ane \n E. "))
    assert given.name == "Ane E."
    assert (await found(replies, CLAIM_ID)).review == given
    nameless = Person(PLATFORM, "nameless")
    await CommunityDesk(database).grant(COMMUNITY_ID, nameless, Role.MANAGER, KEEPER)
    with pytest.raises(BadInput, match="needs the name"):
        await replies.review(PLATFORM, COMMUNITY, CLAIM_ID, nameless)


async def test_a_reply_is_there_once(replies: PreparedReplies, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project's words are not added again, and there is an end to what each draft must read."""
    id_ = await replies.add(PLATFORM, COMMUNITY, OWN, MANAGER)
    for same in (OWN, replace(OWN, text=CLAIM)):
        with pytest.raises(BadInput, match="there already"):
            await replies.add(PLATFORM, COMMUNITY, same, MANAGER)
    monkeypatch.setattr(module, "MAX_OWN", 1)
    with pytest.raises(BadInput, match="that is the limit"):
        await replies.add(PLATFORM, COMMUNITY, replace(OWN, text="We like them."), MANAGER)
    with pytest.raises(BadInput, match="was not taken out"):
        await replies.remove(PLATFORM, COMMUNITY, id_, MANAGER, is_undone=True)


async def test_a_card_says_who_reviewed_and_is_shown_anew(
    replies: PreparedReplies, database: Database, desk: Desk, front: Casework, queue: DraftQueue, post: FlaggedPost
) -> None:
    """A review given while a case waits is on its card; who only flagged the post reads no moderator's name."""
    case = await drafted_from(desk, queue, post, CLAIM_ID)
    assert (await front.card(case.id, MODERATOR)).reviews == {}
    unshown = await one_row(database, "SELECT unshown FROM cases")
    review = await replies.review(PLATFORM, COMMUNITY, CLAIM_ID, ANE)
    assert await one_row(database, "SELECT unshown FROM cases") == (int(str(unshown[0])) + 1,)
    assert (await front.card(case.id, MODERATOR)).reviews == {CLAIM_ID: review}
    assert await desk.queries.reviews(COMMUNITY_ID, (await front.card(case.id, MODERATOR)).drafts) == {CLAIM_ID: review}
    assert (await front.card(case.id, FLAGGER)).reviews == {}


async def test_who_is_erased_stands_for_nothing_any_more(
    replies: PreparedReplies, database: Database, desk: Desk, front: Casework, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Their name goes, from the table and from the cards, and the reply counts as not reviewed (I15)."""
    case = await drafted_from(desk, queue, post, CLAIM_ID)
    await replies.review(PLATFORM, COMMUNITY, CLAIM_ID, ANE)
    unshown = await one_row(database, "SELECT unshown FROM cases")
    await Erasure(database).erase(PLATFORM, ADMIN.user)
    assert await one_row(database, "SELECT unshown FROM cases") == (int(str(unshown[0])) + 1,)
    row = "SELECT reviewed_by, reviewer, reviewed_at FROM prepared_replies"
    assert await one_row(database, row) == (None, None, None)
    assert (await front.card(case.id, MANAGER)).reviews == {}


async def test_who_reviewed_can_still_be_erased_after_years(
    replies: PreparedReplies, database: Database, clock: FakeClock
) -> None:
    """The tie to their pseudonym is kept as long as their name is, though they have no role any more."""
    await replies.review(PLATFORM, COMMUNITY, CLAIM_ID, ANE)
    await CommunityDesk(database).revoke(COMMUNITY_ID, ADMIN, Role.ADMIN, KEEPER)
    clock.advance(900 * DAY)
    await Retention(database).do(NOW)
    await Erasure(database).erase(PLATFORM, ADMIN.user)
    assert await one_row(database, "SELECT reviewer FROM prepared_replies") == (None,)
