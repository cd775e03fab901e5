"""The facts that ship with Antiphon, each with its source, and how a file of such rows is read.

A row with a defect is refused, with its line and field; it is never mended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from core.errors import IndexUnavailable
from core.models import Source, TargetGroup

STARTER_FACTS = Path(__file__).parent / "facts.jsonl"
"""The facts that ship with Antiphon."""

_REMEDY = "Correct that line, or install Antiphon again to get the shipped {what} back."
_Row = TypeVar("_Row")
_Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+")]


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


def read_rows(path: Path, form: TypeAdapter[_Row], what: str) -> list[tuple[int, _Row]]:
    """The rows of a UTF-8 file with the numbers of their lines, from 1; blank lines are skipped.

    ``what`` names the rows in errors: "facts".

    Raises:
        IndexUnavailable: the file cannot be read, is empty, or a line is wrong; names file, line and field.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as err:
        raise _damaged(f"The {what} in {path} cannot be read: {err}.", what) from err
    rows = [(number, _row(path, number, line, form, what)) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise _damaged(f"There are no {what} in {path}.", what)
    return rows


def _row(path: Path, number: int, line: str, form: TypeAdapter[_Row], what: str) -> _Row:
    try:
        return form.validate_json(line)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the whole line"
        raise wrong_row(path, number, field, first["msg"], what) from err


def wrong_row(path: Path, number: int, field: str, why: str, what: str) -> IndexUnavailable:
    """The error for one field of one line."""
    return _damaged(f"{path}, line {number}, field {field}: {why}.", what)


def _damaged(message: str, what: str) -> IndexUnavailable:
    return IndexUnavailable(message, remedy=_REMEDY.format(what=what))
