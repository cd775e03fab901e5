"""The facts that ship with Antiphon, each with its source.

Owns the form of ``facts.jsonl`` and refuses whatever departs from it. It must never mend a fact or invent a field.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from core.errors import IndexUnavailable
from core.models import Source, TargetGroup

STARTER_FACTS = Path(__file__).parent / "starter" / "facts.jsonl"
"""The facts that ship with Antiphon."""

_REMEDY = "Correct that line, or install Antiphon again to get the shipped facts back."


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


_Text = Annotated[str, AfterValidator(_not_blank)]
_Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+")]


@dataclass(frozen=True, slots=True)
class Fact:
    """One passage of the knowledge base, with its source and the stereotypes that it answers.

    ``confirmed`` says how well it was checked; ``caution`` how it could be turned round; it is not to be used after
    ``valid_until``. ``stereotypes`` serve the search only and are never shown: restating one strengthens it.
    """

    id: _Text
    target_group: TargetGroup
    text: _Text
    stereotypes: tuple[_Text, ...]
    publisher: _Text
    title: _Text
    year: int | None
    document: _Text | None
    url: _Url
    confirmed: _Text
    caution: _Text | None
    valid_until: date | None

    @property
    def searchable(self) -> str:
        """What the index reads: the text, and the stereotypes, so that a hateful post finds what answers it."""
        return " ".join((self.text, *(f"{stereotype}." for stereotype in self.stereotypes)))

    @property
    def source(self) -> Source:
        """Where the fact stands."""
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


def load_facts(path: Path) -> tuple[Fact, ...]:
    """Read a file of facts: one JSON object a line, UTF-8, with exactly the fields of ``Fact``, ids unique.

    Raises:
        IndexUnavailable: the file cannot be read, is empty, or a line is wrong; names file, line and field.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as err:
        raise IndexUnavailable(f"The facts in {path} cannot be read: {err}.", remedy=_REMEDY) from err
    facts: dict[str, Fact] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            fact = _fact(path, number, line)
            if fact.id in facts:
                raise _wrong(path, number, "id", f"{json.dumps(fact.id)} is used twice")
            facts[fact.id] = fact
    if not facts:
        raise IndexUnavailable(f"There are no facts in {path}.", remedy=_REMEDY)
    return tuple(facts.values())


def _fact(path: Path, number: int, line: str) -> Fact:
    try:
        return _FACT.validate_json(line)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the whole line"
        raise _wrong(path, number, field, first["msg"]) from err


def _wrong(path: Path, number: int, field: str, why: str) -> IndexUnavailable:
    return IndexUnavailable(f"{path}, line {number}, field {field}: {why}.", remedy=_REMEDY)
