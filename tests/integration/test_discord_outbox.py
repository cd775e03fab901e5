"""Replies to Discord over a bad line: each stands once, as it was approved, and mentions nobody."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import pytest

from adapters.discord import DiscordOptions, DiscordPlatform, DiscordRoles
from bot.outbox import Limits, Outbox
from bot.store import communities, people
from bot.store.cases import Case
from bot.store.cases import load as load_case
from bot.store.database import Database, Session
from core.community_policy import CommunityPolicy
from core.errors import AmbiguousSend, BadInput, PlatformBusy, PlatformUnavailable
from core.models import Evidence, FlaggedPost, PostRef, Source
from core.review import ApprovedReply, CaseState
from core.roles import Person, Role
from core.sendable import check_sendable, strange_link
from tests.conformance import reply_to
from tests.fakes.clock import FakeClock
from tests.fakes.discord_server import DiscordServer, LoopbackClient, World, connected
from tests.fakes.discord_server.faults import Fault
from tests.fakes.discord_server.world import GUILD_ID, OWNER_ID
from tests.fakes.sending import LEASE_SECONDS, REPLY, approved_now

SCALE = int(os.environ.get("ANTIPHON_TEST_SCALE", "1"))
"""How much longer than usual the long tests run."""
SEED = int(os.environ.get("ANTIPHON_TEST_SEED", "20260302"))
"""Of every chance in this file; a failure is repeated with it."""
SENDS, BATCH, DRAFTS, THROUGH_THE_OUTBOX = 1000 * SCALE, 50, 10_000, 40 * SCALE
MODERATOR = Person("discord", str(OWNER_ID), "owner")

AMBIGUOUS: Final = (
    Fault("POST", status=None, arrives=True),
    Fault("POST", status=None, arrives=False),
    *(Fault("POST", status=status, arrives=arrives) for status in (500, 502, 503, 504) for arrives in (True, False)),
)
BUSY: Final = Fault("POST", status=429, body={"message": "Slow down.", "retry_after": 0.5, "global": False})
STALE: Final = Fault("GET", status=200, body=[])
"""A history that does not show yet what arrived: only the key keeps the reply from being posted twice then."""


@asynccontextmanager
async def _discord(
    clock: FakeClock, *, shows_content: bool = True
) -> AsyncIterator[tuple[DiscordServer, LoopbackClient]]:
    client = LoopbackClient(DiscordOptions(reads_messages=shows_content))
    async with DiscordServer(World(clock, shows_content=shows_content)).running() as server, connected(client):
        yield server, client
        assert server.complaints == []


def _write(world: World, channel: int, text: str = "They do not belong here.") -> PostRef:
    author = world.user(f"author_{len(world.users)}")
    return PostRef("discord", str(GUILD_ID), str(channel), world.write(author, channel, text)["id"])


class _BadLine:
    """What becomes of each request: the first send of every reply ends in doubt, everything later as chance has it."""

    def __init__(self, chance: random.Random, first: int) -> None:
        self._chance, self._first = chance, first
        self.ends = Counter[tuple[int | None, bool]]()

    def __call__(self, method: str, path: str) -> Fault | None:
        if method == "GET" and path.endswith("/messages") and self._chance.random() < 0.1:
            return STALE
        if method == "GET":
            is_bad = self._chance.random() < 0.1
            return Fault("GET", status=self._chance.choice((None, 500, 503))) if is_bad else None
        if self._first > 0:
            self._first -= 1
        elif self._chance.random() < 0.5:
            return None
        fault = self._chance.choice(AMBIGUOUS) if self._first > 0 or self._chance.random() < 0.8 else BUSY
        self.ends[fault.status, fault.arrives] += 1
        return fault


async def _send_until_known(platform: DiscordPlatform, reply: ApprovedReply) -> int:
    """Send, read back, send again, as the outbox does, inside the window; how many requests to post it took."""
    for attempt in range(1, 40):
        with suppress(PlatformBusy, AmbiguousSend):
            await platform.post(reply)
            return attempt
        for _ in range(20):
            with suppress(PlatformUnavailable):
                if await platform.find_reply(reply) is not None:
                    return attempt
                break
    raise AssertionError("the line was never good")


async def test_a_thousand_ambiguous_sends_leave_no_duplicate_and_lose_nothing() -> None:
    """Every first send ends in doubt, whether it arrived or not; in the end each reply stands exactly once (I2)."""
    clock, chance, attempts = FakeClock(), random.Random(SEED), list[int]()
    async with _discord(clock) as (server, client):
        for start in range(0, SENDS, BATCH):
            server.faults.chance = line = _BadLine(chance, BATCH)
            channel = server.world.add_channel(f"channel-{start}")
            refs = [_write(server.world, channel) for _ in range(BATCH)]
            replies = [
                reply_to(ref, f"Reply {start + n}: we all live here.", f"a{start + n}") for n, ref in enumerate(refs)
            ]
            # Half of it by a process that was just started and remembers nothing.
            platforms = [DiscordPlatform(client), DiscordPlatform(client)]
            sends = [_send_until_known(platforms[n % 2], reply) for n, reply in enumerate(replies)]
            attempts += await asyncio.gather(*sends)
            for reply in replies:
                standing = server.world.replies_to(int(reply.in_reply_to.message))
                assert [message["content"] for message in standing] == [reply.text]
            assert sum(line.ends.values()) >= BATCH
            clock.advance(60)
    assert len(attempts) == SENDS
    assert max(attempts) > 2


async def _approve_all(database: Database, posts: list[FlaggedPost], clock: FakeClock) -> list[Case]:
    """Bring posts to approved replies that are due, in a community that posts."""

    async def work(session: Session) -> list[Case]:
        community = await communities.ensure(session, "discord", str(GUILD_ID))
        await people.grant(session, community.id, MODERATOR, {Role.MODERATOR}, by="test")
        await communities.change(session, community.id, actor="test", reason="posting on", is_posting=True)
        who = await people.pseudonym(session, MODERATOR.platform, MODERATOR.user)
        policy = (await communities.load(session, community.id)).version
        return [await approved_now(session, post, who, policy, clock.now) for post in posts]

    return await database.run("approve all", work)


async def _now(database: Database, case_id: str) -> Case:
    return await database.run("look", lambda session: load_case(session, case_id))


async def _policy(_community: str) -> CommunityPolicy:
    return CommunityPolicy()


async def test_the_outbox_posts_each_reply_once_over_a_bad_line(database: Database, clock: FakeClock) -> None:
    """The whole protocol on a real database, without the intent to read messages: none twice, none without an end."""
    chance = random.Random(SEED)
    async with _discord(clock, shows_content=False) as (server, client):
        channel = server.world.add_channel("square")
        refs = [_write(server.world, channel) for _ in range(THROUGH_THE_OUTBOX)]
        posts = [
            FlaggedPost(ref, "They do not belong here.", f"author {n}", "mill_pond", "menu", revision="unedited")
            for n, ref in enumerate(refs)
        ]
        approved = await _approve_all(database, posts, clock)
        edited = approved[0].post.ref
        server.world.edit(int(edited.message), "I was wrong.")
        server.faults.chance = _BadLine(chance, 0)

        def started() -> Outbox:
            return Outbox(
                database,
                {"discord": DiscordPlatform(client)},
                role_sources={"discord": DiscordRoles(client, _policy)},
                limits=Limits(10**6, 10**6),
                max_attempts=30,
                ticks=lambda: 0.0,
            )

        for round_number in range(12):
            await started().send_due()
            await started().recover()
            clock.advance(15 if round_number < 8 else LEASE_SECONDS)
        server.faults.chance = None
        for _ in range(6):
            await started().send_due()
            await started().recover()
            clock.advance(LEASE_SECONDS)
        ended = Counter[CaseState]()
        for case in approved:
            now = await _now(database, case.id)
            standing = [message["content"] for message in server.world.replies_to(int(case.post.ref.message))]
            ended[now.state] += 1
            assert standing in ([], [REPLY])
            if now.state is CaseState.POSTED:
                assert standing == [REPLY]
            if case.post.ref == edited:
                assert (now.state, standing) == (CaseState.NEEDS_PERSON, [])
        assert set(ended) <= {CaseState.POSTED, CaseState.NEEDS_PERSON}
        assert ended[CaseState.POSTED] > THROUGH_THE_OUTBOX * 0.8


CITED = "https://fra.europa.eu/en/publication/2023/being-black-eu"
PASSAGE = Evidence("1", "Text.", "Text.", Source("FRA", "A survey", 2023, None, CITED))
_PIECES: Final = (
    "We all live here.",
    "Most people work",
    " ",
    "\n",
    "@everyone",
    "@here",
    f"<@{OWNER_ID}>",
    f"<@!{OWNER_ID}>",
    f"<@&{GUILD_ID}>",
    "<#3001>",
    "</help:1>",
    "**bold**",
    "_it_",
    "~~no~~",
    "||hidden||",
    "`code`",
    "```\nblock\n```",
    "> quoted",
    "# Title",
    "-# small",
    "[here](https://evil.example/login)",
    f"[FRA]({CITED})",
    "https://evil.example/a?b=1&c=2",
    "http://127.0.0.1/x",
    "www.evil.example",
    "discord.gg/abc",
    "evil.com",
    "steam://run/1",
    "mailto:a@b.example",
    CITED,
    f"<{CITED}>",
    f"{CITED}.evil.example/x",
    "\u202e",
    "\u2066",
    "\u2069",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\U000e0041",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u0645\u0631\u062d\u0628\u0627",
    "e\u0301",
    "\U0001f469\u200d\U0001f680",
    "\u2764\ufe0f",
    "\x07",
    "\x1b[31m",
    "\\",
    '"',
    "%s {0}",
)
_HARMLESS: Final = tuple(
    piece for piece in _PIECES if strange_link(piece, [CITED]) is None and "](" not in piece and piece.isprintable()
)


def _draft(chance: random.Random) -> str:
    pieces = _PIECES if chance.random() < 0.5 else (*_HARMLESS, "\U0001f469\u200d\U0001f680", "\n")
    return " ".join(chance.choice(pieces) for _ in range(chance.randint(1, 12))).strip() or "."


async def test_no_draft_pings_or_leads_elsewhere() -> None:
    """Of ten thousand drafts full of traps those that deceive are refused, and all go out unchanged and mute (T5)."""
    chance = random.Random(SEED)
    drafts = [_draft(chance) for _ in range(DRAFTS)]
    sendable = list[str]()
    for draft in drafts:
        with suppress(BadInput):
            check_sendable(draft, (PASSAGE,))
            sendable.append(draft)
    for draft in sendable:
        assert "evil" not in draft
        assert not set("\u202e\u2066\u2069\u200b\ufeff\x07\x1b\U000e0041") & set(draft)
        assert "://" not in draft.replace(CITED, "")
    assert DRAFTS * 0.2 < len(sendable) < DRAFTS * 0.8
    async with _discord(FakeClock()) as (server, client):
        platform = DiscordPlatform(client)
        ref = _write(server.world, server.world.add_channel("square"))
        # On the wire, whatever somebody approved: what the check refuses must be mute, too.
        for start in range(0, DRAFTS, BATCH):
            batch = drafts[start : start + BATCH]
            replies = [reply_to(ref, draft, f"d{start + n}") for n, draft in enumerate(batch)]
            await asyncio.gather(*map(platform.post, replies))
        bodies = {body["nonce"]: body for body in server.asked("POST", "/messages")}
        assert len(bodies) == DRAFTS
        for number, draft in enumerate(drafts):
            body = bodies[reply_to(ref, draft, f"d{number}").key]
            assert body["content"].encode() == draft.encode()
            assert body["allowed_mentions"] == {"parse": [], "replied_user": False}
            assert body["flags"] & 4
            assert body["enforce_nonce"] is True
            assert not any(body.get(part) for part in ("embeds", "components", "attachments", "sticker_ids", "poll"))
        shown = Counter(message["content"] for message in server.world.replies_to(int(ref.message)))
        assert shown == Counter(drafts)


@pytest.mark.parametrize("trap", [piece for piece in _PIECES if "evil" in piece or "://" in piece.replace(CITED, "")])
def test_every_trap_alone_is_refused(trap: str) -> None:
    """None of the links above is let through because of what stands around it."""
    for text in (trap, f"See {trap}.", f"({trap})", f"We all live here.\n{trap}"):
        with pytest.raises(BadInput):
            check_sendable(text, (PASSAGE,))
