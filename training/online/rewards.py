"""Our rewards as functions of text: what the trainers ask after each batch of replies.

They have the form of TRL's ``reward_funcs``: prompts and completions in, one number for each out. The numbers are those
by which the application ranks drafts, from the same readers. A score that is not known is ``None``.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

from core.engine.ports import Embedder, Inference, Scorer
from core.engine.readers.networks import DraftSigns
from core.engine.readers.outputs import DraftFault
from core.engine.scoring.check import MAX_CHARACTERS, context_for
from core.engine.scoring.gates import GateContext, fault_of
from core.engine.scoring.receipts import factuality, verify
from core.engine.scoring.rewards import WEIGHTS, FaithfulnessScorer
from core.engine.writing.first_drafts import tidy
from core.errors import BadInput
from core.models import Brief, Evidence, Intent, Source
from training.recipes import OWN

Texts = Sequence[Any]
Known = float | None
Reward = Callable[..., list[Known]]
T = TypeVar("T")
REFUSED: Final = -1.0
"""What a reply gets that the application would never show."""
PARTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        OWN: (*WEIGHTS, "intent", "gates"),
        "coarl": ("stance", "argument_quality", "non_toxicity"),
        "f2rl": ("factuality", "stance", "faithfulness_claim", "faithfulness_evidence"),
    }
)
"""The rewards of each choice."""
_BY_MODEL: Final = {"argument_quality": "quality", "factuality": "inference"}
_TOXIC: Final = (DraftFault.INSULTS, DraftFault.CALLS_FOR_HARM, DraftFault.STEREOTYPES)
_BESIDE: Final = (DraftFault.GENERIC, DraftFault.OFF_SUBJECT)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which reward is learnt (a key of ``PARTS``), and models for what our readers do not know.

    Attributes:
        reward: our own sum, or a paper's.
        quality: a regressor of argument quality with one output: a folder, or ``name@commit`` on the hub.
        inference: a model of natural language inference, for factuality; likewise.
    """

    reward: str = OWN
    quality: str = ""
    inference: str = ""


def parts_of(choice: Choice) -> tuple[str, ...]:
    """The rewards of a choice, in their order; of our own those that can be known.

    Raises:
        BadInput: there is no such choice, or a paper's reward lacks a model.
    """
    if choice.reward not in PARTS:
        raise BadInput(f"There is no reward {choice.reward}.", remedy=f"Choose one of: {', '.join(PARTS)}.")
    parts = PARTS[choice.reward]
    missing = [name for name in parts if name in _BY_MODEL and not getattr(choice, _BY_MODEL[name])]
    if missing and choice.reward != OWN:
        settings = " ".join(f"--set {_BY_MODEL[name]}=MODEL" for name in missing)
        raise BadInput(
            f"The reward of {choice.reward} needs a model for {' and '.join(missing)}.",
            remedy=f"Name one ({settings}), or learn from our own sum: --set reward=own.",
        )
    return tuple(name for name in parts if name not in missing)


class ReadsDrafts(Protocol):
    def read(self, post: str, drafts: Sequence[str], language: str | None = None) -> list[DraftSigns]:
        """What each draft does under the post."""


@dataclass(frozen=True)
class _Case:
    """What a reply answers: the post, and the claim and the passages that it was to rest on."""

    post: str
    language: str
    claim: str
    evidence: tuple[str, ...]

    @cached_property
    def brief(self) -> Brief:
        """As the scorers of the application want it."""
        source = Source("", "", None, None, "")
        passages = [Evidence(str(at), text, text, source) for at, text in enumerate(self.evidence, start=1)]
        return replace(context_for(self.post, self.language, passages).brief, claim=self.claim)


@dataclass(eq=False)
class Rewards:
    """Rewards of replies, each a function for TRL: a list of N replies in, N numbers out.

    The columns ``post`` and ``language`` of a dataset say what each prompt is about, ``intent`` what kind of reply was
    asked for. The columns ``claim`` (a text) and ``evidence`` (a list of texts) may be there or not.

    Attributes:
        reader: the reader of drafts.
        embedder: compares with claim and evidence.
        choice: which of them are learnt.
        quality: scores argument quality.
        inference: compares with the evidence, sentence by sentence.
    """

    reader: ReadsDrafts
    embedder: Embedder
    choice: Choice = field(default_factory=Choice)
    quality: Scorer | None = None
    inference: Inference | None = None
    _read: dict[tuple[str, _Case], DraftSigns] = field(default_factory=dict, init=False, repr=False)

    def functions(self) -> list[Reward]:
        """Those of the choice. Raises ``BadInput`` as ``parts_of`` does."""
        return [getattr(self, name) for name in parts_of(self.choice)]

    def stance(self, completions: Texts, **columns: Any) -> list[Known]:
        """(1 - PC) / 2: the probability that each reply opposes the post."""
        return [signs.opposes for signs in self._signs(completions, columns)]

    def non_toxicity(self, completions: Texts, **columns: Any) -> list[Known]:
        """1 - T: no insult, no call for harm, no stereotype."""
        return [1.0 - max(signs.faults[fault] for fault in _TOXIC) for signs in self._signs(completions, columns)]

    def fit(self, completions: Texts, **columns: Any) -> list[Known]:
        """Whether a reader would post it."""
        return [1.0 - signs.unfit for signs in self._signs(completions, columns)]

    def faithfulness_post(self, completions: Texts, **columns: Any) -> list[Known]:
        """Whether it is about this post, neither generic nor of another subject."""
        return [1.0 - max(signs.faults[fault] for fault in _BESIDE) for signs in self._signs(completions, columns)]

    def intent(self, completions: Texts, **columns: Any) -> list[Known]:
        """The probability of the intent that was asked for."""
        intents = [Intent(intent) for intent in columns["intent"]]
        return [s.intents[intent] for s, intent in zip(self._signs(completions, columns), intents, strict=True)]

    def gates(self, completions: Texts, **columns: Any) -> list[Known]:
        """0 for a reply that the rules of the application let pass, ``REFUSED`` for any other."""
        rows = _each(completions, columns)
        return [REFUSED if fault_of(text, GateContext(case.brief, MAX_CHARACTERS)) else 0.0 for text, case in rows]

    def argument_quality(self, completions: Texts, **columns: Any) -> list[Known]:
        """AQ: how good an argument each reply is under its post (Gretz and others 2020)."""
        return self._scored(self.quality, completions, columns)

    def faithfulness_claim(self, completions: Texts, **columns: Any) -> list[Known]:
        """sim(reply, claim); unknown where there is no claim."""
        return self._scored(FaithfulnessScorer(self.embedder, "faithfulness_claim"), completions, columns)

    def faithfulness_evidence(self, completions: Texts, **columns: Any) -> list[Known]:
        """sim(reply, evidence), of the nearest passage; unknown where there is no evidence."""
        return self._scored(FaithfulnessScorer(self.embedder, "faithfulness_evidence"), completions, columns)

    def factuality(self, completions: Texts, **columns: Any) -> list[Known]:
        """r_fact: how far the evidence entails the facts that each reply states, each by its best passage.

        Unknown where there is no evidence, or no fact is stated. Sentences are not taken apart into triplets.
        """
        return [
            _now(self._factuality(text, case.brief)) if case.evidence else None
            for text, case in _each(completions, columns)
        ]

    async def _factuality(self, text: str, brief: Brief) -> Known:
        receipts, _ = await verify(text, brief, frozenset(), None, self.embedder, inference=self.inference)
        return factuality(receipts)

    def _scored(self, scorer: Scorer | None, completions: Texts, columns: Mapping[str, Any]) -> list[Known]:
        rows = _each(completions, columns)
        if scorer is None:
            return [None] * len(rows)
        return _by_case(rows, lambda case, texts: _now(scorer.score(case.brief, texts)))

    def _signs(self, completions: Texts, columns: Mapping[str, Any]) -> list[DraftSigns]:
        """What the reader says of each; it is asked once for all rewards of a batch."""
        rows = _each(completions, columns)
        if any(row not in self._read for row in rows):
            signs = _by_case(rows, lambda case, texts: self.reader.read(case.post, texts, case.language))
            self._read = dict(zip(rows, signs, strict=True))
        return [self._read[row] for row in rows]


def _now(answer: Coroutine[Any, Any, T]) -> T:
    """The trainers ask outside any event loop."""
    return asyncio.run(answer)


def _each(completions: Texts, columns: Mapping[str, Any]) -> list[tuple[str, _Case]]:
    """Each reply as the application would show it, and what it answers."""
    texts = [
        tidy(completion if isinstance(completion, str) else completion[-1]["content"]) for completion in completions
    ]
    claims = columns.get("claim") or [""] * len(texts)
    evidence = columns.get("evidence") or [()] * len(texts)
    answered = zip(columns["post"], columns["language"], claims, map(tuple, evidence), strict=True)
    return list(zip(texts, (_Case(*row) for row in answered), strict=True))


def _by_case(rows: Sequence[tuple[str, _Case]], score: Callable[[_Case, list[str]], Sequence[T]]) -> list[T]:
    """Scores in the order of the rows; replies that answer the same are scored together."""
    places: dict[_Case, list[int]] = {}
    for at, (_, case) in enumerate(rows):
        places.setdefault(case, []).append(at)
    values: dict[int, T] = {}
    for case, those in places.items():
        values.update(zip(those, score(case, [rows[at][0] for at in those]), strict=True))
    return [values[at] for at in range(len(rows))]
