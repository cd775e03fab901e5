"""Heads that say what a test tells them to, of every text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.models import TargetGroup
from core.scoring.heads.heads import Heads
from tests.fakes.engine.embedder import FakeEmbedder


@dataclass(frozen=True)
class FakeHeads(Heads):
    """The same probabilities for each text; ``sure`` is that of the target group."""

    opposing: float = 0.99
    hate: float = 0.01
    group: TargetGroup = TargetGroup.MIGRANTS
    sure: float = 0.9

    def hateful(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """``hate`` for each text."""
        return np.full(len(texts), self.hate)

    def opposes(self, post: str, replies: Sequence[str]) -> NDArray[np.float64]:
        """``opposing`` for each reply."""
        return np.full(len(replies), self.opposing)

    def target_groups(self, text: str) -> dict[TargetGroup, float]:
        """``sure`` for the group, the rest shared by the others."""
        others = (1 - self.sure) / (len(TargetGroup) - 1)
        return {group: self.sure if group is self.group else others for group in TargetGroup}


def heads_saying(
    *,
    opposing: float = 0.99,
    hate: float = 0.01,
    group: TargetGroup = TargetGroup.MIGRANTS,
    sure: float = 0.9,
    languages: Iterable[str] = ("en",),
) -> FakeHeads:
    """Heads over a fake embedder that knows the languages."""
    return FakeHeads(FakeEmbedder(languages), {}, opposing, hate, group, sure)
