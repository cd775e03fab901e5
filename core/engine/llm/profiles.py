"""How much a suggestion may cost: the five profiles and the rules that every profile keeps.

All but ``live`` take their rounds and proposals from published presets (CODEOFCONDUCT, Table 1: 4 of 2, 4 of 4, 8 of
6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from core.errors import BadInput

MAX_SCORE: Final = 10.0
MAX_TEMPERATURE: Final = 2.0
MAX_WRITTEN: Final = 5
VERDICTS_EACH: Final = 2
_AT_LEAST_ONE: Final = (
    "claims", "voting_rounds", "drafts_each", "proposals", "samples", "max_model_calls", "max_tokens",
    "judge_candidates",
)  # fmt: skip


class SearchKind(StrEnum):
    """How drafts are searched for.

    ``DRAFTS``: prepared ones and what the model writes, improved by rounds. ``PUBLISHED``: CODEOFCONDUCT's Algorithm 1
    as it was published.
    """

    DRAFTS = "drafts"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The limits of one suggestion. Whichever limit is reached first ends the work with the best so far.

    Attributes:
        name: how people call it.
        deadline_seconds: from the start of the first stage to the finished suggestion.
        claims: counter-claims that are written and voted on (F2RL, section 3.1).
        rounds: rounds of the annealing loop; without any, drafts stay as they were written.
        proposals: rewrites that are proposed in a round.
        samples: rewrites of one draft with the same words, asked for in one request: a server reads their prompt only
            once.
        max_model_calls: requests to the language model, of every kind.
        max_tokens: tokens read and written, over all requests.
        judge_candidates: drafts that are scored to the end, and that the judge compares.
        verdicts: how often the judge is asked for each candidate in an adaptive tournament, at most; 0 asks no judge.
        voting_rounds: ballots on the claims, each with another order; at most one for each claim.
        written: how many intents the model that ships writes a draft for, at most and as long as there is time; those
            with the weakest prepared drafts come first. A larger model writes for all of them at once.
        drafts_each: how many drafts a larger model writes for each intent, in one request.
        writes_queries: whether the model writes queries; otherwise the post, its meaning and the claims are the
            queries.
        extracts_triplets: whether facts are checked triplet by triplet (F2RL, section 3.3); otherwise sentence by
            sentence.
        search: how drafts are searched for (``core.engine.writing.search``).
        is_round_robin: whether the judge compares every pair in both orders; otherwise as few as settle the first
            places.
        target_score: the loop stops at a draft with this score, in [0, 10].
        temperature: how freely the model writes; 0 is greedy.
        t0: the annealing temperature of the first round. A draft with score E is picked with a probability
            proportional to T^E, which prefers the better draft only where T > 1.
        t_step: what each round adds to T (CODEOFCONDUCT raises T, it does not cool).

    Raises:
        BadInput: a value is outside its range. The message begins with the full key: ``profiles.live.t0``.
    """

    name: str
    deadline_seconds: float
    claims: int
    rounds: int
    proposals: int
    max_model_calls: int
    max_tokens: int
    judge_candidates: int
    samples: int = 1
    voting_rounds: int = 5
    written: int = 5
    drafts_each: int = 1
    verdicts: int = VERDICTS_EACH
    writes_queries: bool = True
    extracts_triplets: bool = True
    search: SearchKind = SearchKind.DRAFTS
    is_round_robin: bool = False
    target_score: float = 9.7
    temperature: float = 0.5
    t0: float = 2.0
    t_step: float = 1.0

    def __post_init__(self) -> None:
        _refuse_unless(self.deadline_seconds > 0, self.name, "deadline_seconds", "more than 0")
        for count in _AT_LEAST_ONE:
            _refuse_unless(getattr(self, count) >= 1, self.name, count, "at least 1")
        _refuse_unless(self.rounds >= 0, self.name, "rounds", "at least 0")
        _refuse_unless(self.verdicts >= 0, self.name, "verdicts", "at least 0")
        _refuse_unless(0 <= self.written <= MAX_WRITTEN, self.name, "written", "between 0 and 5")
        _refuse_unless(0 <= self.target_score <= MAX_SCORE, self.name, "target_score", "between 0 and 10")
        _refuse_unless(0 <= self.temperature <= MAX_TEMPERATURE, self.name, "temperature", "between 0 and 2")
        _refuse_unless(self.t0 > 1, self.name, "t0", "more than 1, or worse drafts are preferred")
        _refuse_unless(self.t_step > 0, self.name, "t_step", "more than 0, because T rises in each round")


def _refuse_unless(is_allowed: bool, profile: str, key: str, allowed: str) -> None:
    """Refuse the value, naming the key and the allowed range. A NaN fails every comparison and is refused too."""
    if not is_allowed:
        raise BadInput(f"profiles.{profile}.{key} is out of range.", remedy=f"It must be {allowed}.")


QUICK: Final = Profile(
    name="quick",
    deadline_seconds=45,
    claims=3,
    rounds=4,
    proposals=2,
    max_model_calls=40,
    max_tokens=12_000,
    judge_candidates=3,
    samples=2,
    voting_rounds=2,
    written=2,
    writes_queries=False,
    extracts_triplets=False,
)
LIVE: Final = Profile(
    name="live",
    deadline_seconds=90,
    claims=5,
    rounds=0,
    proposals=2,
    max_model_calls=60,
    max_tokens=20_000,
    judge_candidates=4,
    samples=2,
    voting_rounds=2,
    verdicts=0,
    writes_queries=False,
    extracts_triplets=False,
)
STANDARD: Final = Profile(
    name="standard",
    deadline_seconds=180,
    claims=5,
    rounds=4,
    proposals=4,
    max_model_calls=120,
    max_tokens=50_000,
    judge_candidates=6,
    samples=2,
    drafts_each=2,
)
THOROUGH: Final = Profile(
    name="thorough",
    deadline_seconds=600,
    claims=5,
    rounds=8,
    proposals=6,
    max_model_calls=400,
    max_tokens=150_000,
    judge_candidates=6,
    samples=2,
    drafts_each=3,
)
PAPER: Final = Profile(
    name="paper",
    deadline_seconds=3_600,
    claims=5,
    rounds=8,
    proposals=6,
    max_model_calls=2_000,
    max_tokens=1_000_000,
    judge_candidates=6,
    search=SearchKind.PUBLISHED,
    target_score=9.0,
    is_round_robin=True,
)
PROFILES: Final[Mapping[str, Profile]] = MappingProxyType({p.name: p for p in (QUICK, LIVE, STANDARD, THOROUGH, PAPER)})
