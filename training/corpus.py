"""The posts and drafts that the readers are trained and measured on: their files, labels, and how they are split.

The README.md of ``training/data`` describes the files. A label is what one person or reader says of a text: for a post
``n``, ``n::p``, ``h:GROUPS:FLAGS``, or ``h``, which does not say whom it attacks, or how; for a draft ``ok`` or the
letters of its faults.
"""

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.engine.cards.answers import NAMES_OF_GROUPS, Answer
from core.engine.readers.outputs import DRAFT_OUTPUTS, INTENTS, POST_OUTPUTS, DraftFault
from core.engine.wording.target_groups import Name, named
from core.errors import BadInput
from core.models import Intent, TargetGroup

T = TypeVar("T")
DATA: Final = Path(__file__).with_name("data")
GROUP_LETTERS: Final = dict(zip("wcdmujlo", TargetGroup, strict=True))
"""The letters of the target groups in labels, in the order of ``TargetGroup``."""
POST_WRITERS_OF_TESTS: Final = frozenset({"en-e", "es-b", "it-b", "eu-b"})
DRAFT_WRITERS_OF_TESTS: Final = frozenset({"en-5", "en-u", "en-20", "es-t", "it-t", "eu-t"})
"""Whose texts are never trained on. Those of the posts in Spanish, Italian and Basque are half of the development."""
FAULT_LETTERS: Final = {
    "c": DraftFault.CONCEDES,
    "p": DraftFault.PRESUPPOSES,
    "m": DraftFault.MIRRORS,
    "s": DraftFault.STEREOTYPES,
    "i": DraftFault.INSULTS,
    "h": DraftFault.CALLS_FOR_HARM,
    "x": DraftFault.OFF_SUBJECT,
    "g": DraftFault.GENERIC,
    "r": DraftFault.RESTATES,
}
_POST_LABEL: Final = re.compile(r"n(?:::(?P<aimed>[pt]+))?|h|h:(?P<groups>[wcdmujlo]+):(?P<flags>[eitp1-5]+)")
_DRAFT_LABEL: Final = re.compile(r"ok|[acpmsihxgrk]+")


@dataclass(frozen=True, slots=True)
class PostRow:
    """A post, who wrote it, what its writer meant, and what each reader says.

    ``family``: the template that it was filled from, or the post itself. ``split``: ``train``, ``dev`` or ``test``.
    """

    id: str
    text: str
    language: str
    function: str
    writer: str
    family: str
    split: str
    meant: str
    readings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A reply to a post, with the kind that its writer meant (an intent, or the letters of its faults)."""

    id: str
    post_id: str
    post: str
    text: str
    language: str
    writer: str
    split: str
    meant: str
    intent: str
    readings: tuple[str, ...]


def rows_of(folder: Path) -> Iterable[dict[str, Any]]:
    """The rows of all files of a folder, in the order of their names.

    Raises:
        BadInput: this is an installation, which has no texts.
    """
    _need_texts()
    for file in sorted(folder.glob("*.jsonl")):
        yield from rows_in(file)


def rows_in(file: Path) -> Iterable[dict[str, Any]]:
    """The rows of one file; errors as of ``rows_of``."""
    _need_texts()
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def _need_texts() -> None:
    if not DATA.is_dir():
        raise BadInput(
            "The texts to learn from are not part of an installation.",
            remedy="Run this in a clone of the repository, which has them in training/data.",
        )


def posts(folder: Path = DATA / "posts") -> list[PostRow]:
    return [PostRow(**{**row, "readings": tuple(row["readings"])}) for row in rows_of(folder)]


def kinds(folder: Path = DATA / "kinds") -> list[PostRow]:
    """The posts of the kinds that the readers erred on, which nobody but their writers labelled."""
    return [PostRow(**row, readings=()) for row in rows_of(folder)]


def outside(folder: Path = DATA / "outside") -> list[PostRow]:
    """Posts by writers of whom nothing is learnt; the readers' probabilities are fitted on them, too."""
    return [
        PostRow(family=row["id"], split="outside", meant=row.pop("label"), readings=(), **row)
        for row in rows_of(folder)
    ]


def drafts(folder: Path = DATA / "drafts") -> list[DraftRow]:
    """The drafts that ship, each with the words of its post."""
    text_of = {row.id: row.text for row in posts()}
    return [
        DraftRow(**{**row, "readings": tuple(row["readings"]), "post": text_of[row["post_id"]]})
        for row in rows_of(folder)
    ]


def ordinary(which: str, folder: Path = DATA / "ordinary") -> Iterable[str]:
    """Lines of ordinary talk, none of them hateful: ``train``, or ``heldout``, which no training sees.

    The files' names end in the split; lines that begin with # are notes.
    """
    for file in sorted(folder.glob(f"*-{which}.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                yield line


def called(answer: Answer, post: str) -> tuple[str, str]:
    """A reply and what it answers, with the name of the people of an English post, or of its group, in its place."""
    names = _named(post) or _named(NAMES_OF_GROUPS.get(answer.group, "")) or (Name("these people", frozenset()),)
    return answer.called(answer.of(names) or names[0])


@lru_cache(maxsize=64)
def _named(text: str) -> tuple[Name, ...]:
    """The names in a text; the replies to one post are asked about one after the other."""
    return tuple(named(text))


def spread(rows: Sequence[T], most: int, kind: Callable[[T], tuple[str, ...]]) -> list[T]:
    """At most so many of each kind, evenly spread over them; all of them for 0."""
    if not most:
        return list(rows)
    of = defaultdict[tuple[str, ...], list[T]](list)
    for row in rows:
        of[kind(row)].append(row)
    return [
        rows[at * len(rows) // most] if len(rows) > most else rows[at]
        for rows in of.values()
        for at in range(min(most, len(rows)))
    ]


def post_values(label: str) -> NDArray[np.float32]:
    """What a label says of each output of the reader of posts; NaN where it says nothing.

    Raises:
        ValueError: it is no label.
    """
    match = _POST_LABEL.fullmatch(label)
    if match is None:
        raise ValueError(f"{label!r} labels no post: write n, n::p, h or h:GROUPS:FLAGS")
    if label == "h":
        return np.array([1.0] + [np.nan] * (len(POST_OUTPUTS) - 1), np.float32)
    groups, flags = match["groups"] or "", match["flags"] or match["aimed"] or ""
    says: dict[str, float] = {
        "hateful": label[0] == "h",
        "implied": "i" in flags,
        "threat": "t" in flags,
        "person": "p" in flags,
        "severity": next((int(flag) for flag in flags if flag.isdecimal()), np.nan),
    }
    attacked = {GROUP_LETTERS[letter] for letter in groups}
    values: NDArray[np.float32] = np.array(
        [says[name] if name in says else float(name in attacked) for name in POST_OUTPUTS], np.float32
    )
    return values


def draft_values(label: str, intent: str = "") -> NDArray[np.float32]:
    """What a label says of each output of the reader of drafts; NaN for the intents where none is meant.

    Raises:
        ValueError: it is no label.
    """
    if not _DRAFT_LABEL.fullmatch(label):
        raise ValueError(f"{label!r} labels no draft: write ok or the letters of its faults")
    letters = "" if label == "ok" else label
    says: dict[str, float] = {fault: letter in letters for letter, fault in FAULT_LETTERS.items()}
    says["opposes"] = "a" not in letters
    says["unfit"] = bool(set(letters) - {"g"})
    meant = {name: float(name == intent) if intent else np.nan for name in INTENTS}
    values: NDArray[np.float32] = np.array(
        [says[name] if name in says else meant[Intent(name)] for name in DRAFT_OUTPUTS], np.float32
    )
    return values


def agreed(values: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean of what several readings say, which is the share that says yes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of an output about which no reading says anything
        mean: NDArray[np.float32] = np.nanmean(np.stack(list(values)), axis=0).astype(np.float32)
    return mean


def post_targets(rows: Sequence[PostRow]) -> NDArray[np.float32]:
    """The mean reading of each post, shape (n, outputs)."""
    return np.stack([_post_target(row.readings or (row.meant,)) for row in rows])


def draft_targets(rows: Sequence[DraftRow]) -> NDArray[np.float32]:
    """The mean reading of each draft, shape (n, outputs)."""
    return np.stack([_draft_target(row.readings or (row.meant,), row.intent) for row in rows])


@cache
def _post_target(labels: tuple[str, ...]) -> NDArray[np.float32]:
    return agreed([post_values(label) for label in labels])


@cache
def _draft_target(labels: tuple[str, ...], intent: str) -> NDArray[np.float32]:
    return agreed([draft_values(label, intent) for label in labels])
