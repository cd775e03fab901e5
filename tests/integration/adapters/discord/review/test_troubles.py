"""A card through restarts and time, when others changed the case, and while the desk or Discord is in trouble."""

import pytest

from adapters.common.decisions import flows
from adapters.common.desk_access import HURRY_SECONDS
from tests.fakes.discord.messages import buttons_of
from tests.fakes.discord.review import ReviewRoom, said_in
from tests.fakes.ports.cards import samples

_BUTTONS = ("Approve draft 1…", "Regenerate…", "Close…", "Edit draft 1…", "More…", "Hold", "Not hateful")


# Restarts and time


async def test_every_button_of_a_card_works_after_a_restart(room: ReviewRoom) -> None:
    """A card outlives the process that showed it."""
    await room.show()
    await room.restart()
    for button in _BUTTONS:
        pressed = await room.click("moderator", button)
        assert pressed.acknowledged, button
        assert "could not finish" not in said_in(pressed), button


async def test_a_card_works_however_long_it_stands(room: ReviewRoom) -> None:
    """Neither the card nor the buttons of private answers end while the process lives."""
    await room.show()
    menu = await room.click("moderator", "More…")
    await room.env.advance_time(3 * 24 * 3600.0)
    await room.click("moderator", "Hold")
    await room.press("moderator", menu.response, "Show the drafts in full")
    assert [what for what, _, _ in room.casework.decided] == ["hold"]


# A case that others changed


async def test_editing_on_an_outdated_card_shows_the_case_as_it_is(room: ReviewRoom) -> None:
    """No modal opens with a draft that is not there any more; the current card comes instead, ready to use."""
    await room.show()
    await room.desk.moved(gist="Another reading of the post.")
    refused = await room.click("moderator", "Edit draft 1…")
    assert refused.modal is None
    assert "Another reading of the post." in said_in(refused)
    opened = await room.press("moderator", refused.followups[-1], "Edit draft 1…")
    assert opened.modal is not None


async def test_an_outdated_confirmation_is_followed_by_the_case_as_it_is(room: ReviewRoom) -> None:
    """A private answer cannot be brought up to date by the card, so the current one comes beside it, ready to use."""
    await room.show()
    shown = await room.click("moderator", "Approve draft 1…")
    await room.desk.moved(gist="Another reading of the post.")
    refused = await room.press("moderator", shown.response, "Yes, post this reply")
    assert "The case has changed since you saw it" in said_in(refused)
    assert "Another reading of the post." in said_in(refused)
    assert all(answer.ephemeral for answer in refused.followups)
    fresh = refused.followups[-1]
    again = await room.press("moderator", fresh, "Approve draft 1…")
    await room.press("moderator", again.response, "Yes, post this reply")
    assert [what for what, _, _ in room.casework.decided] == ["approve"]


async def test_more_is_of_the_case_as_it_is_now(room: ReviewRoom) -> None:
    """On an outdated card, too, the menu offers what the case allows now."""
    await room.show()
    await room.desk.go_on(samples()["Failed"])
    menu = await room.click("moderator", "More…")
    assert "Put it in review again" in buttons_of(menu.response.components)
    assert "The reply could not be sent." in said_in(menu)


# Trouble of the desk or of Discord


async def test_a_decision_stands_though_its_card_cannot_be_changed(room: ReviewRoom) -> None:
    """Discord may refuse the edit; the person learns what was decided, and what the manager can do."""
    await room.show()
    room.env.inject_error("PATCH", "/channels/*/messages/*", status=403, code=50001, message="Missing Access")
    held = await room.click("moderator", "Hold")
    assert "your hold ends" in said_in(held)
    assert "allow Antiphon" in said_in(held)
    assert [what for what, _, _ in room.casework.decided] == ["hold"]


async def test_a_desk_that_is_slow_does_not_cost_the_modal_its_three_seconds(
    room: ReviewRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A modal cannot be deferred: who pressed is asked to press again before Discord gives up."""
    assert HURRY_SECONDS + flows.READ_SECONDS < 2.5
    monkeypatch.setattr(flows, "READ_SECONDS", 0.02)
    await room.show()
    room.casework.slow_seconds = 60.0
    slow = await room.click("moderator", "Edit draft 1…")
    assert slow.modal is None
    assert "Press the button again." in said_in(slow)


async def test_what_takes_the_desk_long_is_answered_all_the_same(room: ReviewRoom) -> None:
    """Every press but those that open a modal is acknowledged before the desk is asked."""
    await room.show()
    room.casework.slow_seconds = 60.0
    menu = await room.click("moderator", "More…")
    assert menu.deferred
    assert said_in(menu) == ""
    await room.env.advance_time(60.0)
    assert "Waits for your decision." in said_in(menu)
