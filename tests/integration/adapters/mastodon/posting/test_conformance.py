"""Mastodon passes the suite of every chat platform, over HTTP, every request checked."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from adapters.mastodon.connection.refs import revision_of
from adapters.mastodon.speech import plain_text, text_of
from core.desk.rules.platforms import ChatPlatform
from core.models import FlaggedPost, PostRef, ThreadMessage
from tests.conformance import PlatformConformance, PlatformHarness
from tests.fakes.mastodon.server.asked import Asked
from tests.fakes.mastodon.server.faults import Fault
from tests.fakes.mastodon.town import JSON, Person
from tests.fakes.mastodon.wire import MastodonWire

_SENDS = ("POST", "/api/v1/statuses")


class _MastodonHarness(PlatformHarness):
    changed_by_the_platform = frozenset({"mention"})

    def __init__(self, wire: MastodonWire) -> None:
        self.wire = wire
        self.platform: ChatPlatform = wire.platform
        self._people: dict[str, Person] = {}
        self._posts: dict[str, JSON] = {}
        self._last: JSON | None = None

    async def create_post(self, author: str, text: str) -> PostRef:
        """Each answers the one before, so that they are a thread."""
        self._last = await self.wire.town.post(self._person(author), text, reply_to=self._last)
        ref = self.wire.ref(self._last)
        self._posts[ref.message] = self._last
        return ref

    async def flag(self, ref: PostRef, by: str) -> FlaggedPost:
        status = await self.wire.client.call(lambda api: api.status(ref.message))
        context = await self.wire.client.call(lambda api: api.status_context(ref.message))
        thread = tuple(ThreadMessage(str(each.account.acct), text_of(each)) for each in context.ancestors)
        author, how = str(status.account.id), "mention"
        return FlaggedPost(ref, text_of(status), author, by, how, thread, revision=revision_of(status))

    def id_of(self, name: str) -> str:
        return self._person(name).id

    async def edit(self, ref: PostRef, text: str) -> None:
        await self.wire.town.edit(self._author(ref), ref.message, text)

    async def delete(self, ref: PostRef) -> None:
        await self.wire.town.delete(self._author(ref), ref.message)

    async def replies_to(self, ref: PostRef) -> list[str]:
        """As people see them, without the name that each begins with."""
        name = f"@{self._author(ref).username} "
        shown = [plain_text(each["content"]) for each in await self.wire.replies(ref)]
        assert all(text.startswith(name) for text in shown)
        return [text.removeprefix(name) for text in shown]

    async def lose_next_answer(self, *, arrives: bool) -> None:
        self.wire.server.fault(_SENDS[1], "lose reply" if arrives else "drop", method=_SENDS[0])

    async def lose_next_removal(self, *, arrives: bool) -> None:
        self.wire.server.fault("/api/v1/statuses/*", "lose reply" if arrives else "drop", method="DELETE")

    async def be_busy(self, seconds: float) -> None:
        """It refuses all changes; the library reads the server's time in whole seconds, and so waits for one more."""
        until = self.wire.server.now() + timedelta(seconds=seconds)

        def refused(asked: Asked) -> Fault | None:
            left = (until - self.wire.server.now()).total_seconds()
            return Fault("**", "429", seconds=left - 1) if left > 0 and asked.method != "GET" else None

        self.wire.server.faults.chance = refused

    async def pass_time(self, seconds: float) -> None:
        self.wire.server.pass_seconds(seconds)

    def _person(self, name: str) -> Person:
        if name not in self._people:
            self._people[name] = self.wire.town.add_account(name)
        return self._people[name]

    def _author(self, ref: PostRef) -> Person:
        return self._people[self._posts[ref.message]["account"]["username"]]


class TestMastodon(PlatformConformance):
    @pytest.fixture
    async def harness(self, wire: MastodonWire) -> AsyncIterator[PlatformHarness]:
        yield _MastodonHarness(wire)
