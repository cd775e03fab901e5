"""How long a model server takes for several calls at once: one law for the stand-in server and for the simulation.

Owns ``Rates`` and ``Batch``. A server reads prompts one after the other, and meanwhile nobody's answer grows; then all
answers grow together, each by an equal share of a total that depends on how many there are. So do llama.cpp and vLLM
with prompts that are read in one piece. Time is given from outside, so that the same code runs by the clock and in a
simulation. Whether a real server keeps to this law is not known from here.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Rates:
    """What one model server does in a second.

    Attributes:
        name: what it is called.
        reading: tokens of prompts a second.
        writing: pairs of how many answers grow at once and the tokens a second of all of them together; between them
            it is interpolated, beyond the last it stays.
        slots: calls that it takes at once; the others wait in their order.
        origin: where the figures come from, and whether they were measured.
    """

    name: str
    reading: float
    writing: tuple[tuple[int, float], ...]
    slots: int
    origin: str

    def together(self, answers: int) -> float:
        """Tokens a second of all answers together while so many grow."""
        sizes = [size for size, _ in self.writing]
        place = bisect_left(sizes, answers)
        if place == 0:
            return self.writing[0][1]
        if place == len(sizes):
            return self.writing[-1][1]
        (low, slow), (high, fast) = self.writing[place - 1 : place + 1]
        return slow + (fast - slow) * (answers - low) / (high - low)

    def alone(self, new: int, written: int, n: int = 1) -> float:
        """Seconds of one call on an idle server."""
        return new / self.reading + written / self.together(n)


CPU: Final = Rates(
    "cpu",
    75.0,
    ((1, 28.0), (2, 32.0), (3, 34.0), (4, 38.5), (6, 37.0), (8, 31.0)),
    2,
    "measured: the model that ships on two CPU cores, llama.cpp, 1.5 billion parameters",
)
"""Prompts and answers at 1 to 8 at once on two idle cores; the embedded model takes two calls at once."""
GPU: Final = Rates(
    "gpu",
    40_000.0,
    ((1, 207.0), (8, 1_610.0), (32, 6_080.0), (64, 11_200.0), (128, 18_600.0), (256, 24_400.0)),
    128,
    "measured: one H200 with vLLM 0.24, weights of the shape of Qwen2.5-7B in bfloat16, drawn by chance",
)
"""By ``bench.fleet.served.supervised`` on an otherwise idle machine of 16 cores, once."""
PROFILES: Final = {rates.name: rates for rates in (CPU, GPU)}


def rates_named(name: str) -> Rates:
    """The rates of that name; ``BadInput`` for another one."""
    if name not in PROFILES:
        raise BadInput(f"There are no rates {name}.", remedy=f"Take one of {', '.join(PROFILES)}.")
    return PROFILES[name]


@dataclass(slots=True)
class _Call:
    key: Hashable
    new: int
    written: int
    n: int


@dataclass
class Batch:
    """The calls of one server. ``now`` is where its time stands; it only grows, by ``arrive`` and ``advance``.

    Attributes:
        busy: seconds in which there was at least one call.
        read_seconds: those of them in which prompts were read.
        held: seconds of all calls in the server together, waiting ones included.
    """

    rates: Rates
    now: float = 0.0
    busy: float = 0.0
    read_seconds: float = 0.0
    held: float = 0.0
    _waiting: deque[_Call] = field(default_factory=deque)
    _reading: deque[tuple[_Call, float]] = field(default_factory=deque)
    _read: float = 0.0  # seconds spent on the first of them
    _writing: list[tuple[float, int, _Call]] = field(default_factory=list)
    _written: float = 0.0  # tokens by which one answer would have grown since the beginning
    _answers: int = 0
    _calls: int = 0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._reading) + len(self._writing)

    def arrive(self, key: Hashable, new: int, written: int, n: int = 1) -> None:
        """Take a call at ``now``, which ``advance`` must have brought up to the present."""
        self._waiting.append(_Call(key, new, written, n))
        self._admit()

    def next_at(self) -> float | None:
        """When something changes next, if no call comes; ``None`` where there is none."""
        if self._reading:
            return self.now + self._reading[0][1] - self._read
        if self._writing:
            return self.now + max(0.0, self._writing[0][0] - self._written) / self._speed()
        return None

    def advance(self, to: float) -> list[Hashable]:
        """Let the time pass until ``to``; the calls that ended by then, in their order."""
        ended = list[Hashable]()
        while (due := self.next_at()) is not None and due <= to:
            self._pass(due)
            if self._reading:
                self._is_read()
            else:
                _, _, call = heapq.heappop(self._writing)
                self._answers -= call.n
                ended.append(call.key)
            self._admit()
        self._pass(to)
        return ended

    def _pass(self, to: float) -> None:
        seconds = max(0.0, to - self.now)
        if self._reading:
            self._read += seconds
            self.read_seconds += seconds
        elif self._writing:
            self._written += seconds * self._speed()
        self.busy += seconds if len(self) else 0.0
        self.held += seconds * len(self)
        self.now = max(self.now, to)

    def _is_read(self) -> None:
        call, _ = self._reading.popleft()
        self._read = 0.0
        self._calls += 1
        self._answers += call.n
        heapq.heappush(self._writing, (self._written + call.written / call.n, self._calls, call))

    def _admit(self) -> None:
        while self._waiting and len(self._reading) + len(self._writing) < self.rates.slots:
            call = self._waiting.popleft()
            self._reading.append((call, call.new / self.rates.reading))

    def _speed(self) -> float:
        """Tokens a second by which each answer grows."""
        return self.rates.together(self._answers) / self._answers
