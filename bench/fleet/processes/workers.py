"""A worker of the fleet: the real queue, leases and worker over a light engine, in a process of its own.

Owns ``ReplayingEngine``, which asks the model what the real engine asked for a recorded post: as many calls of the same
size, in the same order and side by side where they were, through the real client over HTTP. The engine's own work
between the calls (small readers, search) is waited for and not done. Its drafts have no meaning.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Final

from sqlalchemy import URL

from bench.desk.database import words
from bench.fleet.asked.demands import Demand
from bench.fleet.processes.server import CHARACTERS
from bench.fleet.processes.timed import Watch
from bot.drafting.precedence import Precedence
from bot.drafting.queue import DraftQueue
from bot.drafting.request import DraftingRequest
from bot.drafting.worker import Worker, unheard, work
from bot.store.cases.documents import suggestion_to_json
from core.engine import Engine, OnProgress
from core.llm.backends.servers.chat import ChatModel
from core.llm.profiles import LIVE
from core.models import (
    Action,
    Claim,
    Cost,
    Draft,
    Evidence,
    FlaggedPost,
    Intent,
    Progress,
    Reading,
    Scores,
    Source,
    Suggestion,
    TargetGroup,
)
from core.ports import Generation, Message, Turn
from core.request import Request, Voice

_DRAIN_SECONDS: Final = 5.0
_CALL_SECONDS: Final = 600.0
_DRAFTS: Final = 4


@dataclass
class ReplayingEngine(Engine):
    """An engine that asks for what was recorded; ``asked`` holds it by the id of the post's message."""

    def __init__(self, model: ChatModel, asked: Mapping[str, Demand]) -> None:
        self.model = model
        self.asked = asked
        self.calls = 0
        self.call_seconds = 0.0

    async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
        """Make the calls of the post, tell the steps in between, and return drafts of the recorded size."""
        demand = self.asked[request.post.ref.message]
        made = suggestion_of(request.post, demand)
        replay = _Replay(self, demand, made, on_progress, request.turn)
        await replay.run()
        return made


@dataclass
class _Replay:
    """The calls of one post on their way."""

    engine: ReplayingEngine
    demand: Demand
    made: Suggestion
    on_progress: OnProgress
    turn: Turn
    ended: list[asyncio.Event] = field(default_factory=list)
    over: int = 0
    told: int = 0

    async def run(self) -> None:
        self.ended = [asyncio.Event() for _ in self.demand.calls]
        self._tell()
        async with asyncio.TaskGroup() as group:
            for place in range(len(self.demand.calls)):
                group.create_task(self._call(place))
        await asyncio.sleep(self.demand.tail)

    async def _call(self, place: int) -> None:
        call = self.demand.calls[place]
        for earlier in call.after:
            await self.ended[earlier].wait()
        await asyncio.sleep(call.pause)
        how = Generation(max_tokens=max(1, round(call.written / call.n)), n=call.n)
        started = time.monotonic()
        prompt = Message("user", "x" * (CHARACTERS * call.new))  # what a prefix cache holds is not sent
        async with self.turn():
            await self.engine.model.generate([prompt], how, _CALL_SECONDS)
        self.engine.calls += 1
        self.engine.call_seconds += time.monotonic() - started
        self.over += 1
        self.ended[place].set()
        self._tell()

    def _tell(self) -> None:
        """Tell the steps that come after as many calls as are over."""
        steps = self.demand.steps
        while self.told < len(steps) and steps[self.told].after <= self.over:
            step = steps[self.told]
            draft = self.made.drafts[0] if step.has_draft else None
            self.on_progress(Progress(step.stage, "", 0.0, draft, self.made.reading, self.made.evidence))
            self.told += 1


def suggestion_of(post: FlaggedPost, demand: Demand) -> Suggestion:
    """A suggestion without meaning that takes as many bytes in the database as the recorded one."""
    chance = random.Random(f"drafts {post.ref.message}")  # nosec B311 # noqa: S311 - no secret
    short = _suggestion(post, demand, chance, "")
    missing = demand.document_bytes - len(suggestion_to_json(short).encode())
    filling = words(chance, max(0, missing // 4))[: max(0, missing)]
    return _suggestion(post, demand, random.Random(f"drafts {post.ref.message}"), filling)  # nosec B311 # noqa: S311 - no secret


def _suggestion(post: FlaggedPost, demand: Demand, chance: random.Random, passage: str) -> Suggestion:
    reading = Reading(
        "en", TargetGroup.MIGRANTS, None, None, None, "a gist", None, None, 2, Action.REPLY, "it can be answered"
    )
    source = Source("a publisher", "a report", 2021, None, "https://example.org/report")
    scores = Scores(total=7.0, stance=0.9, non_toxicity=1.0, fit=0.9, parts=3)
    drafts = tuple(
        Draft(rank, f"{words(chance, 20).capitalize()}.", Intent.EMPATHETIC, scores, language="en")
        for rank in range(1, _DRAFTS + 1)
    )
    cost = Cost(LIVE.name, 1.0, 0.5, len(demand.calls), 0, demand.prompt, demand.written, 0, "")
    return Suggestion(
        post=post,
        reading=reading,
        claims=(Claim("a claim", 1.0),),
        claim="a claim",
        queries=(),
        evidence=(Evidence("fact-1", passage, "a summary", source),),
        drafts=drafts,
        cost=cost,
        degraded=(),
    )


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What a worker's process is given: its slots, the server that it asks, and what each post asks for."""

    name: str
    place: URL
    server: str
    slots: int
    asked: Mapping[str, Demand]


def draft(plan: WorkerPlan, line: Connection) -> None:
    """In a process: say that it is ready, and draft until anything comes over the line; then what was measured."""
    asyncio.run(_draft(plan, line))


async def _draft(plan: WorkerPlan, line: Connection) -> None:
    watch = Watch()
    database = await watch.open(plan.place)
    model = ChatModel(plan.server, "", "stand-in", concurrency=1000)
    engine = ReplayingEngine(model, plan.asked)
    request = DraftingRequest(database, engine, LIVE, Voice())
    queues = [DraftQueue(database, f"{plan.name}-{slot}") for slot in range(plan.slots)]
    precedence = Precedence(queues[0].look)
    workers = [Worker(queue, request, precedence=precedence) for queue in queues]
    stop = asyncio.Event()
    working = asyncio.create_task(work(workers, stop, _DRAIN_SECONDS))
    line.send("ready")
    await asyncio.to_thread(line.recv)
    stop.set()
    await working
    line.send({"times": watch.times, "calls": engine.calls, "call_seconds": engine.call_seconds})
    await model.close()
    await database.close()
