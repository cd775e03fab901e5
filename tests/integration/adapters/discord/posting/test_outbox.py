"""Replies to Discord over a bad line: each stands once, as it was approved, and mentions nobody."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from typing import Final

from adapters.discord.platform import DiscordPlatform
from core.desk.database.connection import Database
from core.desk.rules.approval import ApprovedReply
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.conformance import reply_to
from tests.fakes.discord.server import DiscordState
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import GUILD_ID
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import SCALE, SEED
from tests.torture.ends import discord_sends

SENDS, BATCH, THROUGH_THE_OUTBOX = 100 * SCALE, 50, 12 * SCALE

AMBIGUOUS: Final = (
    Fault("POST", status=None, arrives=True),
    Fault("POST", status=None, arrives=False),
    *(Fault("POST", status=status, arrives=arrives) for status in (500, 502, 503, 504) for arrives in (True, False)),
)
BUSY: Final = Fault("POST", status=429, body={"message": "Slow down.", "retry_after": 0.5, "global": False})
STALE: Final = Fault("GET", status=200, body=[])
"""A history that does not show yet what arrived: only the key keeps the reply from being posted twice then."""


def _write(state: DiscordState, channel: int, text: str = "They do not belong here.") -> PostRef:
    author = state.user(f"author_{len(state.users)}")
    return PostRef("discord", str(GUILD_ID), str(channel), state.write(author, channel, text)["id"])


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


async def test_ambiguous_sends_leave_no_duplicate_and_lose_nothing() -> None:
    """Every first send ends in doubt, whether it arrived or not; in the end each reply stands exactly once (I2)."""
    clock, chance, attempts = FakeClock(), random.Random(SEED), list[int]()
    async with discord_sends.discord(clock, shows_content=True) as (server, client):
        for start in range(0, SENDS, BATCH):
            server.faults.chance = line = _BadLine(chance, BATCH)
            channel = server.state.add_channel(f"channel-{start}")
            refs = [_write(server.state, channel) for _ in range(BATCH)]
            replies = [
                reply_to(ref, f"Reply {start + n}: we all live here.", f"a{start + n}") for n, ref in enumerate(refs)
            ]
            # Half of it by a process that was just started and remembers nothing.
            platforms = [DiscordPlatform(client), DiscordPlatform(client)]
            sends = [_send_until_known(platforms[n % 2], reply) for n, reply in enumerate(replies)]
            attempts += await asyncio.gather(*sends)
            for reply in replies:
                standing = server.state.replies_to(int(reply.in_reply_to.message))
                assert [message["content"] for message in standing] == [reply.text]
            assert sum(line.ends.values()) >= BATCH
            clock.advance(60)
    assert len(attempts) == SENDS
    assert max(attempts) > 2


async def test_the_outbox_posts_each_reply_once_over_a_bad_line(database: Database, clock: FakeClock) -> None:
    """The whole protocol on a real database, each kind of fault at least once: none twice, none without an end (I2)."""
    found = await discord_sends.run(database, clock, THROUGH_THE_OUTBOX, SEED)
    assert found.complaints == []
    assert set(found.kinds) == set(discord_sends.KINDS)
    assert found.ambiguous >= found.sends == THROUGH_THE_OUTBOX
    assert (found.duplicates, found.lost) == (0, 0)
    assert found.posted >= found.sends * 0.7
