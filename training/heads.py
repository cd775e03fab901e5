"""Trains the heads of ``core/heads`` on pairs of hateful posts and replies, and measures them on others.

    python -m training.heads --train pairs.jsonl --test other_pairs.jsonl [--out core/heads/heads.npz]

Each line of a data file is a JSON object with ``post``, ``human_reply`` and ``target_group``, as MT-CONAN gives them.
The two files must not share a post: posts that stand in both are left out of the training. The same input gives the
same weights.

The stance head learns from a post with its own reply and with a reply to another post about the same group (they
oppose it), and with other hateful posts about the group (they do not). Adding posts that are agreed to in words ("You
have a point, ...") was tried: it raised the AUC on such pairs from 0.82 to 0.97 but cost 0.03 on plain ones; they are
left to the hate head and to the gates, which see the post's own words come back.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from core.backends.embeddings import SentenceEmbedder
from core.heads import Heads, stance_features
from core.models import TargetGroup
from core.ports import Embedder

Row = dict[str, str]
SEED = 7
NEUTRAL_WEIGHT = 3
"""How often each ordinary chat line of ``neutral.txt`` counts among the texts that are not hateful."""


def read_rows(path: Path) -> list[Row]:
    """The rows of a data file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def by_group(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each target group."""
    return {group: [row for row in rows if row["target_group"] == group] for group in TargetGroup}


def stance_pairs(rows: list[Row], *, others: int, seed: int = SEED) -> tuple[list[tuple[str, str]], list[int]]:
    """Pairs of post and text, and whether the text opposes the post (1) or not (0).

    Each post stands with its reply, with ``others`` other posts about its group and ``others - 1`` replies to them.
    """
    chance = random.Random(seed)  # noqa: S311 - a reproducible sample, no secret
    groups = by_group(rows)
    pairs: list[tuple[str, str, int]] = []
    for row in rows:
        post, mates = row["post"], groups[row["target_group"]]
        pairs.append((post, row["human_reply"], 1))
        pairs += [(post, chance.choice(mates)["post"], 0) for _ in range(others)]
        pairs += [(post, chance.choice(mates)["human_reply"], 1) for _ in range(others - 1)]
    return [(post, text) for post, text, _ in pairs], [label for _, _, label in pairs]


def features(embedder: Embedder, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
    """The stance head's features, shape (n, 4 * dimension)."""
    texts = sorted({text for pair in pairs for text in pair})
    row_of = {text: row for row, text in enumerate(texts)}
    vectors = embedder.encode(texts)
    left = vectors[[row_of[post] for post, _ in pairs]]
    right = vectors[[row_of[text] for _, text in pairs]]
    return stance_features(left, right)


def fit(x: NDArray[np.float32], y: list[int] | list[str], strength: float) -> LogisticRegression:
    """A logistic regression with balanced classes; ``strength`` is the inverse of the L2 penalty."""
    return LogisticRegression(C=strength, max_iter=5000, class_weight="balanced").fit(x, y)


def main() -> None:
    """Train, measure, and write the weights and the measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("core/heads/heads.npz"))
    options = parser.parse_args()
    test = read_rows(options.test)
    held_out = {row["post"] for row in test}
    train = [row for row in read_rows(options.train) if row["post"] not in held_out]
    neutral = Path(__file__).with_name("neutral.txt").read_text(encoding="utf-8").splitlines()
    embedder = SentenceEmbedder(remembered=20_000)

    train_posts, train_replies = [row["post"] for row in train], [row["human_reply"] for row in train]
    clean = train_replies + neutral * NEUTRAL_WEIGHT
    hate = fit(embedder.encode(train_posts + clean), [1] * len(train) + [0] * len(clean), 10)
    order = list(TargetGroup)
    target = fit(embedder.encode(train_posts), [order.index(TargetGroup(row["target_group"])) for row in train], 10)
    pairs, labels = stance_pairs(train, others=2)
    stance = fit(features(embedder, pairs), labels, 1)
    weights = {
        "hate_coef": hate.coef_[0], "hate_bias": hate.intercept_[0],
        "target_coef": target.coef_, "target_bias": target.intercept_,
        "stance_coef": stance.coef_[0], "stance_bias": stance.intercept_[0],
    }  # fmt: skip
    stored = {name: np.asarray(value, dtype=np.float16) for name, value in weights.items()}
    np.savez(options.out, allow_pickle=False, **stored)

    posts, replies = [row["post"] for row in test], [row["human_reply"] for row in test]
    held_pairs, held_labels = stance_pairs(test, others=1, seed=1)
    said = hate.decision_function(embedder.encode(posts + replies))
    groups = [order[index] for index in target.predict(embedder.encode(posts))]
    hateful = Heads(embedder, {name: np.asarray(value, dtype=np.float32) for name, value in weights.items()}).hateful
    measures = {
        "rows_train": len(train),
        "rows_test": len(test),
        "hate_auc": roc_auc_score([1] * len(posts) + [0] * len(replies), said),
        "posts_below_0.15": float(np.mean(hateful(posts) < 0.15)),
        "replies_below_0.15": float(np.mean(hateful(replies) < 0.15)),
        "target_accuracy": float(
            np.mean([row["target_group"] == group for row, group in zip(test, groups, strict=True)])
        ),
        "stance_auc": roc_auc_score(held_labels, stance.decision_function(features(embedder, held_pairs))),
    }
    print(json.dumps({name: round(value, 4) for name, value in measures.items()}, indent=2))  # noqa: T201


if __name__ == "__main__":
    main()
