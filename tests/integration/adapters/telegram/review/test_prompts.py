"""Texts that moderators write: as the answer to a prompt of ours, by the person whom it asks, and nothing else."""

from pathlib import Path

import pytest

from core.desk.rules.closures import CloseReason
from core.errors import StoreUnavailable
from tests.fakes.desk.review_desk import review_desk
from tests.fakes.ports.cards import DRAFTS
from tests.fakes.telegram.review import TelegramRoom

_OWN = "We all live here.\nTruly, @all: ask us & <b>more</b> of _us_ &amp; them"


async def test_editing_begins_with_the_draft_to_copy_and_ends_in_the_same_confirmation(room: TelegramRoom) -> None:
    """The text is what the person wrote, character for character, and is checked as any other."""
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    prompt = room.cards[-1]
    assert prompt["text"].endswith(DRAFTS[0].text)
    assert [one["type"] for one in prompt["entities"]] == ["text_link", "text_link", "pre"]
    (asked,) = [one for one in room.server.asked("sendMessage") if "force_reply" in str(one.get("reply_markup"))]
    assert asked["reply_markup"]["selective"] is True
    assert await room.write("moderator", _OWN, prompt) == [True]
    shown = room.cards[-1]
    assert f"{_OWN}\n\nDrafted with" in shown["text"]
    await room.press("moderator", shown, "Yes, post this reply")
    ((what, _, text),) = room.casework.decided
    assert (what, str(text).startswith(_OWN)) == ("approve", True)


async def test_a_prompt_is_answered_after_a_restart_and_only_once(room: TelegramRoom) -> None:
    """It goes away with its answer; what is written below it later is plain talk."""
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    prompt = dict(room.cards[-1])
    await room.restart()
    assert await room.write("moderator", "We all live here.", prompt) == [True]
    assert prompt["message_id"] not in [one["message_id"] for one in room.cards]
    assert "We all live here." in room.cards[-1]["text"]


async def test_two_answers_at_once_decide_nothing_twice(room: TelegramRoom) -> None:
    """The second one finds the case as the first one left it."""
    await room.show()
    await room.press("moderator", room.card, "Close…")
    await room.press("moderator", room.told("moderator")[-1], "Something else")
    prompt = room.cards[-1]
    for text in ("It was said in jest.", "It was not."):
        room.town.say(room.people["moderator"], room.chat, text, reply_to=prompt)
    assert await room.client.hear_all() == [True, True]
    ((what, _, how),) = room.casework.decided
    assert (what, how) == ("close", (CloseReason.OTHER, "It was said in jest."))
    assert any("You decided this already (declined: other)" in one["text"] for one in room.cards)


async def test_another_person_cannot_answer_a_prompt(room: TelegramRoom) -> None:
    """Nor can an administrator without a name; the prompt stays for the one whom it asks."""
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    prompt = room.cards[-1]
    assert await room.write("second", "We all live here.", prompt) == [True]
    assert "Only the person whom it asks" in room.cards[-1]["text"]
    room.town.say(room.people["moderator"], room.chat, "So do we.", reply_to=prompt, as_chat=room.chat)
    assert await room.client.hear_all() == [True]
    assert "Only the person whom it asks" in room.cards[-1]["text"]
    assert prompt in room.cards
    assert not [one for one in room.cards if "Exactly this" in one["text"]]
    assert await room.write("moderator", "We all live here.", prompt) == [True]
    assert "Exactly this would be posted" in room.cards[-1]["text"]


async def test_plain_talk_is_never_an_edit(room: TelegramRoom) -> None:
    """Nor is an answer to a card, to an answer of ours, or to somebody who copies a prompt."""
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    prompt = room.cards[-1]
    room.server.state.privacy = False
    copied = room.town.say(room.people["second"], room.chat, prompt["text"], entities=prompt["entities"])
    assert await room.client.hear_all() == [False]
    for reply_to in (None, room.card, copied):
        assert await room.write("moderator", "We all live here.", reply_to) == [False]
    assert room.casework.decided == []
    assert room.cards == [room.card, prompt]


async def test_a_text_that_cannot_be_used_is_given_back(room: TelegramRoom) -> None:
    """Too long with its last line: nothing that was typed is lost, and it can be mended."""
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    await room.write("moderator", "w" * 2000, room.cards[-1])
    given_back = next(one for one in room.cards if "nothing is lost" in one["text"])
    assert "w" * 2000 in given_back["text"]
    assert any("Shorten it by 61 characters." in one["text"] for one in room.cards)
    await room.press("moderator", given_back, "Mend this text…")
    assert room.cards[-1]["text"].endswith("w" * 2000)


async def test_a_picture_is_no_text(room: TelegramRoom) -> None:
    """The person is told; the prompt stays."""
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    prompt = room.cards[-1]
    sent = {key: prompt[key] for key in ("date", "chat")} | {"message_id": 99, "reply_to_message": prompt}
    picture = {"file_id": "a", "file_unique_id": "a", "width": 1, "height": 1}
    sent |= {"from": room.server.state.users[room.people["moderator"]], "photo": [picture], "caption": "x"}
    room.server.state.updates.add("message", sent)
    assert await room.client.hear_all() == [True]
    assert "Answer with a text." in room.cards[-1]["text"]
    assert prompt in room.cards


async def test_a_text_that_came_while_the_database_was_away_is_not_lost(room: TelegramRoom) -> None:
    """Nobody read it, so it is handled again."""
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    prompt = room.cards[-1]
    room.casework.trouble = StoreUnavailable("The database is away.", remedy="Wait.")
    with pytest.raises(StoreUnavailable):
        await room.write("moderator", "We all live here.", prompt)
    assert prompt in room.cards
    assert await room.client.hear_all() == []
    assert await room.write("moderator", "We all live here.", prompt) == [True]
    assert "Exactly this would be posted" in room.cards[-1]["text"]


async def test_an_answer_about_a_case_that_is_gone_harms_nothing(room: TelegramRoom, settled_file: Path) -> None:
    """Somebody began again with another database: nothing is said where nobody knows who may read along."""
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    async with review_desk(settled_file, "telegram") as room.desk:
        await room.restart()
        assert await room.write("moderator", "We all live here.", room.cards[-1]) == [True]
    assert len(room.cards) == 1
