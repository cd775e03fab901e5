"""The stereotypes for which Antiphon ships no good fact, and what to do instead.

A gap is never reported where a fact answers the post better. A row of ``gaps.jsonl`` that has another form is refused,
never mended.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, TypeAdapter

from core.engine.ports import Embedder
from core.models import TargetGroup
from kb.starter.facts import Fact, Text, named, read_rows, wrong_row

STARTER_GAPS = Path(__file__).parent / "gaps.jsonl"
"""The gaps that ship with Antiphon."""

# Measured on 320 English posts, 40 for each target group, with the first 38 gaps: 25 fall into one, 19 of them into the
# right one in the project's own judgement; with 0.5 it is 16 of 21, with 0.35 one more. Random letters and small talk
# stay below it.
# Without the comparison with answered stereotypes, 245 posts would fall into one, for most of which there is a fact.
# The eight that were added for mere insults ("subhuman", "scum") take nine more, all but one rightly.
_THRESHOLD = 0.4


Encode = Callable[[Sequence[str]], NDArray[np.float32]]


class Instead(StrEnum):
    """What a reply does where it has no fact to state."""

    EMPATHY = "empathy"
    QUESTION = "question"
    NORM = "norm"


@dataclass(frozen=True, slots=True)
class Gap:
    """A stereotype without a good fact.

    ``why`` tells a moderator the reason; ``norms`` are ids of facts that hold whatever the figures are. Like the
    stereotypes of a fact, ``stereotype`` serves the search only and is never shown.
    """

    target_group: TargetGroup
    stereotype: Text
    why: Text
    instead: Instead
    norms: tuple[Text, ...]


# Strict: a number where a text belongs is a mistake in the file, and guessing hides it.
Gap.__pydantic_config__ = ConfigDict(strict=True, extra="forbid")  # type: ignore[attr-defined]
_GAP = TypeAdapter(Gap)


def load_gaps(path: Path, facts: Iterable[Fact]) -> tuple[Gap, ...]:
    """Read a file of gaps: one JSON object a line, UTF-8, with exactly the fields of ``Gap``, none twice.

    Raises:
        IndexUnavailable: the file cannot be read, is empty, or a line is wrong: for example, a norm is not a fact's id,
            or is missing where one must be stated. The error names file, line and field.
    """
    ids = {fact.id for fact in facts}
    gaps: dict[str, Gap] = {}
    for number, gap in read_rows(path, _GAP, "gaps"):
        name = named(gap.target_group, gap.stereotype)
        for norm in gap.norms:
            if norm not in ids:
                raise wrong_row(path, number, "norms", f"{json.dumps(norm)} is not a fact", "gaps")
        if gap.instead is Instead.NORM and not gap.norms:
            raise wrong_row(path, number, "norms", "must name one, since a norm is to be stated", "gaps")
        if name in gaps:
            raise wrong_row(path, number, "stereotype", f"{json.dumps(gap.stereotype)} is there twice", "gaps")
        gaps[name] = gap
    return tuple(gaps.values())


class Gaps:
    """Finds the gap that a text falls into; safe to share between threads.

    Args:
        gaps: the stereotypes that no fact answers.
        facts: the facts. A text that is closer to one of their stereotypes has an answer, and so does not fall into a
            gap.
        encode: makes the vectors of all stereotypes, as the embedder does; a function that keeps them saves seconds.
    """

    def __init__(
        self, gaps: Iterable[Gap], facts: Iterable[Fact], embedder: Embedder, encode: Encode | None = None
    ) -> None:
        self._gaps = tuple(gaps)
        answered = sorted({(fact.target_group, words) for fact in facts for words in fact.stereotypes})
        self._groups = [gap.target_group for gap in self._gaps] + [group for group, _ in answered]
        self._named = [named(gap.target_group, gap.stereotype) for gap in self._gaps]
        self._named += [named(group, words) for group, words in answered]
        self._embedder = embedder
        self._encode = encode or embedder.encode
        self._vectors: NDArray[np.float32] | None = None
        self._lock = Lock()

    def nearest(self, text: str, group: TargetGroup | None) -> Gap | None:
        """The gap that a text about a group falls into, or ``None``; with no group, or "other", of any group.

        The cosine of the text with the gap's group and stereotype must be at least 0.4, and no answered stereotype may
        be closer. Text and embedder must have a language in common. Blocking; the first call embeds all stereotypes.

        Raises:
            IndexUnavailable: the embedding model cannot be used.
        """
        if not self._gaps or not text.strip():
            return None
        closeness = self._stereotype_vectors() @ self._embedder.encode([text])[0]
        if group not in (None, TargetGroup.OTHER):
            closeness[[other is not group for other in self._groups]] = -1.0
        row = int(closeness.argmax())  # gaps come first, so they win a tie
        return self._gaps[row] if row < len(self._gaps) and closeness[row] >= _THRESHOLD else None

    def _stereotype_vectors(self) -> NDArray[np.float32]:
        with self._lock:
            if self._vectors is None:
                self._vectors = self._encode(self._named)
            return self._vectors
