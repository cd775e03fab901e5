"""What each stage and each reward adds: what an ablation leaves out, and how it is compared."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field, replace

import pytest

from bench.measuring.samples import Log, Sample
from bench.replies import ablations
from bench.replies.runs import ANSWER, REWARD, outcomes_of
from core.engine import Engine, OnProgress
from core.llm.profiles import LIVE
from core.models import Suggestion
from core.request import Request
from core.scoring.rewards import WEIGHTS
from tests.fakes.engine.bench import OUTCOME, bench_engine
from tests.fakes.engine.brief import PATIENT, POST


def test_every_stage_and_every_reward_can_be_left_out() -> None:
    """After the engine as it is."""
    names = list(ablations.variants(LIVE))
    assert names[0] == ablations.AS_IS
    assert {f"no {name}" for name in WEIGHTS} < set(names)


@dataclass
class _Watched(Engine):
    """An engine that notes which rewards it counts."""

    counted: list[set[str]] = field(default_factory=list)

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        self.counted.append(set(self.scorers.weights))
        return await super().suggest(request, on_progress)


async def test_a_reward_that_is_left_out_does_not_count() -> None:
    """The engines that answer beside it go on with all of them."""
    variants, engine = ablations.variants(LIVE), _Watched(**vars(bench_engine()[0]))
    names = ["no stance", ablations.AS_IS, "no factuality"]
    await asyncio.gather(*(variants[name](engine, Sample("1", POST)) for name in names))
    assert engine.counted == [set(WEIGHTS) - {"stance"}, set(WEIGHTS), set(WEIGHTS) - {"factuality"}]


@pytest.mark.parametrize(
    ("variant", "kinds"),
    [("no judge", {"judge"}), ("no claim guidance", {"claims", "vote"}), ("no annealing", {"rewrite"})],
)
async def test_what_is_left_out_costs_no_call(variant: str, kinds: set[str]) -> None:
    """The engine as it is asks for all of it, in a profile with a judge and a loop, and replies either way."""
    asked = []
    for name in (ablations.AS_IS, variant):
        engine, model = bench_engine()
        found = await ablations.variants(PATIENT)[name](engine, Sample("1", POST))
        assert found.reply
        asked.append({kind for kind, _, _ in model.asked})
    assert kinds <= asked[0]
    assert not kinds & asked[1]


async def test_without_evidence_none_is_found() -> None:
    """The engine as it is finds the passage."""
    variants = ablations.variants(LIVE)
    found = [await variants[name](bench_engine()[0], Sample("1", POST)) for name in (ablations.AS_IS, "no evidence")]
    assert [len(said.brief.evidence) for said in found] == [1, 0]


def test_an_ablation_is_compared_with_the_engine_as_it_is_post_by_post() -> None:
    """What the part adds is the mean gap over the posts that both replied to."""
    log = Log(None, {})
    for at in range(3):
        for name, calls in ((ablations.AS_IS, 20), ("no judge", 12)):
            reply = f"{name} {at}"
            log.add({"kind": ANSWER, **asdict(replace(OUTCOME, system=name, id=str(at), reply=reply, calls=calls))})
            share = 0.7 if name == ablations.AS_IS else 0.5
            log.add({"kind": REWARD, "id": str(at), "reply": reply, "share": share})
    names = [ablations.AS_IS, "no judge"]
    as_is, less = ablations.summary(names, outcomes_of(log), log)
    assert (as_is["the part adds"], as_is["other reply"]) == (0, 0)
    assert (less["the part adds"], less["other reply"], less["calls"]) == (pytest.approx(0.2), 1, 12)
    tests = {row["measure"]: row for row in ablations.tests(names, outcomes_of(log), log)}
    assert (tests["calls"]["median gap"], tests["tokens"]["p"]) == (8, 1)
