"""Our rewards as functions of text: what the trainers ask after each batch of replies.

Owns their form (TRL's ``reward_funcs``: prompts and completions in, one number for each out), and CoARL's sum. The
numbers are those by which the application ranks drafts, from the same readers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from core.models import Intent
from core.scoring.readers.outputs import DraftFault
from core.scoring.readers.readers import DraftSigns
from core.stages.search.drafting import tidy

Texts = Sequence[Any]
Reward = Callable[..., list[float | None]]
REFUSED: Final = -1.0
"""What a reply gets that the application would never show."""
_TOXIC: Final = (DraftFault.INSULTS, DraftFault.CALLS_FOR_HARM, DraftFault.STEREOTYPES)
_BESIDE: Final = (DraftFault.GENERIC, DraftFault.OFF_SUBJECT)


class ReadsDrafts(Protocol):
    """What is needed of the reader of drafts."""

    def read(self, post: str, drafts: Sequence[str], language: str | None = None) -> list[DraftSigns]:
        """What each draft does under the post."""


def coarl(stance: float, quality: float, toxicity: float) -> float:
    """CoARL's reward (section 4): a third of (1 - PC) / 2 + AQ + (1 - T).

    Args:
        stance: PC of the reply towards the post, in [-1, 1]; -1 opposes it.
        quality: AQ, in [0, 1].
        toxicity: T, in [0, 1].
    """
    return ((1.0 - stance) / 2 + quality + (1.0 - toxicity)) / 3


class Rewards:
    """Rewards that rest on one reading of each reply.

    The columns ``post`` and ``language`` of a dataset say what each prompt is about; ``intent`` what kind of reply was
    asked for.

    Args:
        reader: the reader of drafts.
        refuses: why the application would not show a reply under a post, or ``None``.
    """

    def __init__(self, reader: ReadsDrafts, refuses: Callable[[str, str, str], str | None]) -> None:
        self._reader, self._refuses = reader, refuses
        self._read = dict[tuple[str, str], DraftSigns]()

    def functions(self) -> list[Reward]:
        """All of them, in the order of ``core.scoring.rewards.WEIGHTS``, with the intent and the gates after them."""
        return [self.stance, self.non_toxicity, self.fit, self.faithfulness_post, self.intent, self.gates]

    def stance(self, completions: Texts, **columns: Any) -> list[float | None]:
        """(1 - PC) / 2: the probability that each reply opposes the post."""
        return [signs.opposes for signs in self._signs(completions, columns)]

    def non_toxicity(self, completions: Texts, **columns: Any) -> list[float | None]:
        """1 - T: no insult, no call for harm, no stereotype."""
        return [1.0 - max(signs.faults[fault] for fault in _TOXIC) for signs in self._signs(completions, columns)]

    def fit(self, completions: Texts, **columns: Any) -> list[float | None]:
        """Whether a reader would post it."""
        return [1.0 - signs.unfit for signs in self._signs(completions, columns)]

    def faithfulness_post(self, completions: Texts, **columns: Any) -> list[float | None]:
        """Whether it is about this post, neither generic nor of another subject."""
        return [1.0 - max(signs.faults[fault] for fault in _BESIDE) for signs in self._signs(completions, columns)]

    def intent(self, completions: Texts, **columns: Any) -> list[float | None]:
        """The probability of the intent that was asked for."""
        wanted = [Intent(intent) for intent in columns["intent"]]
        return [s.intents[one] for s, one in zip(self._signs(completions, columns), wanted, strict=True)]

    def gates(self, completions: Texts, **columns: Any) -> list[float | None]:
        """0 for a reply that the application may show, ``REFUSED`` for any other."""
        return [
            REFUSED if not text or self._refuses(text, post, language) else 0.0
            for text, post, language in _each(completions, columns)
        ]

    def _signs(self, completions: Texts, columns: dict[str, Any]) -> list[DraftSigns]:
        rows = list(_each(completions, columns))
        for text, post, language in rows:
            if (text, post) not in self._read:
                self._read[text, post] = self._reader.read(post, [text], language)[0]
        found = [self._read[text, post] for text, post, _ in rows]
        self._read = {(text, post): self._read[text, post] for text, post, _ in rows}
        return found


def _each(completions: Texts, columns: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Each reply as the application would show it, with its post and language."""
    texts = [tidy(one if isinstance(one, str) else one[-1]["content"]) for one in completions]
    return list(zip(texts, columns["post"], columns["language"], strict=True))
