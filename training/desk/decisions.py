"""Preference pairs from what moderators approved: an edit against its draft, a choice against what stood above it.

Owns how a decision becomes pairs, and which teach nothing. A reply that the application itself would refuse is never
the better one, so that no community's decisions can lower the gates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

from core.errors import BadInput
from core.models import Intent
from training.writer.examples import reply_prompt
from training.writer.preferences import Pair

Refuses = Callable[[str, str, str], str | None]
_SAME: Final = 0.9
"""From this likeness on an edit is a mended comma, and teaches nothing."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A pair, with who decided so and under which post."""

    pair: Pair
    moderator: str
    post: str
    language: str


def read_lessons(file: Path) -> list[Mapping[str, Any]]:
    """The rows that ``antiphon community lessons`` wrote.

    Raises:
        BadInput: the file holds something else.
    """
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as err:
        raise BadInput(f"{file} cannot be read.", remedy="Write it with: antiphon community lessons") from err
    if any(not isinstance(row, dict) or not {"moderator", "post", "drafts", "reply"} <= row.keys() for row in rows):
        raise BadInput(f"{file} holds no lessons.", remedy="Write it with: antiphon community lessons")
    return rows


def one_community(rows: Iterable[Mapping[str, Any]]) -> str:
    """Whose lessons they are.

    Raises:
        BadInput: they are of several communities, or it is not said of which.
    """
    found = {str(row.get("community", "")) for row in rows}
    if len(found) != 1 or "" in found:
        raise BadInput(
            "A writer learns from one community.", remedy="Write its lessons again: antiphon community lessons"
        )
    return found.pop()


def decisions_of(rows: Iterable[Mapping[str, Any]], refuses: Refuses) -> Iterator[Decision]:
    """The pairs of approvals.

    Args:
        rows: of ``read_lessons``.
        refuses: why the application would not show a reply under a post in a language, or ``None``.
    """
    for row in rows:
        language, reply = row.get("language") or "en", str(row["reply"])
        if not reply or refuses(reply, row["post"], language):
            continue
        drafts = sorted(row["drafts"], key=lambda draft: draft["rank"])
        for rejected, source in _beaten(drafts, row.get("draft_rank"), reply, is_edited=bool(row.get("is_edited"))):
            prompt = reply_prompt(row["post"], Intent(rejected["intent"]), language)
            pair = Pair(prompt, reply, rejected["text"], source)
            yield Decision(pair, str(row["moderator"]), row["post"], language)


def _beaten(
    drafts: Sequence[Mapping[str, Any]], rank: int | None, reply: str, *, is_edited: bool
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """What was passed over: the draft before its edit, or else those that stood above the chosen one."""
    if is_edited:
        before = [draft for draft in drafts if draft["rank"] == (rank or 1)]
        differs = [one for one in before if SequenceMatcher(None, one["text"], reply).ratio() < _SAME]
        yield from ((draft, "edit" if rank else "own words") for draft in differs)
    elif rank is not None:
        yield from ((draft, "choice") for draft in drafts if draft["rank"] < rank and draft["text"] != reply)
