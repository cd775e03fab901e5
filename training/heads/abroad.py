"""Makes the vectors of the replies in Spanish, Italian and Basque, and fits how likely one would be published.

    python -m training.heads.abroad

Reads the replies (``core/engine/cards/answers_es.jsonl`` and so on), which posts they answer, English ones or of their
language (``training/data/answers/posts_abroad.jsonl``), and what readers of the language said of some under other posts
(``judged_abroad.jsonl``). Make the vectors anew when the replies or the English verdicts change.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from core.engine.backends import e5
from core.engine.cards.abroad import LANGUAGES, MATRICES, centred, file_of, shares_of, shipped, vector_of
from core.engine.cards.answers import FOLDER as CARDS
from core.engine.cards.answers import PLACE, answers, turned
from core.engine.cards.bank import prepared_id
from core.engine.cards.router import shipped_router
from core.engine.wording.accusations import brought_in
from core.engine.wording.target_groups import THOSE, THOSE_ABROAD, named
from training.corpus import rows_in
from training.heads.answers import SHARES, chance_of, fitted, in_words, limits_of, posts_of, rates, shortening
from training.heads.fit import FOLDER, judged
from training.heads.projections import Pairs, learnt

PEOPLE: Final = THOSE_ABROAD | {"eu": "pertson"}
"""What stands in the place of a name; in Basque an ending follows it."""
LEAST: Final = 0.2
OF_CARDS: Final = {"es": (0.4, 0.01), "it": (0.15, 0.01), "eu": (0.15, 0.01)}
"""The shares of publishable replies of cards, to the stereotype and to any post about the group: of the first two under
60 posts in each language one reader would publish 10 of 24 in Spanish, 2 of 12 in Italian, and 3 of 324 general ones.
In Basque too few were to a stereotype."""
_OFFSETS: Final = 3
_LEARNT: Final = 4_500
"""From about so many English posts it is learnt how vectors are turned."""


class Vote(NamedTuple):
    """What tells of a reply under one post, with the offset of its language, and whether a reader would publish it."""

    features: NDArray[np.float32]
    is_right: bool


def main() -> None:
    """Write the vectors and what was fitted, and print what the likeliest replies are worth."""
    packed = {language: _packed(language) for language in LANGUAGES}
    nothing = {"fitted": [], "least": 1, "limits": [], "of_cards": [0, 0]}
    for language in LANGUAGES:
        _write(language, packed[language], nothing)
    posts = {language: list(_votes(language)) for language in LANGUAGES}
    every = [vote for some in posts.values() for votes in some for vote in votes]
    weights = fitted([vote.features for vote in every], [vote.is_right for vote in every])
    first = {language: _first(posts, language) for language in LANGUAGES}
    limits = limits_of(sorted((one for some in first.values() for one in some), key=lambda one: -one[0]))
    print(*map(in_words, limits), sep="\n")  # noqa: T201
    for language in LANGUAGES:
        right = [is_right for chance, is_right in first[language] if chance >= LEAST]
        print(f"{language}: {len(right)} of {len(first[language])} have one, {np.mean(right):.2f} right")  # noqa: T201
        about = {
            "fitted": _of_language(weights, language).round(4).tolist(),
            "least": LEAST,
            "limits": [list(limit) for limit in limits],
            "of_cards": OF_CARDS[language],
        }
        _write(language, packed[language], about)


def _write(language: str, packed: dict[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    (CARDS / f"answers_{language}.safetensors").write_bytes(save(packed, metadata={"about": json.dumps(about)}))
    shipped.cache_clear()


def _packed(language: str) -> dict[str, NDArray[Any]]:
    """The vectors of all replies and what shortens that of a post, as they are kept: in eight and in sixteen bits."""
    every, those = answers(file_of(language)), PEOPLE[language]
    rows = {row["id"]: row for row in rows_in(FOLDER / "posts_abroad.jsonl")}
    origins = [rows[prepared_id(language, one.text)] for one in every]
    posts = [_posts_of(row, language) for row in origins]
    vector = {post: vector_of(*post) for post in dict.fromkeys(chain.from_iterable(posts))}
    whole = {
        "posts": np.array([np.mean([vector[post] for post in some], axis=0) for some in posts]),
        "claims": np.array([e5.vector_of(one.says.replace(PLACE, those)) for one in every]),
        "replies": np.array([vector_of(one.text.replace(PLACE, those), language) for one in every]),
    }
    router = shipped_router()
    share = {post: shares_of(*post, router) for post in vector}
    shares = np.array([np.mean([share[post] for post in some], axis=0) for some in posts])
    stereotypes = np.argsort(-shares, axis=1)[:, :SHARES].astype(np.uint16)
    held = {
        "rates": np.round(np.array([_rate(row.get("of")) for row in origins]) * 127).astype(np.int8),
        "mean": np.mean([own for post, own in vector.items() if post[1] == language], axis=0).astype(np.float32),
        "shares": np.round(np.take_along_axis(shares, stereotypes.astype(np.intp), axis=1) * 127).astype(np.int8),
        "stereotypes": stereotypes,
    }
    turns = _turns()
    for name in MATRICES:
        to_post, to_other = turns[name]
        vectors = turned(centred(whole[name], whole[name].mean(axis=0)), to_other)
        shorter = shortening(vectors)
        held[name] = np.round(turned(vectors, shorter) * 127).astype(np.int8)
        held[f"to_{name}"] = (to_post @ shorter).astype(np.float16)
    return held


@cache
def _turns() -> dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """How the vector of a post and the others are turned: learnt on English posts, what they say and their replies.

    The model's vectors of all languages lie together, so that what is learnt of one holds for the others.
    """
    own = {prepared_id("en", one.text): one for one in answers()}
    pairs = {row["post"]: own[row["id"]] for row in reversed(list(_english().values())) if "post" in row}
    some = sorted(pairs)[:: max(1, len(pairs) // _LEARNT)]
    posts = _centred([vector_of(post, "en") for post in some])
    claims = _centred([e5.vector_of(pairs[post].claim) for post in some])
    replies = _centred([vector_of(pairs[post].text.replace(PLACE, THOSE), "en") for post in some])
    every = Pairs(posts, claims, replies, np.array([pairs[post].group.value for post in some]))
    same = np.eye(posts.shape[1], dtype=np.float32)
    return {"posts": (same, same), "claims": learnt(every, claims), "replies": learnt(every, replies)}


def _centred(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    return centred(np.array(vectors), np.mean(vectors, axis=0))


def _posts_of(row: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """The posts that a reply answers, each with its language: those of its claim, or the English ones."""
    if "posts" in row:
        return [(post, language) for post in row["posts"]]
    english = _english()
    return [(post, "en") for post in posts_of(english[row["of"].removesuffix("/1")], english)]


@cache
def _english() -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows_in(FOLDER / "posts.jsonl")}


def _rate(of: str | None) -> float:
    """The share of readers who would publish the English reply, or on average any, under other posts."""
    every, places = _rates()
    return float(every[places[of.removesuffix("/1")], int(of.endswith("/1"))] if of else every.mean())


@cache
def _rates() -> tuple[NDArray[np.float32], dict[str, int]]:
    return rates(judged()), {prepared_id("en", one.text): at for at, one in enumerate(answers())}


def _votes(language: str) -> Iterator[list[Vote]]:
    """The verdicts under each post, with what tells of the reply."""
    places = {prepared_id(language, one.text): at for at, one in enumerate(answers(file_of(language)))}
    offset = np.eye(_OFFSETS, dtype=np.float32)[LANGUAGES.index(language)]
    for row in rows_in(FOLDER / "judged_abroad.jsonl"):
        if row["language"] == language:
            features = shipped(language).features(row["post"], language, named(row["post"], language), shipped_router())
            votes = ((reply, verdict == "yes") for verdict in ("yes", "near", "no", "harm") for reply in row[verdict])
            yield [
                Vote(np.concatenate([features[places[reply]], offset]), is_right)
                for reply, is_right in votes
                if reply in places
                and not brought_in(answers(file_of(language))[places[reply]].text, row["post"], language)
            ]


def _of_language(weights: NDArray[np.float64], language: str) -> NDArray[np.float64]:
    """The weights with the offset of one language alone."""
    *others, common = weights
    slopes, offsets = others[:-_OFFSETS], others[-_OFFSETS:]
    return np.array([*slopes, common + offsets[LANGUAGES.index(language)]])


def _first(posts: Mapping[str, Sequence[Sequence[Vote]]], language: str, folds: int = 10) -> list[tuple[float, bool]]:
    """The chance of the likeliest reply under each post in a language, and its vote, by fits without that post."""
    first = list[tuple[float, bool]]()
    for fold in range(folds):
        learnt = [
            vote
            for own, some in posts.items()
            for at, votes in enumerate(some)
            if own != language or at % folds != fold
            for vote in votes
        ]
        weights = fitted([vote.features for vote in learnt], [vote.is_right for vote in learnt])
        for votes in [votes for at, votes in enumerate(posts[language]) if at % folds == fold and votes]:
            first.append(max((chance_of(one.features, weights), one.is_right) for one in votes))
    return first


if __name__ == "__main__":
    main()
