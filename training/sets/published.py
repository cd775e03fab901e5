"""CONAN, MT-CONAN, IntentCONAN and sets of their form, as groups of examples for the writer.

Owns which columns hold what. None of these sets comes with Antiphon, and their licences differ and change: whoever
trains on a copy says under which licence they have it, and the card of the run repeats that.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from core.errors import BadInput
from core.llm.short_prompts import reply_prompt
from core.models import Intent
from core.wording.language import detect
from training.writer.examples import STYLE, Group
from training.writer.packing import Example

_POST: Final = ("HATE_SPEECH", "hateSpeech", "hatespeech", "HS", "post")
_REPLY: Final = ("COUNTER_NARRATIVE", "counterSpeech", "counterspeech", "CN", "reply", "human_reply")
_INTENT: Final = ("csType", "cnType", "CN_TYPE", "intent")
_LANGUAGE: Final = ("LANG", "lang", "language")
INTENTS: Final[Mapping[str, Intent]] = MappingProxyType(
    {
        "informative": Intent.INFORMATIVE,
        "facts": Intent.INFORMATIVE,
        "question": Intent.QUESTIONING,
        "questioning": Intent.QUESTIONING,
        "denouncing": Intent.DENOUNCING,
        "denouncement": Intent.DENOUNCING,
        "positive": Intent.POSITIVE,
        "affiliation": Intent.EMPATHETIC,
        "empathetic": Intent.EMPATHETIC,
    }
)
"""The intents of published sets as ours. Humour and hypocrisy have none: CoARL left them out as offensive to some."""


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """A user's copy of a set.

    Attributes:
        name: what the card calls it.
        file: CSV with a heading, JSON lines, or a list in JSON.
        licence: in the user's words.
    """

    name: str
    file: Path
    licence: str


def groups_of(one: PublishedSet) -> list[Group]:
    """The replies of a set, those to one post together. Rows whose intent is none of ours are left out.

    Raises:
        BadInput: the file cannot be read, no licence is named, or columns are missing.
    """
    if not one.licence.strip():
        raise BadInput(f"No licence is named for {one.name}.", remedy="Say with --licence under which one you have it.")
    of_post: dict[str, list[Example]] = defaultdict(list)
    for row in _rows(one.file):
        post, text = _value(row, _POST, one.file), _value(row, _REPLY, one.file)
        said = next((str(row[name]) for name in _INTENT if row.get(name)), "informative").strip().lower()
        intent = INTENTS.get(said)
        if intent is None or not post or not text:
            continue
        named = next((str(row[name]).lower()[:2] for name in _LANGUAGE if row.get(name)), None)
        language = named or detect(post, "en") or "en"
        of_post[post].append(Example(tuple(reply_prompt(post, intent, language, style=STYLE)), text, one.name))
    return [tuple(examples) for examples in of_post.values()]


def parse(said: str, licence: str) -> PublishedSet:
    """A set from ``NAME=FILE``.

    Raises:
        BadInput: it has another form, or there is no such file.
    """
    name, sign, file = said.partition("=")
    if not sign or not name or not Path(file).is_file():
        raise BadInput(f"{said} names no set.", remedy="Write NAME=FILE, such as mt-conan=Multitarget-CONAN.csv.")
    return PublishedSet(name, Path(file), licence)


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    try:
        if file.suffix == ".csv":
            with file.open(encoding="utf-8-sig", newline="") as stored:
                yield from csv.DictReader(stored)
        elif file.suffix == ".json":
            found = json.loads(file.read_text(encoding="utf-8"))
            yield from found.values() if isinstance(found, dict) else found
        else:
            yield from map(json.loads, filter(str.strip, file.read_text(encoding="utf-8").splitlines()))
    except (OSError, ValueError) as err:
        raise BadInput(
            f"{file} cannot be read: {type(err).__name__}.", remedy="It must be CSV, JSON or JSON lines, in UTF-8."
        ) from err


def _value(row: Mapping[str, Any], names: tuple[str, ...], file: Path) -> str:
    for name in names:
        if name in row:
            return " ".join(str(row[name] or "").split())
    raise BadInput(
        f"{file} has no column for one of: {', '.join(names)}.", remedy=f"Its columns are: {', '.join(map(str, row))}."
    )
