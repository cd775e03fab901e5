"""What a card says of an approval and of the end of its case: the text, who approved it, who decided, and when."""

import pytest

from core.desk.database.connection import Database
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import ApprovedText, Card
from core.desk.rules.closures import CloseReason, RetractReason
from core.desk.rules.roles import Person
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from tests.fakes.desk.decisions import BOLD, OWN_TEXT, card_of, execute, propose
from tests.fakes.desk.people import MODERATOR, OTHER_MODERATOR
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.cards import samples


async def approved(front: Casework, case: Case, *people: Person, text: str = OWN_TEXT) -> Card:
    for person in people:
        case_now = await card_of(front, case)
        shown = await front.propose(case.id, case_now.version, person, text=text)
        card = (await front.approve(shown.id, person)).card
    return card


async def test_what_was_approved_stands_on_the_card_until_the_end_and_after(
    front: Casework, outbox: Outbox, in_review: Case, clock: FakeClock
) -> None:
    """Whole, as it is posted, by the name that the community knows; an undo takes it off."""
    waiting = await approved(front, in_review, MODERATOR)
    text = waiting.approved.text if waiting.approved else ""
    assert text.startswith(f"{OWN_TEXT}\n\nDrafted with Antiphon")
    assert waiting.approved == ApprovedText(text, ("moderator_one",), clock())
    undone = await front.undo(in_review.id, waiting.version, OTHER_MODERATOR)
    assert undone.approved is None
    clock.advance(1)
    await approved(front, in_review, OTHER_MODERATOR)
    clock.advance(16)
    await outbox.send_due()
    posted = await card_of(front, in_review)
    assert (posted.state, posted.closed_because) == (CaseState.POSTED, "posted")
    assert posted.approved is not None
    assert (posted.approved.text, posted.approved.by) == (text, ("moderator_two",))
    retracted = await front.retract(in_review.id, posted.version, MODERATOR, RetractReason.MISTAKE)
    assert retracted.approved == posted.approved
    assert retracted.last_move is not None
    assert (retracted.last_move.by, retracted.last_move.at) == ("moderator_one", clock())


async def test_both_of_two_persons_stand_on_the_card(front: Casework, in_review: Case) -> None:
    """In the order in which they approved; the second one is told to be the second."""
    first = await propose(front, in_review)
    assert (bool(first.why_two), first.is_second) == (True, False)
    await approved(front, in_review, MODERATOR, text=BOLD)
    assert first.is_second is False
    assert (await propose(front, in_review, by=OTHER_MODERATOR)).is_second is True
    card = await approved(front, in_review, OTHER_MODERATOR, text=BOLD)
    assert card.approved is not None
    assert card.approved.by == ("moderator_one", "moderator_two")


@pytest.mark.both_databases
async def test_in_shadow_mode_the_card_keeps_what_would_have_been_posted(
    front: Casework, outbox: Outbox, in_review: Case, clock: FakeClock, database: Database
) -> None:
    """It is all that the trial period leaves."""
    await execute(database, "UPDATE communities SET is_posting = false")
    await approved(front, in_review, MODERATOR)
    clock.advance(16)
    await outbox.send_due()
    card = await card_of(front, in_review)
    assert card.state is CaseState.SHADOWED
    assert card.approved is not None
    assert card.approved.text.startswith(OWN_TEXT)


async def closed(front: Casework, case: Case, state: CaseState) -> Card:
    reasons = {
        CaseState.DECLINED: CloseReason.OFF_TONE,
        CaseState.NO_REPLY: CloseReason.NOT_HATEFUL,
        CaseState.WITHDRAWN: CloseReason.MISTAKE,
    }
    return await front.close(case.id, case.version, MODERATOR, reasons[state])


@pytest.mark.parametrize(
    ("state", "sample"),
    [
        (CaseState.DECLINED, "Declined"),
        (CaseState.NO_REPLY, "Left without a reply"),
        (CaseState.WITHDRAWN, "Withdrawn"),
    ],
)
async def test_the_samples_of_closed_cards_are_as_the_desk_closes_them(
    front: Casework, in_review: Case, state: CaseState, sample: str, clock: FakeClock
) -> None:
    """With the reason of the log, who decided and when, and with the drafts that are still kept."""
    card, shown = await closed(front, in_review, state), samples()[sample]
    assert (card.state, card.closed_because) == (shown.state, shown.closed_because)
    assert (card.approved, card.earlier) == (shown.approved, shown.earlier) == (None, None)
    assert (bool(card.drafts), bool(shown.drafts)) == (True, True)
    assert card.last_move is not None
    assert (card.last_move.by, card.last_move.at) == ("moderator_one", clock())
