"""CONAN, MT-CONAN, IntentCONAN and sets of their form, as groups of examples for the writer.

None of these sets comes with Antiphon, and their licences differ and change: a person who trains on a copy says under
which licence they have it, and the card of the run repeats that. An error says nothing of what a set holds.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from core.engine.wording.language import NAMES, detect
from core.errors import BadInput
from core.models import Intent
from training.writer.examples import Group, reply_prompt
from training.writer.sequences import Example

_POST: Final = ("hate_speech", "hatespeech", "hs", "post")
_REPLY: Final = ("counter_narrative", "counterspeech", "cn", "reply", "human_reply")
_INTENT: Final = ("cstype", "cntype", "cn_type", "intent")
_LANGUAGE: Final = ("lang", "language")
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
_MOST_COLUMNS: Final = 12
_NAME: Final = re.compile(r"[\w.-]{1,30}")
_FORM: Final = "It must be CSV with a heading, JSON lines, or rows in JSON, in UTF-8."


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """A user's copy of a set.

    Attributes:
        name: what the card calls it.
        file: CSV with a heading, JSON lines, or in JSON a list of rows or rows by their ids.
        licence: in the user's words.
    """

    name: str
    file: Path
    licence: str


def read_set(published: PublishedSet) -> tuple[list[Group], Mapping[str, int]]:
    """The replies of a set, those to one post together, and how many rows were left out, by the reason.

    Of several intents of one row the first that is one of ours counts.

    Left out are rows without a post or a reply, rows whose intents are none of ours, posts in a language that Antiphon
    does not write, and a reply that stood before: a set with paraphrased posts would teach it several times.

    Raises:
        BadInput: the file cannot be read, no licence is named, or columns are missing.
    """
    if not published.licence.strip():
        raise BadInput(
            f"No licence is named for {published.name}.", remedy="Say with --licence under which one you have it."
        )
    of_post: dict[str, list[Example]] = defaultdict(list)
    left_out, seen_before = Counter[str](), set[str]()
    for row in _rows(published.file):
        post, text = _value(row, _POST, published.file), _value(row, _REPLY, published.file)
        intent = _intent(_first_text(row, _INTENT) or "informative")
        language = _first_text(row, _LANGUAGE)[:2] or detect(post, "en") or "en"
        if not post or not text:
            left_out["no post or no reply"] += 1
        elif intent is None:
            left_out["an intent that is none of ours"] += 1
        elif language not in NAMES:
            left_out["a language that Antiphon does not write"] += 1
        elif text in seen_before:
            left_out["a reply that stood before"] += 1
        else:
            seen_before.add(text)
            of_post[post].append(Example(reply_prompt(post, intent, language), text, published.name))
    return [tuple(examples) for examples in of_post.values()], dict(left_out)


def parse(text: str, licence: str) -> PublishedSet:
    """A set from ``NAME=FILE``.

    Raises:
        BadInput: it has another form, or there is no such file.
    """
    name, sign, file = text.partition("=")
    if not sign or not name or not Path(file).is_file():
        raise BadInput(f"{text} names no set.", remedy="Write NAME=FILE, such as mt-conan=Multitarget-CONAN.csv.")
    return PublishedSet(name, Path(file), licence)


def _intent(text: str) -> Intent | None:
    intents = (INTENTS.get(word.strip()) for word in re.split(r"[,;/|]", text))
    return next((intent for intent in intents if intent), None)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    """The rows, with the names of their columns in small letters."""
    try:
        for row in _read(file):
            if not isinstance(row, Mapping):
                raise BadInput(f"The rows of {file} have no columns: each is a {type(row).__name__}.", remedy=_FORM)
            yield {str(name).strip().lower(): value for name, value in row.items()}
    except (OSError, ValueError, csv.Error) as err:
        raise BadInput(f"{file} cannot be read: {type(err).__name__}.", remedy=_FORM) from err


def _read(file: Path) -> Iterator[Any]:
    if file.suffix == ".csv":
        with file.open(encoding="utf-8-sig", newline="") as stored:
            yield from csv.DictReader(stored)
    elif file.suffix == ".json":
        data = json.loads(file.read_text(encoding="utf-8"))
        yield from data.values() if isinstance(data, dict) else data if isinstance(data, list) else [data]
    else:
        yield from map(json.loads, filter(str.strip, file.read_text(encoding="utf-8").splitlines()))


def _first_text(row: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((str(row[name]).strip().lower() for name in names if row.get(name)), "")


def _value(row: Mapping[str, Any], names: tuple[str, ...], file: Path) -> str:
    for name in names:
        if name in row:
            return " ".join(str(row[name] or "").split())
    raise BadInput(f"{file} has no column for one of: {', '.join(names)}.", remedy=_columns(row))


def _columns(row: Mapping[str, Any]) -> str:
    """The columns of a set, of which those that may be a text of it are counted only."""
    names = [name for name in row if _NAME.fullmatch(name)][:_MOST_COLUMNS]
    others = f"and {len(row) - len(names)} others that are no names" if len(row) > len(names) else ""
    return f"Its columns are: {' '.join(part for part in (', '.join(names), others) if part)}."
