"""Reports of the instance, from its moderators' API to a case, and back to the report when the case is decided.

Over real HTTP, on a real database; the reporter, the author and the moderators have addresses that must appear nowhere.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy import select

from adapters.common.desk_access import DeskAccess
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.refs import NAME, status_id_of
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.manage import MODERATOR_SCOPES
from adapters.mastodon.reports import ReportFeed, ReportFollower, Reports, how, inbox_report, kept_report
from bot.compose.desk import build_casework, build_desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card, Holder
from core.desk.rules.closures import CloseReason
from core.desk.rules.platforms import WaitingUpdate
from core.desk.rules.roles import Operator, Role
from core.desk.rules.roles import Person as Member
from core.desk.schema import CaseRow
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import load
from core.desk.store.inbox import StoredInbox
from core.errors import PlatformUnavailable
from core.models import FlaggedPost, PostRef
from tests.fakes.desk.canary import move
from tests.fakes.desk.traces import everything
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON, Person

ADDRESSES = ("reporter@mail.example", "author@mail.example", "203.0.113.9", "198.51.100.7", "2001:db8::7")
WORDS = "They do not belong here."
pytestmark = pytest.mark.parametrize("database_server", ["sqlite"], indirect=True)


@dataclass
class Room:
    """An instance with a moderator, a reporter and an author, and reports that come to a desk."""

    server: MastodonServer
    client: MastodonClient
    inbox: StoredInbox
    casework: Casework
    database: Database
    feed: ReportFeed
    moderator: Person
    reporter: Person
    author: Person
    woken: list[int]

    async def report(self, text: str = WORDS, comment: str = "", **more: object) -> tuple[JSON, JSON]:
        """Somebody writes a post, and somebody reports it; both."""
        post = await self.server.town.post(self.author, text, **more)  # type: ignore[arg-type]
        return post, await self.server.town.report(self.reporter, post, comment)

    async def handle(self) -> int:
        """Hand out what waits; how many reports there were."""
        reports = Reports(self.client, Statuses(self.client))
        waiting = await self.inbox.waiting()
        for each in waiting:
            await reports.hear(each)
            await self.inbox.done(each.update.number)
        return len(waiting)

    async def posts(self) -> list[PostRef]:
        return await self.casework.posts(NAME, 50)

    async def standing(self, report: JSON) -> tuple[bool, str | None]:
        """Whether a report is resolved, and to whom it is assigned, as the moderators see it."""
        admin = replace(self.moderator, token=self.server.town.token(self.moderator, ("admin:read", "read")))
        found = await self.server.town.call(admin, "GET", f"/api/v1/admin/reports/{report['id']}")
        assigned = found["assigned_account"]
        return found["action_taken"], None if assigned is None else assigned["id"]


@pytest.fixture
async def room(server: MastodonServer, database: Database, front: Casework) -> AsyncIterator[Room]:
    """The feed has begun: what is reported from now on comes."""
    town = server.town
    moderator = town.add_account("mod", role="moderator", email="mod@mail.example")
    reporter = town.add_account("reporter", email=ADDRESSES[0], ip=ADDRESSES[2])
    author = town.add_account("author", "far.example", email=ADDRESSES[1], ip=ADDRESSES[3])
    token = town.token(moderator, MODERATOR_SCOPES)
    client = MastodonClient(MastodonOptions(server.url, server.bot.token, token), front)
    await client.open()
    inbox = StoredInbox(database, NAME, f"{client.own_id}/reports", "process 1")
    woken: list[int] = []
    feed = ReportFeed(client, inbox, lambda: woken.append(1))
    await feed.step()
    yield Room(server, client, inbox, front, database, feed, moderator, reporter, author, woken)
    await client.close()


async def test_a_reported_post_becomes_a_case(room: Room) -> None:
    """With the author's instance as its channel, by the reporter's flag, once however often it is asked."""
    post, _ = await room.report()
    assert await room.feed.step() == 1
    assert await room.feed.step() == 0
    assert (await room.handle(), len(room.woken)) == (1, 1)
    assert await room.posts() == [PostRef(NAME, room.server.domain, "far.example", post["id"])]


async def test_what_was_reported_before_the_first_start_is_left(server: MastodonServer, room: Room) -> None:
    """It is others' work already; a restart goes on where it was."""
    await room.report()
    again = ReportFeed(room.client, room.inbox, lambda: None)
    assert await again.step() == 1
    new = StoredInbox(room.database, NAME, "another account", "process 1")
    assert await ReportFeed(room.client, new, lambda: None).step() == 0
    assert list(await new.waiting()) == []


async def test_no_address_reaches_database_log_or_card(
    room: Room, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither out of the API nor out of the reporter's words; neither waiting nor handled."""
    caplog.set_level(logging.DEBUG)
    comment = "Mail me at reporter@mail.example, I am at 203.0.113.9 and 2001:db8::7."
    _, report = await room.report(comment=comment)
    raw = await _raw(room, report)
    assert [each for each in ADDRESSES if each in raw] != []
    await room.feed.step()
    waiting = await everything(room.database)
    await room.handle()
    kept = await everything(room.database)
    said = "".join(capsys.readouterr()) + caplog.text
    assert [each for each in ADDRESSES if each in waiting + kept + said] == []
    assert len(await room.posts()) == 1


@pytest.mark.parametrize("visibility", ["private", "direct"])
async def test_a_private_post_can_be_reviewed_and_never_answered(room: Room, visibility: str) -> None:
    """Its words come with the report; the case names no message of the platform."""
    post, _ = await room.report(visibility=visibility)
    await room.feed.step()
    await room.handle()
    (ref,) = await room.posts()
    assert ref.message != post["id"]
    with pytest.raises(PlatformUnavailable):
        status_id_of(ref)
    assert WORDS in await everything(room.database)


async def test_bots_and_empty_posts_are_left(room: Room) -> None:
    """A report of them makes no case, and does not stop the next."""
    room.author = room.server.town.add_account("machine", bot=True)
    await room.report()
    room.author = room.server.town.add_account("somebody")
    post, _ = await room.report()
    await room.feed.step()
    assert await room.handle() == 2
    assert [ref.message for ref in await room.posts()] == [post["id"]]


def _of_an_instance(report: JSON, domain: str) -> JSON:
    """The same report as that instance hands it on, by an account of its own each time."""
    return kept_report(report) | {"by": {"id": report["id"], "domain": domain}}


async def test_reports_count_for_the_instance_that_sends_them(room: Room) -> None:
    """Whoever there reports: one that floods takes nobody else's turn, and what it sends beyond waits for its own."""
    desk = build_desk(room.database, flags_per_hour=2)
    room.client.desk = DeskAccess(NAME, build_casework(desk, Outbox(room.database, {})))
    floods = [_of_an_instance(await _raw_report(room), "evil.example") for _ in range(4)]
    honest = [_of_an_instance(await _raw_report(room), "honest.example"), kept_report(await _raw_report(room))]
    later = asyncio.Event()
    reports = Reports(room.client, Statuses(room.client), lambda _: later.wait())
    left = [await reports.hear(_waiting(each)) for each in (*floods, *honest)]
    assert [len(each) for each in left] == [0, 0, 1, 1, 0, 0]
    assert {ref.message for ref in await room.posts()} == {each["statuses"][0]["id"] for each in (*floods[:2], *honest)}
    room.client.desk = DeskAccess(NAME, room.casework)  # an hour later: the limit lets them through
    later.set()
    await asyncio.gather(*(work for each in left for work in each))
    assert len(await room.posts()) == 6
    assert reports.waiting == set()


async def test_a_token_without_the_right_is_told_once(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    """Mentions go on; the log says what to do, and does not say it each minute."""
    pauses = 0

    async def sleep(_: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses == 3:
            raise StopAsyncIteration

    room.server.fault("/api/v1/admin/reports", "403", count=None)
    feed = ReportFeed(room.client, room.inbox, lambda: None, sleep=sleep)
    with pytest.raises((StopAsyncIteration, RuntimeError)):
        await feed.run()
    assert caplog.text.count("antiphon mastodon login --moderator") == 1


async def test_a_report_is_assigned_and_then_resolved(room: Room) -> None:
    """When somebody holds the case, and when a reply stands; nothing while nobody looked at it."""
    _, report = await room.report()
    follower, card = ReportFollower(room.client), _card(report)
    await follower.follow(card)
    assert await room.standing(report) == (False, None)
    await follower.follow(replace(card, holder=Holder("Ana", datetime(2026, 3, 2, tzinfo=UTC))))
    assert await room.standing(report) == (False, room.moderator.id)
    await ReportFollower(room.client).follow(replace(card, state=CaseState.POSTED))
    assert await room.standing(report) == (True, room.moderator.id)


RESOLVES = {
    CloseReason.NOT_HATEFUL: True,
    CloseReason.SILENCE: False,
    CloseReason.HANDLED: False,
    CloseReason.WRONG_FACT: False,
    CloseReason.PREACHY: False,
    CloseReason.OFF_TONE: False,
    CloseReason.REPEATS_SLUR: False,
    CloseReason.UNSAFE: False,
    CloseReason.MISTAKE: False,
    CloseReason.OTHER: False,
}
"""Whether a case that was closed for a reason answers its report."""


@pytest.mark.parametrize("reason", CloseReason)
async def test_only_a_person_who_finds_the_post_not_hateful_resolves_its_report_without_a_reply(
    room: Room, reason: CloseReason
) -> None:
    """Whatever is wrong with the drafts, the post may still be the moderators' to remove; closed as people close it."""
    _, report = await room.report()
    await room.feed.step()
    await room.handle()
    decider = await _decider(room)
    (case,) = await room.database.run("look", lambda session: session.scalars(select(CaseRow)))
    loaded = await room.database.run("load", lambda session: load(session, case.id))
    await move(room.database, loaded, CaseState.DRAFTING, CaseState.IN_REVIEW)
    card = await room.casework.card(case.id, decider)
    await room.casework.close(case.id, card.version, decider, reason, "not hateful")
    await ReportFollower(room.client).follow(await room.casework.card(case.id, decider))
    assert await room.standing(report) == ((True, room.moderator.id) if RESOLVES[reason] else (False, None))


STATES = {CaseState.POSTED: (True, True), CaseState.APPROVED: (False, True), CaseState.SENDING: (False, True)}
"""Whether a report is resolved, and whether it is assigned, by the state of its case; neither in the others."""


async def test_what_becomes_of_a_report_in_each_state(room: Room) -> None:
    """Nothing of it by a case that ended without an answer."""
    for state in CaseState:
        _, report = await room.report()
        await ReportFollower(room.client).follow(replace(_card(report), state=state))
        is_resolved, is_assigned = (STATES | {CaseState.UNKNOWN: (False, True)}).get(state, (False, False))
        assert await room.standing(report) == (is_resolved, room.moderator.id if is_assigned else None), state


async def test_a_report_that_is_another_moderators_is_not_touched(room: Room) -> None:
    """Neither taken over nor resolved."""
    _, report = await room.report()
    other = room.server.town.add_account("other", role="moderator", scopes=("read", "admin:write"))
    await room.server.town.call(other, "POST", f"/api/v1/admin/reports/{report['id']}/assign_to_self")
    await ReportFollower(room.client).follow(replace(_card(report), state=CaseState.POSTED))
    assert await room.standing(report) == (False, other.id)


async def test_a_token_that_may_only_read_changes_nothing_and_is_asked_once(room: Room) -> None:
    """An instance may let Antiphon read reports, and keep the rest to itself."""
    _, report = await room.report()
    room.server.fault("/api/v1/admin/reports/**", "403", method="POST", count=None)
    follower, card = ReportFollower(room.client), replace(_card(report), state=CaseState.POSTED)
    await follower.follow(card)
    await follower.follow(card)
    assert len(room.server.asked("POST", "/api/v1/admin/reports/**")) == 1
    assert await room.standing(report) == (False, None)


async def _raw_report(room: Room) -> JSON:
    """A new report of a post of somebody, as the instance gives it to its moderators."""
    _, report = await room.report(f"They do not belong here, {len(room.server.requests)}. {uuid4()}")
    administrator = room.server.town.add_account(f"admin{report['id']}", role="admin")
    found: JSON = await room.server.town.call(administrator, "GET", f"/api/v1/admin/reports/{report['id']}")
    return found


def _waiting(report: JSON) -> WaitingUpdate:
    now = datetime.now(UTC)
    return WaitingUpdate(inbox_report(report), now, now)


async def _decider(room: Room) -> Member:
    """A moderator in Antiphon, of the community whose posts are reported."""
    desk, decider = CommunityDesk(room.database), Member(NAME, room.moderator.id, room.moderator.acct)
    place = await desk.known(NAME, room.server.domain)
    await desk.grant(place, decider, Role.MODERATOR, Operator("operator"))
    return decider


async def _raw(room: Room, report: JSON) -> str:
    """A report as the instance shows it to its administrator, with all addresses."""
    administrator = room.server.town.add_account("webmaster", role="admin")
    return repr(await room.server.town.call(administrator, "GET", f"/api/v1/admin/reports/{report['id']}"))


def _card(report: JSON) -> Card:
    ref = PostRef(NAME, "home.example", "far.example", "1")
    post = FlaggedPost(ref, WORDS, "9", "8", how(report["id"]))
    return Card("c1", 1, CaseState.IN_REVIEW, "home.example", post, datetime(2026, 3, 2, tzinfo=UTC))
