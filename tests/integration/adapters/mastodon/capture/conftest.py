"""An instance with Antiphon's capture on it, over a desk in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import cast

import pytest

from adapters.mastodon.capture import Capture
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.updates import MastodonDispatcher, inbox_update, newest
from adapters.mastodon.speech import plain_text
from core.desk.review.casework import Casework
from core.desk.rules.platforms import WaitingUpdate
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.models import PostRef
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON, Person
from tests.fakes.ports.flag_desk import FlagDesk
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.ports.word_detector import WordDetector

HATE = "they are vermin and should go"
"""A post that ``WordDetector`` is sure of."""
FAR = "far.example"


class Bookmark:
    """How far one feed was read, in memory."""

    def __init__(self) -> None:
        self.kept: str | None = None

    async def keep(self, updates: object, cursor: str | None = None) -> None:
        self.kept = cursor

    async def cursor(self, within: timedelta | None = None) -> str | None:
        return self.kept


class CaptureTown:
    """An author on another instance, a volunteer, a manager, and a stranger without a role."""

    def __init__(self, server: MastodonServer) -> None:
        self.server, self.people = server, server.town
        self.author = self.people.add_account("bo", FAR)
        self.volunteer = self.people.add_account("ane")
        self.stranger = self.people.add_account("sam", "else.example")
        self.desk, self.governance, self.detector = FlagDesk(), FakeGovernance(), WordDetector()
        self.governance.grant(self.volunteer.id, Role.VOLUNTEER)
        self.client = MastodonClient(
            MastodonOptions(server.url, server.bot.token), cast(Casework, self.desk), self.governance
        )
        self.hearing = MastodonDispatcher(self.client)
        self.bookmarks: dict[str, Bookmark] = {}
        self.capture: Capture
        self._cursor = "0"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[CaptureTown]:
        """Logged in, with the listeners in place."""
        await self.client.open()
        self.capture = Capture(self.client, self._bookmark, self.detector)  # type: ignore[arg-type]  # cursors
        try:
            yield self
        finally:
            await self.capture.close()
            await self.client.close()

    def set_policy(self, policy: CommunityPolicy) -> None:
        """Say how the community wants Antiphon to behave."""
        self.governance.policies[self.client.home] = policy
        self.client.desk.policies.forget(self.client.home)

    async def asks(self, who: Person, words: str, post: JSON | None = None, **more: object) -> JSON:
        """Somebody mentions the bot, in answer to a post."""
        text = f"@{self.server.bot.acct} {words}"
        return await self.people.post(who, text, reply_to=post, **{"visibility": "public"} | more)  # type: ignore[arg-type]  # fields by name

    async def hear(self, *, is_late: bool = False) -> None:
        """Hand the mentions that wait to the listeners, in order."""
        ask = partial(_mentions, after=self._cursor)
        page = await self.client.call(ask)
        for said in reversed(page):
            update = inbox_update(said)
            assert update is not None
            now = datetime.now(UTC) + timedelta(hours=is_late)
            await self.hearing.arrival(WaitingUpdate(update, now, now)).hear()
            self._cursor = newest([self._cursor, str(said.id)])

    async def told(self, who: Person) -> list[str]:
        """What the bot wrote to somebody alone, oldest first, without HTML and their name."""
        found = [each for each in await self.people.directs_to(who) if each["account"]["id"] == self.server.bot.id]
        return [_without_name(each) for each in found]

    async def in_public(self) -> list[JSON]:
        """What the bot wrote that more than one person can read."""
        written = await self.people.written_by(self.server.bot)
        return [each for each in written if each["visibility"] != "direct" or len(each["mentions"]) != 1]

    def ref(self, post: JSON, channel: str = FAR) -> PostRef:
        """What Antiphon calls a post."""
        return PostRef("mastodon", self.server.domain, channel, post["id"])

    def _bookmark(self, name: str) -> Bookmark:
        return self.bookmarks.setdefault(name, Bookmark())


def _mentions(api, after):
    return api.notifications(types=["mention"], min_id=after, limit=40)


def _without_name(status: JSON) -> str:
    return plain_text(status["content"]).partition("\n")[2]


@pytest.fixture
async def town(server: MastodonServer) -> AsyncIterator[CaptureTown]:
    async with CaptureTown(server).running() as made:
        yield made
