"""Which stereotype a post puts forward, among those about the group that it attacks.

Owns how the shipped weights are read and what their numbers mean. The router abstains where it is not sure: no card is
better than a wrong one. How sure it has to be, to answer a post and to say what the post claims, was fixed for each
language on labelled posts (``python -m training.heads.routing``); in a language without limits it always abstains.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

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


class Router:
    """Tells which stereotypes a post puts forward. Blocking: call it in a thread.

    Args:
        classifier: gives one output for each stereotype, and one for each group's posts that hold none of them.
    """

    def __init__(self, classifier: TextClassifier) -> None:
        self._classifier = classifier
        self._last: tuple[bytes, NDArray[np.float32]] | None = None

    def route(self, text: str, language: str | None, group: TargetGroup, *, violent: bool = False) -> list[Route]:
        """The stereotypes that the post surely enough puts forward; two at most, otherwise as ``guesses``."""
        least, _ = self.limits(language)
        found = self.guesses(text, language, group, violent=violent)[:MOST]
        return [one for one in found if one.probability >= least]

    def limits(self, language: str | None) -> tuple[float, float]:
        """The probabilities from which a stereotype is answered, and told as the gist of a post."""
        least, told = self._classifier.about["limits"].get(language, _NEVER)
        return least, told

    def guesses(self, text: str, language: str | None, group: TargetGroup, *, violent: bool = False) -> list[Route]:
        """Every stereotype about the group with its probability, the likeliest first; none in unknown languages.

        Args:
            violent: whether calls for violence are among them: nobody is told that lives are precious who only said
                something mild.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        about, known = self._classifier.about, load_stereotypes()
        fitted = about["calibration"].get(language)
        if fitted is None:
            return []
        of_group = (known[name] for name in about["outputs"] if name in known and known[name].target_group is group)
        names = [one.id for one in of_group if violent or not one.is_violent]
        if not names:
            return []
        places = {name: at for at, name in enumerate(about["outputs"])}
        none = f"{names[0].split('/')[0]}/{NONE}"
        logits = self._logits(" ".join(readable(text, language).split()[:MOST_WORDS]))
        shares = shares_among(logits[[places[name] for name in (*names, none)]])[:-1]
        chances = _probability(_odds(shares) * fitted[0] + fitted[1])
        found = [Route(known[name], float(chance)) for name, chance in zip(names, chances, strict=True)]
        return sorted(found, key=lambda one: -one.probability)

    def groups(self, text: str, language: str | None) -> dict[TargetGroup, float]:
        """How likely each group is the one that a hateful post is about, by all stereotypes; none in unknown languages.

        The shares sum to 1: the router cannot say that a post attacks nobody.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        about = self._classifier.about
        if language not in about["calibration"]:
            return {}
        groups = {name.split("/")[0]: one.target_group for name, one in load_stereotypes().items()}
        shares = shares_among(self._logits(" ".join(readable(text, language).split()[:MOST_WORDS])))
        found = dict.fromkeys(groups.values(), 0.0)
        for name, share in zip(about["outputs"], shares, strict=True):
            found[groups[name.split("/")[0]]] += float(share)
        return found

    def _logits(self, shown: str) -> NDArray[np.float32]:
        """The outputs for a text; those of the last one are kept by a digest, since each stage asks for the same."""
        digest, last = hashlib.blake2b(shown.encode()).digest(), self._last
        if last is None or last[0] != digest:
            self._last = last = (digest, self._classifier.logits([(shown,)])[0])
        return last[1]


@cache
def shipped_router() -> Router:
    """The router with the shipped weights, which are loaded at the first use, once for all engines of a process."""
    return Router(SmallEncoder(WEIGHTS))


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
