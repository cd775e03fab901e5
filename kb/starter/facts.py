"""The facts that ship with Antiphon, each with its source.

A row of ``facts.jsonl`` that has another form is refused, never mended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, StringConstraints, TypeAdapter

from core.models import Source, TargetGroup
from kb.starter.rows import Text, read_rows, wrong_row

STARTER_FACTS = Path(__file__).parent / "facts.jsonl"
"""The facts that ship with Antiphon."""

_Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+")]


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
        """Where the fact is published."""
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
    """Read a file of facts: one JSON object a line, UTF-8, with exactly the fields of ``Fact``, ids unique.

    Raises:
        IndexUnavailable: the file cannot be read, is empty, or a line is wrong; names file, line and field.
    """
    facts: dict[str, Fact] = {}
    for number, fact in read_rows(path, _FACT, "facts"):
        if fact.id in facts:
            raise wrong_row(path, number, "id", f"{json.dumps(fact.id)} is used twice", "facts")
        facts[fact.id] = fact
    return tuple(facts.values())


def facts_today() -> frozenset[str]:
    """The ids of the facts that ship and hold today, on which a community's own card may rest."""
    today = datetime.now(UTC).date()
    return frozenset(fact.id for fact in load_facts(STARTER_FACTS) if not fact.is_expired(today))
