"""Discord passes the suite of every chat platform, over HTTP and a WebSocket, every request checked."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapters.discord import DiscordOptions, DiscordPlatform
from adapters.discord.connection.refs import NAME
from core.models import FlaggedPost, PostRef, ThreadMessage
from core.moderation.platforms import ChatPlatform
from tests.conformance import PlatformConformance, PlatformHarness
from tests.fakes.discord.server import DiscordServer, DiscordState, LoopbackClient, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID
from tests.fakes.machine.clock import FakeClock


class _DiscordHarness(PlatformHarness):
    def __init__(self, server: DiscordServer, platform: DiscordPlatform, clock: FakeClock) -> None:
        self.server, self.state, self.clock = server, server.state, clock
        self.discord = platform
        self.platform: ChatPlatform = platform

    async def create_post(self, author: str, text: str) -> PostRef:
        message = self.state.write(self.state.user(author), CHANNEL_ID, text)
        return PostRef(NAME, str(GUILD_ID), str(CHANNEL_ID), message["id"])

    async def flag(self, ref: PostRef, by: str) -> None:
        message = self.state.messages[int(ref.message)]
        before = [each for each in self.state.messages.values() if int(each["id"]) < int(ref.message)]
        thread = tuple(ThreadMessage(each["author"]["username"], each["content"]) for each in before)
        author = message["author"]["username"]
        self.discord.offer(FlaggedPost(ref, message["content"], author, by, "message menu", thread))

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
        client = LoopbackClient(DiscordOptions(reads_messages=True))
        async with DiscordServer(DiscordState(clock)).running() as server, connected(client):
            yield _DiscordHarness(server, DiscordPlatform(client), clock)
            assert server.complaints == []
