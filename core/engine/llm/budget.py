"""What a suggestion may cost, by its profile, and what it has cost: seconds, calls and tokens.

The stages of a suggestion call the language model through ``MeteredModel``, each call in a turn of its own: while all
calls of a suggestion wait for their turn, no time passes for it.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Final

from core.engine.ports import Answer, Generation, LanguageModel, Message, Turn
from core.errors import BadInput, BudgetExhausted, ModelAway, ModelUnavailable, NoLanguageModel
from core.i18n.sentences import sentence

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


@dataclass
class Budget:
    """Counts against the limits of a profile.

    Args:
        clock: gives seconds; only differences matter.
        turn: what each call of the model waits for.
        is_begun_without: whether a suggestion goes on where the model is away from its first call on.

    Attributes:
        cut: answers that came to no end in the room that they had.
        is_stated: whether shares were read from what the model wrote (``core.engine.ports.Answer``).
    """

    profile: Profile
    clock: Callable[[], float] = time.monotonic
    model_calls: int = 0
    judge_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    started: float = field(init=False)
    first_draft_seconds: float | None = None
    turn: Turn = nullcontext
    is_begun_without: bool = False
    cut: int = field(default=0, init=False)
    is_stated: bool = field(default=False, init=False)
    _waiting: int = field(default=0, init=False)
    _under_way: int = field(default=0, init=False)
    _still_since: float | None = field(default=None, init=False)
    _stood_still: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def seconds(self) -> float:
        """Seconds since the start, without those in which calls waited for their turn and none was under way."""
        now = self.clock()
        return now - self.started - self._stood_still - (0.0 if self._still_since is None else now - self._still_since)

    @asynccontextmanager
    async def taking_turn(self) -> AsyncIterator[None]:
        """Wait for the turn of a call, and hold it meanwhile."""
        async with AsyncExitStack() as stack:
            with self.standing_still():
                await stack.enter_async_context(self.turn())
            self._count(under_way=1)
            try:
                yield
            finally:
                self._count(under_way=-1)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Wait for something; no time passes meanwhile, unless a call is under way."""
        self._count(waiting=1)
        try:
            yield
        finally:
            self._count(waiting=-1)

    def _count(self, *, waiting: int = 0, under_way: int = 0) -> None:
        self._waiting += waiting
        self._under_way += under_way
        stands_still = self._waiting > 0 and self._under_way == 0
        if stands_still and self._still_since is None:
            self._still_since = self.clock()
        elif not stands_still and self._still_since is not None:
            self._stood_still += self.clock() - self._still_since
            self._still_since = None

    def ends_without(self, err: Exception) -> bool:
        """Whether a fault ends the suggestion: the model is away, never answered, and is waited for."""
        return isinstance(err, ModelAway) and self.prompt_tokens == 0 and not self.is_begun_without

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self.profile.deadline_seconds - self.seconds)

    def exhausted(self) -> str | None:
        """Which limit is reached, in words, or ``None``."""
        if self.seconds_left <= 0:
            return sentence("deadline")
        if self.model_calls >= self.profile.max_model_calls:
            return sentence("model call limit")
        if self.prompt_tokens + self.completion_tokens >= self.profile.max_tokens:
            return sentence("token limit")
        return None

    def is_late(self) -> str | None:
        """Why no new drafts should be asked for, or ``None``. The last quarter of the time is kept for the judge."""
        return sentence("time kept for the judge") if self.seconds_left < self.profile.deadline_seconds / 4 else None

    @property
    def is_time_to_write(self) -> bool:
        """Whether a slow model should begin another draft: people wait, so that a sixth of the time is for writing."""
        return self.seconds < self.profile.deadline_seconds / 6

    def check(self) -> None:
        """Raise ``BudgetExhausted`` if a limit is reached."""
        reached = self.exhausted()
        if reached:
            raise BudgetExhausted(
                sentence("The {limit} of the {profile} profile is reached.", limit=reached, profile=self.profile.name)
            )

    def notes(self) -> list[str]:
        """What a person should know of the answers, in sentences."""
        notes = list[str]()
        if self.cut:
            notes.append(sentence("model: answers that came to no end: {count}", count=self.cut))
        if self.is_stated:
            notes.append(
                sentence("model: its server gives no probabilities; how sure it is was counted from a few answers")
            )
        return notes

    def saw_draft(self) -> None:
        """Note the time of the first draft."""
        if self.first_draft_seconds is None:
            self.first_draft_seconds = self.seconds


class MeteredModel:
    """A language model under a budget: it refuses a call once a limit is reached, and counts each."""

    def __init__(self, model: LanguageModel, budget: Budget) -> None:
        self._model = model
        self.budget = budget

    async def generate(self, messages: Sequence[Message], how: Generation, *, judging: bool = False) -> Answer:
        """As ``LanguageModel.generate``, until the deadline; ``judging`` counts it as a judge's call too.

        Raises:
            BudgetExhausted: a limit is reached.
            ModelUnavailable: there is no usable answer.
        """
        async with self._call(judging):
            answer = await self._model.generate(messages, how, self.budget.seconds_left)
        self._count(answer)
        return answer

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], *, judging: bool = False
    ) -> dict[str, float] | None:
        """As ``LanguageModel.choose``, until the deadline; ``judging`` counts it as a judge's call too."""
        async with self._call(judging):
            shares, answer = await self._model.choose(messages, options, self.budget.seconds_left)
        self._count(answer)
        return shares

    @asynccontextmanager
    async def _call(self, judging: bool) -> AsyncIterator[None]:
        """One call, counted when its turn has come; one that fails at the deadline is a spent budget, no failure."""
        budget = self.budget
        budget.check()
        async with budget.taking_turn():
            budget.check()  # others of the same suggestion may have had their turn meanwhile
            budget.model_calls += 1
            budget.judge_calls += judging
            try:
                yield
            except NoLanguageModel:
                budget.model_calls -= 1
                budget.judge_calls -= judging
                raise
            except ModelUnavailable:
                if budget.seconds_left <= 0:
                    budget.check()
                raise

    def _count(self, answer: Answer) -> None:
        self.budget.prompt_tokens += answer.prompt_tokens
        self.budget.completion_tokens += answer.completion_tokens
        self.budget.cut += answer.is_cut
        self.budget.is_stated |= answer.is_stated
