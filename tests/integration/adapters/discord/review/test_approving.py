"""Approving a reply on a card: two actions, the exact bytes, two persons, and a text that a person edited or wrote."""

from __future__ import annotations

from core.desk.rules.approval import CaseState
from tests.fakes.discord.messages import buttons_of, texts_of
from tests.fakes.discord.review import ReviewRoom, said_in
from tests.fakes.ports.cards import DRAFTS, EVIDENCE, REVIEWED, samples

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


async def test_a_case_without_a_draft_is_answered_from_the_points_on_its_card(room: ReviewRoom) -> None:
    """The button stands on the card itself; the text is approved in two actions."""
    await room.show(samples()["Needs a person, no draft"])
    said = room.card_text()
    assert "Points to write from" in said
    assert all(claim in said for claim in REVIEWED.claims)
    assert f"]({EVIDENCE[0].source.url})" in said
    opened = await room.click("moderator", "Write a reply of your own…")
    shown = await room.people["moderator"].submit_modal(opened, {"text": "We all live here."})
    whole = "We all live here.\n\nDrafted with Antiphon, checked and approved by a moderator."
    assert f"```\n{whole}\n```" in said_in(shown)
    assert room.casework.decided == []
    await room.press("moderator", shown.response, "Yes, post this reply")
    assert room.casework.decided == [("approve", str(room.people["moderator"].id), whole)]


async def test_a_folded_draft_is_approved_and_its_answer_offers_nothing_that_ends(room: ReviewRoom) -> None:
    """The answer stays when the reply is sent, so what can be done stands on the card alone."""
    await room.show()
    others = await room.click("moderator", "Other drafts (1)…")
    shown = await room.press("moderator", others.response, "Approve draft 2…")
    await room.press("moderator", shown.response, "Yes, post this reply")
    assert (await room.desk.now()).state is CaseState.APPROVED
    assert buttons_of(shown.response.components) == {}
    await room.show_again()
    await room.click("moderator", "Undo")
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


# Two persons


async def test_the_second_person_reads_an_edited_text_and_approves_the_same(room: ReviewRoom) -> None:
    """What the first one wrote stands on the card; its button shows the exact bytes before they are approved."""
    own = "We all live here.\nTruly."
    await room.show(why_two=("The post attacks one person.",))
    opened = await room.click("moderator", "Edit draft 1…")
    shown = await room.people["moderator"].submit_modal(opened, {"text": own})
    await room.press("moderator", shown.response, "Yes, and ask a second person")
    await room.show_again()
    assert f"**Text 1, approved by moderator**\n{own}" in room.card_text()
    await room.restart()
    other = await room.click("second", "Approve text 1…")
    assert f"```\n{own}\n\nDrafted with Antiphon" in "\n".join(texts_of(other.response.components))
    assert room.casework.decided == []
    await room.press("second", other.response, "Yes, post this reply")
    ((what, user, text),) = room.casework.decided
    assert (what, user) == ("approve", str(room.people["second"].id))
    assert str(text).startswith(own)


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
