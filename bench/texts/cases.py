"""Posts and drafts with a label: those of a file, HateCheck's included, or the test split of our own data."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.measures.samples import read_rows
from core.engine.readers.outputs import DRAFT_OUTPUTS, POST_OUTPUTS
from core.engine.wording.language import detect
from core.errors import BadInput
from core.models import Evidence, Source, TargetGroup
from training.corpus import FAULT_LETTERS, GROUP_LETTERS, draft_targets, post_targets
from training.corpus import drafts as own_drafts
from training.corpus import posts as own_posts

KINDS: Final = Path(__file__).with_name("kinds.jsonl")
"""Posts of the kinds that readers err on, hateful and harmless ones alike; nothing learns from them."""
HARD: Final = KINDS.with_name("hard.jsonl")
"""Others of such kinds, as many of each in four languages, by a writer of none of what is learnt."""
FUNCTIONS: Final = KINDS.with_name("functions.jsonl")
"""Twelve short English posts or two dozen for each function of hate and of harmless talk that looks like it."""
MEASURED: Final = (KINDS, HARD, FUNCTIONS)
TEST: Final = "test"
_TEXT: Final = ("text", "test_case", "post", "case_text")
_LABEL: Final = ("label", "label_gold", "hateful")
_FUNCTION: Final = ("function", "functionality")
_GROUP: Final = ("group", "target_ident", "target_group")
_HATEFUL: Final = frozenset({"hateful", "hate", "h", "yes", "true", "1", "1.0"})
_HARMLESS: Final = frozenset(
    {"non-hateful", "not hateful", "nonhateful", "harmless", "nothate", "n", "no", "false", "0", "0.0"}
)
_LETTERS: Final = {letter: fault.value for letter, fault in FAULT_LETTERS.items()} | {
    "a": "agrees", "k": "party politics",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PostExample:
    """A post, whether it is hateful, what it is an example of, the groups that it is said to speak of, its language."""

    text: str
    is_hateful: bool
    function: str
    groups: tuple[str, ...]
    language: str


@dataclass(frozen=True, slots=True)
class DraftExample:
    """A draft under a post; ``kind``: what is wrong with a bad one, the intent of a good one."""

    post: str
    text: str
    is_good: bool
    kind: str
    group: str
    language: str
    evidence: tuple[Evidence, ...] = ()


def read_cases(path: Path) -> list[PostExample]:
    """The posts of a CSV file or of JSON lines.

    Raises:
        BadInput: the file cannot be read, or a row has no text or no label.
    """
    return [_case(row, place, path) for place, row in enumerate(_rows(path), start=1)]


def test_cases() -> list[PostExample]:
    """The posts of the test split that the readings agree on, as hateful as most of them say."""
    rows = [row for row in own_posts() if row.split == TEST]
    _require(rows, "posts")
    targets = post_targets(rows)
    at = POST_OUTPUTS.index("hateful")
    groups = {group: POST_OUTPUTS.index(group) for group in TargetGroup}
    return [
        PostExample(
            row.text,
            bool(target[at] > 0.5),
            row.function,
            tuple(group.value for group, column in groups.items() if target[column] > 0.5),
            row.language,
        )
        for row, target in zip(rows, targets, strict=True)
        if target[at] != 0.5
    ]


def read_replies(posts: Path, drafts: Path) -> list[DraftExample]:
    """The drafts of a file with the posts of another one.

    Raises:
        BadInput: a file cannot be read, or a row lacks a field or names a post that is not there.
    """
    post_of = {str(row["id"]): row for row in read_rows(posts) if "id" in row and row.get("post")}
    if not post_of:
        raise BadInput(f"{posts} holds no posts.", remedy="Give each row the fields 'id' and 'post'.")
    return [_reply(row, place, post_of, drafts) for place, row in enumerate(read_rows(drafts), start=1)]


def test_replies() -> list[DraftExample]:
    """The drafts of the test split, fit or not as most readings say."""
    rows = [row for row in own_drafts() if row.split == TEST]
    _require(rows, "drafts")
    unfit = draft_targets(rows)[:, DRAFT_OUTPUTS.index("unfit")]
    meant = {row.id: row.readings[0] if row.readings else row.meant for row in own_posts()}
    replies = []
    for row, share in zip(rows, unfit, strict=True):
        if share == 0.5:
            continue
        letters = np.unique(list("".join(row.readings or (row.meant,)).replace("ok", "")))
        kinds = ", ".join(_LETTERS[letter] for letter in letters) if share > 0.5 else row.intent or "generic"
        label = meant[row.post_id]
        group = GROUP_LETTERS[label.split(":")[1][0]].value if label.startswith("h:") else ""
        replies.append(DraftExample(row.post, row.text, share < 0.5, kinds, group, row.language))
    return replies


def _require(rows: Sequence[object], what: str) -> None:
    if not rows:
        raise BadInput(
            f"training/data holds no {what} of the split {TEST!r}.",
            remedy="Name a file of your own, or restore the data.",
        )


def _rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix.casefold() not in {".csv", ".tsv"}:
        return read_rows(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as err:
        raise BadInput(f"{path} cannot be read: {err}.", remedy="Name a CSV file in UTF-8, or JSON lines.") from err
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t" if path.suffix.casefold() == ".tsv" else ","))
    if not rows:
        raise BadInput(f"{path} holds no rows.", remedy="Name a file with a header and one post on each line.")
    return rows


def _field(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((str(row[name]).strip() for name in names if row.get(name) not in {None, ""}), "")


def _case(row: Mapping[str, Any], place: int, path: Path) -> PostExample:
    text, label = _field(row, _TEXT), _field(row, _LABEL).casefold()
    if not text or label not in _HATEFUL | _HARMLESS:
        raise BadInput(
            f"{path}, row {place} has no text, or its label {label!r} is not known.",
            remedy=f"Name the columns {_TEXT[0]!r} and {_LABEL[0]!r}; a label is 'hateful' or 'non-hateful'.",
        )
    groups = _field(row, _GROUP)
    return PostExample(
        text,
        label in _HATEFUL,
        _field(row, _FUNCTION) or "-",
        tuple(part.strip() for part in groups.split(";")) if groups else (),
        _field(row, ("language",)) or "en",
    )


def _reply(row: Mapping[str, Any], place: int, post_of: Mapping[str, Mapping[str, Any]], path: Path) -> DraftExample:
    post, label = post_of.get(str(row.get("post_id"))), str(row.get("label")).casefold()
    if post is None or label not in {"good", "bad"} or not str(row.get("text") or "").strip():
        raise BadInput(
            f"{path}, row {place}: the post {row.get('post_id')!r}, the label {label!r} or the text cannot be used.",
            remedy="Give each row 'post_id' of a post, 'label' good or bad, and 'text'.",
        )
    passage_rows = row.get("evidence") or ()
    passages = passage_rows if isinstance(passage_rows, list) else [passage_rows] if passage_rows else []
    return DraftExample(
        str(post["post"]),
        str(row["text"]),
        label == "good",
        str(row.get("kind") or "-"),
        str(post.get("target_group") or "-"),
        str(row.get("language") or post.get("language") or _language(str(post["post"]))),
        tuple(_evidence(passage, f"evidence-{at}") for at, passage in enumerate(passages, start=1)),
    )


def _evidence(row: object, name: str) -> Evidence:
    """A passage; ``name`` is its id where it has none."""
    text, year = (row.get("text"), row.get("year")) if isinstance(row, Mapping) else (None, None)
    if not isinstance(row, Mapping) or not isinstance(text, str) or not str(year or 0).isdecimal():
        raise BadInput(
            "A piece of evidence has no text, or a year that is no number.",
            remedy="Give an object with text, and with publisher, title, year and url where they are known.",
        )
    publisher, title, url = (str(row.get(key) or "") for key in ("publisher", "title", "url"))
    return Evidence(str(row.get("id") or name), text, text, Source(publisher, title, year and int(year), None, url))


@lru_cache(maxsize=10_000)
def _language(post: str) -> str:
    return detect(post, "en") or "en"
