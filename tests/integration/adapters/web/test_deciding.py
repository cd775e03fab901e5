"""From the queue to a decision, without a script: each press asks the desk, and each answer has its words."""

from __future__ import annotations

from core.moderation.approval import CaseState
from tests.fakes.ports.cards import DRAFTS
from tests.fakes.web.browsing import Browser, Dashboard


async def test_the_queue_leads_to_a_case(room: Dashboard, ane: Browser) -> None:
    """Gist, group and age are there, and no word of the post."""
    page = await ane.get("/")
    row = page.dom.css_first("a[data-case]")
    assert row is not None
    assert room.desk.number in row.text()
    assert "benefits" not in page.text
    page = await ane.get(str(row.attributes["href"]))
    assert page.status == 200
    assert "benefits" not in page.text
    assert DRAFTS[0].text in page.words


async def test_a_draft_is_approved_in_two_acts(room: Dashboard, ane: Browser) -> None:
    """The first one shows exactly what would be posted, the second one approves these bytes."""
    await ane.get(f"/case/{room.desk.case_id}")
    page = await ane.press("Approve draft 1…")
    shown = page.said("pre.exact")
    assert (await room.desk.now()).state is CaseState.IN_REVIEW
    page = await ane.press("Yes, post this reply")
    card = await room.desk.now()
    assert card.state is CaseState.APPROVED
    assert card.approved is not None
    assert card.approved.text == shown
    assert page.status == 200
    assert "You approved this reply" in page.words
    await ane.press("Undo")
    assert (await room.desk.now()).state is CaseState.IN_REVIEW
