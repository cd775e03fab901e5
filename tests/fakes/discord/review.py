"""A server on a simulated Discord with a review channel, its people, and cards in it."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import discord
import pytest
from simcord.env import Env

from adapters.discord.connection.client import AntiphonClient
from adapters.discord.review.presses import install
from adapters.discord.review.surface import DiscordReviewSurface
from core.desk.review.casework import Casework
from core.desk.rules.case_cards import Card
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.models import PostRef
from tests.fakes.desk.review_desk import RecordedDesk, ReviewDesk, review_desk
from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, texts_of
from tests.fakes.ports.cards import REVIEWED
from tests.fakes.ports.governance import FakeGovernance

_SETTLE_SECONDS = 30.0
"""How long an answer may take on a busy machine. A task that sleeps for longer counts as idle."""
ROLES = {
    "moderator": Role.MODERATOR,
    "second": Role.MODERATOR,
    "manager": Role.MANAGER,
    "auditor": Role.AUDITOR,
    "volunteer": Role.VOLUNTEER,
    "stranger": None,
}


class ReviewClient(AntiphonClient):
    def __init__(self, casework: Casework, governance: FakeGovernance) -> None:
        super().__init__((), casework, governance)
        self.surface = DiscordReviewSurface(self)

    async def setup_hook(self) -> None:
        install(self, self.surface)


@dataclass
class ReviewRoom:
    """Everything a test of the review needs: the simulated Discord, the desk, the people by name."""

    env: Env
    desk: ReviewDesk
    governance: FakeGovernance
    client: ReviewClient
    channel: Any
    people: dict[str, Any]

    async def restart(self) -> None:
        """Another process takes over; Discord and the desk are as they were."""
        self.client = ReviewClient(self.casework, self.governance)
        await self.env.restart_bot(self.client)

    def like(self, card: Card = REVIEWED, **changes: Any) -> Card:
        """A card of a post of the server; the desk knows no case of it."""
        spoken = self.governance.policies.get(self.community, CommunityPolicy()).language
        card = replace(card, **changes)
        post = replace(card.post, ref=replace(card.post.ref, community=self.community))
        return replace(card, community=self.community, community_language=spoken, post=post)

    async def show(self, card: Card = REVIEWED, **changes: Any) -> PostRef:
        """Bring a case of that post into the state of a card, and show its card in the review channel."""
        made = await self.desk.case(self.like(card, **changes))
        return await self.client.surface.show(made, str(self.channel.id), None)

    async def show_again(self) -> None:
        """Bring the card in the channel up to date, as the board does after every change."""
        card = await self.desk.now()
        place = PostRef("discord", card.community, str(self.channel.id), str(self.message.id))
        await self.client.surface.update(card, place)

    def speak(self, language: str | None) -> None:
        self.governance.policies[self.community] = CommunityPolicy(language=language)

    @property
    def casework(self) -> RecordedDesk:
        return self.desk.casework

    @property
    def community(self) -> str:
        """The server's id, as ``Card.community``."""
        return str(self.channel.guild.id)

    @property
    def message(self) -> discord.Message:
        return cast("discord.Message", self.channel.last_message)

    def card_text(self) -> str:
        return "\n".join(map(read_as_discord_shows, texts_of(self.message_components())))

    def message_components(self) -> list[dict[str, Any]]:
        stored = self.env.backend.get_message(self.channel.id, self.message.id)
        return stored.components

    async def click(self, who: str, label: str) -> Any:
        """Somebody presses a button of the card in the channel."""
        return await self.people[who].click(self.message, custom_id=buttons_of(self.message_components())[label])

    async def press(self, who: str, answer: Any, label: str) -> Any:
        """Somebody presses a button of a private answer."""
        return await self.people[who].click(answer, custom_id=buttons_of(answer.components)[label])


def said_in(result: Any) -> str:
    """Everything that a press was answered with in words, the first answer and those after it."""
    answers = [*([result.response] if result.response is not None else []), *result.followups]
    return "\n".join(read_as_discord_shows(text) for answer in answers for text in texts_of(answer.components))


def private_channel(env: Env, guild: Any, name: str, role: Any) -> Any:
    """A channel that the bot and one role can see, and @everyone cannot."""
    seen, hidden = discord.PermissionOverwrite(view_channel=True), discord.PermissionOverwrite(view_channel=False)
    return guild.create_text_channel(name, overwrites={guild.default_role: hidden, role: seen, env.bot.user: seen})


@asynccontextmanager
async def review_room(file: Path) -> AsyncIterator[ReviewRoom]:
    """A connected client, over a desk in a SQLite file, and one person for each role."""
    governance = FakeGovernance()
    async with review_desk(file, "discord") as desk:
        client = ReviewClient(desk.casework, governance)
        env = Env(client, shard_count=1, settle_timeout=_SETTLE_SECONDS)
        await env.start()
        try:
            guild = env.create_guild()
            hall = guild.create_role("Hall")
            channel = private_channel(env, guild, "review", hall)
            people = {name: guild.add_member(env.create_user(name), roles=[hall]) for name in ROLES}
            desk.roles.update({str(people[name].id): role for name, role in ROLES.items() if role is not None})
            yield ReviewRoom(env, desk, governance, client, channel, people)
            env.raise_errors()
        finally:
            await env.shutdown()


@asynccontextmanager
async def quiet_review_room(file: Path, caplog: pytest.LogCaptureFixture) -> AsyncIterator[ReviewRoom]:
    """The same for a fixture; whatever is logged as an error, in the test or as it ends, fails the test."""
    async with review_room(file) as made:
        yield made
    logged = [*caplog.get_records("call"), *caplog.get_records("teardown")]
    assert [record.getMessage() for record in logged if record.levelno >= logging.ERROR] == []
