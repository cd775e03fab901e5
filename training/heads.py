"""Trains the heads of ``core/scoring/heads`` on pairs of hateful posts and replies, and measures them on others.

    python -m training.heads --train pairs.jsonl --test other_pairs.jsonl --intents replies.jsonl

Each line of the first two files is a JSON object with ``post``, ``human_reply`` and ``target_group``, as MT-CONAN gives
them; of the third with ``post``, ``reply`` and ``intent``, as CONAN gives them. Posts that are in both of the first two
files are left out of the training. The intent head is measured by cross-validation that never splits a post's replies.
The same input gives the same weights.

The stance head learns from pairs of a post and a text. Its own reply and a reply to another post about the same group
oppose it. Other hateful posts about the group, and the post itself with words of agreement, do not.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from core.llm.backends.embeddings import SentenceEmbedder
from core.models import Intent, TargetGroup
from core.ports import Embedder
from core.scoring.heads.heads import LABELLED_INTENTS, Heads, intent_features, stance_features, text_features

Row = dict[str, str]
SEED = 7
NEUTRAL_WEIGHT = 3
"""How often each ordinary chat line of ``neutral.txt`` counts among the texts that are not hateful."""
INTENT_STRENGTH = 2.0
GROUPS = list(TargetGroup)
AGREEMENTS = (
    "You have a point.", "I agree.", "That is true:", "Sadly,", "It is a fact that", "Nobody can deny it.",
    "Well said.", "I understand your worries.", "You are right to say so.", "Unfortunately this is so.", "Yes,",
    "Exactly.",
)  # fmt: skip


def read_rows(path: Path) -> list[Row]:
    """The rows of a data file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def by_group(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each target group."""
    return {group: [row for row in rows if row["target_group"] == group] for group in TargetGroup}


def stance_pairs(
    rows: list[Row], *, others: int, agreeing: float, seed: int = SEED
) -> tuple[list[tuple[str, str]], list[int]]:
    """Pairs of post and text, and whether the text opposes the post (1) or not (0).

    Each post is paired with its reply, with ``others`` other posts about its group and ``others - 1`` replies to them.
    A share ``agreeing`` of the posts is also paired with the same post and words of agreement.
    """
    chance = random.Random(seed)  # noqa: S311 - a reproducible sample, no secret
    groups = by_group(rows)
    pairs: list[tuple[str, str, int]] = []
    for row in rows:
        post, mates = row["post"], groups[row["target_group"]]
        pairs.append((post, row["human_reply"], 1))
        pairs += [(post, chance.choice(mates)["post"], 0) for _ in range(others)]
        pairs += [(post, chance.choice(mates)["human_reply"], 1) for _ in range(others - 1)]
        if chance.random() < agreeing:
            pairs.append((post, f"{chance.choice(AGREEMENTS)} {post}", 0))
    return [(post, text) for post, text, _ in pairs], [label for _, _, label in pairs]


def features(embedder: Embedder, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
    """The stance head's features, shape (n, 4 * dimension + 2048)."""
    texts = sorted({text for pair in pairs for text in pair})
    row_of = {text: row for row, text in enumerate(texts)}
    vectors = embedder.encode(texts)
    left = vectors[[row_of[post] for post, _ in pairs]]
    right = vectors[[row_of[text] for _, text in pairs]]
    return stance_features(left, right, [text for _, text in pairs])


def fit(x: NDArray[np.float32], y: Sequence[int], strength: float) -> LogisticRegression:
    """A logistic regression with balanced classes; ``strength`` is the inverse of the L2 penalty."""
    return LogisticRegression(C=strength, max_iter=5000, class_weight="balanced").fit(x, y)


def train_weights(embedder: Embedder, train: list[Row], intents: list[Row]) -> dict[str, NDArray[np.float32]]:
    """The weights of all heads, as they are stored."""
    neutral = Path(__file__).with_name("neutral.txt").read_text(encoding="utf-8").splitlines()
    posts, replies = [row["post"] for row in train], [row["human_reply"] for row in train]
    texts = posts + replies + neutral * NEUTRAL_WEIGHT
    labels = [1] * len(posts) + [0] * (len(texts) - len(posts))
    hate = fit(text_features(embedder.encode(texts), texts), labels, 3)
    target = fit(embedder.encode(posts), [GROUPS.index(TargetGroup(row["target_group"])) for row in train], 10)
    pairs, opposing = stance_pairs(train, others=4, agreeing=0.5)
    stance = fit(features(embedder, pairs), opposing, 1)
    said = [row["reply"] for row in intents]
    intent = fit(intent_features(embedder.encode(said), said), intent_labels(intents), INTENT_STRENGTH)
    weights = {
        "hate_coef": hate.coef_[0], "hate_bias": hate.intercept_[0],
        "target_coef": target.coef_, "target_bias": target.intercept_,
        "stance_coef": stance.coef_[0], "stance_bias": stance.intercept_[0],
        "intent_coef": intent.coef_, "intent_bias": intent.intercept_,
    }  # fmt: skip
    return {name: np.asarray(value, dtype=np.float16).astype(np.float32) for name, value in weights.items()}


def intent_labels(rows: list[Row]) -> list[int]:
    """The index of each row's intent among CoARL's four."""
    return [LABELLED_INTENTS.index(Intent(row["intent"])) for row in rows]


def intent_accuracy(embedder: Embedder, rows: list[Row], folds: int = 8) -> float:
    """The share of replies whose intent is recognised, by cross-validation that keeps a post's replies together."""
    said, labels = [row["reply"] for row in rows], np.array(intent_labels(rows))
    seen = intent_features(embedder.encode(said), said)
    hits = []
    for learnt, held in GroupKFold(folds).split(seen, labels, [row["post"] for row in rows]):
        head = fit(seen[learnt], list(labels[learnt]), INTENT_STRENGTH)
        hits += list(head.predict(seen[held]) == labels[held])
    return float(np.mean(hits))


def measure(heads: Heads, test: list[Row]) -> dict[str, float]:
    """How well the shipped heads do on rows that they were not trained on."""
    posts, replies = [row["post"] for row in test], [row["human_reply"] for row in test]
    post_hate, reply_hate = heads.hateful(posts), heads.hateful(replies)
    found = {}
    for name, agreeing in (("stance_auc", 0.0), ("stance_auc_with_agreement", 1.0)):
        pairs, labels = stance_pairs(test, others=2, agreeing=agreeing, seed=1)
        found[name] = float(roc_auc_score(labels, [heads.opposes(post, [text])[0] for post, text in pairs]))
    own = [heads.opposes(post, [reply])[0] for post, reply in zip(posts, replies, strict=True)]
    told = [max(shares, key=lambda group: shares[group]) for shares in map(heads.target_groups, posts)]
    return {
        "hate_auc": float(roc_auc_score([1] * len(posts) + [0] * len(replies), [*post_hate, *reply_hate])),
        "posts_below_0.15": float(np.mean(post_hate < 0.15)),
        "replies_below_0.15": float(np.mean(reply_hate < 0.15)),
        "replies_above_0.5": float(np.mean(reply_hate > 0.5)),
        "target_accuracy": float(
            np.mean([row["target_group"] == group for row, group in zip(test, told, strict=True)])
        ),
        **found,
        "own_replies_at_least_0.8": float(np.mean(np.array(own) >= 0.8)),
    }


def main() -> None:
    """Train, write the weights, and measure them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--intents", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("core/scoring/heads/heads.npz"))
    options = parser.parse_args()
    test, intents = read_rows(options.test), read_rows(options.intents)
    held_out = {row["post"] for row in test}
    train = [row for row in read_rows(options.train) if row["post"] not in held_out]
    embedder = SentenceEmbedder(remembered=20_000)
    weights = train_weights(embedder, train, intents)
    np.savez(options.out, allow_pickle=False, **{name: value.astype(np.float16) for name, value in weights.items()})
    measures = {
        "rows_train": len(train),
        "rows_test": len(test),
        **measure(Heads(embedder, weights), test),
        "intent_accuracy": intent_accuracy(embedder, intents),
    }
    print(json.dumps({name: round(value, 4) for name, value in measures.items()}, indent=2))  # noqa: T201


if __name__ == "__main__":
    main()
