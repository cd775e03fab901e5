"""The taps that each decision takes, counted in a run of the whole application from a flag to each end of a case."""

from datetime import UTC, datetime
from pathlib import Path

from tests.fakes.discord.hands import Hands, OneCard
from tests.fakes.discord.messages import phone_lines
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.suggesting import drafting_engine
from tests.fakes.machine.clock import FakeClock

GOALS = {
    "flag a post, see drafts": 3,
    "approve a draft": 2,
    "dismiss a false alarm": 1,
    "close for a reason": 2,
    "take a posted reply back": 2,
    "undo an approval": 1,
    "undo a closing": 1,
}
MOST_LINES = 25
"""Before the first approval of an open card where posting is on; shadow mode adds a sentence."""
POST = "Romanians are thieves, every last one."


async def test_the_commonest_acts_are_the_cheapest(tmp_path: Path) -> None:
    """From a flag to each end of a case; each tap of a person is counted as it is made."""
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with served(drafting_engine(), tmp_path, clock=clock, undo_seconds=15) as town:
        await town.set_up()
        panel = await town.people["owner"].slash(town.square, "antiphon setup")
        for name in ("posting_on", "posting_on_confirmed"):
            await town.people["owner"].click(panel.response, custom_id=f"antiphon:manage:setup:{name}")
        hands = Hands(town)
        card = await _flagged(town, hands)
        await _closed_and_undone(card, hands)
        await _approved(card, hands)
        with hands.errand("undo an approval"):
            await card.press("moderator", "Undo")
        shown = phone_lines(await card.shows("Waits for your decision."))
        assert next(number for number, line in enumerate(shown) if "[Approve" in line) < MOST_LINES
        await _approved(card, hands)
        clock.advance(16)
        await card.shows("The reply is posted.")
        with hands.errand("take a posted reply back"):
            asked = await card.press("moderator", "Take the reply back…")
            await hands.select("moderator", asked.response, "MISTAKE")
        await card.shows("Taken back by")
    assert hands.taps == GOALS


async def _flagged(town: NewServer, hands: Hands) -> OneCard:
    post = await town.people["author"].send(town.square, POST)
    with hands.errand("flag a post, see drafts"):
        await hands.menu("volunteer", "Draft a reply", post)
    card = OneCard(town, hands, 0)
    await card.shows("Waits for your decision.")
    return card


async def _closed_and_undone(card: OneCard, hands: Hands) -> None:
    with hands.errand("dismiss a false alarm"):
        answer = (await card.press("moderator", "Not hateful")).followups[0]
    await card.shows("Closed ")
    with hands.errand("undo a closing"):
        await hands.press("moderator", answer, "Undo")
    await card.shows("Waits for your decision.")
    with hands.errand("close for a reason"):
        asked = await card.press("moderator", "Close…")
        await hands.select("moderator", asked.response, "HANDLED")
    await card.shows("Closed ")
    await hands.press("moderator", asked.response, "Undo")
    await card.shows("Waits for your decision.")


async def _approved(card: OneCard, hands: Hands) -> None:
    with hands.errand("approve a draft"):
        shown = await card.press("moderator", "Approve draft 1…")
        await hands.press("moderator", shown.response, "Yes")
    await card.shows("Approved")
