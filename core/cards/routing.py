"""Which stereotype a post puts forward, among those about the group that it attacks.

Owns how the shipped weights are read and what their numbers mean, alone and beside what another model says of the same
stereotypes. The router abstains where it is not sure: no card is better than a wrong one. How sure it has to be, to
answer a post and to say what the post claims, was fixed for each language on labelled posts
(``python -m training.heads.routing``); in a language without limits it always abstains.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.cards.bank import Stereotype, load_stereotypes
from core.llm.backends.encoders import SmallEncoder
from core.models import TargetGroup
from core.ports import TextClassifier
from core.wording.readable import readable

NONE: Final = "none"
"""What is said of a post whose claim the taxonomy lacks."""
WEIGHTS: Final = Path(str(resources.files("core.cards"))) / "routing.safetensors"
MOST: Final = 2
"""A post may put forward two stereotypes."""
MOST_WORDS: Final = 200
_NEVER: Final = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Route:
    """A stereotype, and how likely it is that a reader sees it in the post, in [0, 1]."""

    stereotype: Stereotype
    probability: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was fitted on labelled posts of a language.

    Attributes:
        slope, offset: make the log-odds of a share the probability that a reader sees the stereotype.
        least, told: the probabilities from which a stereotype is answered, and told as the gist of a post.
    """

    slope: float
    offset: float
    least: float
    told: float


class SecondOpinion(Protocol):
    """Another model's word on the stereotypes that a post puts forward."""

    def on_stereotypes(self, shown: str, language: str | None) -> tuple[NDArray[np.float32], Fitted] | None:
        """What is added to the router's outputs, in their order, and what was fitted for the sums.

        ``None`` where it says nothing of the language or the text. Blocking.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Said:
    """The outputs for a text, and what was fitted for them; ``fitted`` is ``None`` in an unknown language."""

    digest: bytes
    logits: NDArray[np.float32]
    fitted: Fitted | None


class Router:
    """Tells which stereotypes a post puts forward. Blocking: call it in a thread.

    Args:
        classifier: gives one output for each stereotype, and one for each group's posts that hold none of them.
        beside: is asked of each post, too, where there is one.
    """

    def __init__(self, classifier: TextClassifier, beside: SecondOpinion | None = None) -> None:
        self._classifier, self._beside = classifier, beside
        self._last: _Said | None = None

    @property
    def alone(self) -> Router:
        """This router without a second opinion, for words that are no post."""
        return Router(self._classifier)

    def route(self, text: str, language: str | None, group: TargetGroup, *, violent: bool = False) -> list[Route]:
        """The stereotypes that the post surely enough puts forward; two at most, otherwise as ``guesses``."""
        found = self.guesses(text, language, group, violent=violent)[:MOST]
        least, _ = self.limits(text, language)
        return [one for one in found if one.probability >= least]

    def limits(self, text: str, language: str | None) -> tuple[float, float]:
        """The probabilities from which a stereotype is answered, and told as the gist of a post."""
        fitted = self._said(text, language).fitted
        return (fitted.least, fitted.told) if fitted else _NEVER

    def guesses(self, text: str, language: str | None, group: TargetGroup, *, violent: bool = False) -> list[Route]:
        """Every stereotype about the group with its probability, the likeliest first; none in unknown languages.

        Args:
            violent: whether calls for violence are among them: nobody is told that lives are precious who only said
                something mild.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        said, about, known = self._said(text, language), self._classifier.about, load_stereotypes()
        if said.fitted is None:
            return []
        of_group = (known[name] for name in about["outputs"] if name in known and known[name].target_group is group)
        names = [one.id for one in of_group if violent or not one.is_violent]
        if not names:
            return []
        places = {name: at for at, name in enumerate(about["outputs"])}
        none = f"{names[0].split('/')[0]}/{NONE}"
        shares = shares_among(said.logits[[places[name] for name in (*names, none)]])[:-1]
        chances = _probability(_odds(shares) * said.fitted.slope + said.fitted.offset)
        found = [Route(known[name], float(chance)) for name, chance in zip(names, chances, strict=True)]
        return sorted(found, key=lambda one: -one.probability)

    def groups(self, text: str, language: str | None) -> dict[TargetGroup, float]:
        """How likely each group is the one that a hateful post is about, by all stereotypes; none in unknown languages.

        The shares sum to 1: the router cannot say that a post attacks nobody.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        said = self._said(text, language)
        if said.fitted is None:
            return {}
        groups = {name.split("/")[0]: one.target_group for name, one in load_stereotypes().items()}
        found = dict.fromkeys(groups.values(), 0.0)
        for name, share in zip(self._classifier.about["outputs"], shares_among(said.logits), strict=True):
            found[groups[name.split("/")[0]]] += float(share)
        return found

    def _said(self, text: str, language: str | None) -> _Said:
        """What is said of a text; that of the last one is kept by a digest, since each stage asks for the same."""
        shown = as_routed(text, language)
        digest, last = hashlib.blake2b(f"{language}\0{shown}".encode()).digest(), self._last
        if last is None or last.digest != digest:
            self._last = last = self._asked(digest, shown, language)
        return last

    def _asked(self, digest: bytes, shown: str, language: str | None) -> _Said:
        about = self._classifier.about
        if language not in about["calibration"]:
            return _Said(digest, np.empty(0, dtype=np.float32), None)
        logits = self._classifier.logits([(shown,)])[0]
        second = self._beside.on_stereotypes(shown, language) if self._beside else None
        if second is not None:
            return _Said(digest, logits + second[0], second[1])
        return _Said(digest, logits, Fitted(*about["calibration"][language], *about["limits"].get(language, _NEVER)))


def as_routed(text: str, language: str | None) -> str:
    """A post as its stereotypes are looked for: without disguises, and the first words of a long one."""
    return " ".join(readable(text, language).split()[:MOST_WORDS])


def shipped_router(beside: SecondOpinion | None = None) -> Router:
    """The router with the shipped weights, which are loaded at the first use, once for all engines of a process."""
    return Router(_shipped(), beside)


@cache
def _shipped() -> SmallEncoder:
    return SmallEncoder(WEIGHTS)


def outputs_of(stereotypes: Iterable[Stereotype]) -> list[str]:
    """The names of the outputs: each stereotype, and after those of a group what none of them is."""
    return [f"{one.id.split('/')[0]}/{NONE}" if one.is_general else one.id for one in stereotypes]


def shares_among(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The shares of outputs that compete, shape (outputs,); they sum to 1."""
    risen = np.exp(logits.astype(np.float64) - float(logits.max()))
    return np.asarray(risen / risen.sum())


def _odds(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(shares, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inside / (1 - inside)))


def _probability(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-odds)))
