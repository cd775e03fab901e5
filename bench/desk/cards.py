"""Whether a community's cards wait for another community: the time from a case's commit to its card on Discord.

    python -m bench.desk.cards [--communities 20] [--turns 4] [--rounds 2] [--cases 3] [--answer 0.15]
                               [--out FILE]

All communities are flagged at once, on a new SQLite file, with the real board and the real surface over HTTP to a
Discord on loopback. It is measured by turns: with all communities but two, and with these two, of which one answers 429
to everything and one 403. The last line says by how much the others are later then.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from adapters.discord import AntiphonClient, DiscordOptions
from adapters.discord.review import DiscordReviewSurface
from bench.desk.database import words
from bench.desk.discord import FakeChannels
from bench.measuring.children import Took, in_child
from bench.measuring.output import Row, note, save, show
from bot.intake.intake import Intake
from bot.review.board import ReviewBoard
from bot.store.engine.database import Database, Session
from bot.store.people import communities
from bot.store.schema import Change
from core.models import FlaggedPost, PostRef
from core.moderation.community.policy import CommunityPolicy, to_json

_SECRET: Final = b"only for benchmarks, thirty-two."
_LONGEST_SECONDS: Final = 120.0
LIMIT_SECONDS: Final = 2.0
"""How much later the others' first cards may be."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One measurement."""

    communities: int
    rounds: int
    cases: int
    answer_seconds: float
    is_troubled: bool

    @property
    def troubled(self) -> list[str]:
        """The two communities whose channels refuse everything, flagged before all others; none without trouble."""
        return ["201", "202"] if self.is_troubled else []

    @property
    def others(self) -> list[str]:
        """The communities whose channels answer."""
        return [f"{number}" for number in range(203, 201 + self.communities)]


def measured(plan: Plan) -> dict[str, Any]:
    """In a child: the seconds from commit to card, of the first case of each community and round."""
    return asyncio.run(_measured(plan))


async def _measured(plan: Plan) -> dict[str, Any]:
    busy, closed = ({_channel(name)} for name in (plan.troubled or ["", ""]))
    channels = FakeChannels(busy, closed, plan.answer_seconds)
    with tempfile.TemporaryDirectory(prefix="antiphon-bench-") as folder:
        database = await Database.open(Path(folder) / "antiphon.sqlite", secret=_SECRET)
        try:
            await database.run("found communities", lambda session: _found(session, [*plan.troubled, *plan.others]))
            async with channels.running(), _running_board(database):
                firsts = [await _round(plan, number, Intake(database), channels) for number in range(plan.rounds)]
        finally:
            await database.close()
    return {"firsts": firsts, "requests": dict(channels.requests)}


async def _found(session: Session, names: Sequence[str]) -> None:
    for name in names:
        found = await communities.ensure(session, "discord", name)
        policy = to_json(CommunityPolicy(review_channel=_channel(name)))
        await communities.change(session, found.id, actor="bench", reason="", what=Change.SHADOW, policy=policy)


@asynccontextmanager
async def _running_board(database: Database) -> AsyncIterator[None]:
    """The board of a process, with a client that only writes: it is connected to no gateway."""
    client = AntiphonClient(DiscordOptions())
    await client.login("a.bench.token")
    stop = asyncio.Event()
    running = asyncio.create_task(ReviewBoard(database, DiscordReviewSurface(client), "discord", "bench").run(stop))
    try:
        yield
    finally:
        stop.set()
        await running
        await client.close()


async def _round(plan: Plan, number: int, intake: Intake, channels: FakeChannels) -> dict[str, float]:
    """Flag posts in all communities at once; the seconds to the first card of each one that answers."""
    names = [*plan.troubled, *plan.others]
    known = {name: set(channels.readable.get(_channel(name), ())) for name in plan.others}

    async def flag(name: str) -> float:
        chance = random.Random(f"{name} {number}")  # nosec B311 # noqa: S311 - no secret
        await intake.flag(_post(name, f"{number}00", words(chance, 18)))
        moment = time.perf_counter()
        for case in range(1, plan.cases):
            await intake.flag(_post(name, f"{number}{case:02}", words(chance, 18)))
        return moment

    committed = dict(zip(names, await asyncio.gather(*map(flag, names)), strict=True))

    def new(name: str) -> list[float]:
        cards = channels.readable.get(_channel(name), {})
        return sorted(moment for message, moment in cards.items() if message not in known[name])

    async with asyncio.timeout(_LONGEST_SECONDS):
        while any(len(new(name)) < plan.cases for name in plan.others):
            channels.changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(channels.changed.wait(), 1.0)
    return {name: new(name)[0] - committed[name] for name in plan.others}


def _channel(name: str) -> str:
    """The review channel of a community; "" of none."""
    return f"{name}0" if name else ""


def _post(name: str, message: str, said: str) -> FlaggedPost:
    return FlaggedPost(
        PostRef("discord", name, f"{name}1", message), said, f"author of {name}", f"flagger of {name}", "by hand"
    )


def run(options: argparse.Namespace) -> tuple[list[Row], float]:
    """Measure both in turn, each time in a process of its own; the rows, and the seconds that the others are later."""
    sizes = options.communities, options.rounds, options.cases, options.answer
    plans = [Plan(*sizes, is_troubled=is_troubled) for is_troubled in (False, True)]
    taken = dict[Plan, list[Took]]()
    for turn in range(options.turns):
        for plan in plans if turn % 2 == 0 else plans[::-1]:  # what else runs on the machine meets both alike
            note(f"turn {turn + 1} of {options.turns}: {_what(plan)}")
            taken.setdefault(plan, []).append(in_child(measured, plan))
    alone, beside = (_medians(plan, taken[plan]) for plan in plans)
    return [_row(plan, taken[plan]) for plan in plans], max(beside[name] - alone[name] for name in alone)


def _what(plan: Plan) -> str:
    return "with one that answers 429 and one that answers 403" if plan.is_troubled else "the others alone"


def _rounds(taken: Sequence[Took]) -> list[dict[str, float]]:
    return [each for took in taken for each in took.value["firsts"]]


def _medians(plan: Plan, taken: Sequence[Took]) -> dict[str, float]:
    return {name: statistics.median(each[name] for each in _rounds(taken)) for name in plan.others}


def _row(plan: Plan, taken: Sequence[Took]) -> Row:
    firsts = [seconds for each in _rounds(taken) for seconds in each.values()]
    return {
        "what": _what(plan),
        "communities": len(plan.others) + len(plan.troubled),
        "first cards": len(firsts),
        "p50 s": float(np.percentile(firsts, 50)),
        "p99 s": float(np.percentile(firsts, 99)),
        "latest s": max(firsts),
        **{f"{status}": sum(took.value["requests"].get(status, 0) for took in taken) for status in (200, 429, 403)},
        "others": statistics.mean(took.others for took in taken),
    }


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--communities", type=int, default=20, help="how many there are, with the two in trouble")
    made.add_argument("--turns", type=int, default=4, help="how often both are measured, one after the other")
    made.add_argument("--rounds", type=int, default=2, help="how often all communities are flagged in each turn")
    made.add_argument("--cases", type=int, default=3, help="posts of each community and round")
    made.add_argument("--answer", type=float, default=0.15, help="seconds that Discord takes for each answer")
    made.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    return made


def main() -> None:
    """Measure and show; fails if the others wait longer than they may."""
    options = parser().parse_args()
    rows, later = run(options)
    show("From a case's commit to its card", rows)
    print(f"the others' first cards are {later:+.2f} s later at most ({LIMIT_SECONDS:g} s allowed)")  # noqa: T201
    save(options.out, {"From a case's commit to its card": rows, "later_at_most_seconds": later})
    sys.exit(later > LIMIT_SECONDS)


if __name__ == "__main__":
    main()
