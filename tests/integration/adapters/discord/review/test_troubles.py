"""A card through restarts and time, when others changed the case, and while the desk or Discord is in trouble."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from adapters.common.decisions import approving
from adapters.common.policy_memory import HURRY_SECONDS
from core.errors import StoreUnavailable
from core.moderation.approval import CaseState
from tests.fakes.discord.cards import CASE_ID, POST_TEXT, buttons_of
from tests.fakes.discord.review import ReviewWorld, quiet_review_world, review_world, said_in

_DECISIONS = ("Approve draft 1…", "Claim", "Regenerate…", "Decline…", "Stay silent…", "Edit draft 1…", "More…")


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> AsyncIterator[ReviewWorld]:
    """The review part on a simulated Discord, with no error in its log."""
    async with quiet_review_world(caplog) as made:
        yield made


# Restarts and time


@pytest.mark.parametrize("button", _DECISIONS)
async def test_every_button_of_a_card_works_after_a_restart(world: ReviewWorld, button: str) -> None:
    """A card outlives the process that showed it."""
    await world.show()
    await world.restart()
    pressed = await world.click("moderator", button)
    assert pressed.acknowledged
    assert "could not finish" not in said_in(pressed)


async def test_a_card_works_however_long_it_stands(world: ReviewWorld) -> None:
    """Neither the card nor the buttons of private answers end while the process lives."""
    await world.show()
    menu = await world.click("moderator", "More…")
    await world.env.advance_time(3 * 24 * 3600.0)
    await world.click("moderator", "Claim")
    await world.press("moderator", menu.response, "Show the drafts in full")
    assert [what for what, _, _ in world.casework.decided] == ["claim"]


# A case that others changed


async def test_editing_on_an_outdated_card_shows_the_case_as_it_is(world: ReviewWorld) -> None:
    """No modal opens with a draft that is not there any more; the current card comes instead, ready to use."""
    await world.show()
    world.casework.put(replace(world.casework.cases[CASE_ID], version=9, gist="Another reading of the post."))
    refused = await world.click("moderator", "Edit draft 1…")
    assert refused.modal is None
    assert "Another reading of the post." in said_in(refused)
    opened = await world.press("moderator", refused.followups[-1], "Edit draft 2…")
    assert opened.modal is not None


@pytest.mark.parametrize("button", ["Approve draft 1…", "Undo"])
async def test_a_press_on_an_outdated_card_says_so_and_brings_it_up_to_date(world: ReviewWorld, button: str) -> None:
    """Nobody decides about what they did not see."""
    await world.show(state=CaseState.APPROVED if button == "Undo" else CaseState.IN_REVIEW)
    now = replace(world.casework.cases[CASE_ID], version=9, gist="Another reading of the post.")
    world.casework.put(replace(now, state=CaseState.IN_REVIEW))
    refused = await world.click("moderator", button)
    assert "The card now shows the case as it is." in said_in(refused)
    assert "Another reading of the post." in world.card_text()
    assert world.casework.decided == []
    shown = await world.click("moderator", "Approve draft 1…")
    await world.press("moderator", shown.response, "Yes, post this reply")
    assert [what for what, _, _ in world.casework.decided] == ["approve"]


async def test_an_outdated_confirmation_is_followed_by_the_case_as_it_is(world: ReviewWorld) -> None:
    """A private answer cannot be brought up to date by the card, so the current one comes beside it, ready to use."""
    await world.show()
    shown = await world.click("moderator", "Approve draft 1…")
    world.casework.put(replace(world.casework.cases[CASE_ID], version=9, gist="Another reading of the post."))
    refused = await world.press("moderator", shown.response, "Yes, post this reply")
    assert "Somebody was faster" in said_in(refused)
    assert "Another reading of the post." in said_in(refused)
    assert all(answer.ephemeral for answer in refused.followups)
    fresh = refused.followups[-1]
    again = await world.press("moderator", fresh, "Approve draft 2…")
    await world.press("moderator", again.response, "Yes, post this reply")
    assert [what for what, _, _ in world.casework.decided] == ["approve"]


async def test_more_is_of_the_case_as_it_is_now(world: ReviewWorld) -> None:
    """On an outdated card, too, the menu offers what the case allows now."""
    await world.show()
    world.casework.put(replace(world.casework.cases[CASE_ID], version=9, state=CaseState.POSTED))
    menu = await world.click("moderator", "More…")
    assert "Take the reply back…" in buttons_of(menu.response.components)
    assert "The reply is posted." in said_in(menu)


# Trouble of the desk or of Discord


async def test_what_goes_wrong_at_the_desk_is_said_with_its_remedy(world: ReviewWorld) -> None:
    """A database that is away is no reason to leave somebody waiting."""
    await world.show()
    world.casework.trouble = StoreUnavailable("The database is away.", remedy="Try again in a minute.")
    refused = await world.click("moderator", "Approve draft 1…")
    assert "The database is away." in said_in(refused)
    assert "Try again in a minute." in said_in(refused)


async def test_a_fault_of_ours_is_answered_and_logged_by_its_kind(caplog: pytest.LogCaptureFixture) -> None:
    """The person is told, and the log says what and where, without a word of the post."""
    async with review_world() as world:
        await world.show()
        world.casework.trouble = ZeroDivisionError(POST_TEXT)
        answered = await world.click("moderator", "Approve draft 1…")
        assert "Antiphon could not finish this." in said_in(answered)
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage().startswith("approve of a case failed: ZeroDivisionError at ")
    assert "casework.py:" in record.getMessage()
    assert POST_TEXT not in caplog.text
    assert record.exc_info is None


async def test_a_decision_stands_though_its_card_cannot_be_changed(world: ReviewWorld) -> None:
    """Discord may refuse the edit; the person learns what was decided, and what the manager can do."""
    await world.show()
    world.env.inject_error("PATCH", "/channels/*/messages/*", status=403, code=50001, message="Missing Access")
    claimed = await world.click("moderator", "Claim")
    assert "your hold ends" in said_in(claimed)
    assert "allow Antiphon" in said_in(claimed)
    assert [what for what, _, _ in world.casework.decided] == ["claim"]


async def test_a_desk_that_is_slow_does_not_cost_the_modal_its_three_seconds(
    world: ReviewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A modal cannot be deferred: who pressed is asked to press again before Discord gives up."""
    assert HURRY_SECONDS + approving.READ_SECONDS < 2.5
    monkeypatch.setattr(approving, "READ_SECONDS", 0.02)
    await world.show()
    world.casework.slow_seconds = 60.0
    slow = await world.click("moderator", "Edit draft 1…")
    assert slow.modal is None
    assert "Press the button again." in said_in(slow)


async def test_what_takes_the_desk_long_is_answered_all_the_same(world: ReviewWorld) -> None:
    """Every press but those that open a modal is acknowledged before the desk is asked."""
    await world.show()
    world.casework.slow_seconds = 60.0
    menu = await world.click("moderator", "More…")
    assert menu.deferred
    assert said_in(menu) == ""
    await world.env.advance_time(60.0)
    assert "Waits for your decision." in said_in(menu)
