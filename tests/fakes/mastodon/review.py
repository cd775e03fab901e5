"""An instance with moderators, the review part of the adapter, and a conversation below cards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.listening import MENTION, Heard
from adapters.mastodon.review.installing import Review
from adapters.mastodon.review.surface import MastodonReviewSurface
from adapters.mastodon.speech.markup import without_breaks
from adapters.mastodon.speech.plain_text import plain_text
from core.models import PostRef
from core.moderation.cards import Card
from core.moderation.community.places import PlaceRules
from core.moderation.community.policy import CommunityPolicy
from core.moderation.desk_ports import Casework, Governance
from core.moderation.roles import Role
from tests.fakes.desk.review_desk import RecordedDesk, ReviewDesk, review_desk
from tests.fakes.machine.clock import Seconds
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON, MastodonTown, Person
from tests.fakes.ports.cards import POST_TEXT, REVIEWED
from tests.fakes.ports.governance import FakeGovernance

ROLES: Final = {"moderator": Role.MODERATOR, "second": Role.MODERATOR, "auditor": Role.AUDITOR, "stranger": None}
AUTHORS: Final = "fens.example"
"""The instance of those who wrote what is flagged."""


class ReviewClient(MastodonClient):
    """A client with the review part alone, whose notifications a test fetches.

    Attributes:
        ticks: the clock of the review, which its own waits move.
    """

    def __init__(self, server: MastodonServer, casework: Casework, governance: Governance) -> None:
        super().__init__(MastodonOptions(server.url, server.bot.token), casework, governance)
        self.ticks = Seconds()
        self.surface = MastodonReviewSurface(self, seconds_now=self.ticks)
        self.listen(MENTION, Review(self, self.surface, sleep=self.ticks.sleep).written)
        self.cursor: str | None = None

    async def hear_all(self) -> list[bool]:
        """Hear every mention that waits, as it reads now; which of them somebody dealt with."""
        found = await self.call(lambda api: api.notifications(types=[MENTION], min_id=self.cursor, limit=80))
        heard = []
        for one in sorted(found, key=lambda each: (len(str(each.id)), str(each.id))):
            self.cursor = str(one.id)
            heard.append(await self.hear(await self._heard(str(one.status.id))))
        return heard

    async def _heard(self, status_id: str) -> Heard:
        status = await self.call(lambda api: api.status(status_id))
        return Heard(0, MENTION, status, datetime.now(UTC))


@dataclass
class MastodonRoom:
    """Everything a test of the review needs: the fake instance, the desk, the people by name."""

    server: MastodonServer
    desk: ReviewDesk
    governance: FakeGovernance
    client: ReviewClient
    people: dict[str, Person]
    channel: str
    post: JSON

    @property
    def town(self) -> MastodonTown:
        """What people do."""
        return self.server.town

    @property
    def casework(self) -> RecordedDesk:
        """The desk, as the client knows it."""
        return self.desk.casework

    @property
    def community(self) -> str:
        """The home instance, as ``Card.community``."""
        return self.server.domain

    async def restart(self) -> None:
        """Another process takes over; the instance and the desk are as they were."""
        await self.client.close()
        cursor = self.client.cursor
        self.client = ReviewClient(self.server, self.casework, self.governance)
        self.client.cursor = cursor
        await self.client.open()

    def like(self, card: Card = REVIEWED, **changes: Any) -> Card:
        """A card of a post that somebody of another instance wrote; the desk knows no case of it."""
        card = replace(card, **changes)
        spoken = self.governance.policies[self.community].language
        ref = PostRef("mastodon", self.community, AUTHORS, self.post["id"])
        post = replace(card.post, ref=ref, author_name=f"slate@{AUTHORS}")
        return replace(card, community=self.community, community_language=spoken, post=post)

    async def show(self, card: Card = REVIEWED, **changes: Any) -> PostRef:
        """Bring a case of that post into the state of a card, and show its card to those who review."""
        return await self.client.surface.show(await self.desk.case(self.like(card, **changes)), self.channel, None)

    async def cards(self) -> list[JSON]:
        """The statuses of ours that answer nothing, oldest first."""
        return [one for one in await self.said() if one["in_reply_to_id"] is None]

    async def card(self) -> JSON:
        """The last of them."""
        return (await self.cards())[-1]

    async def said(self) -> list[JSON]:
        """All that the bot wrote and did not delete, oldest first; 80 at most."""
        path = f"/api/v1/accounts/{self.server.bot.id}/statuses?limit=80"
        return list(reversed(await self.town.call(self.server.bot, "GET", path)))

    async def told(self, who: str) -> list[JSON]:
        """What the bot wrote to one person alone below something, oldest first."""
        ids = {self.people[who].id}
        return [one for one in await self.said() if one["in_reply_to_id"] and {m["id"] for m in one["mentions"]} == ids]

    async def write(
        self, who: str, text: str, below: JSON, *, visibility: str = "direct", others: str = "", **more: Any
    ) -> list[JSON]:
        """Somebody answers below a status, and is heard; what they are told then.

        Args:
            others: whom they mention besides the bot, with signs.
        """
        before = {one["id"] for one in await self.said()}
        words = f"@{self.server.bot.username} {others} {text}" if others else f"@{self.server.bot.username} {text}"
        await self.town.post(self.people[who], words, visibility=visibility, reply_to=below, **more)
        await self.client.hear_all()
        return [one for one in await self.told(who) if one["id"] not in before]


def text_in(status: JSON) -> str:
    """The words of a status as people read them, its content warning first."""
    return f"{status['spoiler_text']}\n{without_breaks(plain_text(status['content']))}"


def all_in(statuses: list[JSON]) -> str:
    """The words of several."""
    return "\n".join(text_in(status) for status in statuses)


@asynccontextmanager
async def mastodon_room(server: MastodonServer, file: Path) -> AsyncIterator[MastodonRoom]:
    """A client that is logged in, over a desk in a SQLite file, and one person for each role.

    Two of them review, one at home and one elsewhere.
    """
    governance = FakeGovernance()
    people = {name: server.town.add_account(name, "hills.example" if name == "second" else None) for name in ROLES}
    channel = " ".join(people[name].acct for name in ("moderator", "second"))
    agreed = {AUTHORS: PlaceRules(consent="Their admin wrote yes on 1 March.")}
    governance.policies[server.domain] = CommunityPolicy(review_channel=channel, places=agreed)
    async with review_desk(file, "mastodon") as desk:
        for name, role in ROLES.items():
            if role is not None:
                desk.roles[people[name].id] = role
                governance.grant(people[name].id, role)
        client = ReviewClient(server, desk.casework, governance)
        await client.open()
        author = server.town.add_account("slate", AUTHORS)
        post = await server.town.post(author, POST_TEXT, language="en")
        room = MastodonRoom(server, desk, governance, client, people, channel, post)
        try:
            yield room
        finally:
            await room.client.close()
