"""A community's own cards in the engine: an accepted one answers the posts that are close to its wordings."""

from dataclasses import replace

from core.desk.communities.native_roles import LiveRoles
from core.desk.communities.own_cards import OwnCards
from core.desk.database.connection import Database
from core.desk.drafting.request import DraftingRequest
from core.desk.rules.own_cards import restored
from core.desk.store.cases import Case
from core.engine.cards.bank import CardVerdict
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.request import Voice
from core.models import Action, Intent, Origin, Suggestion, Verdict
from tests.fakes.desk.cards import CLOSE_POST, GIST, MILD_POST, REPLY, REPLY_ID, ROW, card_of
from tests.fakes.desk.people import ADMIN, COMMUNITY, MANAGER, PLATFORM
from tests.fakes.engine.brief import ALL_SHOWN, PATIENT, POST
from tests.fakes.engine.suggesting import GOOD, helpful, suggest

FACT = "migrants-001"


async def test_an_accepted_card_answers_first_and_is_told_in_its_own_words(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """Gist, claim and prepared reply are the community's."""
    card = card_of()
    suggestion, _ = await suggest(readers, knowledge, helpful(draft=GOOD), CLOSE_POST, cards=(card.as_card(),))
    assert suggestion.reading.implied_meaning == f"It says that {GIST}."
    assert suggestion.reading.stereotypes[0] == card.answered.id
    assert suggestion.claims[0].text == card.argument
    mine = next(draft for draft in suggestion.drafts if draft.text == REPLY)
    assert (mine.intent, mine.prepared, mine.answers) == (Intent.POSITIVE, (REPLY_ID,), GIST)
    assert set(mine.origins) == {Origin.PREPARED}


async def test_a_post_about_something_else_is_answered_as_before(readers: Readers, knowledge: EvidenceSource) -> None:
    """A card of a community's own changes nothing elsewhere."""
    without, _ = await suggest(readers, knowledge, helpful(draft=GOOD))
    beside, _ = await suggest(readers, knowledge, helpful(draft=GOOD), cards=(card_of().as_card(),))
    assert POST != CLOSE_POST
    assert beside.reading == without.reading
    assert [draft.text for draft in beside.drafts] == [draft.text for draft in without.drafts]


async def test_a_post_that_only_the_community_understands_is_answered_for_whoever_asks(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """The reader of posts advises silence; the advice stays, and no gist is told."""
    cards = (card_of().as_card(),)
    asked, _ = await suggest(readers, knowledge, helpful(draft=GOOD), MILD_POST, cards=cards, is_asked=True)
    assert asked.reading.recommended_action is Action.STAY_SILENT
    assert asked.reading.implied_meaning is None
    assert any(draft.text == REPLY for draft in asked.drafts)


async def test_what_a_card_states_is_looked_up_in_its_fact(readers: Readers, knowledge: EvidenceSource) -> None:
    """A prepared sentence gets no receipt; one that states something under a fact does."""
    stated = "Three in four of the wells in this town are public."
    row = ROW | {"fact": FACT, "replies": {"positive": [stated]}}
    card = restored({name: value for name, value in row.items() if name != "no_fact"})
    voice = Voice(intents=(Intent.POSITIVE,), sure=0)
    suggestion, _ = await suggest(
        readers, knowledge, helpful(draft=GOOD), CLOSE_POST, cards=(card.as_card(),), voice=voice
    )
    assert suggestion.evidence[0].id == FACT
    found = [receipt for draft in suggestion.drafts for receipt in draft.receipts if receipt.sentence == stated]
    assert found
    assert all(receipt.verdict is not Verdict.SUPPORTED for receipt in found)


async def _drafted(database: Database, engine: Engine, case: Case) -> Suggestion:
    asks = DraftingRequest(database, engine, PATIENT, lambda _: ALL_SHOWN)
    return await asks.suggest(replace(case, post=replace(case.post, text=CLOSE_POST)), lambda _: None)


async def test_a_card_that_nobody_reviewed_is_in_no_draft(
    readers: Readers, knowledge: EvidenceSource, database: Database, case: Case
) -> None:
    """From the database to the drafts: proposed, then accepted, then changed."""
    engine, cards = Engine(helpful(draft=GOOD), knowledge, readers), OwnCards(database, LiveRoles(database, {}))
    await cards.propose(PLATFORM, COMMUNITY, card_of(), MANAGER)
    waiting = await _drafted(database, engine, case)
    assert not any(draft.text == REPLY for draft in waiting.drafts)
    await cards.review(PLATFORM, COMMUNITY, "water", CardVerdict.ACCEPTED, ADMIN, card_of().digest)
    assert any(draft.text == REPLY for draft in (await _drafted(database, engine, case)).drafts)
    await cards.propose(PLATFORM, COMMUNITY, card_of(caution="Wait."), MANAGER)
    assert not any(draft.text == REPLY for draft in (await _drafted(database, engine, case)).drafts)
