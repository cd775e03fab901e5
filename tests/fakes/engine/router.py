"""A router that gives every post the stereotypes that a test names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.engine.cards.bank import load_stereotypes
from core.engine.cards.router import Router, outputs_of


@dataclass(frozen=True)
class FakeRouting:
    """Outputs as of the shipped weights: ``odds`` are the logits of those that a test names, the others have -5."""

    odds: Mapping[str, float]
    languages: tuple[str, ...] = ("en",)
    limit: float = 0.5
    told: float = 0.3
    calls: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def about(self) -> Mapping[str, Any]:
        return {
            "outputs": outputs_of(load_stereotypes().values()),
            "calibration": dict.fromkeys(self.languages, (1.0, 0.0)),
            "limits": dict.fromkeys(self.languages, (self.limit, self.told)),
        }

    def logits(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        self.calls.extend(texts)
        row = [self.odds.get(name, -5.0) for name in self.about["outputs"]]
        return np.tile(np.array(row, dtype=np.float32), (len(texts), 1))


def router_to(*names: str, languages: tuple[str, ...] = ("en",)) -> Router:
    """A router that is sure of the named stereotypes, each as likely as the others; of none without names."""
    return Router(FakeRouting(dict.fromkeys(names, 5.0), languages, limit=0.9 / max(len(names), 1)))
