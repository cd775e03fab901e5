"""What a card lets people decide besides approving: claim, ask for other drafts, decline, stay silent, and “More…”."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.models import Intent
from core.moderation.cards import Holder
from core.moderation.decline import DeclineReason
from tests.fakes.discord.messages import select_of
from tests.fakes.discord.review import ReviewRoom, said_in
from tests.fakes.ports.cards import REVIEWED, samples
from tests.fakes.ports.casework import NOW


async def test_holding_and_releasing_show_on_the_card(room: ReviewRoom) -> None:
    """Others see at once who holds it, and that nobody does any longer."""
    await room.show()
    held = await room.click("moderator", "Hold")
    assert "your hold ends <t:" in said_in(held)
    assert "moderator holds the case" in room.card_text()
    await room.click("moderator", "Release")
    assert "holds the case" not in room.card_text()


async def test_a_case_that_somebody_holds_is_closed_to_others(room: ReviewRoom) -> None:
    """Who comes second is told who has it, in private, and nothing is decided."""
    await room.show(holder=Holder("Ane", NOW + timedelta(minutes=5)))
    refused = await room.click("second", "Approve draft 1…")
    assert "Ane looks at this case." in said_in(refused)
    assert refused.ephemeral
    assert room.casework.decided == []


@pytest.mark.parametrize(("value", "intent"), [("any", None), *[(one.value, one) for one in Intent]])
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


@pytest.mark.parametrize("reason", [one for one in DeclineReason if one is not DeclineReason.OTHER])
async def test_declining_takes_one_reason(room: ReviewRoom, reason: DeclineReason) -> None:
    """Each reason closes the case at once."""
    await room.show()
    asked = await room.click("moderator", "Decline…")
    custom_id = select_of(asked.response.components)["custom_id"]
    await room.people["moderator"].select(asked.response, [reason.name], custom_id=custom_id)
    assert [how for _, _, how in room.casework.decided] == [(reason, "")]
    assert "Declined" in said_in(asked)


async def test_declining_for_another_reason_asks_for_a_note_even_across_a_restart(room: ReviewRoom) -> None:
    """“Something else” opens a modal, whose answer is understood by another process, too."""
    await room.show()
    asked = await room.click("moderator", "Decline…")
    custom_id = select_of(asked.response.components)["custom_id"]
    opened = await room.people["moderator"].select(asked.response, ["OTHER"], custom_id=custom_id)
    await room.restart()
    done = await room.people["moderator"].submit_modal(opened, {"note": "It is about last year."})
    assert [how for _, _, how in room.casework.decided] == [(DeclineReason.OTHER, "It is about last year.")]
    assert "Declined" in said_in(done)


async def test_staying_silent_asks_why(room: ReviewRoom) -> None:
    """A post may be left without a reply, for a reason, and the card says so at once."""
    await room.show()
    opened = await room.click("manager", "Stay silent…")
    done = await room.people["manager"].submit_modal(opened, {"note": "Nobody reads that thread."})
    user = str(room.people["manager"].id)
    assert room.casework.decided == [("stay_silent", user, "Nobody reads that thread.")]
    assert "Left without a reply" in said_in(done)
    assert "Closed: left without a reply." in room.card_text()


@pytest.mark.parametrize(
    ("kind", "button", "field", "decided"),
    [
        ("In review", "Withdraw the case…", "Flagged by mistake.", ("withdraw", "Flagged by mistake.")),
        ("Posted", "Take the reply back…", "It hurts somebody.", ("retract", "It hurts somebody.")),
        ("Needs a person", "Put it in review again", None, ("reopen", None)),
        ("Failed", "Put it in review again", None, ("reopen", None)),
        ("Needs a person", "The reply is there", None, ("settle", True)),
        ("Needs a person", "The reply is not there", None, ("settle", False)),
        ("Folded into a campaign", "Draft this post on its own", None, ("split_out", None)),
    ],
)
async def test_more_offers_what_the_state_allows(
    room: ReviewRoom, kind: str, button: str, field: str | None, decided: tuple[str, object]
) -> None:
    """What is rarely needed stands behind “More…”, and works from there, after a restart as well."""
    await room.show(samples()[kind])
    menu = await room.click("moderator", "More…")
    await room.restart()
    pressed = await room.press("moderator", menu.response, button)
    if field is not None:
        await room.people["moderator"].submit_modal(pressed, {"note": field})
    assert [(what, how) for what, _, how in room.casework.decided] == [decided]


async def test_a_reply_to_a_deleted_post_can_be_taken_back_on_the_card(room: ReviewRoom) -> None:
    """The card proposes it, with the button beside the sentence."""
    await room.show(samples()["Posted, the post deleted since"])
    assert "The post was deleted after it was flagged." in room.card_text()
    opened = await room.click("moderator", "Take the reply back…")
    await room.people["moderator"].submit_modal(opened, {"note": "The post is gone."})
    assert [what for what, _, _ in room.casework.decided] == ["retract"]
    assert "Closed: the reply was taken back." in room.card_text()


async def test_a_reply_that_could_not_be_taken_back_is_not_said_to_be_gone(room: ReviewRoom) -> None:
    """The platform may be away: the person is told that the reply may still stand, and why."""
    room.casework.can_retract = False
    await room.show(samples()["Posted"])
    menu = await room.click("moderator", "More…")
    opened = await room.press("moderator", menu.response, "Take the reply back…")
    done = await room.people["moderator"].submit_modal(opened, {"note": "It hurts somebody."})
    assert "it may still be there.\nThe platform is away." in said_in(done)
