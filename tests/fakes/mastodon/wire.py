"""A Mastodon platform on the wire: the fake instance, a client that is logged in, and hands that write and look."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.platform import MastodonPlatform
from adapters.mastodon.speech import plain_text
from core.desk.rules.policy import CommunityPolicy, PlaceRules
from core.models import PostRef
from tests.fakes.machine.clock import Seconds
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON, Person
from tests.fakes.ports.governance import FakeGovernance

FAR: Final = "far.example"
"""An instance that has agreed to replies, as the home instance has."""
YES: Final = "Ilargi, who runs it, said yes by e-mail on 3 March 2026."
WORDS: Final = "They do not belong here."


class MastodonWire:
    """What a test of posting needs.

    Attributes:
        ticks: the clock by which the platform counts its deletions.
    """

    def __init__(self, server: MastodonServer, token: str = "") -> None:
        self.server, self.town, self.ticks = server, server.town, Seconds()
        self.governance = FakeGovernance()
        options = MastodonOptions(server.url, token or server.bot.token)
        self.client = MastodonClient(options, governance=self.governance)
        self.platform = MastodonPlatform(self.client, ticks=self.ticks)
        self._people = 0
        for domain in (server.domain, FAR):
            self.set_rules(domain)

    def set_rules(self, domain: str, *, consent: str = YES, **rules: Any) -> None:
        """Say what holds for replies to people of an instance, which said yes."""
        policy = self.governance.policies.get(self.server.domain, CommunityPolicy())
        places = policy.places | {domain: PlaceRules(consent=consent, **rules)}
        self.governance.policies[self.server.domain] = replace(policy, places=places)
        self.client.desk.policies.forget(self.server.domain)

    def person(self, domain: str | None = None, **fields: Any) -> Person:
        """Somebody whom nobody knew before."""
        self._people += 1
        return self.town.add_account(f"author_{self._people}", domain, **fields)

    async def written(self, text: str = WORDS, *, author: Person | None = None, **more: Any) -> PostRef:
        """A post, of somebody whom nobody knew before where no author is named."""
        return self.ref(await self.town.post(author or self.person(), text, **more))

    def ref(self, post: JSON) -> PostRef:
        domain = post["account"]["acct"].partition("@")[2] or self.server.domain
        return PostRef(NAME, self.server.domain, domain, post["id"])

    async def replies(self, ref: PostRef) -> list[JSON]:
        found = await self.town.written_by(self.server.bot)
        return [each for each in found if each["in_reply_to_id"] == ref.message]

    async def standing(self, ref: PostRef) -> list[str]:
        """The texts of the bot's posts under a post, whole, as people read them."""
        return [plain_text(each["content"]) for each in await self.replies(ref)]

    def sent(self) -> list[JSON]:
        return [dict(asked.form) for asked in self.server.asked("POST", "/api/v1/statuses")]


@asynccontextmanager
async def mastodon_wire(server: MastodonServer, token: str = "") -> AsyncIterator[MastodonWire]:
    """A client that is logged in while the block runs, with the bot's token of the least scopes or another one."""
    made = MastodonWire(server, token)
    await made.client.open()
    try:
        yield made
    finally:
        await made.client.close()
