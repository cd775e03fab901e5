"""How far the word of a small reader and that of a language model count, for each question that both are asked.

Log-odds are added. The weights of the model that ships were fitted on 140 posts of the development split; what was
fitted for one model says nothing of another one, whose word counts as much as that of the small reader.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from core.models import ReadBy

LEAST_WEIGHT: Final = 0.1
"""A language model with less weight than this changes nothing, and is not asked."""
_SUREST: Final = 0.99
"""Neither of the two can be surer than this, so that neither silences the other."""


class Question(StrEnum):
    """What both kinds of readers are asked, by the names of the small readers' outputs."""

    HATEFUL = "hateful"
    THREAT = "threat"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts for one question: the defaults believe both alike.

    Attributes:
        bias, small, large: of the log-odds where both speak.
        alone_bias, alone: of the language model's log-odds where the small reader does not know the language.
    """

    bias: float = 0.0
    small: float = 1.0
    large: float = 1.0
    alone_bias: float = 0.0
    alone: float = 1.0


@dataclass(frozen=True, slots=True)
class PoolingWeights:
    """The weights for one language model.

    Attributes:
        model: its name.
        is_larger: whether it is larger than the model that ships, and is simply asked.
        weights: by question; the default for one that is missing.
        unread: the languages that the model was found unfit to read, so that the small readers read alone.
    """

    model: str = ""
    is_larger: bool = True
    weights: Mapping[Question, Weights] = field(default_factory=lambda: MappingProxyType({}))
    unread: frozenset[str] = frozenset()

    def within(self, language: str | None) -> PoolingWeights:
        """The weights for a post in a language: none where the model was found unfit to read it."""
        if language not in self.unread:
            return self
        return replace(self, weights=MappingProxyType(dict.fromkeys(Question, Weights(large=0.0, alone=0.0))))

    def of(self, question: Question) -> Weights:
        return self.weights.get(question, Weights())

    def counts(self, question: Question, *, is_alone: bool) -> bool:
        """Whether the model's answer can change anything; ``is_alone`` where no small reader knows the language."""
        weights = self.of(question)
        return (weights.alone if is_alone else weights.large) >= LEAST_WEIGHT

    def pooled(self, question: Question, small: float | None, large: float | None) -> float | None:
        """One probability from two; one of them alone where the other is ``None``, and ``None`` without any."""
        weights = self.of(question)
        if large is None:
            return small
        if small is None:
            return probability(weights.alone_bias + weights.alone * log_odds(large))
        return probability(weights.bias + weights.small * log_odds(small) + weights.large * log_odds(large))


def read_by(small: object, large: object) -> ReadBy:
    """Whose word counts, given what each of them said; ``None`` where one of them said nothing."""
    if large is None:
        return ReadBy.RULES if small is None else ReadBy.SMALL
    return ReadBy.LARGE if small is None else ReadBy.BOTH


def log_odds(chance: float) -> float:
    """The logarithm of the odds of a probability, which is cut to what a single reader may say."""
    inside = min(max(chance, 1 - _SUREST), _SUREST)
    return math.log(inside / (1 - inside))


def probability(odds: float) -> float:
    """The inverse of ``log_odds``, without its limits."""
    return 1 / (1 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1 + math.exp(odds))


_SHIPPED: Final = PoolingWeights(
    "qwen2.5-coder-1.5b-instruct-q4_k_m",
    is_larger=False,
    weights=MappingProxyType(
        {
            Question.HATEFUL: Weights(large=0.0, alone_bias=0.103, alone=0.991),
            Question.THREAT: Weights(large=0.0, alone=0.0),
            Question.PERSON: Weights(large=0.0, alone=0.0),
        }
    ),
)
"""The model that ships adds nothing to the small readers, and is asked alone where they do not know the language."""


def pooling_of(model: str) -> PoolingWeights:
    """The weights for a language model by its name; the defaults for any but the one that ships."""
    return _SHIPPED if model == _SHIPPED.model else PoolingWeights(model)


def shipped() -> PoolingWeights:
    """The weights for the language model that ships with Antiphon."""
    return _SHIPPED
