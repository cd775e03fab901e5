"""What the tests of the benchmarks share: an engine that drafts without a model, samples, and one answer's figures."""

from bench.measures.samples import Sample
from bench.replies.systems import SystemOutcome
from core.engine.pipeline import Engine
from tests.fakes.engine.brief import CLAIM, EXPLAINED, passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.router import router_to

REPLY = "Newcomers open shops and pay rent like all of us."
OUTCOME = SystemOutcome("live", "1", REPLY, 4.0, 0.5, 3.5, 0.4, 10, 900, 100, 1500.0, 2, [])


def bench_engine() -> tuple[Engine, FakeModel]:
    """An engine whose model finds the post hateful and writes nothing of use."""
    model = FakeModel(
        texts={"reading": EXPLAINED, "claims": CLAIM},
        shares={"hateful": {"yes": 1.0, "no": 0.0}, "violent": {"yes": 0.0, "no": 1.0}},
    )
    readers = readers_saying(hate=0.3, harm=0.3)
    return Engine(model, FakeEvidence([passage()]), readers, router=router_to()), model


def samples_of(count: int, groups: int = 2) -> list[Sample]:
    """Posts with a person's reply, dealt out to ``groups`` target groups in turn."""
    return [Sample(str(at), f"Post {at}.", f"group {at % groups}", f"Answer {at}.") for at in range(count)]
