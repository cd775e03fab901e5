"""A watched group and a moderators' chat on the fake Telegram, its people, and cards in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from telegram import Update

from adapters.telegram.connection.client import TelegramClient, TelegramOptions, UpdateEvent
from adapters.telegram.connection.limiter import TelegramLimiter
from adapters.telegram.review.presses import install
from adapters.telegram.review.surface import TelegramReviewSurface
from core.desk.review.casework import Casework
from core.desk.rules.case_cards import Card
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.models import PostRef
from tests.fakes.desk.review_desk import RecordedDesk, ReviewDesk, review_desk
from tests.fakes.machine.clock import Seconds
from tests.fakes.ports.cards import REVIEWED
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.state import JSON
from tests.fakes.telegram.town import TelegramTown

ROLES = {"moderator": Role.MODERATOR, "second": Role.MODERATOR, "stranger": None}


class ReviewClient(TelegramClient):
    """A client with the review part alone, whose updates a test fetches.

    Attributes:
        ticks: the limiter's clock, which its own waits move.
    """

    def __init__(self, server: TelegramServer, casework: Casework, governance: FakeGovernance) -> None:
        self.ticks = Seconds()
        limiter = TelegramLimiter(seconds_now=self.ticks, sleep=self.ticks.sleep)
        super().__init__(TelegramOptions(server.token, server.url, 0), casework, governance, limiter)
        self.surface = TelegramReviewSurface(self)
        install(self, self.surface)
        self.offset = 0

    async def hear_all(self) -> list[bool]:
        """Hear every update that waits; which of them somebody dealt with."""
        heard = []
        for update in await self.bot.get_updates(offset=self.offset, timeout=0, allowed_updates=Update.ALL_TYPES):
            self.offset = update.update_id + 1
            heard.append(await self.hear(UpdateEvent(update, update.to_dict(), datetime.now(UTC))))
        return heard


@dataclass
class TelegramRoom:
    """Everything a test of the review needs: the fake Telegram, the desk, the people by name."""

    server: TelegramServer
    desk: ReviewDesk
    governance: FakeGovernance
    client: ReviewClient
    group: int
    chat: int
    people: dict[str, int]

    @property
    def town(self) -> TelegramTown:
        return self.server.town

    @property
    def casework(self) -> RecordedDesk:
        return self.desk.casework

    @property
    def community(self) -> str:
        """The watched group, as ``Card.community``."""
        return str(self.group)

    async def restart(self) -> None:
        """Another process takes over; Telegram and the desk are as they were."""
        await self.client.close()
        offset = self.client.offset
        self.client = ReviewClient(self.server, self.casework, self.governance)
        self.client.offset = offset
        await self.client.open()

    def like(self, card: Card = REVIEWED, **changes: Any) -> Card:
        """A card of a post of the watched group; the desk knows no case of it."""
        spoken = self.governance.policies.get(self.community, CommunityPolicy()).language
        card = replace(card, **{"community_language": spoken} | changes)
        post = replace(card.post, ref=PostRef("telegram", self.community, self.community, "333"))
        return replace(card, community=self.community, post=post)

    async def show(self, card: Card = REVIEWED, **changes: Any) -> PostRef:
        """Bring a case of that post into the state of a card, and show its card in the moderators' chat."""
        return await self.client.surface.show(await self.desk.case(self.like(card, **changes)), str(self.chat), None)

    @property
    def cards(self) -> list[JSON]:
        """What the bot wrote for all in the moderators' chat, oldest first."""
        return self.town.of_bot(self.chat)

    @property
    def card(self) -> JSON:
        return self.cards[0]

    async def press(self, who: str, message: JSON, label: str) -> str:
        """Somebody presses a button, and is answered; what is shown to them over the chat."""
        query = self.town.press(self.people[who], message, label=label)
        await self.client.hear_all()
        answer = self.town.answer_to(query)
        assert answer is not None, "A press was not answered."
        assert len(answer.get("text") or "") <= 200
        return answer.get("text") or ""

    async def write(self, who: str, text: str, reply_to: JSON | None = None) -> list[bool]:
        """Somebody writes in the moderators' chat; whether that was taken for anything."""
        self.town.say(self.people[who], self.chat, text, reply_to=reply_to)
        return await self.client.hear_all()

    def told(self, who: str) -> list[JSON]:
        """What the bot wrote for one person in the moderators' chat, oldest first."""
        return self.town.whispers_to(self.people[who], self.chat)


def labels_of(message: JSON) -> list[str]:
    return [one["text"] for row in message.get("reply_markup", {}).get("inline_keyboard", []) for one in row]


@asynccontextmanager
async def telegram_room(server: TelegramServer, file: Path) -> AsyncIterator[TelegramRoom]:
    """A client that is logged in, over a desk in a SQLite file, and one person for each role."""
    governance = FakeGovernance()
    people = {name: server.town.add_user(name) for name in ROLES}
    group = server.town.add_group("Brenmoor", admins=[people["moderator"], people["second"]], members=people.values())
    chat = server.town.add_group("Moderators", members=people.values())
    async with review_desk(file, "telegram") as desk:
        desk.roles.update({str(people[name]): role for name, role in ROLES.items() if role is not None})
        client = ReviewClient(server, desk.casework, governance)
        await client.open()
        room = TelegramRoom(server, desk, governance, client, group, chat, people)
        try:
            yield room
        finally:
            await room.client.close()
