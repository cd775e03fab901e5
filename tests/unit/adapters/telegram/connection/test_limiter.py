"""How fast Telegram is asked: by a clock that only the limiter's own sleep moves."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

import pytest
from telegram.error import RetryAfter

from adapters.telegram.connection.limiter import (
    IN_A_GROUP_PER_MINUTE,
    IN_ALL_PER_SECOND,
    KEPT_FOR_PEOPLE,
    KEPT_FROM_PROGRESS,
    PATIENT,
    PROGRESS,
    TelegramLimiter,
)
from tests.fakes.machine.clock import Seconds

GROUP, OTHER, PERSON = -1001, -1002, 42


class _Line:
    """A limiter before a Telegram that notes when it is asked for what."""

    def __init__(self, longest_wait_seconds: float = 5.0) -> None:
        self.clock = Seconds()
        self.made: list[tuple[float, str, int]] = []
        self.pauses: dict[int, RetryAfter] = {}
        self.limiter = TelegramLimiter(
            longest_wait_seconds=longest_wait_seconds, seconds_now=self.clock, sleep=self.clock.sleep
        )

    def ask(
        self, chat: int, endpoint: str = "sendMessage", *, is_patient: bool = False, is_progress: bool = False
    ) -> Awaitable[Any]:
        async def telegram() -> bool:
            self.made.append((self.clock.now, endpoint, chat))
            if chat in self.pauses:
                raise self.pauses.pop(chat)
            return True

        how = PROGRESS if is_progress else PATIENT if is_patient else None
        return self.limiter.process_request(telegram, (), {}, endpoint, {"chat_id": chat}, how)


async def test_a_group_gets_so_many_messages_a_minute() -> None:
    """One more has to wait longer than anybody waits: it is refused unsent, with the time that is left."""
    line = _Line()
    for _ in range(IN_A_GROUP_PER_MINUTE):
        await line.ask(GROUP)
    with pytest.raises(RetryAfter) as caught:
        await line.ask(GROUP)
    assert caught.value.retry_after in (60, timedelta(seconds=60))
    assert len(line.made) == IN_A_GROUP_PER_MINUTE
    await line.ask(OTHER)
    await line.ask(GROUP, "getChatMember")
    line.clock.now += 60
    await line.ask(GROUP)
    assert line.clock.slept == []


async def test_what_can_be_shown_later_leaves_room_for_what_a_person_waits_for() -> None:
    """Cards fill the minute but for some places; answers have these places, and then cards wait for them."""
    line = _Line()
    for _ in range(IN_A_GROUP_PER_MINUTE - KEPT_FOR_PEOPLE):
        await line.ask(GROUP, "editMessageText", is_patient=True)
    for endpoint in ("sendMessage", "editMessageText"):
        with pytest.raises(RetryAfter):
            await line.ask(GROUP, endpoint, is_patient=True)
    for _ in range(KEPT_FOR_PEOPLE):
        await line.ask(GROUP)
    with pytest.raises(RetryAfter):
        await line.ask(GROUP)
    await line.ask(OTHER, is_patient=True)
    assert len(line.made) == IN_A_GROUP_PER_MINUTE + 1
    assert line.clock.slept == []


async def test_cards_wait_where_people_use_the_minute() -> None:
    """A person who used the places, cards take none of those that are kept."""
    line = _Line()
    for _ in range(IN_A_GROUP_PER_MINUTE - KEPT_FOR_PEOPLE):
        await line.ask(GROUP)
    with pytest.raises(RetryAfter):
        await line.ask(GROUP, is_patient=True)
    line.clock.now += 58
    await line.ask(GROUP, is_patient=True)
    assert line.clock.slept == [pytest.approx(2)]


async def test_what_only_tells_of_progress_never_waits_for_its_turn() -> None:
    """It would hold up what somebody must decide; a card that can be shown later waits the same few seconds."""
    line = _Line()
    for _ in range(IN_A_GROUP_PER_MINUTE - KEPT_FROM_PROGRESS):
        await line.ask(GROUP, is_progress=True)
    line.clock.now += 57
    with pytest.raises(RetryAfter) as caught:
        await line.ask(GROUP, is_progress=True)
    assert caught.value.retry_after in (3, timedelta(seconds=3))
    assert line.clock.slept == []
    await line.ask(GROUP, is_patient=True)
    line.clock.now += 3
    await line.ask(GROUP, is_progress=True)
    assert line.clock.slept == []


async def test_persons_have_no_limit_of_a_group() -> None:
    """The figure is for groups; a private chat has none here."""
    line = _Line()
    for _ in range(IN_A_GROUP_PER_MINUTE + 5):
        await line.ask(PERSON)
    assert line.clock.slept == []


async def test_a_short_wait_is_waited() -> None:
    """The window moves on: the message goes when there is room, in the same call."""
    line = _Line()
    for _ in range(IN_A_GROUP_PER_MINUTE):
        await line.ask(GROUP)
    line.clock.now += 57
    await line.ask(GROUP)
    assert line.clock.slept == [pytest.approx(3)]
    assert len(line.made) == IN_A_GROUP_PER_MINUTE + 1


async def test_all_chats_together_get_so_many_requests_a_second() -> None:
    line = _Line()
    count = 3 * IN_ALL_PER_SECOND
    await asyncio.gather(*(line.ask(-chat) for chat in range(1, count + 1)))
    at = sorted(moment for moment, _, _ in line.made)
    assert len(at) == count
    assert all(at[n + IN_ALL_PER_SECOND] - at[n] >= 1 for n in range(count - IN_ALL_PER_SECOND))


async def test_a_person_who_pressed_a_button_waits_for_nobody() -> None:
    """Answers to presses, and what must not stay in sight, go before all that waits."""
    line = _Line()
    for _ in range(IN_ALL_PER_SECOND):
        await line.ask(PERSON)
    for endpoint in ("answerCallbackQuery", "deleteMessage"):
        await line.ask(GROUP, endpoint)
    assert line.clock.slept == []


async def test_a_pause_holds_one_chat_for_as_long_as_telegram_said() -> None:
    """Nothing that others do in the meantime ends it, and no other chat waits for it."""
    line = _Line()
    line.pauses[GROUP] = RetryAfter(40)
    with pytest.raises(RetryAfter):
        await line.ask(GROUP)
    for _ in range(3):
        await line.ask(OTHER)
        line.clock.now += 1
    for endpoint in ("sendMessage", "deleteMessage", "getChat"):
        with pytest.raises(RetryAfter) as caught:
            await line.ask(GROUP, endpoint)
        assert caught.value.retry_after in (37, timedelta(seconds=37))
    assert [chat for _, _, chat in line.made] == [GROUP, OTHER, OTHER, OTHER]
    line.clock.now += 37
    await line.ask(GROUP)
    assert line.clock.slept == []


async def test_a_request_is_made_once() -> None:
    """What Telegram refuses for its number is told; nobody but the outbox decides when it is tried again."""
    line = _Line()
    line.pauses[GROUP] = RetryAfter(1)
    with pytest.raises(RetryAfter):
        await line.ask(GROUP)
    assert len(line.made) == 1
    await line.ask(GROUP)
    assert line.clock.slept == [pytest.approx(1)]
