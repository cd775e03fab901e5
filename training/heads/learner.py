"""One small encoder as it learns, and the whole of its state: a run that was killed goes on to the same result.

Where word vectors learn, one changes only where its word occurs; the others come with the package and are not shipped
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from training.heads.network import new_network, unpacked

if TYPE_CHECKING:
    from training.heads.epochs import Values

_WARM: Final = 0.1
_DECAY: Final = 0.01
_KEPT: Final = 0.95
"""How much of the running mean stays, each time that weights are added to it."""
_CHANCE: Final = "chance"


class Learner:
    """A network with fresh outputs, the running mean of its weights, and what trains them.

    The mean errs less than the weights of the last step; it is what is scored and kept.

    Args:
        steps: how many there will be; the rate rises over the first tenth and falls to nothing at the last.
        begun: the file of weights to go on from, instead of fresh outputs.
    """

    def __init__(self, outputs: int, steps: int, values: Values, *, begun: Path | None = None) -> None:
        torch.manual_seed(values.seed)
        self._network = unpacked(begun) if begun else new_network(outputs, values.base)
        for part in self._network.modules():
            if isinstance(part, torch.nn.Dropout) and not values.drops:
                part.p = 0.0
        self._mean = AveragedModel(self._network, multi_avg_fn=get_ema_multi_avg_fn(_KEPT))  # type: ignore[no-untyped-call]
        words = self._network.encoder.embeddings.word_embeddings
        words.sparse = words.weight.requires_grad  # a step touches few rows of a large table
        inside = [
            weight
            for weight in self._network.encoder.parameters()
            if weight.requires_grad and weight is not words.weight
        ]
        over = [weight for name, weight in self._network.named_parameters() if not name.startswith("encoder.")]
        self._clipped = [*inside, *over]
        parts: list[dict[str, Any]] = [{"params": inside}, {"params": over, "lr": values.learning_rate * values.faster}]
        self._optimizers: tuple[torch.optim.Optimizer, ...] = (
            torch.optim.AdamW(parts, lr=values.learning_rate, weight_decay=_DECAY, fused=True),
            *([torch.optim.SparseAdam([words.weight], lr=values.learning_rate)] if words.sparse else ()),
        )
        self._schedules = [
            torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _share(step, steps))
            for optimizer in self._optimizers
        ]
        self._is_half = bool(torch.cpu.get_capabilities().get("amx_bf16"))  # elsewhere halves take longer

    @property
    def mean(self) -> Any:
        """The network with the mean of the weights, for reading."""
        return self._mean.module.eval()

    def learn(
        self,
        batch: Sequence[tuple[tuple[str, ...], NDArray[np.float32]]],
        loss_of: Callable[[Tensor, Tensor], Tensor],
        *,
        is_averaged: bool,
    ) -> float:
        """One step; gives the loss before it.

        Args:
            loss_of: of logits, shape (batch, outputs), and targets.
            is_averaged: whether the weights are added to the running mean.
        """
        self._network.train()
        tokens = self._network.tokenized([texts for texts, _ in batch])
        targets = torch.tensor(np.stack([target for _, target in batch]))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self._is_half):
            logits = self._network(tokens)
        loss = loss_of(logits.float(), targets)
        for optimizer in self._optimizers:
            optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._clipped, 1.0)
        for optimizer, schedule in zip(self._optimizers, self._schedules, strict=True):
            optimizer.step()
            schedule.step()
        if is_averaged:
            self._mean.update_parameters(self._network)
        return loss.item()

    def state(self) -> dict[str, Any]:
        """All that the next step depends on, for ``torch.save``."""
        states = {str(at): part.state_dict() for at, part in enumerate(self._parts())}
        return {**states, _CHANCE: torch.get_rng_state()}

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Take up what ``state`` gave."""
        for at, part in enumerate(self._parts()):
            part.load_state_dict(state[str(at)])
        torch.set_rng_state(state[_CHANCE])

    def _parts(self) -> list[Any]:
        return [self._network, self._mean, *self._optimizers, *self._schedules]


def _share(step: int, steps: int) -> float:
    """The share of the learning rate at a step: a straight rise over the first tenth, then a straight fall."""
    warm = max(_WARM * steps, 1)
    return max(0.0, min(step / warm, (steps - step) / max(steps - warm, 1)))
