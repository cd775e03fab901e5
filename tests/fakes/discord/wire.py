"""A platform that is connected to Discord on loopback, and what a test does in its state."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import discord

from adapters.discord.platform import DiscordPlatform
from core.models import PostRef
from tests.fakes.discord.server import DiscordServer, DiscordState, LoopbackClient, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import CHANNEL_ID, EVERYBODYS, GUILD_ID
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS

MESSAGES = r"/channels/\d+/messages"
"""The paths under which messages are sent and read."""


class Wire:
    """A connected platform, and the state that it is connected to."""

    def __init__(self, server: DiscordServer, client: LoopbackClient, clock: FakeClock) -> None:
        self.server, self.state, self.client, self.clock = server, server.state, client, clock
        self.platform = DiscordPlatform(client)
        self.heard: list[str] = []

    def written(self, text: str = "They do not belong here.") -> PostRef:
        message = self.state.write(self.state.user("slate_roof"), CHANNEL_ID, text)
        return PostRef("discord", str(GUILD_ID), str(CHANNEL_ID), message["id"])

    def standing(self, ref: PostRef) -> list[str]:
        return [message["content"] for message in self.state.replies_to(int(ref.message))]

    def fail(self, status: int, code: int = 0, *, arrives: bool = False) -> None:
        """Let Discord answer the next send otherwise."""
        self.server.faults.add(Fault("POST", MESSAGES, status, arrives, {"message": "No.", "code": code}))

    def installs_listener(self, client: LoopbackClient) -> None:
        """Hear the messages of the gateway."""

        async def on_message(message: discord.Message) -> None:
            self.heard.append(message.content)

        client.event(on_message)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something comes true."""
        async with asyncio.timeout(GUARD_SECONDS):
            while not is_so():  # noqa: ASYNC110 - whatever it is, it tells nobody
                await asyncio.sleep(0.005)


@asynccontextmanager
async def connected_wire() -> AsyncIterator[Wire]:
    """A wire on a state that shows what people wrote; no request may go against Discord's description."""
    clock = FakeClock()
    client = LoopbackClient(reads_messages=True)
    state = DiscordState(clock)
    state.roles[GUILD_ID]["permissions"] = EVERYBODYS
    async with DiscordServer(state).running() as server, connected(client):
        wire = Wire(server, client, clock)
        wire.installs_listener(client)
        yield wire
        assert server.complaints == []
