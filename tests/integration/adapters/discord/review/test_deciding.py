"""What a card lets people decide besides approving: hold, ask for other drafts, close, take back, and “More…”."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.desk.rules.case_cards import Holder
from core.desk.rules.closures import CloseReason, RetractReason
from core.errors import PlatformUnavailable
from core.models import Intent
from tests.fakes.discord.messages import buttons_of, select_of
from tests.fakes.discord.review import ReviewRoom, said_in
from tests.fakes.ports.cards import AT, REVIEWED, samples


async def test_holding_and_releasing_show_on_the_card(room: ReviewRoom) -> None:
    """Others see at once who holds it, and that nobody does any longer."""
    await room.show()
    held = await room.click("moderator", "Hold")
    assert "your hold ends <t:" in said_in(held)
    assert "moderator holds the case" in room.card_text()
    await room.click("moderator", "End my hold")
    assert "holds the case" not in room.card_text()


async def test_a_case_that_somebody_holds_is_closed_to_others(room: ReviewRoom) -> None:
    """Who comes second is told who has it, in private, and nothing is decided."""
    await room.show(holder=Holder("Ane", AT + timedelta(minutes=5)))
    refused = await room.click("second", "Approve draft 1…")
    assert "Ane holds the case; minutes left: 5." in said_in(refused)
    assert refused.ephemeral
    assert room.casework.decided == []


@pytest.mark.parametrize(("value", "intent"), [("any", None), ("empathetic", Intent.EMPATHETIC)])
async def test_other_drafts_are_asked_for_by_intent(room: ReviewRoom, value: str, intent: Intent | None) -> None:
    """The card's button asks which, and the choice is one decision."""
    await room.show()
    asked = await room.click("moderator", "Regenerate…")
    custom_id = select_of(asked.response.components)["custom_id"]
    await room.people["moderator"].select(asked.response, [value], custom_id=custom_id)
    assert room.casework.decided == [("redraft", str(room.people["moderator"].id), intent)]
    assert "Asked for other drafts" in said_in(asked)


async def test_another_claim_can_be_argued(room: ReviewRoom) -> None:
    """The claims that are not argued are offered, and the chosen one goes to the desk word for word."""
    await room.show()
    menu = await room.click("moderator", "More…")
    asked = await room.press("moderator", menu.response, "Argue another claim…")
    select = select_of(asked.response.components)
    assert [option["label"] for option in select["options"]] == [
        "1. Newcomers work.",
        "2. Nobody chooses where they are born.",
    ]
    await room.people["moderator"].select(asked.response, ["2"], custom_id=select["custom_id"])
    assert [how for _, _, how in room.casework.decided] == [REVIEWED.claims[2]]


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


async def test_closing_takes_one_reason(room: ReviewRoom) -> None:
    """Each reason is offered, and closes the case at once, without a word to type."""
    await room.show()
    asked = await room.click("moderator", "Close…")
    choice, reason = select_of(asked.response.components), CloseReason.OFF_TONE
    assert {option["value"] for option in choice["options"]} == {one.name for one in CloseReason}
    await room.people["moderator"].select(asked.response, [reason.name], custom_id=choice["custom_id"])
    assert [how for _, _, how in room.casework.decided] == [(reason, "")]
    assert f"Closed: {reason}." in said_in(asked)
    assert "Undo" in buttons_of(asked.response.components)


async def test_only_reasons_that_close_the_case_as_it_is_are_offered(room: ReviewRoom) -> None:
    """While drafts are written, nobody can say yet what is wrong with them."""
    await room.show(samples()["Queued"])
    asked = await room.click("moderator", "Close…")
    offered = [option["value"] for option in select_of(asked.response.components)["options"]]
    assert offered == ["NOT_HATEFUL", "SILENCE", "HANDLED", "MISTAKE"]


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


async def test_whether_a_reply_is_there_is_asked_only_where_one_was_sent(room: ReviewRoom) -> None:
    """A case can need a person for other reasons."""
    await room.show(samples()["Needs a person, nothing was sent"])
    menu = await room.click("moderator", "More…")
    assert not {"The reply is there", "The reply is not there"} & set(buttons_of(menu.response.components))


async def test_a_reply_is_taken_back_in_two_taps(room: ReviewRoom) -> None:
    """From the card itself, for a reason that nobody has to type."""
    await room.show(samples()["Posted, approved by two, the post deleted since"])
    asked = await room.click("moderator", "Take the reply back…")
    custom_id = select_of(asked.response.components)["custom_id"]
    await room.people["moderator"].select(asked.response, ["HARM"], custom_id=custom_id)
    assert [(what, how) for what, _, how in room.casework.decided] == [("retract", (RetractReason.HARM, ""))]
    await room.show_again()
    assert f"Closed {room.desk.number}:** Taken back: it makes things worse." in room.card_text()


async def test_another_reason_to_take_a_reply_back_is_written(room: ReviewRoom) -> None:
    """And kept word for word."""
    await room.show(samples()["Posted"])
    asked = await room.click("moderator", "Take the reply back…")
    custom_id = select_of(asked.response.components)["custom_id"]
    opened = await room.people["moderator"].select(asked.response, ["OTHER"], custom_id=custom_id)
    await room.people["moderator"].submit_modal(opened, {"note": "It hurts somebody."})
    assert [how for _, _, how in room.casework.decided] == [(RetractReason.OTHER, "It hurts somebody.")]


async def test_a_reply_that_could_not_be_taken_back_is_not_said_to_be_gone(room: ReviewRoom) -> None:
    """The platform may be away: the person is told once that the reply still stands, and why."""
    await room.show(samples()["Posted"])
    room.desk.chat.retract_fault = PlatformUnavailable("The platform is away.", remedy="Wait.")
    asked = await room.click("moderator", "Take the reply back…")
    custom_id = select_of(asked.response.components)["custom_id"]
    done = await room.people["moderator"].select(asked.response, ["WRONG"], custom_id=custom_id)
    (told,) = said_in(done).strip().splitlines()[1:]  # below the question
    assert "The platform is away." in told
