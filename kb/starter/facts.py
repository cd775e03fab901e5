"""The facts that ship with Antiphon, each with its source, and the stereotypes for which it ships no good one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ConfigDict, StringConstraints, TypeAdapter

from core.engine.ports import Embedder
from core.models import Source, TargetGroup

STARTER_GAPS = Path(__file__).parent / "gaps.jsonl"
"""The gaps that ship with Antiphon."""
# Measured on 320 English posts, 40 for each target group, with the first 38 gaps: 25 fall into one, 19 of them into the
# right one in the project's own judgement; with 0.5 it is 16 of 21, with 0.35 one more. Random letters and small talk
# stay below it.
# Without the comparison with answered stereotypes, 245 posts would fall into one, for most of which there is a fact.
# The eight that were added for mere insults ("subhuman", "scum") take nine more, all but one rightly.
_THRESHOLD = 0.4
Encode = Callable[[Sequence[str]], NDArray[np.float32]]
STARTER_FACTS = Path(__file__).parent / "facts.jsonl"
"""The facts that ship with Antiphon."""
_Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+")]


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


def load_gaps(path: Path) -> tuple[Gap, ...]:
    """The gaps of a file: one JSON object a line, UTF-8, with exactly the fields of ``Gap``.

    Raises:
        ValidationError: a line is wrong.
    """
    return tuple(_GAP.validate_json(line) for line in _lines(path))


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


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


Text = Annotated[str, AfterValidator(_not_blank)]
"""A field that says something."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One passage of the knowledge base, with its source and the stereotypes that it answers.

    ``confirmed`` says how well it was checked, and ``caution`` how it could be turned round. It must not be used after
    ``valid_until``. ``stereotypes`` only serve the search and are never shown: restating one strengthens it.
    """

    id: Text
    target_group: TargetGroup
    text: Text
    stereotypes: tuple[Text, ...]
    publisher: Text
    title: Text
    year: int | None
    document: Text | None
    url: _Url
    confirmed: Text
    caution: Text | None
    valid_until: date | None

    @property
    def searchable(self) -> str:
        """What the index reads: the text, and the stereotypes, so that a hateful post finds what answers it."""
        return " ".join((self.text, *(f"{stereotype}." for stereotype in self.stereotypes)))

    @property
    def source(self) -> Source:
        return Source(self.publisher, self.title, self.year, self.document, self.url)

    @property
    def is_universal(self) -> bool:
        """Whether it protects everybody, such as the Universal Declaration of Human Rights.

        The group "other" holds these norms and also facts about smaller groups; the stereotypes of the latter
        name whom they are about ("Roma: ...").
        """
        return self.target_group is TargetGroup.OTHER and not any(":" in words for words in self.stereotypes)

    def is_expired(self, today: date) -> bool:
        """Whether its figures are too old to be used on that day."""
        return self.valid_until is not None and today > self.valid_until


# Strict: a number where a text belongs is a mistake in the file, and guessing hides it.
Fact.__pydantic_config__ = ConfigDict(strict=True, extra="forbid")  # type: ignore[attr-defined]


_FACT = TypeAdapter(Fact)


def named(group: TargetGroup, stereotype: str) -> str:
    """A stereotype with the group that it is about; some name the group already ("Roma: ...")."""
    return stereotype if ":" in stereotype else f"{group.value}: {stereotype}"


def load_facts(path: Path) -> tuple[Fact, ...]:
    """The facts of a file: one JSON object a line, UTF-8, with exactly the fields of ``Fact``.

    Raises:
        ValidationError: a line is wrong.
    """
    return tuple(_FACT.validate_json(line) for line in _lines(path))


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def facts_today() -> frozenset[str]:
    """The ids of the facts that ship and hold today, on which a community's own card may rest."""
    today = datetime.now(UTC).date()
    return frozenset(fact.id for fact in load_facts(STARTER_FACTS) if not fact.is_expired(today))
