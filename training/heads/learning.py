"""How a small encoder learns: an epoch after the other, of which the best on the development split is kept.

A word vector changes only where its word occurs; the others come with the package and are not shipped again. The same
data, seed and machine give the same weights; another machine rounds differently.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.llm.backends.encoders import TRIED, is_faster, new_network

if TYPE_CHECKING:
    import torch

SEED: Final = 7
RATE: Final = 1.5e-4
BATCH: Final = 32
_WARM: Final = 0.1
_DECAY: Final = 0.01
_AVERAGED_EACH: Final = 8
_KEPT: Final = 0.95
"""How much of the running mean stays, each time that weights are added to it (every eighth step)."""
Texts = tuple[str, ...]
Example = tuple[Texts, NDArray[np.float32]]
"""One text or a pair, and its targets, shape (outputs,)."""


def fine_tuned(
    outputs: int,
    shown: Callable[[random.Random], Sequence[Example]],
    loss_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    score_of: Callable[[Any], float],
    *,
    epochs: int,
    rate: float = RATE,
    faster: float = 1.0,
) -> Any:
    """The network after the epoch that scores best.

    What is scored and kept is the running mean of the weights, which errs less than those of the last step.

    Args:
        shown: the examples of one epoch, in the order in which they are learnt.
        loss_of: of logits and targets, both of shape (batch, outputs).
        faster: how many times the rate what stands over the encoder learns with.
    """
    import torch  # reading the labels needs no model library
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    torch.manual_seed(SEED)
    chance = random.Random(SEED)  # nosec B311 # noqa: S311 - a reproducible order, no secret
    network = new_network(outputs)
    mean = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(_KEPT))  # type: ignore[no-untyped-call]
    vectors, *_ = network.parameters()
    network.encoder.embeddings.word_embeddings.sparse = True  # a step touches few rows of a large table
    inside = [one for one in network.encoder.parameters() if one is not vectors]
    over = [one for name, one in network.named_parameters() if not name.startswith("encoder.")]
    parts: list[dict[str, Any]] = [{"params": inside}, {"params": over, "lr": rate * faster}]
    optimizers = (
        torch.optim.AdamW(parts, lr=rate, weight_decay=_DECAY, fused=True),
        torch.optim.SparseAdam([vectors], lr=rate),
    )
    steps = epochs * -(-len(shown(random.Random(SEED))) // BATCH)  # nosec B311 # noqa: S311 - only counted
    schedules = [torch.optim.lr_scheduler.LambdaLR(one, lambda step: _share(step, steps)) for one in optimizers]
    real = torch.ones(TRIED)
    half = real.bfloat16()
    is_half_fast = is_faster(lambda: half @ half.t(), lambda: real @ real.t())  # with AMX; AVX2 alone is slower at it
    best, kept = -1.0, network.state_dict()
    for epoch in range(epochs):
        network.train()
        losses = []
        for at, batch in enumerate(_batches(shown(chance))):
            tokens = network.tokenized([texts for texts, _ in batch])
            targets = torch.tensor(np.stack([target for _, target in batch]))
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_half_fast):
                logits = network(tokens)
            loss = loss_of(logits.float(), targets)
            for learner in optimizers:
                learner.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_([*inside, *over], 1.0)
            for stepping, schedule in zip(optimizers, schedules, strict=True):
                stepping.step()
                schedule.step()
            if at % _AVERAGED_EACH == 0:
                mean.update_parameters(network)
            losses.append(loss.item())
        score = score_of(mean.module.eval())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, development {score:.4f}", flush=True)  # noqa: T201
        if score > best:
            best, kept = score, {name: tensor.clone() for name, tensor in mean.module.state_dict().items()}
    network.load_state_dict(kept)
    return network.eval()


def logits_of(network: Any, texts: Sequence[Texts]) -> NDArray[np.float32]:
    """What a network that is not packed says of texts, shape (texts, outputs)."""
    import torch

    order = sorted(range(len(texts)), key=lambda row: sum(map(len, texts[row])))
    found = np.empty((len(texts), network.outputs.out_features), dtype=np.float32)
    with torch.inference_mode():
        for rows in _batches(order):
            found[list(rows)] = network(network.tokenized([texts[row] for row in rows])).numpy()
    return found


def shuffled(found: Sequence[Example], chance: random.Random) -> list[Example]:
    """Random order, but texts of like length beside each other within a stretch, which saves padding."""
    mixed = list(found)
    chance.shuffle(mixed)
    stretch = BATCH * 16
    ordered = list[Example]()
    for start in range(0, len(mixed), stretch):
        part = sorted(mixed[start : start + stretch], key=lambda one: sum(map(len, one[0])))
        batches = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        chance.shuffle(batches)
        ordered += [one for batch in batches for one in batch]
    return ordered


def _batches(examples: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(examples), BATCH):
        yield examples[start : start + BATCH]


def _share(step: int, steps: int) -> float:
    """The share of the learning rate at a step: a straight rise over the first tenth, then a straight fall."""
    warm = max(_WARM * steps, 1)
    return min(step / warm, (steps - step) / max(steps - warm, 1))
