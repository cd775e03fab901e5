"""Learns to tell what an English post wants done to the people whom it attacks.

    python -m training.heads.demands

Reads ``training/data/answers``: demands in a few words and posts, each with the demands that a reader saw in it
(``demands.jsonl``), and the posts that the replies to demands were written to. Two logistic regressions on the vectors
of the embedding model, one of whole posts and one of their clauses, of which the likeliest counts; each demand has the
weights that three-fold cross-validation over the posts that readers labelled prints the worth of.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.answers import answers
from core.engine.cards.bank import prepared_id
from core.engine.cards.demands import WEIGHTS, clauses, demands, likely, shares_of
from core.engine.cards.router import vectors_of
from core.engine.ports import Embedder
from core.engine.wording.target_groups import unnamed
from training.corpus import DATA, rows_in

_LANGUAGE: Final = "en"
_STRENGTH: Final = 20.0
"""C of the regressions; 5 and 50 are no better."""
_STEPS: Final = 100
_FOLDS: Final = 3
_REMEMBERED: Final = 50_000
Labelled = tuple[str, tuple[int, ...]]
"""A text and the numbers of its demands, from 1 on; none where it wants nothing."""


def main() -> None:
    """Write the weights, and print what they are worth on posts that they were not learnt from."""
    embedder = SentenceEmbedder(remembered=_REMEMBERED)
    words, posts, written = _words(), _posts(), list(_written())
    found = dict[str, NDArray[np.float32]]()
    for fold in range(_FOLDS):
        learnt = [row for at, row in enumerate(posts) if at % _FOLDS != fold]
        of_post, of_clauses = learnt_from(words, [*learnt, *written], embedder)
        for text, _ in posts[fold::_FOLDS]:
            found[text] = _chances(text, of_post, of_clauses, embedder)
    wants = np.array([bool(numbers) for _, numbers in posts])
    none = np.array([found[text][0] for text, _ in posts])
    print(f"area of wanting anything: {roc_auc_score(wants, -none):.3f}")  # noqa: T201
    for least in (0.4, 0.5, 0.55, 0.6, 0.7):
        taken = none < 1 - least
        print(f"from {least} on: {taken[wants].mean():.2f} of those that do, {taken[~wants].mean():.2f} of others")  # noqa: T201
    for most in (1, 2, 3):
        hits = [bool(set(numbers) & _first(found[text], most)) for text, numbers in posts if numbers]
        print(f"a right one among the first {most}: {np.mean(hits):.3f} of {len(hits)}")  # noqa: T201
    of_post, of_clauses = learnt_from(words, [*posts, *written], embedder)
    WEIGHTS.write_bytes(save({"post": of_post.astype(np.float16), "clauses": of_clauses.astype(np.float16)}))


def _first(chances: NDArray[np.float32], most: int) -> set[int]:
    return {1 + int(at) for at in np.argsort(-chances[1:])[:most]}


def learnt_from(
    words: Sequence[Labelled], posts: Sequence[Labelled], embedder: Embedder
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weights of whole posts and of clauses, each of shape (385, 1 + demands), the offsets last.

    Args:
        words: demands in a few words, which are both short posts and clauses.
        posts: of one with a demand the clause nearest to what is wanted in such words is learnt, of others each.
    """
    told = [(text, numbers[0]) for text, numbers in words if numbers]
    short = [(text, (number,)) for text, number in told]
    whole = vectors_of([unnamed(text) for text, _ in [*posts, *short]], _LANGUAGE, embedder)
    of_post = _fitted(whole, [numbers[0] if numbers else 0 for _, numbers in [*posts, *short]])
    vectors = vectors_of([text for text, _ in told], _LANGUAGE, embedder)
    numbers_told = np.array([number for _, number in told])
    middle = {number: vectors[numbers_told == number].mean(axis=0) for number in set(numbers_told.tolist())}
    rows, labels = [*vectors], numbers_told.tolist()
    for text, numbers in posts:
        parts = vectors_of(list(map(unnamed, clauses(text))), _LANGUAGE, embedder)
        meant = int(np.argmax(parts @ middle[numbers[0]])) if numbers else -1
        rows += [*parts]
        labels += [numbers[0] if at == meant else 0 for at in range(len(parts))]
    return of_post, _fitted(np.stack(rows), labels)


def _fitted(rows: NDArray[np.float32], labels: Sequence[int]) -> NDArray[np.float64]:
    learnt = LogisticRegression(C=_STRENGTH, max_iter=_STEPS).fit(rows, labels)
    weights = np.zeros((rows.shape[1] + 1, 1 + len(demands())))
    weights[-1] = -np.inf
    weights[:-1, learnt.classes_], weights[-1, learnt.classes_] = learnt.coef_.T, learnt.intercept_
    return np.nan_to_num(weights, neginf=-1e4)


def _chances(
    text: str, of_post: NDArray[np.float64], of_clauses: NDArray[np.float64], embedder: Embedder
) -> NDArray[np.float32]:
    whole = shares_of(of_post.astype(np.float32), vectors_of([unnamed(text)], _LANGUAGE, embedder))
    parts = vectors_of(list(map(unnamed, clauses(text))), _LANGUAGE, embedder)
    return likely(whole, shares_of(of_clauses.astype(np.float32), parts))


def _numbers(names: Sequence[str]) -> tuple[int, ...]:
    order = {demand.id: number for number, demand in enumerate(demands(), start=1)}
    return tuple(order[name] for name in names)


def _words() -> list[Labelled]:
    return [(row["words"], _numbers(row["demands"])) for row in _labelled() if "words" in row]


def _posts() -> list[Labelled]:
    return [(row["post"], _numbers(row["demands"])) for row in _labelled() if "post" in row]


def _labelled() -> Iterable[Mapping[str, Any]]:
    return rows_in(DATA / "answers" / "demands.jsonl")


def _written() -> Iterator[Labelled]:
    """The posts that replies with a place for a name were written to: with their demand, or with none."""
    known, labelled = dict(_words()), {text for text, _ in _posts()}
    of_reply = {prepared_id(_LANGUAGE, one.text): one for one in answers() if one.kinds}
    seen = set[str]()
    rows = [row for row in rows_in(DATA / "answers" / "posts.jsonl") if "post" in row and row["id"] in of_reply]
    for row in sorted(rows, key=lambda row: not of_reply[row["id"]].demand):  # a second reply may leave it out
        demand = of_reply[row["id"]].demand
        if row["post"] not in seen | labelled and (not demand or demand in known):
            seen.add(row["post"])
            yield row["post"], known[demand] if demand else ()


if __name__ == "__main__":
    main()
