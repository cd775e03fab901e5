"""What people say about a document of theirs, beside its file or on its line.

Owns the fields, what is allowed in each, and the words in which a person is told what is wrong.
"""

from __future__ import annotations

from datetime import date
from difflib import get_close_matches
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from core.models import TargetGroup

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Described(BaseModel):
    """What a sidecar or a line says about a document; everything may be left out."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    title: _Text | None = None
    publisher: _Text | None = None
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+\S*$")] | None = None
    year: Annotated[int, Field(ge=1000, le=2999)] | None = None
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")] | None = None
    jurisdiction: _Text | None = None
    licence: _Text | None = None
    expires: date | None = None
    type: _Text | None = None
    document: _Text | None = None
    target_groups: list[Annotated[TargetGroup, Field(strict=False)]] = []


class ListedLine(Described):
    """A document of a ``.jsonl`` file. Without an ``id`` its line number names it; of equal ids the first counts."""

    text: _Text
    id: _Text | None = None


_EXPECTED: Final = {
    "url": "an address that begins with http:// or https://",
    "year": "a year from 1000 to 2999, without quotes",
    "language": "two small letters, ISO 639-1, such as es",
    "expires": "a date without quotes in TOML, such as 2027-12-31",
    "target_groups": f"a list of: {', '.join(TargetGroup)}",
}
"""What a field takes, where that is more than some text."""


def defects(err: ValidationError) -> str:
    """What is wrong, field by field."""
    return "; ".join(dict.fromkeys(_defect(one["type"], one["loc"], one["msg"]) for one in err.errors()))


def _defect(kind: str, place: tuple[int | str, ...], message: str) -> str:
    field = str(place[0]) if place else "the line"
    if kind == "extra_forbidden":
        known = list(Described.model_fields)
        near = get_close_matches(field, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
        return f"{field} is not a field; {hint}"
    if kind == "missing":
        return f"{field} is missing"
    if field in ("the line", ""):
        return f"the line: {message[:1].lower()}{message[1:]}"
    return f"{field} must be {_EXPECTED.get(field, 'some text in quotes')}"
