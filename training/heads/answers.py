"""Makes the vectors of the replies that are offered under posts, and fits how likely one would be published.

    python -m training.heads.answers

Reads ``training/data/answers``: the posts that the replies of ``core/engine/cards/answers.jsonl`` answer, and what
readers said of some under other posts. How posts are turned is learnt from these and ``training/data/answered``,
without the posts of the verdicts. The vectors depend on the router's weights, and what is fitted on the network of
``training.heads.fit``, too: make them anew with these.
"""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.answers import (
    PLACE,
    VECTORS,
    Limit,
    answers,
    features_of_other,
    fits_of,
    shipped_vectors,
    turned,
)
from core.engine.cards.bank import load_stereotypes, prepared_id
from core.engine.cards.demands import wanted
from core.engine.cards.router import Router, shipped_router, vectors_of
from core.engine.ports import Embedder
from core.engine.wording.accusations import brought_in
from core.engine.wording.target_groups import THOSE, unnamed
from training.corpus import DATA, rows_in
from training.heads.fit import FOLDER, Judged, Verdict, judged
from training.heads.projections import Pairs, learnt

_LANGUAGE: Final = "en"
_LEAST: Final = 0.2
"""The chance from which a reply is one of the drafts."""
_LEVELS: Final = tuple(level / 100 for level in range(95, 0, -5))
"""The shares of publishable first drafts that a limit is fitted for, the highest first."""
_DIGITS: Final = 10_000
_WIDTH: Final = 128
"""The width of the vectors that are kept: with 64 the area by ``features`` falls from .737 to .728."""
_DRAWN: Final = 2
"""How many verdicts at the mean are added to those on each reply."""
SHARES: Final = 8
"""How many of the router's shares are kept of a post."""


class Vote(NamedTuple):
    """What tells of a reply under one post, by the bank and without it, and whether a reader would publish it."""

    by_bank: NDArray[np.float32]
    by_text: NDArray[np.float32]
    is_right: bool


def main() -> None:
    """Write the vectors and what was fitted, and print what the likeliest replies are worth."""
    router, embedder = shipped_router(), SentenceEmbedder()
    packed = _packed(router, embedder)
    nothing = {"of_nearest": [], "of_answers": [], "of_others": [], "least": 1, "limits": []}
    VECTORS.write_bytes(save(packed, metadata={"about": json.dumps(nothing)}))
    near, told, shown = list[NDArray[np.float32]](), list[bool](), list[list[Vote]]()
    for post, some in groupby(judged(), key=lambda row: row.post):
        features, rows = shipped_vectors().features(post, _LANGUAGE, router, embedder), list(some)
        near += list(features[[row.spoken.at for row in rows]])
        told += [row.verdict is Verdict.YES for row in rows]
        if rows[0].is_dev:  # of the others the network has learnt
            shown.append(list(_votes(rows, features, embedder)))
    about: dict[str, Any] = {"of_nearest": fitted(near, told).round(4).tolist()}
    first = _first(shown)
    print(*_table(first), sep="\n")  # noqa: T201
    limits = limits_of(first)
    print(*(in_words(limit) for limit in limits), sep="\n")  # noqa: T201
    everything = [one for some in shown for one in some]
    right = [vote.is_right for vote in everything]
    about["of_answers"] = fitted([vote.by_bank for vote in everything], right).round(4).tolist()
    about["of_others"] = fitted([vote.by_text for vote in everything], right).round(4).tolist()
    about |= {"least": _LEAST, "limits": [list(limit) for limit in limits]}
    VECTORS.write_bytes(save(packed, metadata={"about": json.dumps(about)}))


def _votes(rows: Sequence[Judged], features: NDArray[np.float32], embedder: Embedder) -> Iterator[Vote]:
    """What tells of each reply under one post whether it fits, and whether a reader would publish it.

    Of a reply that no name of the post goes with nothing is learnt, since it is not offered.
    """
    spoken = [row.spoken for row in rows]
    fits = fits_of(rows[0].post, [(one.text, one.says) for one in spoken])
    by_bank = shipped_vectors().features_of(spoken, fits, features, wanted(rows[0].post, embedder).chance)
    post, *replies = vectors_of([rows[0].post, *(one.text for one in spoken)], _LANGUAGE, embedder)
    for row, known, reply in zip(rows, by_bank, replies, strict=True):
        if not brought_in(row.spoken.text, row.post, _LANGUAGE):
            by_text = features_of_other(row.spoken.text, float(known[0]), float(reply @ post))
            yield Vote(known, by_text, row.verdict is Verdict.YES)


def rates(rows: Iterable[Judged]) -> NDArray[np.float32]:
    """The shares of ``Vectors.rates``, by the verdicts under posts that nothing else is fitted on."""
    learnt = [row for row in rows if not row.is_dev]
    mean = np.mean([row.verdict is Verdict.YES for row in learnt])
    votes = np.full((len(answers()), 2, 2), (_DRAWN * mean, _DRAWN))
    for row in learnt:
        votes[row.spoken.at, int(not row.spoken.is_whole)] += row.verdict is Verdict.YES, 1
    return np.asarray(votes[..., 0] / votes[..., 1], np.float32)


def _packed(router: Router, embedder: Embedder) -> dict[str, NDArray[Any]]:
    """The vectors of all replies and the matrices, as they are kept: in eight and in sixteen bits."""
    answered_posts = {row["id"]: row for row in rows_in(FOLDER / "posts.jsonl")}
    answered = [posts_of(answered_posts[prepared_id(_LANGUAGE, one.text)], answered_posts) for one in answers()]
    every = list(dict.fromkeys(post for posts in answered for post in posts))
    vectors_by = dict(zip(every, vectors_of([unnamed(post) for post in every], _LANGUAGE, embedder), strict=True))
    shares_by = {post: np.sqrt(router.shares(post, _LANGUAGE)) for post in every}
    posts = np.array([_mean([vectors_by[post] for post in posts]) for posts in answered])
    replies = vectors_of([unnamed(one.text.replace(PLACE, THOSE)) for one in answers()], _LANGUAGE, embedder)
    claims = vectors_of([one.claim for one in answers()], _LANGUAGE, embedder)
    verdicts = {row["post"] for row in rows_in(FOLDER / "judged.jsonl")}
    is_learnt = np.array([verdicts.isdisjoint(posts) for posts in answered])
    groups = np.array([one.group.value for one in answers()])
    own = Pairs(posts[is_learnt], claims[is_learnt], replies[is_learnt], groups[is_learnt])
    pairs = own.beside(_pairs_of_gists(verdicts, embedder))
    to_replies, of_replies = learnt(pairs, pairs.replies)
    to_claims, of_claims = learnt(pairs, pairs.claims)
    held, matrices = dict[str, NDArray[Any]](), dict[str, NDArray[Any]]()
    for name, rows, matrix in (
        ("posts", posts, np.eye(posts.shape[1], dtype=np.float32)),
        ("replies", turned(replies, of_replies), to_replies),
        ("claims", turned(claims, of_claims), to_claims),
    ):
        shorter = shortening(rows)
        held[name] = np.round(turned(rows, shorter) * 127).astype(np.int8)
        matrices[f"to_{name}"] = (matrix @ shorter).astype(np.float16)
    shares = np.array([_mean([shares_by[post] for post in posts]) for posts in answered])
    stereotypes = np.argsort(-shares, axis=1)[:, :SHARES].astype(np.uint16)
    largest = np.take_along_axis(shares, stereotypes.astype(np.intp), axis=1)
    held |= {
        "shares": np.round(largest * 127).astype(np.int8),
        "rates": np.round(rates(judged()) * 127).astype(np.int8),
    }
    return {**held, **matrices, "stereotypes": stereotypes}


def shortening(rows: NDArray[np.float32], width: int = _WIDTH) -> NDArray[np.float32]:
    """The matrix that keeps the directions in which vectors differ most, shape (columns, width)."""
    _, _, directions = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(directions[:width].T)


def posts_of(row: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The posts that a reply answers: one, those that make its claim, or those that put its stereotype forward."""
    if "stereotype" in row:
        return list(load_stereotypes()[row["stereotype"]].wordings[_LANGUAGE])
    return [row["post"]] if "post" in row else row.get("posts") or [rows[one]["post"] for one in row["like"]]


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


def _first(posts: Sequence[Sequence[Vote]], folds: int = 10) -> list[tuple[float, bool]]:
    """The chance of the likeliest reply under each post, and its vote, by fits without that post; the likeliest first.

    It is the one that is shown first (``core.engine.review.assessment.with_answers_placed``).
    """
    first = list[tuple[float, bool]]()
    for fold in range(folds):
        learnt = [vote for at, some in enumerate(posts) if at % folds != fold for vote in some]
        weights = fitted([vote.by_bank for vote in learnt], [vote.is_right for vote in learnt])
        for some in [some for at, some in enumerate(posts) if at % folds == fold]:
            first.append(max((chance_of(vote.by_bank, weights), vote.is_right) for vote in some))
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


def chance_of(features: NDArray[np.float32], weights: NDArray[np.float64]) -> float:
    return float(expit(features @ weights[:-1] + weights[-1]))


def fitted(features: Sequence[NDArray[np.float32]], told: Sequence[bool]) -> NDArray[np.float64]:
    """The weights and the offset of a logistic regression, shape (features + 1,)."""
    fit = LogisticRegression(solver="newton-cholesky", tol=1e-8).fit(np.array(features, np.float64), told)
    return np.append(fit.coef_[0], fit.intercept_)


if __name__ == "__main__":
    main()
