"""Ambiguous sends to Discord: the real outbox on a real database, over a line that loses, cuts and delays.

Owns what happens to each request, and the count of the replies on Discord in the end. The first send of every reply
ends in doubt, by each kind of fault in turn; later requests go as chance has it, and every sender is a process that was
just started.
"""

import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from adapters.discord.platform import DiscordPlatform, DiscordRoles
from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Person, Role
from core.desk.schema import Change
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.store import communities, people
from core.desk.store.cases import Case
from core.desk.store.cases import load as load_case
from core.models import FlaggedPost, PostRef
from tests.fakes.desk.sending import LEASE_SECONDS, REPLY, approved_now
from tests.fakes.discord.server import DiscordServer, DiscordState, LoopbackClient, connected
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import GUILD_ID, KEYS_KEPT, OWNER_ID
from tests.fakes.machine.clock import FakeClock

POST: Final = "They do not belong here."
BATCH: Final = 50
_MODERATOR: Final = Person("discord", str(OWNER_ID), "owner")
_BUSY: Final = Fault("POST", status=429, body={"message": "Slow down.", "retry_after": 0.5, "global": False})
_PAST: Final = "history hidden past the key"

KINDS: Final[dict[str, tuple[Fault, ...]]] = {
    "lost before arrival": (Fault("POST", status=None, arrives=False),),
    "lost after arrival": (Fault("POST", status=None, arrives=True),),
    "5xx before arrival": tuple(Fault("POST", status=status) for status in (500, 502, 503, 504)),
    "5xx after success": tuple(Fault("POST", status=status, arrives=True) for status in (500, 502, 503, 504)),
    "reset before arrival": (Fault("POST", status=Fault.RESET, arrives=False),),
    "reset after arrival": (Fault("POST", status=Fault.RESET, arrives=True),),
    "history that lags": (Fault("POST", status=None, arrives=True),),
    "history unreadable": (Fault("POST", status=503, arrives=True),),
    _PAST: (Fault("POST", status=None, arrives=True),),
}
"""What becomes of the first send of a reply. Of the last three the reply stands; but it is not shown at first, cannot
be read at first, or is not shown, and no send answered, until Discord forgot the key and would post it a second time.
"""
_LAGS: Final = {"history that lags": timedelta(seconds=20), _PAST: 2 * KEYS_KEPT}
_AT_ALL: Final = [fault for faults in KINDS.values() for fault in faults]


@dataclass
class Figures:
    """What was done, and what stands.

    Attributes:
        ambiguous: requests to post whose sender could not know whether the reply is there.
        duplicates: replies that stand there beside the first one.
        lost: cases that came to no end, and replies that count as posted and do not stand, or not byte for byte.
    """

    sends: int = 0
    requests: int = 0
    ambiguous: int = 0
    posted: int = 0
    asked: int = 0
    duplicates: int = 0
    lost: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)


class _Line:
    """What becomes of each request to one server; the first send of each key by the kinds in turn."""

    def __init__(self, server: DiscordServer, chance: random.Random, kinds: list[str], clock: FakeClock) -> None:
        self._server, self._chance, self._clock = server, chance, clock
        self._waiting = kinds
        self._firsts: dict[str, str] = {}
        self._unreadable = 0
        self.is_bad = True
        self.struck = Counter[str]()
        self.requests = self.ambiguous = 0

    def __call__(self, method: str, path: str) -> Fault | None:
        if method == "GET":
            return self._read(path)
        if method != "POST" or not path.endswith("/messages"):
            return None
        self.requests += 1
        key = self._server.requests[-1][2]["nonce"]
        if key not in self._firsts and not self._waiting:
            return None  # a reply under a second key: it arrives, and is there twice
        fault = self._again(key) if key in self._firsts else self._first(key)
        self.ambiguous += fault is not None and fault is not _BUSY
        return fault

    def _first(self, key: str) -> Fault:
        kind = self._firsts[key] = self._waiting.pop()
        self.struck[kind] += 1
        self._unreadable += 3 * (kind == "history unreadable")
        if kind in _LAGS:
            self._server.state.lags[key] = self._clock() + _LAGS[kind]
        return self._chance.choice(KINDS[kind])

    def _again(self, key: str) -> Fault | None:
        hidden_until = self._server.state.lags.get(key)
        if self._firsts[key] == _PAST and hidden_until and self._clock() < hidden_until - KEYS_KEPT:
            return Fault("POST", status=503)
        if not self.is_bad or self._chance.random() < 0.5:
            return None
        return _BUSY if self._chance.random() < 0.2 else self._chance.choice(_AT_ALL)

    def _read(self, path: str) -> Fault | None:
        if self._unreadable and path.endswith("/messages"):
            self._unreadable -= 1
            return Fault("GET", status=503)
        is_cut = self.is_bad and self._chance.random() < 0.1
        return Fault("GET", status=self._chance.choice((None, Fault.RESET, 500, 503))) if is_cut else None


async def run(database: Database, clock: FakeClock, sends: int, seed: int) -> Figures:
    """Approve this many replies, send them all, and count what is there once nothing waits."""
    chance, figures = random.Random(seed), Figures()
    names = sorted(KINDS)
    for start in range(0, sends, BATCH):
        kinds = [names[number % len(names)] for number in range(start, min(start + BATCH, sends))]
        chance.shuffle(kinds)
        await _batch(database, clock, chance, kinds, figures)
        clock.advance(3600)
    return figures


async def _batch(
    database: Database, clock: FakeClock, chance: random.Random, kinds: list[str], figures: Figures
) -> None:
    async with discord(clock, shows_content=chance.random() < 0.5) as (server, client):
        channel = server.state.add_channel("square")
        approved = await _approve(database, _posts(server.state, channel, len(kinds)), clock)
        server.faults.chance = line = _Line(server, chance, list(kinds), clock)
        for round_number in range(12):
            await _work(database, client)
            clock.advance(15 if round_number < 8 else LEASE_SECONDS)
        line.is_bad = False
        for _ in range(6):
            await _work(database, client)
            clock.advance(LEASE_SECONDS)
        for case in approved:
            await _count(database, server.state, case, figures)
        figures.requests += line.requests
        figures.ambiguous += line.ambiguous
        figures.kinds += line.struck
        figures.complaints += server.complaints


@asynccontextmanager
async def discord(clock: FakeClock, *, shows_content: bool) -> AsyncIterator[tuple[DiscordServer, LoopbackClient]]:
    client = LoopbackClient(reads_messages=shows_content)
    async with DiscordServer(DiscordState(clock, shows_content=shows_content)).running() as server, connected(client):
        yield server, client


def _posts(state: DiscordState, channel: int, count: int) -> list[FlaggedPost]:
    """As many posts of as many authors, flagged by the message menu."""
    posts = list[FlaggedPost]()
    for number in range(count):
        message = state.write(state.add_member(f"author_{number}"), channel, POST)
        ref = PostRef("discord", str(GUILD_ID), str(channel), message["id"])
        posts.append(FlaggedPost(ref, POST, f"author {message['id']}", "mill_pond", "menu", revision="unedited"))
    return posts


async def _approve(database: Database, posts: list[FlaggedPost], clock: FakeClock) -> list[Case]:
    """Bring posts to approved replies that are due, in a community that posts."""

    async def work(session: Session) -> list[Case]:
        community = await communities.ensure(session, "discord", str(GUILD_ID))
        await people.grant(session, community.id, _MODERATOR, {Role.MODERATOR}, by="test")
        if not community.is_posting:
            await communities.change(session, community.id, actor="test", reason="posting on", what=Change.POSTING)
        who = await people.pseudonym(session, _MODERATOR.platform, _MODERATOR.user)
        policy = (await communities.load(session, community.id)).rules_version
        return [await approved_now(session, post, who, policy, clock.now) for post in posts]

    return await database.run("approve all", work)


async def _work(database: Database, client: LoopbackClient) -> None:
    """One turn of an outbox in a process that remembers nothing."""
    outbox = Outbox(
        database,
        {"discord": DiscordPlatform(client)},
        role_sources={"discord": DiscordRoles(client, _policy)},
        limits=SendLimits(10**6, 10**6),
        max_attempts=30,
        ticks=lambda: 0.0,
    )
    await outbox.send_due()
    await outbox.recover()


async def _policy(_community: str) -> CommunityPolicy:
    return CommunityPolicy()


async def _count(database: Database, state: DiscordState, case: Case, figures: Figures) -> None:
    now = await database.run("look", lambda session: load_case(session, case.id))
    standing = state.replies_to(int(case.post.ref.message))
    is_right = all(message["content"].encode() == REPLY.encode() for message in standing)
    figures.sends += 1
    figures.posted += now.state is CaseState.POSTED
    figures.asked += now.state is CaseState.NEEDS_PERSON
    figures.duplicates += max(len(standing) - 1, 0)
    has_end = now.state is CaseState.NEEDS_PERSON or (now.state is CaseState.POSTED and bool(standing))
    figures.lost += not (has_end and is_right)
