"""What the bot said to people in private: answers to what they pressed, and direct messages."""

from __future__ import annotations

from typing import Any

from tests.fakes.discord.messages import read_as_discord_shows, texts_of
from tests.fakes.discord.whole import NewServer


def answers_of(result: Any) -> list[Any]:
    """The answers to a press or a command, the first one first."""
    return [answer for answer in (result.response, *result.followups) if answer is not None]


def said_in(answer: Any) -> str:
    """The words of an answer."""
    return read_as_discord_shows("\n".join([answer.content, *texts_of(answer.components)]).strip())


def direct_messages(town: NewServer, who: str) -> list[str]:
    """What the bot wrote to somebody, oldest first."""
    return [read_as_discord_shows(message.content) for message in town.people[who].user.dm_channel.history()]
