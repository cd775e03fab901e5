"""Deciding on a card: in two actions, by the right person, in words that only they see."""

from dataclasses import replace

import pytest

from tests.fakes.ports.cards import DRAFTS, samples
from tests.fakes.telegram.review import TelegramRoom, labels_of

_WHOLE = f"{DRAFTS[0].text}\n\nDrafted with Antiphon, checked and approved by a moderator."


async def test_approving_takes_two_actions_and_shows_the_exact_text(room: TelegramRoom) -> None:
    """The first press shows what would be posted, to this person alone; only the second one approves it."""
    await room.show()
    assert await room.press("moderator", room.card, "Approve draft 1…") == ""
    (shown,) = room.told("moderator")
    assert _WHOLE in shown["text"]
    assert [one["type"] for one in shown["entities"]][:2] == ["bold", "pre"]
    assert room.casework.decided == []
    await room.press("moderator", shown, "Yes, post this reply")
    assert room.casework.decided == [("approve", str(room.people["moderator"]), _WHOLE)]
    assert "You approved this reply." in shown["text"]
    assert labels_of(shown) == []
    assert room.told("second") == []
    assert len(room.cards) == 1


async def test_buttons_work_after_a_restart(room: TelegramRoom) -> None:
    """All that a button knows is in its data."""
    await room.show()
    await room.press("moderator", room.card, "Approve draft 1…")
    await room.restart()
    await room.press("moderator", room.told("moderator")[0], "Yes, post this reply")
    assert [what for what, _, _ in room.casework.decided] == ["approve"]


async def test_a_choice_is_a_row_of_buttons_for_each_answer(room: TelegramRoom) -> None:
    """A person who asked chooses; what is too long for a button is said in full above."""
    await room.show(claims=("Newcomers pay taxes.", "Newcomers work in every trade that this town has to offer."))
    await room.press("moderator", room.card, "More…")
    await room.press("moderator", room.told("moderator")[0], "Argue another claim…")
    chosen = room.told("moderator")[-1]
    assert "1. Newcomers work in every trade that this town has to offer" in chosen["text"].replace("\u2060", "")
    (label,) = labels_of(chosen)
    assert len(label) <= 34
    await room.press("moderator", chosen, label)
    ((what, _, claim),) = room.casework.decided
    assert (what, claim) == ("redraft", "Newcomers work in every trade that this town has to offer.")


async def test_a_stranger_decides_nothing_and_sees_nothing(room: TelegramRoom) -> None:
    """They are told so over the chat, where nobody else reads it."""
    await room.show()
    said = await room.press("stranger", room.card, "Approve draft 1…")
    assert "Only m" in said
    assert room.told("stranger") == []
    assert len(room.cards) == 1


async def test_without_ephemeral_messages_the_answer_stands_below_the_card_for_its_person(room: TelegramRoom) -> None:
    """All in the chat are moderators; nobody else can press what stands in it."""
    room.server.state.offers_ephemeral = False
    await room.show()
    await room.press("moderator", room.card, "Approve draft 1…")
    await room.press("moderator", room.card, "Approve draft 1…")
    card, _, shown = room.cards
    assert shown["reply_to_message"]["message_id"] == card["message_id"]
    assert shown["text"].startswith("moderator\n")
    said = await room.press("second", shown, "Yes, post this reply")
    assert "for another person" in said
    assert room.casework.decided == []
    await room.press("moderator", shown, "Yes, post this reply")
    assert [what for what, _, _ in room.casework.decided] == ["approve"]
    assert "You approved this reply." in shown["text"]


async def test_every_press_is_answered_also_where_all_goes_wrong(
    room: TelegramRoom, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault that nobody foresaw is told to the person, and no word of it to the log."""
    await room.show()
    room.casework.trouble = RuntimeError("zqxj")
    said = await room.press("moderator", room.card, "Hold")
    assert "could not finish" in said
    assert "zqxj" not in caplog.text
    caplog.clear()


async def test_where_the_chat_was_opened_nothing_is_shown(room: TelegramRoom) -> None:
    """Not the post, not a draft: a press is answered over the chat alone."""
    await room.show()
    room.server.state.chats[room.chat].shown["username"] = "open_house"
    room.client.surface.places.forget(room.chat)
    before = len(room.server.requests)
    said = await room.press("moderator", room.card, "More…")
    assert "Others than moderators can read" in said
    methods = {one.method for one in room.server.requests[before:]}
    assert not methods & {"sendMessage", "editMessageText", "sendDocument"}


async def test_a_late_press_is_answered_in_a_message(room: TelegramRoom) -> None:
    """After an outage Telegram takes no answer to a press any more."""
    await room.show()
    query = room.town.press(room.people["moderator"], room.card, label="Approve draft 1…")
    room.town.wait(600)
    await room.client.hear_all()
    assert room.town.answer_to(query) is None
    assert "Exactly this would be posted" in room.cards[-1]["text"]


async def test_long_answers_come_as_files(room: TelegramRoom) -> None:
    """What no message can show exactly, or in full."""
    await room.show(post=replace(samples()["Approved"].post, text="w" * 5000))
    await room.press("moderator", room.card, "More…")
    await room.press("moderator", room.told("moderator")[0], "Show the post")
    file, text = room.told("moderator")[-2:]
    assert file["document"]["file_name"] == "post.txt"
    assert "It is long, so it is in the file." in text["text"]
