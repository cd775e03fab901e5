"""No suggestion costs more than its profile allows, and what it cost is counted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from core.engine.llm.budget import LIVE, Budget, MeteredModel
from core.engine.llm.prompts import load_prompt
from core.engine.ports import Generation
from core.errors import BudgetExhausted, ModelUnavailable
from tests.fakes.engine.model import FakeModel

PROFILE = replace(LIVE, deadline_seconds=40, max_model_calls=3, max_tokens=100)
PROMPT = load_prompt("quality").fill(post="x", reply="y")
HOW = Generation(max_tokens=10)


class _Seconds:
    """A clock in seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Seconds:
    return _Seconds()


@pytest.fixture
def budget(clock: _Seconds) -> Budget:
    return Budget(PROFILE, clock)


def test_a_fresh_budget_has_everything_left(budget: Budget) -> None:
    """Nothing is used up before the start, whatever the clock says."""
    budget.check()
    assert (budget.seconds, budget.seconds_left, budget.exhausted(), budget.is_late()) == (0, 40, None, None)


@pytest.mark.parametrize(("seconds", "left", "reached"), [(39.5, 0.5, None), (40, 0, "deadline"), (90, 0, "deadline")])
def test_the_deadline_is_reached(
    budget: Budget, clock: _Seconds, seconds: float, left: float, reached: str | None
) -> None:
    """At the deadline no call may begin, and the time left is never negative: it becomes a timeout."""
    clock.now += seconds
    assert budget.seconds_left == left
    assert budget.exhausted() == reached


@pytest.mark.parametrize(
    ("limit", "calls", "prompt", "completion"),
    [("model call limit", 3, 0, 0), ("token limit", 0, 60, 40), ("token limit", 0, 0, 100)],
)
def test_calls_and_tokens_are_limits_too(budget: Budget, limit: str, calls: int, prompt: int, completion: int) -> None:
    """Each limit ends the work and is named, so that a person knows which to raise."""
    budget.model_calls, budget.prompt_tokens, budget.completion_tokens = calls, prompt, completion
    with pytest.raises(BudgetExhausted, match=f"The {limit} of the live profile"):
        budget.check()


def test_the_last_quarter_is_the_judges(budget: Budget, clock: _Seconds) -> None:
    """New drafts that nobody can compare any more are not asked for."""
    clock.now += 30
    assert budget.is_late() is None
    clock.now += 0.5
    assert budget.is_late() == "time kept for the judge"
    assert budget.exhausted() is None


def test_a_slow_model_writes_for_a_sixth_of_the_time(budget: Budget, clock: _Seconds) -> None:
    """People wait for it: what it has not begun by then it does not begin."""
    assert budget.is_time_to_write
    clock.now += 6.5
    assert budget.is_time_to_write
    clock.now += 0.5
    assert not budget.is_time_to_write
    assert budget.is_late() is None


def test_only_the_first_draft_is_timed(budget: Budget, clock: _Seconds) -> None:
    """The time to the first draft is what the moderator waited."""
    clock.now += 2
    budget.saw_draft()
    clock.now += 5
    budget.saw_draft()
    assert budget.first_draft_seconds == 2


async def test_every_call_is_counted(budget: Budget) -> None:
    """The cost that is shown is what was spent: calls, the judge's among them, and both kinds of tokens."""
    model = MeteredModel(FakeModel(), budget)
    await model.generate(PROMPT, HOW)
    await model.choose(PROMPT, ("yes", "no"))
    await model.choose(PROMPT, ("A", "B"), judging=True)
    assert (budget.model_calls, budget.judge_calls) == (3, 1)
    assert (budget.prompt_tokens, budget.completion_tokens) == (30, 7)


@pytest.mark.parametrize("late", [False, True], ids=["too many calls", "too late"])
async def test_no_call_after_the_end(budget: Budget, clock: _Seconds, late: bool) -> None:
    """A refused call neither reaches the model nor counts."""
    clock.now += 40 * late
    budget.model_calls = 0 if late else 3
    fake = FakeModel()
    model = MeteredModel(fake, budget)
    with pytest.raises(BudgetExhausted):
        await model.generate(PROMPT, HOW)
    with pytest.raises(BudgetExhausted):
        await model.choose(PROMPT, ("A", "B"), judging=True)
    assert not fake.asked
    assert (budget.model_calls, budget.judge_calls) == (0 if late else 3, 0)


async def test_the_time_left_is_the_timeout(clock: _Seconds, budget: Budget) -> None:
    """No single call can outlast the deadline."""
    given: list[float] = []

    class _Timed(FakeModel):
        async def generate(self, messages, how, timeout_seconds):
            given.append(timeout_seconds)
            return await super().generate(messages, how, timeout_seconds)

        async def choose(self, messages, options, timeout_seconds):
            given.append(timeout_seconds)
            return await super().choose(messages, options, timeout_seconds)

    model = MeteredModel(_Timed(), budget)
    clock.now += 15
    await model.generate(PROMPT, HOW)
    clock.now += 20
    await model.choose(PROMPT, ("yes", "no"))
    assert given == [25, 5]


async def test_a_call_cut_by_the_deadline_is_the_budgets_end(clock: _Seconds, budget: Budget) -> None:
    """A model that was too slow is not one that is down: the work ends with the best so far."""

    def slow(_: object) -> str:
        clock.now += 41
        raise ModelUnavailable("No answer in time.")

    with pytest.raises(BudgetExhausted, match="deadline"):
        await MeteredModel(FakeModel(texts={"quality": slow}), budget).generate(PROMPT, HOW)


async def test_a_model_that_is_down_stays_down_at_the_last_call(budget: Budget) -> None:
    """The remedy for a server that is gone is not another profile."""
    budget.model_calls = 2
    with pytest.raises(ModelUnavailable) as caught:
        await MeteredModel(FakeModel(down=True), budget).generate(PROMPT, HOW)
    assert not isinstance(caught.value, BudgetExhausted)
    assert budget.model_calls == 3


class _Gate:
    """Lets calls begin when a test says so, and counts those that are under way."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.under_way = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        await self.open.wait()
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1


async def test_no_time_passes_while_calls_wait_for_their_turn(clock: _Seconds) -> None:
    """However many wait at once: a case that is held until its deadline is long over still has all of its time."""
    gate = _Gate()
    budget = Budget(PROFILE, clock, turn=gate)
    model = MeteredModel(FakeModel(), budget)
    clock.now += 10
    calls = [asyncio.create_task(model.generate(PROMPT, HOW)) for _ in range(2)]
    await asyncio.sleep(0)
    clock.now += 500
    assert (budget.seconds, budget.seconds_left, budget.model_calls) == (10, 30, 0)
    gate.open.set()
    await asyncio.gather(*calls)
    clock.now += 5
    assert (budget.seconds, budget.model_calls, gate.under_way) == (15, 2, 0)


async def test_time_passes_while_one_call_is_made_and_others_wait(clock: _Seconds) -> None:
    """Where calls are let through one by one, the time of each is spent."""
    one_by_one = asyncio.Lock()

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        async with one_by_one:
            yield

    def slow(_: object) -> str:
        clock.now += 7
        return "An answer."

    budget = Budget(PROFILE, clock, turn=turn)
    model = MeteredModel(FakeModel(texts={"quality": slow}, delay_seconds=0.001), budget)
    await asyncio.gather(*(model.generate(PROMPT, HOW) for _ in range(3)))
    assert (budget.seconds, budget.model_calls) == (21, 3)


def test_no_time_passes_while_the_model_loads(budget: Budget, clock: _Seconds) -> None:
    """A download may take longer than a profile allows for its work."""
    clock.now += 3
    with budget.standing_still():
        clock.now += 500
        assert budget.seconds == 3
    clock.now += 1
    assert budget.seconds == 4


async def test_a_turn_lasts_as_long_as_its_call(budget: Budget) -> None:
    """So that one call at a time can be let through; a call that fails gives its turn back, too."""
    gate = _Gate()
    gate.open.set()
    budget.turn = gate
    during = []

    def seen(_: object) -> str:
        during.append(gate.under_way)
        raise ModelUnavailable("No answer.")

    with pytest.raises(ModelUnavailable):
        await MeteredModel(FakeModel(texts={"quality": seen}), budget).generate(PROMPT, HOW)
    assert (during, gate.under_way) == ([1], 0)


async def test_a_limit_that_others_reached_meanwhile_is_seen_when_the_turn_comes(budget: Budget) -> None:
    """Several calls of one suggestion wait together, and two of them may still be made."""
    gate = _Gate()
    budget.turn, budget.model_calls = gate, 1
    fake = FakeModel()
    calls = [asyncio.create_task(MeteredModel(fake, budget).generate(PROMPT, HOW)) for _ in range(4)]
    await asyncio.sleep(0)
    gate.open.set()
    said = await asyncio.gather(*calls, return_exceptions=True)
    assert [isinstance(one, BudgetExhausted) for one in said] == [False, False, True, True]
    assert len(fake.asked) == 2
