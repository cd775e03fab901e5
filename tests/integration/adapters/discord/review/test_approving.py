"""Approving a reply on a card: two actions, the exact bytes, two persons, and a text that a person edited or wrote."""

from tests.fakes.discord.messages import texts_of
from tests.fakes.discord.review import ReviewRoom, said_in
from tests.fakes.ports.cards import DRAFTS

_WHOLE = f"{DRAFTS[0].text}\n\nDrafted with Antiphon, checked and approved by a moderator."


# Two actions


async def test_approving_takes_two_actions_and_shows_the_exact_bytes(room: ReviewRoom) -> None:
    """The first press shows what would be posted, to this person alone; only the second one approves it."""
    await room.show()
    shown = await room.click("moderator", "Approve draft 1…")
    assert shown.response.ephemeral
    assert f"```\n{_WHOLE}\n```" in texts_of(shown.response.components)
    assert room.casework.decided == []
    done = await room.press("moderator", shown.response, "Yes, post this reply")
    user = str(room.people["moderator"].id)
    assert room.casework.decided == [("approve", user, _WHOLE)]
    assert "You approved this reply." in said_in(shown)
    assert "<t:" not in said_in(shown)
    assert done.followups == []


# Two persons


# A text of one's own


async def test_editing_begins_with_the_draft_and_ends_in_the_same_confirmation(room: ReviewRoom) -> None:
    """The edited text is checked, and what no evidence holds is listed before anybody approves it."""
    await room.show()
    opened = await room.click("moderator", "Edit draft 1…")
    (label,) = opened.modal["components"]
    assert label["component"]["value"] == DRAFTS[0].text
    shown = await room.people["moderator"].submit_modal(opened, {"text": "In 2019 most of them worked."})
    assert "In 2019 most of them worked.\n\nDrafted with" in said_in(shown)
    assert said_in(shown).count("2019") == 2 and "No evidence holds the figure “2019”" in said_in(shown)
    await room.press("moderator", shown.response, "Yes, and ask a second person")
    assert (await room.desk.now()).first_texts == ("In 2019 most of them worked.",)


async def test_a_modal_that_was_open_during_a_restart_is_still_answered(room: ReviewRoom) -> None:
    """discord.py forgets its modals; what somebody typed meanwhile must not be lost."""
    await room.show()
    opened = await room.click("moderator", "Edit draft 1…")
    await room.restart()
    shown = await room.people["moderator"].submit_modal(opened, {"text": "We all live here."})
    await room.restart()
    await room.press("moderator", shown.response, "Yes, post this reply")
    assert [what for what, _, _ in room.casework.decided] == ["approve"]


async def test_a_text_that_no_message_can_show_exactly_comes_as_a_file(room: ReviewRoom) -> None:
    """Backticks would end the block, and a tab looks like a space there: the file holds the very bytes."""
    await room.show()
    for text in ("Look: ``` here.", "Read\tthis again."):
        opened = await room.click("moderator", "Edit draft 1…")
        shown = await room.people["moderator"].submit_modal(opened, {"text": text})
        assert [file.filename for file in shown.response.attachments] == ["reply.txt"]
        assert "It is in the file" in said_in(shown)
