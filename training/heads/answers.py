"""Makes the vectors of the replies that were written to posts, and fits how likely one would be published.

    python -m training.heads.answers

Reads ``training/data/answers``: the posts that the replies of ``core/engine/cards/answers.jsonl`` were written to, and
what a reader said of some under other posts. How posts are turned is learnt from these and ``training/data/answered``,
without the posts of the votes. The vectors depend on the router's weights: make them anew with these.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.answers import PLACE, VECTORS, Limit, answers, prepared_features, shipped_vectors, turned
from core.engine.cards.bank import load_stereotypes, prepared_id
from core.engine.cards.closeness import vectors_of
from core.engine.cards.router import Router, shipped_router
from core.engine.ports import Embedder
from core.engine.wording.accusations import brought_in
from core.engine.wording.target_groups import THOSE, unnamed
from training.corpus import DATA, rows_in
from training.heads.projections import Pairs, learnt

_LANGUAGE: Final = "en"
_RIDGE: Final = 1.0
_STEPS: Final = 30
_LEAST: Final = 0.25
"""The chance from which a reply to another post is one of the prepared ones."""
_LEVELS: Final = tuple(level / 100 for level in range(95, 0, -5))
"""The shares of publishable first drafts that a limit is fitted for, the highest first."""
_DIGITS: Final = 10_000
_FOLDER: Final = DATA / "answers"


class Kind(StrEnum):
    """What a reply was written for: another post, or a stereotype or a group."""

    ANSWER = "answers"
    PREPARED = "prepared"


Vote = tuple[Kind, NDArray[np.float32], bool]


def main() -> None:
    """Write the vectors and what was fitted, and print what the likeliest replies are worth."""
    router, embedder = shipped_router(), SentenceEmbedder()
    packed = _packed(router, embedder)
    nothing = {"of_answers": [], "of_prepared": [], "least": 1, "limits": []}
    VECTORS.write_bytes(save(packed, metadata={"about": json.dumps(nothing)}))
    vectors = shipped_vectors()
    places = {one.text: at for at, one in enumerate(answers())}
    shown: dict[str, list[tuple[Kind, NDArray[np.float32], bool]]] = {}
    votes: dict[str, list[dict[str, Any]]] = {}
    for row in rows_in(_FOLDER / "votes.jsonl"):
        if not brought_in(row["text"], row["post"], _LANGUAGE):  # such a reply is never offered
            votes.setdefault(row["post"], []).append(row)
    for post, rows in votes.items():
        of_answers = vectors.features(post, _LANGUAGE, router, embedder)
        post_vector, *replies = vectors_of([post, *(row["text"] for row in rows)], _LANGUAGE, embedder)
        for row, reply in zip(rows, replies, strict=True):
            told = {name: row[name] for name in ("is_sure", "is_told") if name in row}
            kind = Kind.PREPARED if told else Kind.ANSWER
            features = (
                prepared_features(row["text"], float(reply @ post_vector), **told)
                if told
                else of_answers[places[row["text"]]]
            )
            shown.setdefault(post, []).append((kind, features, row["publishable"]))
    alone = [vote for some in shown.values() for kind, _, vote in some if kind is Kind.PREPARED]
    print(f"{len(alone)} prepared replies alone: {np.mean(alone):.3f}")  # noqa: T201
    first = _first(list(shown.values()))
    print(*_table(first), sep="\n")  # noqa: T201
    limits = limits_of(first)
    print(*(in_words(limit) for limit in limits), sep="\n")  # noqa: T201
    everything = [one for some in shown.values() for one in some]
    about: dict[str, Any] = {f"of_{kind}": [round(float(one), 4) for one in _of(kind, everything)] for kind in Kind}
    about |= {"least": _LEAST, "limits": [list(limit) for limit in limits]}
    VECTORS.write_bytes(save(packed, metadata={"about": json.dumps(about)}))


def _packed(router: Router, embedder: Embedder) -> dict[str, NDArray[Any]]:
    """The vectors of all replies and the two matrices, as they are kept: in eight and in sixteen bits."""
    answered_posts = {row["id"]: row for row in rows_in(_FOLDER / "posts.jsonl")}
    answered = [_posts_of(prepared_id(_LANGUAGE, one.text), answered_posts) for one in answers()]
    every = list(dict.fromkeys(post for posts in answered for post in posts))
    vectors_by = dict(zip(every, vectors_of([unnamed(post) for post in every], _LANGUAGE, embedder), strict=True))
    shares_by = {post: np.sqrt(router.shares(post, _LANGUAGE)) for post in every}
    posts = np.array([_mean([vectors_by[post] for post in posts]) for posts in answered])
    replies = vectors_of([unnamed(one.text.replace(PLACE, THOSE)) for one in answers()], _LANGUAGE, embedder)
    claims = vectors_of([one.claim for one in answers()], _LANGUAGE, embedder)
    judged = {row["post"] for row in rows_in(_FOLDER / "votes.jsonl")}
    is_learnt = np.array([judged.isdisjoint(posts) for posts in answered])
    groups = np.array([one.group.value for one in answers()])
    own = Pairs(posts[is_learnt], claims[is_learnt], replies[is_learnt], groups[is_learnt])
    pairs = own.beside(_pairs_of_gists(judged, embedder))
    to_replies, of_replies = learnt(pairs, pairs.replies)
    to_claims, of_claims = learnt(pairs, pairs.claims)
    held = {
        "posts": posts,
        "replies": turned(replies, of_replies),
        "claims": turned(claims, of_claims),
        "shares": np.array([_mean([shares_by[post] for post in posts]) for posts in answered]),
    }
    packed: dict[str, NDArray[Any]] = {name: np.round(rows * 127).astype(np.int8) for name, rows in held.items()}
    return packed | {"to_replies": to_replies.astype(np.float16), "to_claims": to_claims.astype(np.float16)}


def _posts_of(answer: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The post that a reply was written to, or the posts that make the claim that it was written to."""
    row = rows[answer]
    return [row["post"]] if "post" in row else [rows[one]["post"] for one in row["like"]]


def _pairs_of_gists(left_out: Collection[str], embedder: Embedder) -> Pairs:
    """The posts of ``training/data/answered`` with their gists and replies, but those that are left out."""
    stereotypes = load_stereotypes()
    rows = [row for row in rows_in(DATA / "answered" / "en.jsonl") if row["stereotype"] in stereotypes]
    rows = [row for row in rows if row["post"] not in left_out]
    posts, claims, replies = (
        vectors_of([unnamed(row[name]) for row in rows], _LANGUAGE, embedder) for name in ("post", "gist", "text")
    )
    groups = np.array([stereotypes[row["stereotype"]].target_group.value for row in rows])
    return Pairs(posts, claims, replies, groups)


def _mean(rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The direction of the mean of unit vectors."""
    mean = np.mean(rows, axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


def _of(kind: Kind, votes: Sequence[Vote]) -> NDArray[np.float64]:
    mine = [(features, vote) for one, features, vote in votes if one is kind]
    return fitted(np.stack([features for features, _ in mine]), np.array([vote for _, vote in mine]))


def _first(posts: Sequence[Sequence[Vote]], folds: int = 10) -> list[tuple[float, bool]]:
    """The chance of the likeliest reply under each post, and its vote, by fits without that post; the likeliest first.

    It is the one that is shown first (``core.engine.review.assessment.with_answers_placed``).
    """
    first = list[tuple[float, bool]]()
    for fold in range(folds):
        learnt = [vote for at, some in enumerate(posts) if at % folds != fold for vote in some]
        weights = {kind: _of(kind, learnt) for kind in Kind}
        for some in [some for at, some in enumerate(posts) if at % folds == fold]:
            odds, vote = max((_odds(features, weights[kind]), vote) for kind, features, vote in some)
            first.append((1 / (1 + math.exp(-odds)), vote))
    return sorted(first, key=lambda one: -one[0])


def _table(first: Sequence[tuple[float, bool]]) -> Iterator[str]:
    """What the likeliest reply under each post is worth."""
    for share in (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0):
        kept = first[: int(share * len(first))]
        votes = np.mean([vote for _, vote in kept])
        yield f"the likeliest under {len(kept)} posts, chance {kept[-1][0]:.2f}: {votes:.3f}"


def limits_of(first: Sequence[tuple[float, bool]]) -> list[Limit]:
    """For each level the least chance from which so many first drafts are publishable, the highest level first.

    The last one is that of all drafts. A level that no number of drafts reaches has a chance of 1, which none has.

    Args:
        first: the chance of each post's first draft, and whether a reader would publish it, the likeliest first.
    """
    right = np.cumsum([vote for _, vote in first]) / np.arange(1, len(first) + 1)
    found = list[Limit]()
    for level in _LEVELS:
        enough = np.flatnonzero(right >= level)
        count = int(enough[-1]) + 1 if len(enough) else 0
        chance = math.floor(_DIGITS * first[count - 1][0]) / _DIGITS if count else 1.0
        found.append(Limit(level, chance, count / len(first)))
        if count == len(first):
            break
    return found


def in_words(limit: Limit) -> str:
    """A limit as it is told in ``config.toml``."""
    return f"#   {limit.publishable:.2f}   {round(100 * limit.posts):3} of 100 posts have a draft"


def _odds(features: NDArray[np.float32], weights: NDArray[np.float64]) -> float:
    return float(features @ weights[:-1] + weights[-1])


def fitted(features: NDArray[np.float32], told: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The weights and the offset of a logistic regression, shape (features + 1,), by Newton's steps with a ridge."""
    rows = np.hstack([features, np.ones((len(features), 1))]).astype(np.float64)
    ridge = _RIDGE * np.diag([*[1.0] * features.shape[1], 0.0])
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (told - chance) - ridge @ weights
        bend = (rows * (chance * (1 - chance))[:, None]).T @ rows + ridge
        weights += np.linalg.solve(bend, slope)
    return weights


if __name__ == "__main__":
    main()
