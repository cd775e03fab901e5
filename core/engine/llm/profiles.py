"""How much a suggestion may cost: the two profiles and the rules that every profile keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final

from core.errors import BadInput

MAX_SCORE: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The limits of one suggestion. Whichever limit is reached first ends the work with the best so far.

    Attributes:
        name: how people call it.
        deadline_seconds: from the start of the first stage to the finished suggestion.
        max_model_calls: requests to the language model, of every kind.
        max_tokens: tokens read and written, over all requests.
        is_published: whether the published systems are followed in all that they ask a model: claims, ballots, queries,
            triplets, the loop and the judge.

    Raises:
        BadInput: a value is outside its range. The message begins with the full key: ``profiles.live.max_tokens``.
    """

    is_published: ClassVar[bool] = False
    name: str
    deadline_seconds: float
    max_model_calls: int
    max_tokens: int

    def __post_init__(self) -> None:
        self._refuse_unless(self.deadline_seconds > 0, "deadline_seconds", "more than 0")
        for count in ("max_model_calls", "max_tokens"):
            self._refuse_unless(getattr(self, count) >= 1, count, "at least 1")

    def _refuse_unless(self, is_allowed: bool, key: str, allowed: str) -> None:
        """Refuse a value, naming the key and the allowed range. A NaN fails every comparison and is refused too."""
        if not is_allowed:
            raise BadInput(f"profiles.{self.name}.{key} is out of range.", remedy=f"It must be {allowed}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedProfile(Profile):
    """The limits of the published loop, of which CODEOFCONDUCT has three presets (Table 1: 4 of 2, 4 of 4, 8 of 6).

    Attributes:
        rounds: rounds of the annealing loop.
        proposals: k, the answers that a round keeps, and that the judge compares at the end.
        target_score: the loop stops at an answer with this score, in [0, 10].
    """

    is_published: ClassVar[bool] = True
    rounds: int
    proposals: int
    target_score: float

    def __post_init__(self) -> None:
        Profile.__post_init__(self)
        for count in ("rounds", "proposals"):
            self._refuse_unless(getattr(self, count) >= 1, count, "at least 1")
        self._refuse_unless(0 <= self.target_score <= MAX_SCORE, "target_score", "between 0 and 10")


LIVE: Final = Profile(name="live", deadline_seconds=90, max_model_calls=60, max_tokens=20_000)
PAPER: Final = PublishedProfile(
    name="paper",
    deadline_seconds=3_600,
    max_model_calls=2_000,
    max_tokens=1_000_000,
    rounds=8,
    proposals=6,
    target_score=9.0,
)
PROFILES: Final[Mapping[str, Profile]] = MappingProxyType({profile.name: profile for profile in (LIVE, PAPER)})
