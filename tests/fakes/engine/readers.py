"""Readers that say what a test tells them to, of every text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.engine.readers.networks import DraftReader, PostReader, Readers
from core.engine.readers.outputs import DRAFT_OUTPUTS, POST_OUTPUTS, DraftFault
from core.models import TargetGroup
from tests.fakes.engine.embedder import FakeEmbedder


@dataclass(frozen=True)
class FakeClassifier:
    """The same probabilities for each text; an output that is not named has 1 in 100."""

    outputs: Sequence[str]
    says: Mapping[str, float]
    languages: tuple[str, ...]
    calls: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def about(self) -> Mapping[str, Any]:
        """Nothing to calibrate; one ordinary message in ten exceeds the probability 0.5, one in 10,000 0.95."""
        return {
            "outputs": list(self.outputs),
            "calibration": [(1.0, 0.0)] * len(self.outputs),
            "languages": list(self.languages),
            "unsure": (0.2, 0.8),
            "long": 0.5,
            "limits": (0.4, 0.7),
            "false_alarms": ([0.0, 1.0, 4.0], [-4.0, 0.0, 2.944]),
        }

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 384), dtype=np.float32)

    def logits(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        self.calls.extend(texts)
        row = np.array([self.says.get(name, 0.01) for name in self.outputs])
        logits: NDArray[np.float32] = np.tile(np.log(row / (1 - row)), (len(texts), 1)).astype(np.float32)
        return logits


def readers_saying(
    *,
    opposing: float = 0.99,
    hate: float = 0.01,
    group: TargetGroup = TargetGroup.MIGRANTS,
    sure: float = 0.9,
    unfit: float | None = None,
    threat: float = 0.01,
    harm: float = 0.01,
    languages: Iterable[str] = ("en",),
) -> Readers:
    """Readers over a fake embedder that know the languages. A draft that does not oppose is unfit."""
    known = tuple(languages)
    others = (1 - sure) / (len(TargetGroup) - 1)
    groups = {other.value: others for other in TargetGroup} | {group.value: sure}
    posts = FakeClassifier(POST_OUTPUTS, {"hateful": hate, "threat": threat, **groups}, known)
    says = {"opposes": opposing, "unfit": 1 - opposing if unfit is None else unfit}
    says[DraftFault.CALLS_FOR_HARM] = harm
    drafts = FakeClassifier(DRAFT_OUTPUTS, says, known)
    return Readers(PostReader(posts), DraftReader(drafts, PostReader(posts)), FakeEmbedder(known))
