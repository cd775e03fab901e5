"""The files of rows that ship with Antiphon: one JSON object a line, each checked against its form.

A row with a defect is refused, with its line and field; it is never mended.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, TypeAdapter, ValidationError

from core.errors import IndexUnavailable

_REMEDY = "Correct that line, or install Antiphon again to get the shipped {what} back."

_Row = TypeVar("_Row")


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


Text = Annotated[str, AfterValidator(_not_blank)]
"""A field that says something."""


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
