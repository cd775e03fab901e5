"""What a card lets people decide besides approving: hold, ask for other drafts, close, take back, and “More…”."""

import pytest

from core.desk.rules.closures import CloseReason, RetractReason
from tests.fakes.discord.messages import select_of
from tests.fakes.discord.review import ReviewRoom, said_in
from tests.fakes.ports.cards import samples


async def test_a_post_that_is_not_hateful_is_closed_in_one_tap_and_undone_in_another(room: ReviewRoom) -> None:
    """The commonest decision costs least, and a slip of the thumb costs nothing, after a restart as well."""
    await room.show()
    done = await room.click("moderator", "Not hateful")
    user = str(room.people["moderator"].id)
    assert room.casework.decided == [("close", user, (CloseReason.NOT_HATEFUL, ""))]
    assert "Closed: not hateful." in said_in(done)
    assert done.followups[0].ephemeral
    assert f"Closed {room.desk.number}:** Left without a reply: not hateful." in room.card_text()
    await room.restart()
    await room.press("moderator", done.followups[0], "Undo")
    assert [what for what, _, _ in room.casework.decided] == ["close", "undo"]
    await room.show_again()
    assert "Waits for your decision." in room.card_text()


async def test_closing_for_another_reason_asks_for_a_note_even_across_a_restart(room: ReviewRoom) -> None:
    """“Something else” opens a modal, whose answer is understood by another process, too."""
    await room.show()
    asked = await room.click("moderator", "Close…")
    custom_id = select_of(asked.response.components)["custom_id"]
    opened = await room.people["moderator"].select(asked.response, ["OTHER"], custom_id=custom_id)
    await room.restart()
    done = await room.people["moderator"].submit_modal(opened, {"note": "It is about last year."})
    assert [how for _, _, how in room.casework.decided] == [(CloseReason.OTHER, "It is about last year.")]
    assert "Closed: other." in said_in(done)


@pytest.mark.parametrize(
    ("kind", "button", "decided"),
    [
        ("Needs a person, nothing was sent", "Put it in review again", ("reopen", None)),
        ("Failed", "Put it in review again", ("reopen", None)),
        ("Needs a person", "The reply is there", ("settle", True)),
        ("Needs a person", "The reply is not there", ("settle", False)),
    ],
)
async def test_what_a_case_waits_for_is_on_its_card(
    room: ReviewRoom, kind: str, button: str, decided: tuple[str, object]
) -> None:
    """And a sentence on the card names the button."""
    await room.show(samples()[kind])
    assert f"“{button}”" in room.card_text()
    await room.click("moderator", button)
    assert [(what, how) for what, _, how in room.casework.decided] == [decided]


async def test_more_offers_what_the_state_allows(room: ReviewRoom) -> None:
    """What is rarely needed stands behind “More…”, and works from there, after a restart as well."""
    await room.show(samples()["Folded into a campaign"])
    menu = await room.click("moderator", "More…")
    await room.restart()
    await room.press("moderator", menu.response, "Draft this post on its own")
    assert [(what, how) for what, _, how in room.casework.decided] == [("split_out", None)]


async def test_another_reason_to_take_a_reply_back_is_written(room: ReviewRoom) -> None:
    """And kept word for word."""
    await room.show(samples()["Posted"])
    asked = await room.click("moderator", "Take the reply back…")
    custom_id = select_of(asked.response.components)["custom_id"]
    opened = await room.people["moderator"].select(asked.response, ["OTHER"], custom_id=custom_id)
    await room.people["moderator"].submit_modal(opened, {"note": "It hurts somebody."})
    assert [how for _, _, how in room.casework.decided] == [(RetractReason.OTHER, "It hurts somebody.")]
