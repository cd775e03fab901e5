"""Which stereotype a post puts forward, among those about the group that it attacks.

The router abstains where it is not sure: no card is better than a wrong one. How sure it has to be, to answer a post
and to say what the post claims, was fixed for each language on labelled posts (``antiphon train heads``); in a language
without limits it always abstains.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.encoders import SmallEncoder
from core.engine.cards.bank import Stereotype, load_stereotypes
from core.engine.ports import Embedder, TextClassifier
from core.engine.wording.encoder_text import readable
from core.models import TargetGroup

NONE: Final = "none"
"""What is said of a post whose claim the taxonomy lacks."""
WEIGHTS: Final = Path(str(resources.files("core.engine.cards"))) / "routing.safetensors"
ABROAD: Final = WEIGHTS.with_name("abroad.safetensors")
"""The weights that read the languages which they were fitted in instead of the others."""
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
class RouterFit:
    """What was fitted on labelled posts of a language.

    Attributes:
        slope, offset: make the log-odds of a share the probability that a reader sees the stereotype.
        least, told: the probabilities from which a stereotype is answered, and told as the gist of a post.
    """

    slope: float
    offset: float
    least: float
    told: float

    @property
    def is_ever_sure(self) -> bool:
        """Whether there were enough posts to fix a limit on."""
        return self.least < _NEVER[0]


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """What another model says of the stereotypes that a post puts forward.

    Attributes:
        added: to the router's outputs, in their order.
        fitted: for the sums.
        scale: makes the sums as sure of a group as the router's outputs are, for which limits are known.
    """

    added: NDArray[np.float32]
    fitted: RouterFit
    scale: float


@dataclass(frozen=True, slots=True)
class RankedStereotypes:
    """Every stereotype about a group, the likeliest first; ``least`` and ``told`` as in ``RouterFit``."""

    routes: tuple[Route, ...] = ()
    least: float = 1.0
    told: float = 1.0

    @property
    def sure(self) -> list[Route]:
        """The stereotypes that the post surely enough puts forward; two at most."""
        return [route for route in self.routes[:MOST] if route.probability >= self.least]


class Router:
    """Tells which stereotypes a post puts forward. Blocking: call it in a thread.

    Args:
        classifier: gives one output for each stereotype, and one for each group's posts that hold none of them.
        abroad: has the same outputs, and reads the languages that it is calibrated in.
    """

    def __init__(self, classifier: TextClassifier, abroad: TextClassifier | None = None) -> None:
        self._classifier, self._abroad = classifier, abroad
        self._last: tuple[bytes, NDArray[np.float32]] | None = None

    def route(self, text: str, language: str | None, group: TargetGroup, *, violent: bool = False) -> list[Route]:
        """The stereotypes that the post surely enough puts forward, by the router alone."""
        return self.read(text, language, group, violent=violent).sure

    def read(
        self,
        text: str,
        language: str | None,
        group: TargetGroup,
        beside: Beside | None = None,
        *,
        violent: bool = False,
    ) -> RankedStereotypes:
        """Every stereotype about the group with its probability; none in unknown languages.

        Args:
            beside: what another model says of the same post, which counts, too.
            violent: whether calls for violence are among them: nobody is told that lives are precious who only said
                something mild.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        outputs, taxonomy = self.classifier_for(language).about["outputs"], load_stereotypes()
        fitted = beside.fitted if beside else self._fit(language)
        if fitted is None:
            return RankedStereotypes()
        of_group = (taxonomy[name] for name in outputs if name in taxonomy and taxonomy[name].target_group is group)
        names = [stereotype.id for stereotype in of_group if violent or not stereotype.is_violent]
        if not names:
            return RankedStereotypes()
        places = {name: at for at, name in enumerate(outputs)}
        none = f"{names[0].split('/')[0]}/{NONE}"
        logits = self._logits(text, self.classifier_for(language), language) + (beside.added if beside else 0)
        shares = shares_among(logits[[places[name] for name in (*names, none)]])[:-1]
        chances = _probability(_odds(shares) * fitted.slope + fitted.offset)
        routes = [Route(taxonomy[name], float(chance)) for name, chance in zip(names, chances, strict=True)]
        return RankedStereotypes(tuple(sorted(routes, key=lambda route: -route.probability)), fitted.least, fitted.told)

    def shares(self, text: str, language: str | None) -> NDArray[np.float64]:
        """The share of each output, shape (outputs,); they sum to 1.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        return shares_among(self._logits(text, self.classifier_for(language), language))

    def shares_abroad(self, text: str, language: str) -> dict[str, float]:
        """The share of each output by the weights for other languages than English, also without limits for this one.

        Empty without such weights.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        if self._abroad is None:
            return {}
        shares = shares_among(self._logits(text, self._abroad, language))
        return dict(zip(self._abroad.about["outputs"], shares.tolist(), strict=True))

    def groups(self, text: str, language: str | None, beside: Beside | None = None) -> dict[TargetGroup, float]:
        """How likely each group is the one that a hateful post is about, by all stereotypes; none in unknown languages.

        The shares sum to 1: the router cannot say that a post attacks nobody.

        Args:
            beside: what another model says of the same post, which counts, too.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        if self._fit(language) is None:
            return {}
        groups = {name.split("/")[0]: stereotype.target_group for name, stereotype in load_stereotypes().items()}
        logits = self._logits(text, self.classifier_for(language), language)
        shares = shares_among((logits + beside.added) * beside.scale if beside else logits)
        shares_of_groups = dict.fromkeys(groups.values(), 0.0)
        for name, share in zip(self.classifier_for(language).about["outputs"], shares, strict=True):
            shares_of_groups[groups[name.split("/")[0]]] += float(share)
        return shares_of_groups

    def _fit(self, language: str | None) -> RouterFit | None:
        about = self.classifier_for(language).about
        if language not in about["calibration"]:
            return None
        return RouterFit(*about["calibration"][language], *about["limits"].get(language, _NEVER))

    def classifier_for(self, language: str | None) -> TextClassifier:
        """The classifier that reads a language."""
        if self._abroad is None or language in {None, "en"} or language not in self._abroad.about["calibration"]:
            return self._classifier
        return self._abroad

    def _logits(self, text: str, classifier: TextClassifier, language: str | None) -> NDArray[np.float32]:
        """The outputs for a text; those of the last one are kept by a digest, since each stage asks for the same."""
        words = as_routed(text, language)
        digest, last = hashlib.blake2b(f"{id(classifier)}\n{words}".encode()).digest(), self._last
        if last is None or last[0] != digest:
            self._last = last = (digest, classifier.logits([(words,)])[0])
        return last[1]


def as_routed(text: str, language: str | None) -> str:
    """A post as its stereotypes are looked for: without disguises, and the first words of a long one."""
    return " ".join(readable(text, language).split()[:MOST_WORDS])


def vectors_of(texts: Sequence[str], language: str, embedder: Embedder) -> NDArray[np.float32]:
    """The vectors of posts as the router reads them."""
    return embedder.encode([as_routed(text, language) for text in texts])


@cache
def shipped_router() -> Router:
    """The router with the shipped weights, which are loaded at the first use, once for all engines of a process."""
    return Router(SmallEncoder(WEIGHTS), SmallEncoder(ABROAD))


def outputs_of(stereotypes: Iterable[Stereotype]) -> list[str]:
    """The names of the outputs: each stereotype, and after those of a group what none of them is."""
    return [
        f"{stereotype.id.split('/')[0]}/{NONE}" if stereotype.is_general else stereotype.id
        for stereotype in stereotypes
    ]


def shares_among(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The shares of outputs that compete, shape (outputs,); they sum to 1."""
    risen = np.exp(logits.astype(np.float64) - float(logits.max()))
    return np.asarray(risen / risen.sum())


def _odds(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(shares, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inside / (1 - inside)))


def _probability(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-odds)))
