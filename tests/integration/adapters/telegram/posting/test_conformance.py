"""Telegram passes the suite of every chat platform, over HTTP, every request checked.

Telegram shows no bot a message a second time, and no history: what stands there is read as other people see it.
"""

from collections.abc import AsyncIterator

import pytest
import telegram

from adapters.common.capture.flagged_posts import Flag
from adapters.telegram.capture.posts import RecentMessages, SeenMessage
from core.desk.rules.approval import ApprovedReply
from core.desk.rules.platforms import ChatPlatform
from core.desk.rules.policy import CommunityPolicy
from core.errors import NeverShownAgain, PlatformUnavailable
from core.models import FlaggedPost, PostRef, Priority
from tests.conformance import PlatformConformance, PlatformHarness
from tests.fakes.telegram.server.faults import BotApiFault
from tests.fakes.telegram.wire import TelegramWire


class _TelegramHarness(PlatformHarness):
    changed_by_the_platform = frozenset({"bidi", "mention"})

    def __init__(self, wire: TelegramWire) -> None:
        self.wire = wire
        self.platform: ChatPlatform = wire.platform
        self._people: dict[str, int] = {}
        self._recent = RecentMessages()

    async def text_of(self, ref: PostRef) -> str | None:
        with pytest.raises(NeverShownAgain):
            await self.platform.read(ref)
        message = self.wire.message(ref)
        return None if message is None else str(message["text"])

    async def found(self, reply: ApprovedReply) -> PostRef | None:
        with pytest.raises(PlatformUnavailable):
            await self.platform.find_reply(reply)
        standing = self.wire.replies(reply.in_reply_to)
        return next((self.wire.ref(each) for each in standing if each["text"] == reply.text), None)

    async def create_post(self, author: str, text: str) -> PostRef:
        message = self.wire.town.say(int(self.id_of(author)), self.wire.group, text)
        self._recent.add(telegram.Message.de_json(message, self.wire.client.bot))
        return self.wire.ref(message)

    async def flag(self, ref: PostRef, by: str) -> FlaggedPost:
        shown = self.wire.message(ref)
        assert shown is not None
        message = telegram.Message.de_json(shown, self.wire.client.bot)
        seen = SeenMessage(message, CommunityPolicy(review_channel="1"), self._recent)
        return await seen.post(Flag(by, "command", Priority.FLAGGED))

    def id_of(self, name: str) -> str:
        if name not in self._people:
            self._people[name] = self.wire.town.add_user(name)
        return str(self._people[name])

    async def edit(self, ref: PostRef, text: str) -> None:
        message = self.wire.message(ref)
        assert message is not None
        self.wire.town.edit(message, text)

    async def delete(self, ref: PostRef) -> None:
        message = self.wire.message(ref)
        assert message is not None
        self.wire.town.delete(message)

    async def replies_to(self, ref: PostRef) -> list[str]:
        return self.wire.standing(ref)

    async def lose_next_answer(self, *, arrives: bool) -> None:
        self.wire.server.fault("sendMessage", "lose reply" if arrives else "drop")

    async def lose_next_removal(self, *, arrives: bool) -> None:
        self.wire.server.fault("deleteMessage", "lose reply" if arrives else "drop")

    async def be_busy(self, seconds: float) -> None:
        """Telegram refuses all that comes to the group, and says for how long."""
        until = self.wire.ticks.now + seconds

        def refused(method: str, _asked: object) -> BotApiFault | None:
            left = until - self.wire.ticks.now
            return BotApiFault(method, "429", retry_after=round(left)) if left > 0 else None

        self.wire.server.faults.chance = refused

    async def pass_time(self, seconds: float) -> None:
        self.wire.ticks.now += seconds


class TestTelegram(PlatformConformance):
    @pytest.fixture
    async def harness(self, wire: TelegramWire) -> AsyncIterator[PlatformHarness]:
        yield _TelegramHarness(wire)
