"""Fits how far a language model's word counts beside the small readers', on the development split of ``training/data``.

    python -m training.heads.pooling
    python -m training.heads.pooling --base-url http://127.0.0.1:8000/v1 --model NAME

The first command asks the model that ships, the second one behind an OpenAI-compatible server (its key, if it needs
one, in ``ANTIPHON__LLM__API_KEY``). Both ask the questions of ``core.scoring.readers.asking`` about a sample, print how
well each of the two and both together do, and write the weights into ``core/scoring/readers/pooling.toml``. The same
data, seed, sizes and model give the same weights. ``--answers FILE`` keeps what the model said, so that a later run, as
after another training of the small readers, asks only what is new. Where a model adds nothing in five-fold
cross-validation, its weight is 0, and it is not asked. What is found for one model says nothing of another one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import platformdirs
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from core.llm.backends.embeddings import SentenceEmbedder
from core.llm.backends.llamacpp import EmbeddedServer
from core.llm.backends.servers.chat import ChatModel
from core.llm.backends.weights import WeightsWanted, find_weights
from core.llm.budget import Budget, MeteredModel
from core.llm.profiles import PAPER
from core.scoring.readers.asking import LargeReader
from core.scoring.readers.pooling import Pooling, Question, Weights, log_odds, shipped
from core.scoring.readers.readers import Readers
from training.corpus import drafts, posts
from training.heads.fitting import limits
from training.heads.routing import RIGHT, SAID, labelled, limit
from training.heads.sampling import SEED, Asked, Kept, Sample

FILE: Final = Path("core/scoring/readers/pooling.toml")
FOLDS: Final = 5
PATIENCE_SECONDS: Final = 900.0
LEAST_GAIN: Final = 0.003
"""The least gain of mean log-loss in cross-validation for a model to count."""
_FEW: Final = 6
"""With fewer texts of either answer nothing can be fitted."""
OF_SHIPPED: Final = frozenset({Question.HATEFUL, Question.THREAT, Question.PERSON, Question.UNFIT})
"""What the model that ships is asked in a suggestion, since each of its answers takes half a second."""
_MOST_WEIGHT: Final = 3.0
_UNLIMITED: Final = replace(PAPER, deadline_seconds=36_000, max_model_calls=1_000_000, max_tokens=1_000_000_000)
Numbers = NDArray[np.float64]


def fitted(asked: Sequence[Asked]) -> tuple[Weights, dict[str, float]]:
    """The weights for one question, and what was measured on the way.

    Returns:
        Weights of 0 where the model adds nothing, and the areas under the curve and losses by name.
    """
    both, alone = [a for a in asked if a.small is not None], [a for a in asked if a.small is None]
    weights, measured = Weights(bias=0.0, small=1.0, large=0.0, alone_bias=0.0, alone=0.0), dict[str, float]()
    if _is_enough(both):
        weights, measured = _fit_both(both, weights)
    alone = alone if _is_enough(alone) else list(asked)  # with too few of other languages: all
    if _is_enough(alone):
        odds, labels, counts = _columns(alone)
        bias, share = _minimised(odds[:, 1:], labels, counts, prior=[0.0])
        said, base = (
            _held_out(odds[:, 1:], labels, counts, prior=[0.0]),
            _held_out(odds[:, :0], labels, counts, prior=[]),
        )
        measured |= {"alone_n": len(alone), "alone_auc": _area(labels, odds[:, 1], counts)}
        if _loss(labels, base, counts) - _loss(labels, said, counts) >= LEAST_GAIN:
            weights = replace(weights, alone_bias=round(bias, 3), alone=round(share, 3))
    return weights, measured


def _fit_both(both: Sequence[Asked], silent: Weights) -> tuple[Weights, dict[str, float]]:
    odds, labels, counts = _columns(both)
    alone = _held_out(odds[:, :1], labels, counts, prior=[1.0])
    together = _held_out(odds, labels, counts, prior=[1.0, 0.0])
    losses = [_loss(labels, found, counts) for found in (odds[:, 0], alone, together)]
    measured = {
        "n": len(both),
        "yes": int(labels.sum()),
        "small_auc": _area(labels, odds[:, 0], counts),
        "large_auc": _area(labels, odds[:, 1], counts),
        "both_auc": _area(labels, together, counts),
        "small_loss": min(losses[:2]),
        "both_loss": losses[2],
    }
    if min(losses[:2]) - losses[2] < LEAST_GAIN:
        return silent, measured
    bias, small, large = _minimised(odds, labels, counts, prior=[1.0, 0.0])
    return replace(silent, bias=round(bias, 3), small=round(small, 3), large=round(large, 3)), measured


def _is_enough(asked: Sequence[Asked]) -> bool:
    yes = sum(one.label for one in asked)
    return min(yes, len(asked) - yes) >= _FEW


def _columns(asked: Sequence[Asked]) -> tuple[Numbers, Numbers, Numbers]:
    """The log-odds of both, shape (n, 2), the labels, and what each counts, with mean 1."""
    odds = np.array([[log_odds(0.5 if one.small is None else one.small), log_odds(one.large)] for one in asked])
    counts = np.array([one.counts for one in asked])
    return odds, np.array([float(one.label) for one in asked]), counts / counts.mean()


def _held_out(odds: Numbers, labels: Numbers, counts: Numbers, *, prior: Sequence[float]) -> Numbers:
    """The log-odds of each text by weights for the columns that were fitted without it."""
    order, found = np.random.default_rng(SEED).permutation(len(labels)), np.empty(len(labels))
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        kept = np.setdiff1d(order, out)
        bias, *weights = _minimised(odds[kept], labels[kept], counts[kept], prior=prior)
        found[out] = bias + odds[out] @ np.array(weights)
    return found


def _minimised(odds: Numbers, labels: Numbers, counts: Numbers, *, prior: Sequence[float]) -> list[float]:
    """Bias and weights of a logistic regression; weights are not negative, and few texts leave them near ``prior``."""

    def loss(values: Numbers) -> float:
        found = values[0] + odds @ values[1:]
        far = float(((values[1:] - np.array(prior)) ** 2).sum() + 0.1 * values[0] ** 2)
        return float((counts * (np.logaddexp(0, found) - labels * found)).sum()) + far

    bounds = [(-8.0, 8.0)] + [(0.0, _MOST_WEIGHT)] * len(prior)
    return [float(value) for value in minimize(loss, np.array([0.0, *prior]), method="L-BFGS-B", bounds=bounds).x]


def _loss(labels: Numbers, odds: Numbers, counts: Numbers) -> float:
    return float((counts * (np.logaddexp(0, odds) - labels * odds)).mean())


def _area(labels: Numbers, odds: Numbers, counts: Numbers) -> float:
    return float(roc_auc_score(labels, odds, sample_weight=counts))


def pooled_limits(asked: Sequence[Asked], pooling: Pooling, *, is_alone: bool) -> list[float] | None:
    """From which pooled probability a draft is warned of, and refused; ``None`` where the model does not count."""
    mine = [one for one in asked if (one.small is None) is is_alone]
    if not pooling.counts(Question.UNFIT, is_alone=is_alone) or not _is_enough(mine):
        return None
    chances = np.array([pooling.pooled(Question.UNFIT, one.small, one.large) for one in mine], dtype=np.float64)
    return list(limits(chances, np.array([one.label for one in mine])))


def stereotype_limits(asked: Sequence[Sequence[Asked]], pooling: Pooling) -> list[float]:
    """From which pooled probability of the likeliest stereotype it is answered, and told as the gist."""
    firsts = [
        max((pooling.pooled(Question.STEREOTYPE, one.small, one.large) or 0.0, one.label) for one in of_post)
        for of_post in asked
    ]
    chances, right = np.array([chance for chance, _ in firsts]), np.array([label for _, label in firsts])
    return [limit(chances, right, wanted) for wanted in (RIGHT, SAID)]


def written(file: Path, model: str, table: Mapping[str, Any]) -> None:
    """Put one model's weights into the file; those of the others stay as they are."""
    kept = tomllib.loads(file.read_text(encoding="utf-8"))
    kept["models"][model] = table
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    lines += [f"shipped = {json.dumps(kept['shipped'])}", ""]
    for name, values in sorted(kept["models"].items()):
        lines.append(f"[models.{json.dumps(name)}]")
        lines += [f"{key} = {_value(value)}" for key, value in values.items()]
        lines.append("")
    file.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


@contextmanager
def _chat(options: argparse.Namespace) -> Iterator[tuple[str, ChatModel]]:
    """The name by which the weights are kept, and the model."""
    if options.base_url:
        key = os.environ.get("ANTIPHON__LLM__API_KEY", "")
        yield options.model, ChatModel(options.base_url, key, options.model, timeout_seconds=PATIENCE_SECONDS)
        return
    wanted = WeightsWanted(options.model_path, "", "", "")
    weights = find_weights(wanted, platformdirs.user_cache_path("antiphon"))
    name = weights.stem if options.model_path else shipped().model
    with EmbeddedServer(weights) as server:
        yield (
            name,
            ChatModel(
                server.base_url,
                server.api_key,
                server.model,
                timeout_seconds=PATIENCE_SECONDS,
                concurrency=2,
                is_one_of_a_kind=True,
            ),
        )


async def _measured(name: str, chat: ChatModel, options: argparse.Namespace) -> None:
    readers = Readers.load(SentenceEmbedder(None))
    by = LargeReader(MeteredModel(chat, Budget(_UNLIMITED)), Pooling(name))
    is_shipped = name == shipped().model
    sample = Sample(readers, by, Kept(options.answers), OF_SHIPPED if is_shipped else frozenset(Question))
    dev = [row for row in posts() if row.split == "dev"]
    asked = await sample.of_posts(dev, options.posts)
    candidates = [row for row in drafts() if row.split == "dev"] if options.drafts else []
    if candidates:
        asked |= await sample.of_drafts(candidates, options.drafts)
    routed = [one for one in labelled() if one.split == "dev"]
    of_posts = [] if is_shipped else await sample.of_stereotypes(routed, options.posts)
    if of_posts:
        asked[Question.STEREOTYPE] = [one for of_post in of_posts for one in of_post]
    await chat.close()
    table: dict[str, Any] = {"posts": options.posts, "drafts": options.drafts if candidates else 0, "seed": SEED}
    weights = {}
    for question, mine in asked.items():
        weights[question], measured = fitted(mine)
        sys.stdout.write(f"{question.value}: {weights[question]}\n")
        sys.stdout.write("   " + ", ".join(f"{key} {value:.3g}" for key, value in measured.items()) + "\n")
        table[question.value] = {name: getattr(weights[question], name) for name in Weights.__dataclass_fields__}
    pooling = Pooling(name, weights=weights)
    if Question.UNFIT in asked:
        for key, is_alone in (("limits", False), ("alone_limits", True)):
            if found := pooled_limits(asked[Question.UNFIT], pooling, is_alone=is_alone):
                table[key] = found
    if of_posts:
        table["stereotype_limits"] = stereotype_limits(of_posts, pooling)
    written(options.out, name, table)
    sys.stdout.write(f"{by.model.budget.model_calls} questions; {options.out} is written.\n")


def main() -> None:
    """Ask one model about a sample, and write its weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", default="", help="an OpenAI-compatible server, with its /v1")
    parser.add_argument("--model", default="", help="the name by which the server knows the model")
    parser.add_argument("--model-path", type=Path, default=None, help="a GGUF file instead of the model that ships")
    parser.add_argument("--posts", type=int, default=200)
    parser.add_argument("--drafts", type=int, default=150)
    parser.add_argument("--answers", type=Path, default=None, help="where to keep what the model says")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    if bool(options.base_url) is not bool(options.model):
        parser.error("--base-url and --model go together")
    with _chat(options) as (name, chat):
        asyncio.run(_measured(name, chat, options))


if __name__ == "__main__":
    main()
