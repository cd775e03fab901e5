"""A writer whose drafts are recorded in a file: what a strong model would write, without one.

Owns how its drafts answer the engine's requests: the plain question of a larger model, and the model that ships by
intent. Bad drafts are mixed into what it says. It only writes drafts: to whatever else it is asked it answers like a
model that cannot be used, so that the engine does without, also without a review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.reading.cases import Reply
from core.errors import ModelUnavailable
from core.i18n.sentences import sentence
from core.llm.prompting import load_prompt
from core.models import Intent
from core.ports import Answer, Generation, Message
from core.stages.search.drafting import DESCRIPTIONS, tidy

_COST = 1
"""Tokens of an answer: they only show that the writer answers at all."""


@dataclass
class RecordedWriter:
    """A ``LanguageModel`` for one post.

    Args:
        good: the recorded drafts by intent; an intent without one gets one of those that nobody asked for yet.
        planted: bad drafts, one of which follows each good one.

    ``said`` are the good drafts that it gave, as the engine tidies them.
    """

    good: Mapping[Intent, Sequence[str]]
    planted: Sequence[str]
    said: dict[str, None] = field(default_factory=dict)
    turns: int = 0

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """The drafts for the plain question, or the intent that is asked for: good and planted ones in turn.

        Raises:
            ModelUnavailable: something else than a draft is asked for.
        """
        asked = messages[-1].content
        if messages[0] == load_prompt("plain").messages[0]:
            pairs = [[*self._good(None)[:1], *self._bad()] for _ in range(-(-how.n // 2))]
            texts = [text for pair in pairs for text in pair]
            return Answer(tuple(texts[: how.n]), _COST, _COST)
        intent = next((one for one, words in DESCRIPTIONS.items() if asked.endswith(f"It is {words}.")), None)
        if how.schema is not None:
            return Answer(("",) * how.n, _COST, _COST)
        if intent is None:
            raise ModelUnavailable(sentence("The recorded writer only writes drafts."))
        texts = [*self._good(intent)[:1], *self._bad()]
        return Answer(tuple((texts * how.n)[: how.n]), _COST, _COST)

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        """No readable answer."""
        return None, Answer(("",), _COST, _COST)

    def _good(self, intent: Intent | None) -> list[str]:
        """Good drafts that nobody asked for yet, those of an intent first; of any for ``None``."""
        own = [text for one, texts in self.good.items() if intent in (one, None) for text in texts[:1]]
        spare = [text for texts in self.good.values() for text in texts[1:]]
        found = [text for text in [*own, *spare] if tidy(text) not in self.said]
        self.said |= {tidy(text): None for text in found[:1]}
        return found

    def _bad(self) -> list[str]:
        self.turns += 1
        return [self.planted[(self.turns - 1) % len(self.planted)]] if self.planted else []


def writer_of(replies: Sequence[Reply]) -> RecordedWriter:
    """The writer of the good and bad drafts under one post."""
    good: dict[Intent, list[str]] = {}
    for reply in replies:
        if reply.is_good:
            intent = Intent(reply.kind) if reply.kind in list(Intent) else Intent.INFORMATIVE
            good.setdefault(intent, []).append(reply.text)
    return RecordedWriter(good, [reply.text for reply in replies if not reply.is_good])
