"""A Telegram platform on the wire: the fake server, a client, and hands that write and look."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import telegram

from adapters.telegram.connection.client import TelegramClient, TelegramOptions, UpdateEvent
from adapters.telegram.connection.limiter import TelegramLimiter
from adapters.telegram.connection.refs import ref_of
from adapters.telegram.platform import TelegramPlatform
from core.desk.communities.governance import Governance
from core.models import PostRef
from tests.fakes.machine.clock import Seconds
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.state import JSON


class TelegramWire:
    """What a test of posting needs.

    Attributes:
        ticks: the limiter's clock, which its own waits move.
    """

    def __init__(self, server: TelegramServer, governance: Governance | None = None) -> None:
        self.server, self.town, self.ticks = server, server.town, Seconds()
        options = TelegramOptions(server.token, server.url)
        limiter = TelegramLimiter(seconds_now=self.ticks, sleep=self.ticks.sleep)
        self.client = TelegramClient(options, governance=governance, limiter=limiter)
        self.platform = TelegramPlatform(self.client)
        self.owner = self.town.add_user("Odile")
        self.group = self.town.add_group(owner=self.owner)

    def written(self, text: str = "They do not belong here.", *, topic: int | None = None) -> PostRef:
        """Somebody whom nobody knew before writes a post."""
        author = self.town.add_user()
        return self.ref(self.town.say(author, self.group, text, topic=topic))

    @staticmethod
    def ref(message: JSON) -> PostRef:
        topic = message["message_thread_id"] if message.get("is_topic_message") else None
        return ref_of(message["chat"]["id"], message["message_id"], topic)

    def message(self, ref: PostRef) -> JSON | None:
        """A message as other people see it; ``None`` if it is gone."""
        return self.server.state.chats[int(ref.community)].messages.get(int(ref.message))

    def replies(self, ref: PostRef) -> list[JSON]:
        found = self.town.of_bot(int(ref.community))
        return [each for each in found if each.get("reply_to_message", {}).get("message_id") == int(ref.message)]

    def standing(self, ref: PostRef) -> list[str]:
        return [message["text"] for message in self.replies(ref)]

    async def hear(self) -> None:
        """Hand everything that happened to the client's listeners, in order, and confirm it."""
        while waiting := list(self.server.state.updates.waiting()):
            for raw in waiting:
                update = telegram.Update.de_json(raw, self.client.bot)
                await self.client.hear(UpdateEvent(update, raw, self.server.state.now()))
                self.server.state.updates.forget(raw)

    def minutes_pass(self, minutes: float) -> None:
        """Let time pass for the limiter, so that it makes nobody wait."""
        self.ticks.now += 60 * minutes


@asynccontextmanager
async def telegram_wire(server: TelegramServer, governance: Governance | None = None) -> AsyncIterator[TelegramWire]:
    """A client that is logged in while the block runs."""
    made = TelegramWire(server, governance)
    await made.client.open()
    try:
        yield made
    finally:
        await made.client.close()
