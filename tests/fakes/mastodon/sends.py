"""Sends to Mastodon over a bad line: the real outbox on a real database, and a count of what stands in the end.

Owns what happens to each request. The first send of every reply ends by each kind of fault in turn, later ones as
chance has it, and every sender is a process that was just started.
"""

import random
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from adapters.mastodon.platform import MastodonPlatform
from adapters.mastodon.speech import plain_text
from core.desk.database.connection import Database, Session
from core.desk.rules.policy import to_json
from core.desk.rules.roles import Person, Role
from core.desk.schema import Change
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.store import communities, people
from core.desk.store.cases import Case
from core.models import FlaggedPost
from tests.fakes.desk.bad_line import SendFigures
from tests.fakes.desk.sending import LEASE_SECONDS, approved_now
from tests.fakes.machine.clock import FakeClock
from tests.fakes.mastodon.server.asked import Asked
from tests.fakes.mastodon.server.faults import Fault
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.wire import FAR, WORDS, MastodonWire, mastodon_wire

KINDS: Final = (
    "lose reply", "drop", "500", "500 after", "503", "not JSON", "timeout", "429", "no connection", "none"
)  # fmt: skip
"""What becomes of the first send of a reply; of the last three it is certain."""
CERTAIN: Final = frozenset({"429", "no connection", "none"})
_IN_TURN: Final = tuple(kind for kind in KINDS if kind != "no connection")
BATCH: Final = len(_IN_TURN)
_LATER: Final = ("lose reply", "drop", "500 after", "503", "not JSON", "429")
_MODERATOR: Final = Person("mastodon", "7", "owner")
_ROUNDS: Final = 14
_DAY_SECONDS: Final = 25 * 3600


class _Line:
    """What becomes of each request; the first one to post under each key by the kinds in turn."""

    def __init__(self, chance: random.Random, kinds: list[str]) -> None:
        self._chance, self._waiting = chance, kinds
        self._doubted: dict[str, bool] = {}
        self.is_bad = True
        self.struck = Counter[str]()
        self.requests = self.ambiguous = self.repeated = 0

    def __call__(self, asked: Asked) -> Fault | None:
        if (asked.method, asked.path) == ("POST", "/api/v1/statuses"):
            return self._sent(asked.headers["Idempotency-Key"])
        is_cut = self.is_bad and asked.method == "GET" and self._chance.random() < 0.1
        return Fault("**", self._chance.choice(("503", "drop"))) if is_cut else None

    def _sent(self, key: str) -> Fault | None:
        self.requests += 1
        if key in self._doubted:
            self.repeated += self._doubted[key]
            kind = self._chance.choice(_LATER) if self.is_bad and self._chance.random() < 0.3 else "none"
        else:
            kind = self._waiting.pop()
            self.struck[kind] += 1
        is_ambiguous = kind not in CERTAIN
        self.ambiguous += is_ambiguous
        self._doubted[key] = self._doubted.get(key, False) or is_ambiguous
        return None if kind == "none" else Fault("**", kind, seconds=1.0)


async def send_over_a_bad_line(
    database: Database, clock: FakeClock, software: str, sends: int, seed: int
) -> SendFigures:
    """Approve this many replies, send them all, and count what is there once nothing waits.

    Args:
        software: of the home instance: ``mastodon``, or ``gotosocial``, which ignores keys.
    """
    figures, chance = SendFigures(), random.Random(seed)
    async with _wire(clock, software) as wire:
        for start in range(0, sends, BATCH):
            turn = list(_IN_TURN[: sends - start])
            await _batch(database, clock, wire, chance, turn, figures, is_refused=(start // BATCH) % 3 == 0)
            clock.advance(_DAY_SECONDS)
    return figures


def sends_with(ambiguous: int) -> int:
    """How many sends hold so many firsts whose sender cannot know whether the reply is there."""
    return -(-ambiguous // len(set(_IN_TURN) - CERTAIN)) * BATCH


@asynccontextmanager
async def _wire(clock: FakeClock, software: str) -> AsyncIterator[MastodonWire]:
    server = MastodonServer(lambda: clock.now, kind=software)
    async with server.running(), mastodon_wire(server) as wire:
        yield wire


async def _batch(
    database: Database,
    clock: FakeClock,
    wire: MastodonWire,
    chance: random.Random,
    kinds: list[str],
    figures: SendFigures,
    *,
    is_refused: bool,
) -> None:
    approved = await _approve_all(database, wire, len(kinds), clock)
    before = len(_written(wire))
    wire.server.faults.chance = line = _Line(chance, kinds)
    if is_refused:
        wire.server.refuse()
        await _send_once(database, wire)
        await wire.server.accept()
        figures.kinds["no connection"] += len(kinds)
        clock.advance(60)
    for round_number in range(_ROUNDS):
        line.is_bad = round_number < _ROUNDS // 2
        await _send_once(database, wire)
        clock.advance(LEASE_SECONDS if round_number < _ROUNDS - 3 else 5 * LEASE_SECONDS)
    wire.server.faults.chance = None
    standing = await _standing(wire, _written(wire)[before:])
    for case in approved:
        await figures.count(database, case, standing.get(case.post.ref.message, []))
    figures.requests += line.requests
    figures.repeated += line.repeated
    figures.ambiguous += line.ambiguous
    figures.kinds += line.struck


async def _approve_all(database: Database, wire: MastodonWire, count: int, clock: FakeClock) -> list[Case]:
    """Posts of as many authors of two instances, with approved replies that are due, in a community that posts."""
    refs = [await wire.written(author=wire.person(FAR if number % 2 else None)) for number in range(count)]
    policy = to_json(wire.governance.policies[wire.server.domain])

    async def work(session: Session) -> list[Case]:
        community = await communities.ensure(session, "mastodon", wire.server.domain)
        await people.grant(session, community.id, _MODERATOR, {Role.MODERATOR}, by="test")
        if not community.is_posting:
            await communities.change(
                session, community.id, actor="test", reason="posting on", what=Change.POSTING, policy=policy
            )
        who = await people.pseudonym(session, _MODERATOR.platform, _MODERATOR.user)
        rules = (await communities.load(session, community.id)).rules_version
        posts = [FlaggedPost(ref, WORDS, f"author of {ref.message}", "mill_pond", "mention") for ref in refs]
        return [await approved_now(session, post, who, rules, clock.now) for post in posts]

    return await database.run("approve all", work)


async def _send_once(database: Database, wire: MastodonWire) -> None:
    """One turn of an outbox in a process that remembers nothing."""
    outbox = Outbox(
        database,
        {"mastodon": MastodonPlatform(wire.client, timeout_seconds=1.5)},
        limits=SendLimits(10**6, 10**6, frozenset({"mastodon"})),
        max_attempts=60,
        ticks=lambda: 0.0,
    )
    await outbox.send_due()
    await outbox.recover()


async def _standing(wire: MastodonWire, written: list[str]) -> Mapping[str, Sequence[str]]:
    """The approved words of posts of the bot, as everybody reads them, by the post that each answers."""
    found: dict[str, list[str]] = {}
    for kept in written:
        post = await wire.town.see(wire.server.kind.shown(kept))
        assert post is not None
        name = "".join(f"@{each['username']} " for each in post["mentions"])
        found.setdefault(post["in_reply_to_id"], []).append(plain_text(post["content"]).removeprefix(name))
    return found


def _written(wire: MastodonWire) -> list[str]:
    return wire.server.home.written_by(wire.server.kind.kept(wire.server.bot.id))
