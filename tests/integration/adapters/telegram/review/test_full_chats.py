"""A press, or an answer to a prompt, while Telegram takes no more messages in the review chat: it is answered."""

from dataclasses import replace

import pytest

from adapters.telegram.connection.limiter import IN_A_GROUP_PER_MINUTE, KEPT_FOR_PEOPLE
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card, DraftProgress
from core.errors import CardCanWait, PlatformBusy
from core.models import PostRef
from tests.fakes.telegram.review import TelegramRoom, labels_of

_WRITES = ("sendMessage", "editMessageText", "editEphemeralMessageText", "sendDocument")
_WAIT = "Telegram takes no more messages in the review chat for 30 seconds.\nLook at the card then, and try again."


def _writes(room: TelegramRoom) -> int:
    return sum(one.method in _WRITES for one in room.server.requests)


async def _change(room: TelegramRoom, shown: PostRef, times: int) -> Card:
    """Let the card change so many times within a minute; the last one."""
    card = await room.desk.now()
    for _ in range(times):
        card = replace(card, version=card.version + 1, gist=f"Version {card.version + 1}.")
        await room.client.surface.show(card, str(room.chat), shown)
    return card


async def test_a_press_is_answered_after_a_minute_full_of_cards(room: TelegramRoom) -> None:
    """Some places of the minute are for presses: cards wait for theirs."""
    shown = await room.show()
    full = await _change(room, shown, IN_A_GROUP_PER_MINUTE - KEPT_FOR_PEOPLE - _writes(room))
    with pytest.raises(PlatformBusy) as caught:
        await room.client.surface.show(replace(full, version=full.version + 1), str(room.chat), shown)
    assert caught.value.retry_after_seconds > 0
    for number in range(KEPT_FOR_PEOPLE):
        assert await room.press("moderator", room.card, "More…") == ""
        assert len(room.told("moderator")) == number + 1
    assert _writes(room) == IN_A_GROUP_PER_MINUTE
    said = await room.press("moderator", room.card, "More…")
    assert "Telegram takes no more messages in the review chat for 60 seconds." in said
    assert _writes(room) == IN_A_GROUP_PER_MINUTE
    room.client.ticks.now += 60
    await room.press("moderator", room.card, "More…")
    assert len(room.told("moderator")) == KEPT_FOR_PEOPLE + 1


async def test_progress_leaves_the_room_of_a_busy_minute_to_what_somebody_decides(room: TelegramRoom) -> None:
    """Six posts within a minute: every card with drafts stands there before the minute is over, whole."""
    surface, chat = room.client.surface, str(room.chat)
    await room.show()
    before = _writes(room)
    room.client.ticks.now += 60
    drafted = [room.like(case_id=f"{number}" * 32, version=5) for number in range(1, 7)]
    shown: dict[str, PostRef] = {}
    put_off = []
    for card in drafted:
        begun = replace(card, version=1, state=CaseState.DRAFTING, drafts=(), waiting=DraftProgress())
        try:
            shown[card.case_id] = await surface.show(begun, chat, None)
        except CardCanWait as err:
            assert 0 < err.retry_after_seconds <= 60
            put_off.append(card.case_id)
    assert put_off
    assert shown
    first = drafted[0]
    later = replace(first, version=2, state=CaseState.DRAFTING, drafts=(), waiting=DraftProgress(stage="evidence"))
    with pytest.raises(CardCanWait):
        await surface.show(later, chat, shown[first.case_id])
    for card in drafted:
        await surface.show(card, chat, shown.get(card.case_id))
    there = [one for one in room.cards if "Approve draft 1…" in labels_of(one)]
    assert len(there) == len(drafted) + 1
    assert all("Most newcomers work." in one["text"] for one in there)
    assert _writes(room) - before <= IN_A_GROUP_PER_MINUTE - KEPT_FOR_PEOPLE + 1
    assert room.client.ticks.slept == []


async def test_a_card_that_lost_its_drafts_is_no_mere_progress(room: TelegramRoom) -> None:
    """What it offered is no more, so that is shown while there is little room."""
    shown = await room.show()
    offered = await _change(room, shown, IN_A_GROUP_PER_MINUTE - KEPT_FOR_PEOPLE - _writes(room) - 1)
    anew = replace(offered, version=offered.version + 1, state=CaseState.QUEUED, drafts=(), waiting=DraftProgress())
    assert await room.client.surface.show(anew, str(room.chat), shown) == shown
    assert "Approve draft 1…" not in labels_of(room.card)


async def test_a_card_that_somebody_deleted_is_no_mere_progress(room: TelegramRoom) -> None:
    """It stood there already, so it comes back while there is little room."""
    shown = await room.show()
    offered = await _change(room, shown, IN_A_GROUP_PER_MINUTE - KEPT_FOR_PEOPLE - _writes(room) - 4)
    room.town.delete(room.card)
    anew = replace(offered, version=offered.version + 1, state=CaseState.QUEUED, drafts=(), waiting=DraftProgress())
    assert await room.client.surface.show(anew, str(room.chat), shown) != shown
    assert len(room.cards) == 1


@pytest.mark.parametrize("label", ["More…", "Approve draft 1…", "Edit draft 1…"])
async def test_a_press_that_telegram_puts_off_says_for_how_long(room: TelegramRoom, label: str) -> None:
    """Over the chat, with the notice that was not used yet; pressed again later it does what it says."""
    await room.show()
    room.server.fault("sendMessage", "429", retry_after=30)
    assert await room.press("moderator", room.card, label) == _WAIT
    assert (room.told("moderator"), len(room.cards)) == ([], 1)
    room.client.ticks.now += 30
    assert await room.press("moderator", room.card, label) == ""
    assert len(room.told("moderator")) + len(room.cards) == 2


async def test_what_a_decision_did_is_said_over_the_chat(room: TelegramRoom) -> None:
    """The case is closed: nobody may think that it is not."""
    await room.show()
    room.server.fault("sendMessage", "429", retry_after=30)
    said = await room.press("moderator", room.card, "Not hateful")
    assert said.startswith("Closed: ")
    assert (await room.desk.now()).state is CaseState.NO_REPLY


async def test_an_approval_that_cannot_be_shown_is_said_over_the_chat(room: TelegramRoom) -> None:
    """In place of the answer with the button, which stays as it was."""
    await room.show()
    await room.press("moderator", room.card, "Approve draft 1…")
    (shown,) = room.told("moderator")
    room.server.fault("editEphemeralMessageText", "429", retry_after=30)
    assert "You approved this reply." in await room.press("moderator", shown, "Yes, post this reply")
    assert [what for what, _, _ in room.casework.decided] == ["approve"]
    assert "Yes, post this reply" in labels_of(shown)


async def test_a_written_answer_that_cannot_be_answered_leaves_its_prompt(room: TelegramRoom) -> None:
    """Its person is told in their private chat, where nothing of the case is said, and answers again later."""
    room.town.start(room.people["moderator"])
    await room.client.hear_all()
    await room.show()
    await room.press("moderator", room.card, "Edit draft 1…")
    prompt = room.cards[-1]
    room.server.fault("sendMessage", "429", retry_after=30, chat=room.chat)
    assert await room.write("moderator", "We all live here.", prompt) == [True]
    assert prompt in room.cards
    (told,) = room.town.of_bot(room.people["moderator"])
    assert told["text"] == _WAIT.replace(" Look", "\nLook")
    room.client.ticks.now += 30
    await room.write("moderator", "We all live here.", prompt)
    assert prompt not in room.cards
    assert "Exactly this would be posted" in room.cards[-1]["text"]
    assert len(room.town.of_bot(room.people["moderator"])) == 1


async def test_a_fault_under_a_press_is_told_with_its_notice(
    room: TelegramRoom, caplog: pytest.LogCaptureFixture
) -> None:
    """A line that breaks under the message is no silence, either."""
    await room.show()
    room.server.fault("sendMessage", "5xx")
    assert "could not finish" in await room.press("moderator", room.card, "More…")
    caplog.clear()
