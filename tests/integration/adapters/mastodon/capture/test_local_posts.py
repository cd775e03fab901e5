"""Local posts that the instance's webhook sends: signed, kept before they count as received, and looked at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from mastodon_mock.db.models import Account
from sqlalchemy import select

from adapters.mastodon.capture.local_posts import LocalPostHearing, LocalPosts
from adapters.mastodon.intake.webhook import Webhook, WebhookOptions
from bot.store.engine.database import Database
from bot.store.schema import UpdateRow
from bot.store.work.inbox import StoredInbox
from core.errors import StoreUnavailable
from core.moderation.community.policy import CommunityPolicy
from tests.fakes.desk.traces import everything
from tests.fakes.mastodon.town import JSON
from tests.fakes.mastodon.webhooks import AdminWebhooks
from tests.integration.adapters.mastodon.capture.conftest import HATE, CaptureTown

SECRET = "from the page of the webhook"
TAG = "#newcomers"
WATCHED = CommunityPolicy(watched_channels=("local",), review_channel="mod")

pytestmark = pytest.mark.parametrize("database_server", ["sqlite"], indirect=True)


@dataclass
class Sent:
    """An instance whose webhook sends to Antiphon what is written there.

    Attributes:
        woken: how often the handing out was told of something.
    """

    town: CaptureTown
    inbox: StoredInbox
    database: Database
    webhooks: AdminWebhooks
    woken: list[int]

    async def post(self, text: str = HATE, **more: Any) -> JSON:
        """Somebody of the instance posts, which nothing tells us of yet."""
        return await self.town.people.post(self.town.volunteer, text, **more)

    async def kept(self) -> list[UpdateRow]:
        """What is in the inbox."""
        return list(await self.database.run("look", lambda session: session.scalars(select(UpdateRow))))

    async def handle(self) -> None:
        """Hand out what waits, until it was looked at."""
        hearing = LocalPostHearing(self.town.client, self.town.capture.feeds)
        for waiting in await self.inbox.waiting():
            delivery = hearing.delivery(waiting)
            await delivery.hear()
            await asyncio.gather(*delivery.unfinished)
            await self.inbox.done(waiting.update.number)

    def flagged(self) -> list[str]:
        """The ids of what was flagged."""
        return [post.ref.message for post in self.town.desk.flagged]


@pytest.fixture
async def sent(town: CaptureTown, database: Database) -> AsyncIterator[Sent]:
    """All local posts are watched."""
    town.set_policy(WATCHED)
    inbox, woken = StoredInbox(database, "mastodon", "bot posts", "process 1"), list[int]()
    posts = LocalPosts(town.client, inbox, lambda: woken.append(1))
    webhook = Webhook(WebhookOptions("127.0.0.1", 0, SECRET), posts.take, lambda: datetime.now(UTC))
    await webhook.open()
    webhooks = AdminWebhooks(town.people, f"http://127.0.0.1:{webhook.port}/mastodon", SECRET)
    yield Sent(town, inbox, database, webhooks, woken)
    await webhook.close()


@pytest.mark.parametrize("visibility", ["public", "unlisted"])
async def test_what_a_person_of_the_instance_writes_is_looked_at(sent: Sent, visibility: str) -> None:
    """It is in the database when the instance hears that it arrived, without a word or a name."""
    post = await sent.post(visibility=visibility)
    assert await sent.webhooks.status_created(post) == 200
    assert await sent.webhooks.status_created(post) == 200
    (row,) = await sent.kept()
    assert row.payload is not None and post["id"] in row.payload
    kept = await everything(sent.database)
    assert HATE not in kept and sent.town.volunteer.username not in row.payload
    assert sent.woken
    await sent.handle()
    assert sent.flagged() == [post["id"]]


@pytest.mark.parametrize(
    ("who", "more"),
    [
        ({}, {"visibility": "private"}),
        ({}, {"visibility": "direct"}),
        ({"domain": "far.example"}, {}),
        ({"bot": True}, {}),
        ({"note": "I draw herons. #NoBot"}, {}),
        ({"display_name": "Eva (no bots)"}, {}),
    ],
    ids=["followers only", "direct", "elsewhere", "a bot", "nobot", "nobot in the name"],
)
async def test_what_is_not_for_us_is_not_kept(sent: Sent, who: dict[str, Any], more: dict[str, Any]) -> None:
    """And acknowledged, so that it is not sent again."""
    somebody = sent.town.people.add_account("eva", **who)
    post = await sent.town.people.post(somebody, HATE, **more)
    assert await sent.webhooks.status_created(post) == 200
    assert await sent.webhooks.status_updated(post) == 200
    assert await sent.kept() == [] and sent.woken == []


async def test_a_boost_and_our_own_words_are_not_kept(sent: Sent) -> None:
    post = await sent.post()
    boost = await sent.town.people.call(sent.town.volunteer, "POST", f"/api/v1/statuses/{post['id']}/reblog")
    ours = await sent.town.people.post(sent.town.server.bot, HATE)
    for each in (boost, ours):
        assert await sent.webhooks.status_created(each) == 200
    assert await sent.kept() == []


async def test_only_what_is_watched_is_kept(sent: Sent) -> None:
    """A hashtag is watched by its name, however it is written."""
    sent.town.set_policy(replace(WATCHED, watched_channels=("#Newcomers",)))
    tagged, other = await sent.post(f"{HATE} {TAG}", visibility="unlisted"), await sent.post()
    for each in (tagged, other):
        assert await sent.webhooks.status_created(each) == 200
    await sent.handle()
    assert sent.flagged() == [tagged["id"]]
    sent.town.set_policy(CommunityPolicy(review_channel="mod"))
    assert await sent.webhooks.status_created(await sent.post(f"{HATE} {TAG}")) == 200
    assert len(await sent.kept()) == 1


@pytest.mark.parametrize("is_sent_first", [True, False])
async def test_what_the_feed_shows_too_is_looked_at_once(sent: Sent, is_sent_first: bool) -> None:
    await sent.town.capture.feeds.look()
    post = await sent.post()
    assert await sent.webhooks.status_created(post) == 200
    looks = [sent.handle, sent.town.capture.feeds.look]
    for look in looks if is_sent_first else reversed(looks):
        await look()
    assert sent.flagged() == [post["id"]]
    assert sent.town.detector.read == [HATE]


async def test_what_changed_meanwhile_counts(sent: Sent) -> None:
    """A post that is gone, and one whose author asks bots to stay away since."""
    first = await sent.post()
    eva = sent.town.people.add_account("eva")
    second = await sent.town.people.post(eva, HATE)
    for each in (first, second):
        assert await sent.webhooks.status_created(each) == 200
    await sent.town.people.delete(sent.town.volunteer, first)
    with sent.town.server.home.session() as session:
        session.get_one(Account, int(eva.id)).note = "#nobot"
    await sent.handle()
    assert sent.flagged() == [] and sent.town.detector.read == []


async def test_a_forged_post_leaves_nothing(sent: Sent) -> None:
    post = await sent.post()
    assert await sent.webhooks.send("status.created", post, signature="sha256=00") == 401
    assert await sent.webhooks.send("status.created", {"id": "5"}) == 400
    assert await sent.kept() == []


async def test_what_cannot_be_kept_is_sent_again(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise StoreUnavailable("The database does not answer.", remedy="")

    monkeypatch.setattr(sent.inbox, "keep", fail)
    assert await sent.webhooks.status_created(await sent.post()) == 503
