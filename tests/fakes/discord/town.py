"""A Discord server in SimCord with Antiphon in it: channels and people of every role."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

import discord
import pytest
import simcord

from adapters.discord.capture import Capture
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.manage.commands import install as install_manage
from adapters.discord.manage.commands import tell_commands
from adapters.discord.review.items import card_layout
from core.desk.review.casework import Casework
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from tests.fakes.ports.flag_desk import FlagDesk
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.ports.word_detector import WordDetector

HATE = "they are vermin and should go"
"""A post that ``WordDetector`` is sure of."""
READS_MESSAGES: Final = pytest.mark.parametrize("reads_messages", [True], ids=["reads"])
"""Discord shows us the words of others."""


class TownClient(AntiphonClient):
    """The client with capture and management installed, as the integrator does it."""

    def __init__(self, application: FakeApplication, *, reads_messages: bool) -> None:
        desk = cast(Casework, application.desk)
        super().__init__((), desk, application.governance, reads_messages=reads_messages)
        self._antiphon = application
        self.capture: Capture | None = None

    async def setup_hook(self) -> None:
        self.capture = Capture(self, self._antiphon.detector)
        capture = self.capture
        install_manage(self, card_view=card_layout, left_out=lambda: capture.left_out, detector=self._antiphon.detector)
        await tell_commands(self)


class FakeApplication:
    """What outlives a client: the desk and the governance."""

    def __init__(self) -> None:
        self.desk = FlagDesk()
        self.governance = FakeGovernance()
        self.detector = WordDetector()

    def client(self, *, reads_messages: bool = False) -> TownClient:
        """A new client, as after a start of the process."""
        return TownClient(self, reads_messages=reads_messages)

    def run(self, client: TownClient) -> Any:
        return simcord.run(client, shard_count=1)


class Town:
    """A server: an open channel, a closed one, a review channel, and a person of each role."""

    def __init__(self, env: simcord.Env, application: FakeApplication) -> None:
        self.env: Any = env
        self.application = application
        self.desk, self.governance, self.detector = application.desk, application.governance, application.detector
        self.guild = guild = env.create_guild()
        hidden = discord.PermissionOverwrite(view_channel=False)
        seen = discord.PermissionOverwrite(view_channel=True)
        self.staff = guild.create_role("Staff", permissions=discord.Permissions(manage_messages=True))
        self.square = guild.create_text_channel("square")
        us = env.bot.user
        assert us is not None
        closed: Any = {guild.default_role: hidden, self.staff: seen, us: seen}
        self.backroom = guild.create_text_channel("backroom", overwrites=closed)
        self.review = guild.create_text_channel("review", overwrites=closed)
        self.author = self._person("author")
        self.stranger = self._person("stranger")
        self.volunteer = self._person("volunteer", Role.VOLUNTEER)
        self.moderator = self._person("moderator", Role.MODERATOR, is_staff=True)
        self.manager = self._person("manager", Role.MANAGER, is_staff=True)
        self.admin = self._person("admin", Role.ADMIN, is_staff=True)

    def behind(self, role: Any, name: str) -> Any:
        """A channel that @everyone cannot see, and this role can, as where newcomers are let in by hand."""
        us = self.env.bot.user
        assert us is not None
        seen = discord.PermissionOverwrite(view_channel=True)
        hidden = discord.PermissionOverwrite(view_channel=False)
        overwrites: Any = {self.guild.default_role: hidden, role: seen, self.staff: seen, us: seen}
        return self.guild.create_text_channel(name, overwrites=overwrites)

    def member(self, name: str, role: Any) -> Any:
        """One more person, with a role of the server."""
        return self.guild.add_member(self.env.create_user(name), roles=[role])

    @property
    def community(self) -> str:
        return str(self.guild.id)

    def _person(self, name: str, role: Role | None = None, *, is_staff: bool = False) -> Any:
        member = self.guild.add_member(self.env.create_user(name), roles=[self.staff] if is_staff else [])
        if role is not None:
            self.governance.grant(member.id, role)
        return member


async def watch(town: Town, **changes: object) -> None:
    policy = CommunityPolicy(watched_channels=(str(town.square.id),))
    town.governance.policies[town.community] = replace(policy, **changes)  # type: ignore[arg-type]  # fields by name
