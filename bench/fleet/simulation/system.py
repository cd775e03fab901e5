"""The simulated installation: flags, the queue, workers, model servers, the database, cards, moderators and sends.

Owns the order in which a post passes through it, which is that of the real desk, and no figure: those are ``Costs``,
measured on a fleet, and ``Shape``. What it leaves out: leases that are lost, retries, background cases that are held
for people, and how processes share a machine's cores.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import simpy

from bench.fleet.arrivals import Arrival
from bench.fleet.asked.demands import Demand
from bench.fleet.processes.bots import PEOPLE, People
from bench.fleet.service import Rates
from bench.fleet.simulation.queue import CaseQueue
from bench.fleet.simulation.resources import Database, ModelServer, Process, Servers

_HOUR: Final = 3600.0
_BATCH: Final = 20
"""Cards that the board looks at in one step (``bot.review.board``)."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of each part of the work, while nothing else waits; measured on a fleet.

    Attributes:
        flag: from the moment when a post is flagged to its case in the queue.
        look: two transactions in which a worker looks for a case.
        read: what a worker reads before it drafts.
        store: to store the drafts.
        call: of a call of the model, beyond what the server takes.
        card: to read and keep one card, without the platform.
        decide: all transactions of one decision.
        send: all transactions of one send, without the platform.
        answer: of the platform, for each request.
        poll: how long a worker, the board and the outbox wait before they look again.
        core: of a core of the database, for each transaction.
    """

    flag: float
    look: float
    read: float
    store: float
    call: float
    card: float
    decide: float
    send: float
    core: float
    answer: float = 0.15
    poll: float = 1.0


@dataclass(frozen=True, slots=True)
class Shape:
    """What runs.

    Attributes:
        is_shared: any worker asks any server; otherwise each asks one of its own, by its number.
        replies_per_hour: how many replies one community may get.
    """

    rates: Rates
    bots: int = 3
    workers: int = 4
    slots: int = 4
    servers: int = 1
    is_shared: bool = False
    database_cores: int = 2
    people: People = PEOPLE
    undo_seconds: float = 2.0
    replies_per_hour: int = 10


@dataclass
class Simulated:
    """When each post passed each point, by its number, in seconds; and how busy everything was, as shares."""

    due: dict[int, float] = field(default_factory=dict)
    taken: dict[int, float] = field(default_factory=dict)
    drafted: dict[int, float] = field(default_factory=dict)
    posted: dict[int, float] = field(default_factory=dict)
    held_back: int = 0
    longest_queue: int = 0
    seconds: float = 0.0
    servers_busy: float = 0.0
    workers_busy: float = 0.0
    people_busy: float = 0.0
    database_busy: float = 0.0
    transactions: int = 0


def simulate(
    arrivals: Sequence[Arrival], shape: Shape, costs: Costs, seed: int = 0, until: float | None = None
) -> Simulated:
    """Let all posts pass; ``until`` ends earlier. The same for the same arguments."""
    system = _System(arrivals, shape, costs, seed)
    system.env.run(until=system.over if until is None else until)
    return system.measured()


class _System:
    def __init__(self, arrivals: Sequence[Arrival], shape: Shape, costs: Costs, seed: int) -> None:
        self.env = simpy.Environment()
        self.over = self.env.event()
        self.found = Simulated(due={arrival.number: arrival.at for arrival in arrivals})
        self._shape, self._costs = shape, costs
        self._chance = random.Random(f"simulation {seed}")  # nosec B311 # noqa: S311 - repeatable, no secret
        self._arrivals = {arrival.number: arrival for arrival in arrivals}
        self._left = len(arrivals)
        self._queue = CaseQueue()
        self._database = Database(self.env, shape.database_cores, costs.core)
        self._servers = Servers(self.env, shape.rates, shape.servers)
        self._people = [simpy.Resource(self.env, shape.people.moderators) for _ in range(shape.bots)]
        self._boards = [_Changes() for _ in range(shape.bots)]
        self._outboxes: list[list[tuple[float, int]]] = [[] for _ in range(shape.bots)]
        self._sent: dict[int, deque[float]] = defaultdict(deque)
        self._drafting = self._reviewing = 0.0
        self._start(arrivals)

    def _start(self, arrivals: Sequence[Arrival]) -> None:
        self.env.process(self._flags(arrivals))
        for worker in range(self._shape.workers):
            one = self._servers.each[worker % len(self._servers.each)]
            for _ in range(self._shape.slots):
                self.env.process(self._work(self._servers if self._shape.is_shared else one))
        for bot in range(self._shape.bots):
            self.env.process(self._board(bot))
            self.env.process(self._outbox(bot))

    def _bot(self, number: int) -> int:
        return self._arrivals[number].community % self._shape.bots

    # A post comes

    def _flags(self, arrivals: Sequence[Arrival]) -> Process:
        for arrival in arrivals:
            yield self.env.timeout(max(0.0, arrival.at - self.env.now))
            self.env.process(self._flag(arrival))

    def _flag(self, arrival: Arrival) -> Process:
        yield from self._database.run(self._costs.flag, 3)
        if arrival.like != arrival.number:  # folded into the case of the first one
            self._is_over()
            return
        self._queue.put(arrival.number, arrival.community, arrival.priority)
        self.found.longest_queue = max(self.found.longest_queue, len(self._queue))
        self._changed(arrival.number)

    def _is_over(self) -> None:
        self._left -= 1
        if not self._left:
            self.over.succeed()

    # Workers

    def _work(self, server: ModelServer | Servers) -> Process:
        yield self.env.timeout(self._chance.uniform(0, self._costs.poll))
        while True:
            began = self.env.now
            yield from self._database.run(self._costs.look, 2)
            number = self._queue.take(self.env.now)
            if number is None:
                yield self.env.timeout(self._costs.poll)
                continue
            self.found.taken[number] = began + self._costs.look / 2
            self._changed(number)
            yield from self._database.run(self._costs.read)
            yield from self._draft(number, self._arrivals[number].demand, server)
            self.found.drafted[number] = self.env.now
            yield from self._database.run(self._costs.store)
            self._drafting += self.env.now - began
            self._changed(number, is_reviewable=True)

    def _draft(self, number: int, demand: Demand, server: ModelServer | Servers) -> Process:
        ended = [self.env.event() for _ in demand.calls]
        for place in range(len(ended)):
            self.env.process(self._call(number, demand, place, ended, server))
        yield self.env.all_of(ended)
        yield self.env.timeout(demand.tail)

    def _call(
        self, number: int, demand: Demand, place: int, ended: Sequence[simpy.Event], server: ModelServer | Servers
    ) -> Process:
        call = demand.calls[place]
        if call.after:
            yield self.env.all_of([ended[earlier] for earlier in call.after])
        yield self.env.timeout(call.pause + self._costs.call)
        yield server.call(call.new, call.n * max(1, round(call.written / call.n)), call.n)
        ended[place].succeed()
        if any(step.has_draft and step.after == place + 1 for step in demand.steps):
            self._changed(number)

    # Cards, people, sends

    def _changed(self, number: int, *, is_reviewable: bool = False) -> None:
        self._boards[self._bot(number)].note(number, self._arrivals[number].community, is_reviewable=is_reviewable)

    def _board(self, bot: int) -> Process:
        """Show what changed, the cards of one community after the other, and look again after a while."""
        changes = self._boards[bot]
        yield self.env.timeout(self._chance.uniform(0, self._costs.poll))
        while True:
            due = changes.take(_BATCH)
            if due:
                yield self.env.all_of([self.env.process(self._lane(bot, cards)) for cards in due.values()])
            if sum(len(cards) for cards in due.values()) < _BATCH:
                yield self.env.timeout(self._costs.poll)

    def _lane(self, bot: int, cards: Sequence[int]) -> Process:
        for number in cards:
            yield from self._database.run(self._costs.card, 2)
            yield self.env.timeout(self._costs.answer)
            if self._boards[bot].was_shown(number):
                self.env.process(self._review(number))

    def _review(self, number: int) -> Process:
        people = self._shape.people
        bot = self._bot(number)
        with self._people[bot].request() as somebody:
            yield somebody
            began = self.env.now
            yield self.env.timeout(self._chance.expovariate(1 / people.think_seconds))
            approves = self._chance.random() < people.approve
            yield from self._database.run(self._costs.decide, 5)
            self._reviewing += self.env.now - began
        self._changed(number)
        if approves:
            self._outboxes[bot].append((self.env.now + self._shape.undo_seconds, number))
        else:
            self._is_over()

    def _outbox(self, bot: int) -> Process:
        """Send what is due one after the other, as far as the communities may get replies."""
        yield self.env.timeout(self._chance.uniform(0, self._costs.poll))
        while True:
            waiting = self._outboxes[bot]
            due = [entry for entry in waiting if entry[0] <= self.env.now]
            for entry in due:
                waiting.remove(entry)
                yield from self._send(bot, entry[1])
            yield self.env.timeout(self._costs.poll)

    def _send(self, bot: int, number: int) -> Process:
        sent = self._sent[self._arrivals[number].community]
        while sent and sent[0] <= self.env.now - _HOUR:
            sent.popleft()
        if len(sent) >= self._shape.replies_per_hour:
            self.found.held_back += 1
            self._outboxes[bot].append((sent[0] + _HOUR, number))
            return
        yield from self._database.run(self._costs.send, 5)
        yield self.env.timeout(2 * self._costs.answer)
        sent.append(self.env.now)
        self.found.posted[number] = self.env.now
        self._changed(number)
        self._is_over()

    def measured(self) -> Simulated:
        """What was found so far."""
        found, seconds = self.found, max(self.env.now, 1e-9)
        found.seconds = self.env.now
        found.servers_busy = sum(server.busy for server in self._servers.each) / (seconds * len(self._servers.each))
        found.workers_busy = self._drafting / (seconds * self._shape.workers * self._shape.slots)
        found.people_busy = self._reviewing / (seconds * self._shape.bots * self._shape.people.moderators)
        found.database_busy = self._database.busy(seconds)
        found.transactions = self._database.transactions
        return found


class _Changes:
    """Cases of one platform whose card is outdated, in the order of their changes."""

    def __init__(self) -> None:
        self._waiting: dict[int, int] = {}
        self._reviewable = set[int]()

    def note(self, number: int, community: int, *, is_reviewable: bool) -> None:
        self._waiting.setdefault(number, community)
        if is_reviewable:
            self._reviewable.add(number)

    def take(self, most: int) -> dict[int, list[int]]:
        """Up to so many cases, by their communities."""
        found = dict[int, list[int]]()
        for number in list(self._waiting)[:most]:
            found.setdefault(self._waiting.pop(number), []).append(number)
        return found

    def was_shown(self, number: int) -> bool:
        """Whether the card that was just shown is the first with drafts to decide about."""
        if number in self._reviewable:
            self._reviewable.remove(number)
            return True
        return False
