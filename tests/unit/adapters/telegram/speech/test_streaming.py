"""A text that is streamed into a private chat: so often as Telegram likes it, and never elsewhere."""

from __future__ import annotations

from typing import Any, cast

import pytest
from telegram.error import BadRequest, InvalidToken, NetworkError, RetryAfter, TimedOut

from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.speech.private_answers import StreamedText
from tests.fakes.machine.clock import Seconds

PERSON, GROUP = 42, -1001


class _Bot:
    """Notes what it is asked to stream; ``trouble`` is raised once."""

    def __init__(self) -> None:
        self.bot = self
        self.streamed: list[tuple[int, int, str]] = []
        self.trouble: Exception | None = None

    async def send_message_draft(self, chat: int, number: int, text: str, **_: Any) -> bool:
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble
        self.streamed.append((chat, number, text))
        return True


def _stream() -> tuple[_Bot, Seconds, StreamedText]:
    bot, clock = _Bot(), Seconds()
    return bot, clock, StreamedText(cast(TelegramClient, bot), PERSON, 7, seconds_now=clock)


async def test_no_more_than_one_change_a_second_is_streamed() -> None:
    """What comes sooner is left out; what is there later is shown."""
    bot, clock, stream = _stream()
    for text in ("one", "two", "three"):
        assert await stream.show(text)
        clock.now += 0.4
    clock.now += 0.2
    assert await stream.show("four")
    assert bot.streamed == [(PERSON, 7, "one"), (PERSON, 7, "four")]


async def test_a_text_that_does_not_change_is_streamed_again_before_it_fades() -> None:
    """Telegram shows one for 30 seconds."""
    bot, clock, stream = _stream()
    for _ in range(10):
        await stream.show("one")
        clock.now += 5
    assert len(bot.streamed) == 3


@pytest.mark.parametrize("err", [BadRequest("drafts can be sent to private chats only"), InvalidToken("Not Found")])
async def test_where_it_is_not_offered_it_is_not_tried_again(err: Exception) -> None:
    """A server that does not know the method says that nothing is there."""
    bot, clock, stream = _stream()
    bot.trouble = err
    assert not await stream.show("one")
    clock.now += 60
    assert not await stream.show("two")
    assert bot.streamed == [] and not stream.was_seen


@pytest.mark.parametrize("err", [RetryAfter(3), TimedOut(), NetworkError("the line is down")])
async def test_what_is_lost_on_the_way_is_left_out(err: Exception) -> None:
    """The next one is tried."""
    bot, clock, stream = _stream()
    bot.trouble = err
    assert await stream.show("one")
    assert not stream.was_seen
    clock.now += 2
    assert await stream.show("one")
    assert [text for _, _, text in bot.streamed] == ["one"] and stream.was_seen


@pytest.mark.parametrize("chat", [GROUP, 0])
def test_nothing_can_be_streamed_into_a_group(chat: int) -> None:
    """A person who calls it."""
    with pytest.raises(ValueError, match="private chat"):
        StreamedText(cast(TelegramClient, _Bot()), chat, 7)
