"""What a community does with cards of its own: two people for each, all on record, and who is erased is forgotten."""

from dataclasses import replace

import pytest

from bot.compose.desk import Desk
from core.desk.communities import own_cards as module
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.native_roles import LiveRoles
from core.desk.communities.own_cards import OwnCards
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.invariants.checks import audit
from core.desk.review.casework import Casework
from core.desk.rules.own_cards import CommunityCard
from core.desk.rules.roles import Person, Role
from core.desk.store import accounts, people
from core.desk.store.cases import Case
from core.desk.store.own_cards import accepted_cards
from core.desk.upkeep.erasure import Erasure
from core.desk.upkeep.retention import Retention
from core.engine.cards.bank import CardReview, CardVerdict
from core.engine.cards.own import OwnCard
from core.errors import BadInput, NotAllowed, StoreUnavailable
from core.models import FlaggedPost
from tests.fakes.desk.cards import REPLY_ID, card_of
from tests.fakes.desk.chores import DAY, NOW
from tests.fakes.desk.decisions import approve, drafted_from, execute, one_row
from tests.fakes.desk.people import ADMIN, COMMUNITY, COMMUNITY_ID, KEEPER, MANAGER, MODERATOR, PLATFORM, pseudonym_of
from tests.fakes.desk.traces import everything
from tests.fakes.machine.clock import FakeClock

CARD = card_of()
ACCEPTED, DECLINED = CardVerdict.ACCEPTED, CardVerdict.DECLINED
ANE = replace(ADMIN, name="Ane Etxebarria")


@pytest.fixture
def cards(database: Database) -> OwnCards:
    return OwnCards(database, LiveRoles(database, {}))


async def used(database: Database, community_id: str = COMMUNITY_ID) -> tuple[OwnCard, ...]:
    """What a worker would be given."""
    return await database.run("read", lambda session: accepted_cards(session, community_id))


async def stored(cards: OwnCards) -> CommunityCard:
    """The one card as it stands now."""
    [one] = await cards.listed(PLATFORM, COMMUNITY, MODERATOR)
    return one


async def accepted(cards: OwnCards) -> None:
    """The card, proposed by the manager and accepted by the admin."""
    await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)
    await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, ANE, CARD.digest)


async def test_a_card_is_used_once_a_second_person_accepted_it(cards: OwnCards, database: Database) -> None:
    """Until then it is nobody's word but its author's; another community gets nothing of it."""
    await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)
    waiting = await stored(cards)
    assert (waiting.card, waiting.verdict, waiting.reviewer) == (CARD, None, None)
    assert waiting.proposer is not None
    assert waiting.proposer.name == MANAGER.name
    assert await used(database) == ()
    done = await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, ANE, CARD.digest)
    assert done.reviewer is not None
    [given] = await used(database)
    today = f"{done.reviewer.at:%Y-%m-%d}"
    assert given == CARD.as_card((CardReview("Ane Etxebarria", today, "accepted"),))
    assert await used(database, "sample/elsewhere") == ()
    await cards.review(PLATFORM, COMMUNITY, "water", DECLINED, ANE, CARD.digest)
    assert ((await stored(cards)).verdict, await used(database)) == (DECLINED, ())


async def test_a_card_with_a_forbidden_word_is_not_kept(cards: OwnCards, database: Database) -> None:
    """In its argument or a reply: what is made of it would never be drafted."""
    word = CARD.argument.split()[0]
    await CommunityDesk(database).configure(COMMUNITY_ID, lambda _: {"forbidden": [word]}, KEEPER)
    with pytest.raises(BadInput, match=f"“{word}”, which this community forbids"):
        await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)


async def test_nobody_reviews_their_own_card(cards: OwnCards, database: Database) -> None:
    await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)
    with pytest.raises(BadInput, match="proposed the card water, so they cannot review it") as refused:
        await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, MANAGER, CARD.digest)
    assert "another manager" in refused.value.remedy
    assert await used(database) == ()


async def test_one_account_is_one_person_for_a_card(cards: OwnCards, database: Database) -> None:
    """Who is somebody on another platform, too, reviews as neither what the other one proposed."""
    elsewhere = Person("telegram", "88", "Mikel")

    async def link(session: Session) -> None:
        await people.grant(session, COMMUNITY_ID, elsewhere, {Role.MANAGER}, by="keeper")
        await accounts.keep(session, "mikel", "", (MANAGER, elsewhere))

    await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)
    await database.run("link", link)
    with pytest.raises(BadInput, match="proposed the card water, so they cannot review it"):
        await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, elsewhere, CARD.digest)


async def test_only_managers_change_cards(cards: OwnCards) -> None:
    """Their drafts go out under the community's name."""
    await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)
    with pytest.raises(NotAllowed):
        await cards.propose(PLATFORM, COMMUNITY, card_of(id="more"), MODERATOR)
    with pytest.raises(NotAllowed):
        await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, MODERATOR, CARD.digest)
    with pytest.raises(NotAllowed):
        await cards.remove(PLATFORM, COMMUNITY, "water", MODERATOR)


async def test_an_edited_card_needs_a_new_review(cards: OwnCards, database: Database) -> None:
    """A person who accepted it did not read the new words; what is the same keeps its review."""
    await accepted(cards)
    assert not await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)
    assert len(await used(database)) == 1
    edited = card_of(caution="Ask who is meant.")
    assert await cards.propose(PLATFORM, COMMUNITY, edited, ANE)
    assert await used(database) == ()
    with pytest.raises(BadInput, match="Ane Etxebarria proposed"):
        await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, ANE, edited.digest)
    with pytest.raises(BadInput, match=f"no longer the version {CARD.digest}"):
        await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, MANAGER, CARD.digest)
    await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, MANAGER, edited.digest)
    assert len(await used(database)) == 1


async def test_every_step_is_on_record_and_ends_no_approval(
    cards: OwnCards, database: Database, desk: Desk, in_review: Case
) -> None:
    """What was approved stays as exact as it was; whoever reads the log later knows who did what to which version."""
    await approve(desk, in_review)
    managing = CommunityDesk(database)
    before = (await managing.view(COMMUNITY_ID, MANAGER)).community
    other = card_of(id="wells", caution="Ask who is meant.")
    for card in (CARD, other):
        await cards.propose(PLATFORM, COMMUNITY, card, MANAGER)
    await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, ANE, CARD.digest)
    await cards.propose(PLATFORM, COMMUNITY, card_of(caution="Wait."), MANAGER)
    await cards.remove(PLATFORM, COMMUNITY, "wells", MANAGER, "our own words")
    who, ane = await pseudonym_of(database, MANAGER), await pseudonym_of(database, ADMIN)
    after = (await managing.view(COMMUNITY_ID, MANAGER)).community
    assert (after.version, after.rules_version) == (before.version + 5, before.rules_version)
    lines = (await managing.history(COMMUNITY_ID, MANAGER))[before.version :]
    assert [(line.actor, line.reason, line.note) for line in lines] == [
        (who, f"card water ({CARD.digest}) proposed by {who}", ""),
        (who, f"card wells ({other.digest}) proposed by {who}", ""),
        (ane, f"card water ({CARD.digest}) accepted by {ane}", ""),
        (who, f"card water ({card_of(caution='Wait.').digest}) changed by {who}", ""),
        (who, f"card wells ({other.digest}) removed", "our own words"),
    ]
    assert [finding for finding in await audit(database) if not finding.ok] == []


async def test_there_is_an_end_to_what_each_draft_must_read(cards: OwnCards, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that is there already may still change."""
    monkeypatch.setattr(module, "MAX_CARDS", 1)
    await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)
    with pytest.raises(BadInput, match="may have 1 cards of its own, and has 1"):
        await cards.propose(PLATFORM, COMMUNITY, card_of(id="one"), MANAGER)
    await cards.propose(PLATFORM, COMMUNITY, card_of(caution="Wait."), MANAGER)
    assert (await stored(cards)).card == card_of(caution="Wait.")
    with pytest.raises(BadInput, match="has no card three of its own"):
        await cards.remove(PLATFORM, COMMUNITY, "three", MANAGER)


async def test_a_draft_from_an_accepted_card_is_called_reviewed(
    cards: OwnCards, database: Database, desk: Desk, front: Casework, queue: DraftQueue, post: FlaggedPost
) -> None:
    """On the card of a case that waits already, too; not any more once the community's card changed."""
    case = await drafted_from(desk, queue, post, REPLY_ID)
    await cards.propose(PLATFORM, COMMUNITY, CARD, MANAGER)
    assert (await front.card(case.id, MODERATOR)).reviews == {}
    unshown = await one_row(database, "SELECT unshown FROM cases")
    await cards.review(PLATFORM, COMMUNITY, "water", ACCEPTED, ANE, CARD.digest)
    assert await one_row(database, "SELECT unshown FROM cases") == (int(str(unshown[0])) + 1,)
    assert (await front.card(case.id, MODERATOR)).reviews[REPLY_ID].name == "Ane Etxebarria"
    await cards.propose(PLATFORM, COMMUNITY, card_of(caution="Wait."), MANAGER)
    assert (await front.card(case.id, MODERATOR)).reviews == {}


@pytest.mark.both_databases
async def test_who_is_erased_stands_for_no_card_any_more(
    cards: OwnCards, database: Database, desk: Desk, front: Casework, queue: DraftQueue, post: FlaggedPost
) -> None:
    """The reviewer's name goes, and the card waits for another; the proposer's goes, and it stays accepted (I15)."""
    case = await drafted_from(desk, queue, post, REPLY_ID)
    await accepted(cards)
    await Erasure(database).erase(PLATFORM, MANAGER.user)
    assert ((await stored(cards)).proposer, (await stored(cards)).verdict) == (None, ACCEPTED)
    assert MANAGER.name not in await everything(database)
    await Erasure(database).erase(PLATFORM, ADMIN.user)
    row = "SELECT proposed_by, proposer, verdict, reviewed_by, reviewer, reviewed_at FROM own_cards"
    assert await one_row(database, row) == (None,) * 6
    assert (await front.card(case.id, MODERATOR)).reviews == {}
    assert await used(database) == ()
    assert "Etxebarria" not in await everything(database)


@pytest.mark.both_databases
async def test_who_signed_can_still_be_erased_after_years(
    cards: OwnCards, database: Database, clock: FakeClock
) -> None:
    """The tie to their pseudonym is kept as long as their name is, though they have no role any more."""
    await accepted(cards)
    managing = CommunityDesk(database)
    await managing.revoke(COMMUNITY_ID, MANAGER, Role.MANAGER, KEEPER)
    await managing.revoke(COMMUNITY_ID, ADMIN, Role.ADMIN, KEEPER)
    clock.advance(900 * DAY)
    await Retention(database).do(NOW)
    for person in (MANAGER, ADMIN):
        await Erasure(database).erase(PLATFORM, person.user)
    assert await one_row(database, "SELECT proposer, reviewer FROM own_cards") == (None, None)


async def test_a_card_of_another_version_is_said_and_stops_no_erasure(cards: OwnCards, database: Database) -> None:
    """It is not guessed at, and nobody's right waits for it."""
    await accepted(cards)
    await execute(database, 'UPDATE own_cards SET document = \'{"id": "water"}\'')
    with pytest.raises(StoreUnavailable, match="card water of sample/brenmoor cannot be read") as refused:
        await used(database)
    assert "version of Antiphon that wrote it" in refused.value.remedy
    await Erasure(database).erase(PLATFORM, ADMIN.user)
    assert await one_row(database, "SELECT reviewer FROM own_cards") == (None,)
