"""Discord passes the suite of every chat platform, over HTTP and a WebSocket, every request checked."""

from collections.abc import AsyncIterator

import discord
import pytest

from adapters.common.capture.flagged_posts import Flag
from adapters.discord.capture import SeenMessage
from adapters.discord.connection.refs import NAME, Readable, place_of
from adapters.discord.platform import DiscordPlatform
from core.desk.rules.platforms import ChatPlatform
from core.models import FlaggedPost, PostRef, Priority
from tests.conformance import PlatformConformance, PlatformHarness
from tests.fakes.discord.server import DiscordServer, DiscordState, LoopbackClient, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID
from tests.fakes.machine.clock import FakeClock

SEES_ALL = discord.Permissions(view_channel=True, send_messages=True, read_message_history=True)


class _DiscordHarness(PlatformHarness):
    def __init__(self, server: DiscordServer, client: LoopbackClient, clock: FakeClock) -> None:
        self.server, self.state, self.client, self.clock = server, server.state, client, clock
        self.platform: ChatPlatform = DiscordPlatform(client)

    async def create_post(self, author: str, text: str) -> PostRef:
        message = self.state.write(self.state.user(author), CHANNEL_ID, text)
        return PostRef(NAME, str(GUILD_ID), str(CHANNEL_ID), message["id"])

    async def flag(self, ref: PostRef, by: str) -> FlaggedPost:
        guild = self.client.get_guild(GUILD_ID)
        assert guild is not None
        place = await place_of(guild, int(ref.channel))
        assert isinstance(place, Readable)
        message = await place.fetch_message(int(ref.message))
        return await SeenMessage(message, place, "", True).post(Flag(by, "reaction", Priority.FLAGGED))

    def id_of(self, name: str) -> str:
        return str(self.state.user(name))

    async def edit(self, ref: PostRef, text: str) -> None:
        self.state.edit(int(ref.message), text)

    async def delete(self, ref: PostRef) -> None:
        self.state.delete(int(ref.message))

    async def replies_to(self, ref: PostRef) -> list[str]:
        return [message["content"] for message in self.state.replies_to(int(ref.message))]

    async def lose_next_answer(self, *, arrives: bool) -> None:
        self.server.faults.add(Fault("POST", r"/channels/\d+/messages", arrives=arrives))

    async def lose_next_removal(self, *, arrives: bool) -> None:
        self.server.faults.add(Fault("DELETE", r"/channels/\d+/messages/\d+", arrives=arrives))

    async def be_busy(self, seconds: float) -> None:
        self.server.be_busy(seconds)

    async def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)


class TestDiscord(PlatformConformance):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[PlatformHarness]:
        clock = FakeClock()
        client = LoopbackClient(reads_messages=True)
        state = DiscordState(clock)
        state.roles[GUILD_ID]["permissions"] = str(SEES_ALL.value)
        async with DiscordServer(state).running() as server, connected(client):
            yield _DiscordHarness(server, client, clock)
            assert server.complaints == []
