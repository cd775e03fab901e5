"""Whether decisions that were not learnt prefer a writer to the one before it.

Owns the measure: how much more likely a writer finds the better reply of a pair than the worse one. A pair speaks for
the new writer where that difference grew, as the implicit reward of direct preference optimisation has it (Rafailov and
others 2023, section 4).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import torch

from core.errors import BadInput
from training.writer.packing import Example, collate, learnt, plant
from training.writer.preferences import Pair


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a community's own decisions that were not learnt say of a writer, against the one before it.

    Attributes:
        community: whose decisions.
        pairs: how many pairs of a better and a worse reply.
        better: of how many the writer tells the better reply more clearly from the worse than the one before.
    """

    community: str
    pairs: int
    better: int

    @property
    def chance(self) -> float:
        """How often a coin says at least as much for the writer: the sign test, one-sided."""
        return float(sum(comb(self.pairs, k) for k in range(self.better, self.pairs + 1)) / 2**self.pairs)


def margins(model: Any, tokenizer: Any, pairs: Sequence[Pair]) -> list[float]:
    """Of each pair, log p(better) - log p(worse), in nats, each over a whole reply."""
    model.eval()
    return [
        _log_likelihood(model, tokenizer, Example(pair.prompt, pair.chosen, ""))
        - _log_likelihood(model, tokenizer, Example(pair.prompt, pair.rejected, ""))
        for pair in pairs
    ]


def _log_likelihood(model: Any, tokenizer: Any, example: Example) -> float:
    batch = {name: value.to(model.device) for name, value in collate([plant([example], tokenizer)]).items()}
    places, wanted = learnt(batch)
    with torch.no_grad():
        logits = model(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            position_ids=batch["position_ids"],
            logits_to_keep=places,
            use_cache=False,
        ).logits[0]
    return -torch.nn.functional.cross_entropy(logits.float(), wanted, reduction="sum").item()


def compare(community: str, before: Sequence[float], after: Sequence[float]) -> HeldOut:
    """What the pairs say, from their margins under the writer before and the new one."""
    return HeldOut(community, len(before), sum(new > old for old, new in zip(before, after, strict=True)))


def community_of(file: Path) -> str:
    """Whose decisions the pairs of a file are.

    Raises:
        BadInput: they are nobody's, or of several communities.
    """
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    found = {row.get("community") for row in rows}
    if len(found) != 1 or not (community := found.pop()):
        raise BadInput(
            f"{file} does not hold the decisions of one community.",
            remedy="Use the file that `antiphon train data --from-desk` wrote beside the pairs.",
        )
    return str(community)
