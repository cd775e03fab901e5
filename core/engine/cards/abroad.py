"""Replies in Spanish, Italian and Basque to what a post says.

Some were written anew in each language after replies of the English bank that readers published, and answer the same
English posts; others answer posts of the language. multilingual-e5-small, which reads all four languages, tells which
are near to a post: by those posts, by what they say, and by the reply itself. From these cosines and from whom both
speak of, a logistic regression tells how likely a reader would publish the reply. From a chance on they are offered;
where nothing fits there is none. ``training.heads.abroad`` makes the vectors and fits the chance.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from core.engine.backends import e5
from core.engine.cards.answers import (
    FOLDER,
    MOST,
    Answer,
    Chances,
    Limit,
    answers,
    chance_of,
    shipped_vectors,
    turned,
)
from core.engine.cards.bank import ArgumentCard, Changes, FittingReply, Stereotype, prepared_id
from core.engine.cards.router import Router
from core.engine.wording.accusations import brought_in
from core.engine.wording.target_groups import Name, named, unnamed
from core.models import Intent

LANGUAGES: Final = ("es", "it", "eu")
MATRICES: Final = ("posts", "claims", "replies")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VectorsAbroad(Chances):
    """What is known of the replies in one language, one row for each, as its file has them.

    Attributes:
        held: by the names of ``MATRICES`` the vectors of the answered posts (their mean), of what these say and of the
            reply, all without names, each centred on its kind and shortened, shape (answers, width).
        shorter: what shortens the vector of a post so that it compares with each, shape (384, width).
        mean: of the vectors of posts in the language, shape (384,): a language's texts lie in a narrow cone, and only
            what is left of them without it tells them apart.
        shares, stereotypes: as in ``Vectors``, by the router for other languages than English.
        rates: the share of readers who would publish the English reply under other posts, shape (answers,).
        fitted: what was fitted of what ``features`` gives, with the offset.
        of_cards: the share of readers who would publish a card's reply to the stereotype of a post that names the
            group, and any other reply of a card.
    """

    held: dict[str, NDArray[np.float32]]
    shorter: dict[str, NDArray[np.float32]]
    mean: NDArray[np.float32]
    shares: NDArray[np.float32]
    stereotypes: NDArray[np.uint16]
    rates: NDArray[np.float32]
    fitted: NDArray[np.float32]
    of_cards: tuple[float, float]

    def features(self, text: str, language: str, names: Sequence[Name], router: Router) -> NDArray[np.float32]:
        """What tells how well each reply fits a post, shape (answers, 8). Blocking.

        They are the cosines of the post with the answered ones, with what they say and with the reply, and of the
        stereotypes of both posts; the reply's rate; how early the post names the people of the reply, if it does, since
        those attacked come first most often; whether it names nobody; and whether the reply has a place for a name.
        """
        post, shares = centred(vector_of(text, language), self.mean), shares_of(text, language, router)
        every = answers(file_of(language))
        columns = [
            *(self.held[name] @ turned(post, self.shorter[name]) for name in MATRICES),
            (self.shares * shares[self.stereotypes]).sum(axis=1) if len(shares) else np.zeros(len(every)),
            self.rates,
            np.array([1 / (1 + names.index(name)) if (name := one.of(names)) else 0.0 for one in every]),
            np.full(len(every), not names),
            np.array([bool(one.kinds) for one in every]),
        ]
        return np.stack(columns, axis=1).astype(np.float32)


def vector_of(text: str, language: str) -> NDArray[np.float32]:
    """The vector of a post without names, shape (384,). Blocking."""
    return e5.vector_of(unnamed(text, language))


def shares_of(text: str, language: str, router: Router) -> NDArray[np.float32]:
    """The square roots of the router's shares of a post, in the order of its outputs; none without one. Blocking."""
    return np.sqrt(np.array(list(router.shares_abroad(text, language).values()), np.float32))


def centred(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors of shape (384,) or (n, 384) seen from their mean, of length 1 again."""
    apart = vectors - mean
    return np.asarray(apart / np.linalg.norm(apart, axis=-1, keepdims=True))


def with_answers(
    cards: Sequence[ArgumentCard],
    text: str,
    language: str,
    router: Router,
    changes: Changes,
    intents: Collection[Intent] = tuple(Intent),
) -> list[ArgumentCard]:
    """The cards, the first with the replies to what this post says, the likeliest first. Blocking.

    Neither what a community took out is among them nor what brings in a smear that the post does not make.

    Raises:
        IndexUnavailable: the router cannot be loaded.
    """
    if not cards:
        return []
    found, originals = list[FittingReply](), dict[str, str]()
    for answer, name, chance in _likeliest(text, language, router):
        if chance < shipped(language).least or len(found) == MOST:
            break
        reply, says = answer.called(name)
        is_wanted = answer.intent in intents and prepared_id(language, answer.text) not in changes.hidden
        if is_wanted and reply not in originals and not brought_in(answer.text, text, language):
            originals[reply] = answer.text
            found.append(FittingReply(reply, says, answer.intent, chance))
    first = replace(cards[0], answers=tuple(found), originals={**cards[0].originals, **originals})
    return [first, *cards[1:]]


def _likeliest(text: str, language: str, router: Router) -> Iterator[tuple[Answer, Name | None, float]]:
    """The replies that may be said to these people, each with their name and its chance."""
    vectors, names, every = shipped(language), named(text, language), answers(file_of(language))
    chances = chance_of(vectors.features(text, language, names, router), vectors.fitted)
    for at in map(int, np.argsort(-chances, kind="stable")):
        name = every[at].of(names)
        if name or not (every[at].kinds or every[at].who):
            yield every[at], name, float(chances[at])


def chances_in(language: str | None) -> Chances:
    """From which chances on prepared replies are offered in a language; as in English where there are none."""
    return shipped(language) if language in LANGUAGES else shipped_vectors()


def chance_of_card(stereotype: Stereotype, post: str, language: str) -> float:
    """How likely a reader would publish a card's reply under a post, which hardly fits where its group is not named."""
    of_stereotype, of_any = shipped(language).of_cards
    is_named = any(stereotype.target_group in name.groups for name in named(post, language))
    return of_stereotype if is_named and not stereotype.is_general else of_any


def file_of(language: str) -> Path:
    """The replies in a language."""
    return FOLDER / f"answers_{language}.jsonl"


@cache
def shipped(language: str) -> VectorsAbroad:
    """The vectors that ship, which are read at the first use."""
    with safe_open(FOLDER / f"answers_{language}.safetensors", framework="numpy") as file:
        about: dict[str, Any] = json.loads(file.metadata()["about"])
        held = {name: file.get_tensor(name).astype(np.float32) / 127 for name in (*MATRICES, "shares", "rates")}
        shorter = {name: file.get_tensor(f"to_{name}").astype(np.float32) for name in MATRICES}
        mean, stereotypes = file.get_tensor("mean"), file.get_tensor("stereotypes")
    return VectorsAbroad(
        least=about["least"],
        limits=tuple(Limit(*limit) for limit in about["limits"]),
        rates=held.pop("rates"),
        shares=held.pop("shares"),
        stereotypes=stereotypes,
        held=held,
        shorter=shorter,
        mean=mean,
        fitted=np.array(about["fitted"], np.float32),
        of_cards=tuple(about["of_cards"]),
    )
