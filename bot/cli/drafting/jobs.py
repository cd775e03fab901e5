"""What ``antiphon check`` and ``antiphon read`` are given: a post and a reply, or a file with a row for each.

Owns how arguments, rows and evidence are read, and what is refused of them, before anything is loaded.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bot.cli.command import given
from core.errors import BadInput
from core.models import Evidence
from core.scoring.checking import evidence_of
from core.stages.signals import check_text
from core.wording.language import NAMES
from core.wording.text import MAX_POST_CHARACTERS


@dataclass(frozen=True)
class Job:
    """One row: a post, a reply for ``check``, and what is known of them."""

    id: str
    post: str
    reply: str
    language: str | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class BadRow:
    """A row that could not be read: its line, what is wrong and what to do."""

    line: int
    error: str


def require(text: str, name: str, call: str) -> None:
    """Refuse a call without its ``post`` or ``reply``; ``call`` is how the command is called."""
    if not text:
        raise BadInput(f"The {name} is missing.", remedy=f"Call it as {call}, or name a file with --batch.")


def text_of(argument: str, name: str) -> str:
    """The ``post`` or ``reply`` that an argument gives; ``-`` reads it from standard input.

    Raises:
        BadInput: it is too long, or a post without words.
    """
    text = given(argument)
    _check_length(text, name)
    return text


def refuse_both(post: str, batch: Path) -> None:
    """Refuse a post beside a file of posts."""
    if post:
        raise BadInput(f"There is a post beside --batch {batch}.", remedy="Leave one of them out.")


def language_of(code: str) -> str | None:
    """The language of a code, ``None`` where it is to be detected. Raises ``BadInput`` for an unknown one."""
    if code and code not in NAMES:
        raise BadInput(f"Antiphon does not read the language {code!r}.", remedy=f"It reads: {', '.join(NAMES)}.")
    return code or None


def jobs_of(
    batch: Path, language: str, evidence: tuple[Evidence, ...], *, needs_reply: bool
) -> tuple[list[Job], list[BadRow]]:
    """The rows of a file that can be read, and those that cannot, by their lines.

    Args:
        batch: the file; ``-`` is standard input.
        evidence: for the rows that bring none.

    Raises:
        BadInput: the file cannot be read, or holds no rows.
    """
    given_language = language_of(language)
    jobs, bad = list[Job](), list[BadRow]()
    lines = given("-").splitlines() if str(batch) == "-" else _text(batch).splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                jobs.append(_job(line, number, given_language, evidence, needs_reply=needs_reply))
            except BadInput as fault:
                bad.append(BadRow(number, str(fault)))
    if not jobs and not bad:
        raise BadInput(f"{batch} holds no rows.", remedy="Give one JSON object a line, with post and reply.")
    return jobs, bad


def _job(line: str, number: int, language: str | None, evidence: tuple[Evidence, ...], *, needs_reply: bool) -> Job:
    fields = ("post", "reply") if needs_reply else ("post",)
    remedy = f"Write one JSON object a line, with {' and '.join(fields)} as texts."
    try:
        row = json.loads(line)
    except ValueError as err_:
        raise BadInput("It is not JSON.", remedy=remedy) from err_
    if not isinstance(row, dict):
        raise BadInput("It is not a JSON object.", remedy=remedy)
    for name in fields:
        text = row.get(name)
        if not isinstance(text, str):
            raise BadInput(f"The field {name!r} is missing or not a text.", remedy=remedy)
        _check_length(text, name)
    code = row.get("language") or language
    passages = row.get("evidence")
    return Job(
        str(row.get("id", number)),
        row["post"],
        row.get("reply", "") if needs_reply else "",
        language_of(str(code)) if code else None,
        evidence if passages is None else _evidence(passages),
    )


def _check_length(text: str, name: str) -> None:
    if name == "post":
        check_text(text)
    elif len(text) > MAX_POST_CHARACTERS:
        raise BadInput(f"The reply has {len(text):,} characters.", remedy=f"Pass {MAX_POST_CHARACTERS:,} at most.")


def passages_of(path: Path) -> tuple[Evidence, ...]:
    """The passages of a JSON file: one object, a list, or one object a line. Raises ``BadInput``."""
    text = _text(path)
    try:
        rows = json.loads(text)
    except ValueError:
        try:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as err_:
            raise BadInput(
                f"{path} is not JSON.", remedy="Write one object with a text a line, or a list of them."
            ) from err_
    return _evidence(rows)


def _evidence(rows: object) -> tuple[Evidence, ...]:
    each = rows if isinstance(rows, list) else [rows]
    return tuple(evidence_of(row, str(place)) for place, row in enumerate(each, start=1))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as err_:
        raise BadInput(f"{path} cannot be read ({type(err_).__name__}).", remedy="Name a text file in UTF-8.") from err_
