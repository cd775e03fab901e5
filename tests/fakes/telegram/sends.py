"""Sends to Telegram over a bad line: the real outbox on a real database, and a count of what stands in the end.

Owns what happens to each request. The first send of every reply ends by each kind of fault in turn; every sender is a
process that was just started.
"""

from collections import Counter
from typing import Any, Final

from adapters.telegram.platform import TelegramPlatform, TelegramRoles
from core.desk.database.connection import Database, Session
from core.desk.rules.roles import Person, Role
from core.desk.schema import Change
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.store import communities, people
from core.desk.store.cases import Case
from core.models import FlaggedPost
from tests.fakes.desk.bad_line import SendFigures
from tests.fakes.desk.sending import LEASE_SECONDS, approved_now
from tests.fakes.machine.clock import FakeClock
from tests.fakes.telegram.server.faults import BotApiFault
from tests.fakes.telegram.wire import TelegramWire

KINDS: Final = ("lose reply", "drop", "5xx", "5xx after", "timeout", "not JSON", "429", "no connection", "none")
"""What becomes of the first send of a reply; of the last three it is certain."""
CERTAIN: Final = frozenset({"429", "no connection", "none"})
_IN_TURN: Final = tuple(kind for kind in KINDS if kind != "no connection")
BATCH: Final = len(_IN_TURN)
_WORDS: Final = "They do not belong here."


class _Line:
    """What becomes of each request to post; the first one under each post by the kinds in turn."""

    def __init__(self, kinds: list[str]) -> None:
        self._waiting = kinds
        self._firsts: dict[int, str] = {}
        self.struck = Counter[str]()
        self.requests = self.repeated = 0

    def __call__(self, method: str, asked: dict[str, Any]) -> BotApiFault | None:
        if method != "sendMessage":
            return None
        self.requests += 1
        post = asked["reply_parameters"]["message_id"]
        if post in self._firsts:
            self.repeated += self._firsts[post] not in CERTAIN
            return None
        kind = self._firsts[post] = self._waiting.pop()
        self.struck[kind] += 1
        return None if kind == "none" else BotApiFault(method, kind)


async def send_over_a_bad_line(database: Database, clock: FakeClock, wire: TelegramWire, sends: int) -> SendFigures:
    """Approve this many replies, send them all, and count what is there once nothing waits."""
    figures = SendFigures()
    for start in range(0, sends, BATCH):
        turn = list(_IN_TURN[: sends - start])
        await _batch(database, clock, wire, turn, figures, is_refused=(start // BATCH) % 3 == 2)
    return figures


async def _batch(
    database: Database,
    clock: FakeClock,
    wire: TelegramWire,
    kinds: list[str],
    figures: SendFigures,
    *,
    is_refused: bool,
) -> None:
    wire.group = wire.town.add_group(owner=wire.owner)
    approved = await approve_all(database, wire, len(kinds), clock)
    wire.server.faults.chance = line = _Line(kinds)
    if is_refused:
        wire.server.refuse()
        await send_once(database, wire)
        await wire.server.accept()
        figures.kinds["no connection"] += len(kinds)
        clock.advance(60)
    for _ in range(4):
        await send_once(database, wire)
        wire.minutes_pass(5)
        clock.advance(LEASE_SECONDS)
    for case in approved:
        await figures.count(database, case, wire.standing(case.post.ref))
    figures.requests += line.requests
    figures.repeated += line.repeated
    figures.ambiguous += sum(count for kind, count in line.struck.items() if kind not in CERTAIN)
    figures.kinds += line.struck


async def approve_all(database: Database, wire: TelegramWire, count: int, clock: FakeClock) -> list[Case]:
    """Posts of as many authors, with approved replies that are due, in a community that posts."""
    moderator = Person("telegram", str(wire.owner), "owner")
    refs = [wire.written(_WORDS) for _ in range(count)]

    async def work(session: Session) -> list[Case]:
        community = await communities.ensure(session, "telegram", str(wire.group))
        await people.grant(session, community.id, moderator, {Role.MODERATOR}, by="test")
        await communities.change(session, community.id, actor="test", reason="posting on", what=Change.POSTING)
        who = await people.pseudonym(session, moderator.platform, moderator.user)
        rules = (await communities.load(session, community.id)).rules_version
        posts = [
            FlaggedPost(ref, _WORDS, f"author {ref.community} {ref.message}", "mill_pond", "command") for ref in refs
        ]
        return [await approved_now(session, post, who, rules, clock.now) for post in posts]

    return await database.run("approve all", work)


async def send_once(database: Database, wire: TelegramWire) -> None:
    """One turn of an outbox in a process that remembers nothing."""
    outbox = Outbox(
        database,
        {"telegram": TelegramPlatform(wire.client, timeout_seconds=0.5)},
        role_sources={"telegram": TelegramRoles(wire.client)},
        limits=SendLimits(10**6, 10**6),
        max_attempts=30,
        ticks=lambda: 0.0,
    )
    await outbox.send_due()
    await outbox.recover()
