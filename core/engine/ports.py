"""What the engine needs from outside, as Protocols, and the shapes of what crosses them or passes between stages."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.models import Brief, Evidence, TargetGroup


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt: ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Generation:
    """What a generation asks for.

    ``schema`` is a fixed JSON schema, never made from a user's text. ``read`` names those of its fields that are
    answered by yes or no, and whose probability is wanted.
    """

    max_tokens: int
    temperature: float = 0.0
    n: int = 1
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    read: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's answer: ``n`` texts, and the tokens that they cost.

    Attributes:
        chances: the probability of yes, in [0, 1], for the fields of JSON that were to be read, where the server tells
            how likely its tokens were.
        is_cut: whether a text ends because there was no more room, and not because the model came to an end.
        is_stated: whether shares were read from what the model wrote, since the server tells no probabilities; they
            are not calibrated.
    """

    texts: tuple[str, ...]
    prompt_tokens: int
    completion_tokens: int
    chances: Mapping[str, float] = field(default_factory=dict)
    is_cut: bool = False
    is_stated: bool = False


Turn = Callable[[], AbstractAsyncContextManager[object]]
"""Gives the turn of one call of the model: entered when the call may begin, left when it is over."""


class LanguageModel(Protocol):
    """A chat model. Every error that it raises is a ``ModelUnavailable``."""

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """Write ``how.n`` answers."""
        ...

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        """Read the probability of each one-token option, from one token's log-probabilities where they are told.

        Returns the options' shares (summing to 1), or ``None`` where the model answered with none of them. Where
        ``Answer.is_stated``, the shares are a guess from a few samples.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """The model's name, so that vectors of two models never mix."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The ISO 639-1 codes of the languages whose vectors can be trusted."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension), each of length 1. Blocking: call it in a thread."""
        ...


@dataclass(frozen=True, slots=True)
class EvidenceQuery:
    """A search for at most ``limit`` passages: several queries at once, of which the first is the post itself.

    The passages are ranked by closeness to the claim and the first query; the other queries widen the coarse search.
    Where ``is_offered``, somebody chooses among the passages: the nearest of the other queries counts as much as the
    first, they raise accusations as the post does, and nothing is left out for being far, or for a gap in the facts.
    Passages about ``target_group`` are preferred. ``groups``, ``since``, ``publishers`` and ``languages`` are filters
    where they are given: a passage must be about one of the groups, published in ``since`` or later, by one of the
    publishers, and in one of the languages. ``named`` are the ids of facts that come before all others, as far as the
    filters let them pass.
    """

    queries: tuple[str, ...]
    claim: str
    target_group: TargetGroup | None = None
    limit: int = 3
    groups: tuple[TargetGroup, ...] = ()
    since: int | None = None
    publishers: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    is_offered: bool = False


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: passages, best first, and notes for people, in sentences."""

    passages: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()


class EvidenceSource(Protocol):
    async def search(self, query: EvidenceQuery) -> SearchResult:
        """The passages that bear on the claim; an empty list means no evidence. Raises ``IndexUnavailable``."""
        ...


class Reranker(Protocol):
    """Tells how far passages bear on a text."""

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each text and passage one number in [0, 1]. Raises ``ScorerUnavailable``."""
        ...


class Scorer(Protocol):
    """One reward. ``name`` is a field of ``Scores``; higher is better, in [0, 1]."""

    @property
    def name(self) -> str:
        """The field of ``Scores`` that this scorer fills."""
        ...

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        """One number for each text; ``None`` where the scorer cannot tell (another language, no evidence).

        Raises:
            ScorerUnavailable: its model cannot be loaded, or fails.
        """
        ...


class TextClassifier(Protocol):
    """A small model that tells several things of one text or of a pair of texts."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What was kept beside its weights: outputs, calibration, limits and languages."""
        ...

    def logits(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """The outputs, shape (n, outputs). Blocking: call it in a thread. Raises ``IndexUnavailable``."""
        ...


class HiddenStates(Protocol):
    """What a language model makes of a text before it writes a word."""

    def of(self, text: str) -> NDArray[np.float32] | None:
        """The mean of the last layer's vectors and the last of them, shape (2 * width,); ``None`` for a long text.

        Blocking: call it in a thread. Raises ``ModelUnavailable``.
        """
        ...


class HateDetector(Protocol):
    """A classifier that is fast enough for every message of a watched channel.

    Each method raises ``AntiphonError`` if the classifier cannot be loaded.
    """

    @property
    def languages(self) -> frozenset[str]:
        """The ISO 639-1 codes of the languages that it reads."""
        ...

    async def language_of(self, text: str, expected: str | None) -> str | None:
        """The language of a text if it is one of ``languages``; ``None`` for any other text.

        Args:
            expected: the community's language, for texts that are too short to tell; ``None`` for the configured one.
        """
        ...

    async def score(self, text: str, language: str) -> float:
        """How likely a text in one of ``languages`` is hateful, in [0, 1]."""
        ...

    def threshold(self, one_in: float) -> float:
        """The score that one in so many ordinary messages exceeds; a larger number never gives a lower score."""
        ...

    def false_alarms(self, threshold: float) -> float:
        """The share of ordinary messages above a score: the inverse of ``threshold``."""
        ...


@dataclass(frozen=True, slots=True)
class Entailment:
    """What a premise says about a hypothesis, as probabilities in [0, 1]; the rest up to 1 is neutral."""

    entailment: float
    contradiction: float


@runtime_checkable
class Inference(Protocol):
    """Natural language inference."""

    @property
    def languages(self) -> frozenset[str]:
        """The ISO 639-1 codes of the languages in which it can be trusted."""
        ...

    async def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """What each premise, the first of its pair, says about the hypothesis, the second.

        Raises:
            ScorerUnavailable: its model cannot be loaded, or fails.
        """
        ...


T = TypeVar("T")


class StageOutcome(NamedTuple, Generic[T]):
    """The result of a stage, and notes for people on how it was reached, in sentences."""

    value: T
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class SearchOutcome(Generic[T]):
    """The result of a search, best first; the number of rounds, and why the search ended."""

    found: list[T]
    rounds: int
    stopped: str
