"""The outputs of the probe: one for hate by logistic regression, one for each of the router's, linear.

The development split chooses the strength of regularisation, and the epoch.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from training.heads.epochs import SEED
from training.heads.router import Floats, Outputs
from training.probe.texts import Learnt

FARTHEST: Final = 8.0
_STRENGTHS: Final = (3e-4, 1e-3, 3e-3, 1e-2)
EPOCHS: Final = 16
_RATE: Final = 3e-4
_DECAY: Final = 0.3
_DROPPED: Final = 0.7
_BATCH: Final = 64


@dataclass(frozen=True)
class Fit:
    """Outputs over states: ``weight`` of shape (outputs, width), and what makes states comparable."""

    mean: Floats
    spread: Floats
    weight: Floats
    bias: Floats

    def outputs(self, states: NDArray[Any]) -> Floats:
        """The outputs of texts, shape (n, outputs)."""
        logits: Floats = scaled(states, self.mean, self.spread) @ self.weight.T + self.bias
        return logits


def scaled(states: NDArray[Any], mean: Floats, spread: Floats) -> Floats:
    """States in standard deviations from their mean, cut as in use."""
    clipped: Floats = np.clip((states.astype(np.float32) - mean) / spread, -FARTHEST, FARTHEST)
    return clipped


def fit(texts: Learnt, states: NDArray[Any], outputs: Outputs, epochs: int = EPOCHS) -> Fit:
    """Both kinds of outputs, learnt from the training split."""
    train = sorted(
        {at for at, _, split, _ in texts.posts if split == "train"}
        | {at for at, row in texts.stereotypes if row.split == "train"}
    )
    mean = states[train].astype(np.float32).mean(axis=0)
    spread = states[train].astype(np.float32).std(axis=0) + 1e-4
    far = scaled(states, mean, spread)
    of_hate, its_bias = _hateful(texts, far)
    weight, bias = _stereotypes(texts, far, outputs, epochs)
    return Fit(mean, spread, np.concatenate([of_hate, weight]), np.concatenate([its_bias, bias]))


def scores(fit: Fit, texts: Learnt, states: NDArray[Any], outputs: Outputs) -> dict[str, float]:
    """How outputs do on the development split, all languages together."""
    posts = [(at, share >= 0.5) for at, _, split, share in texts.posts if split == "dev"]
    routed = [(at, row) for at, row in texts.stereotypes if row.split == "dev"]
    of_hate = fit.outputs(states[[at for at, _ in posts]])[:, 0]
    of_stereotypes = fit.outputs(states[[at for at, _ in routed]])[:, 1:]
    _, right = outputs.best(of_stereotypes, [row for _, row in routed])
    return {
        "area under the curve, hateful": float(roc_auc_score([is_hateful for _, is_hateful in posts], of_hate)),
        "likeliest stereotype right": float(right.mean()),
    }


def _hateful(texts: Learnt, far: Floats) -> tuple[Floats, Floats]:
    """The output that tells hateful posts best on the development split."""
    parts = {}
    for split in ("train", "dev"):
        places = [(at, share >= 0.5) for at, _, its, share in texts.posts if its == split]
        parts[split] = far[[at for at, _ in places]], np.array([is_hateful for _, is_hateful in places])
    tried = list[tuple[float, Any]]()
    for strength in _STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=300, class_weight="balanced").fit(*parts["train"])
        area = float(roc_auc_score(parts["dev"][1], model.decision_function(parts["dev"][0])))
        print(f"hateful: strength {strength}, area under the curve {area:.4f} on dev", flush=True)  # noqa: T201
        tried.append((area, model))
    _, best = max(tried, key=lambda pair: pair[0])
    return best.coef_.astype(np.float32), best.intercept_.astype(np.float32)


def _stereotypes(texts: Learnt, far: Floats, outputs: Outputs, epochs: int) -> tuple[Floats, Floats]:
    """The outputs of the epoch that is most often right on the development split, in English."""
    import torch

    torch.manual_seed(SEED)
    rows = [(at, row) for at, row in texts.stereotypes if row.split == "train"]
    held_out = [(at, row) for at, row in texts.stereotypes if row.split == "dev" and row.language == "en"]
    inputs = torch.tensor(far[[at for at, _ in rows]])
    targets = torch.tensor(np.stack([outputs.whole_target(row) for _, row in rows]))
    layer = torch.nn.Linear(far.shape[1], len(outputs.at))
    torch.nn.init.zeros_(layer.weight)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=_RATE, weight_decay=_DECAY)
    steps = epochs * -(-len(rows) // _BATCH)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
    order = torch.Generator().manual_seed(SEED)
    tried = list[tuple[float, tuple[Floats, Floats]]]()
    for epoch in range(1, epochs + 1):
        for batch in torch.split(torch.randperm(len(rows), generator=order), _BATCH):
            dropped = torch.nn.functional.dropout(inputs[batch], _DROPPED)
            loss = -(targets[batch] * layer(dropped).log_softmax(dim=1)).sum() / targets[batch].sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            falling.step()
        with torch.no_grad():
            logits = layer(torch.tensor(far[[at for at, _ in held_out]])).numpy()
        right = float(outputs.best(logits, [row for _, row in held_out])[1].mean())
        print(f"stereotypes: epoch {epoch}, right {right:.3f} on dev", flush=True)  # noqa: T201
        tried.append((right, (layer.weight.detach().clone().numpy(), layer.bias.detach().clone().numpy())))
    return max(tried, key=lambda pair: pair[0])[1]


def write(fit: Fit, about: Mapping[str, Any], file: Path) -> None:
    """Write the outputs as they ship: the matrix in sixteen bits."""
    from safetensors.numpy import save_file

    arrays: dict[str, NDArray[Any]] = {
        "mean": fit.mean,
        "spread": fit.spread,
        "bias": fit.bias,
        "weight": fit.weight.astype(np.float16),
    }
    save_file(arrays, file, metadata={"about": json.dumps(about, sort_keys=True)})
