"""How many first drafts are hard to read: ``python -m bench.replies.plain --drafts FILE [--out FILE]``.

Each JSON line has the ``text`` of a draft, or the ``drafts`` of ``antiphon draft --json``, of which the first one is
taken. It may have ``language`` ("en" if it does not), ``rank`` (only 1 is counted) and ``human_reply``, a person's
reply to the same post, which is measured beside the draft. Hard is what ``core.wording.reading_level`` calls so: in
English above US grade 9. A draft is taken whole, with the fact that it quotes. No model is asked.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.measuring.output import Row, save, show
from bench.measuring.samples import read_rows
from bench.reading.shares import share
from core.errors import AntiphonError, BadInput
from core.wording.reading_level.reading_level import reading_level

Texts = Mapping[tuple[str, str], Sequence[str]]


def texts_of(rows: Sequence[Mapping[str, Any]]) -> Texts:
    """The first drafts and the human replies, by language and by whose they are.

    Raises:
        BadInput: a row has no draft, or no row has a first one.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for place, row in enumerate(rows, start=1):
        first = (row.get("drafts") or [row])[0]
        if not isinstance(first, dict) or not first.get("text"):
            raise BadInput(f"Row {place} has no draft.", remedy="Give every row the field 'text' or 'drafts'.")
        if first.get("rank", 1) != 1:
            continue
        language = first.get("language") or row.get("language") or "en"
        found.setdefault((language, "first draft"), []).append(first["text"])
        if row.get("human_reply"):
            found.setdefault((language, "human reply"), []).append(row["human_reply"])
    if not found:
        raise BadInput("The file holds no first draft.", remedy="Give drafts of rank 1, or leave the field 'rank' out.")
    return found


def table_of(texts: Texts) -> Iterator[Row]:
    """One line for each language and writer; nothing is measured in a language without an established formula."""
    for (language, whose), written in texts.items():
        levels = [level for text in written if (level := reading_level(text, language))]
        hard = [level.is_hard for level in levels]
        yield {
            "language": language,
            "whose": whose,
            "texts": len(written),
            "scale": levels[0].scale if levels else "none",
            "limit": levels[0].limit if levels else "-",
            "median": median(level.value for level in levels) if levels else "-",
            "hard": sum(hard),
            "share hard": share(hard),
        }


def main() -> None:
    """Measure, print the table, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drafts", type=Path, required=True, help="JSON lines with text or drafts")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    options = parser.parse_args()
    try:
        table = list(table_of(texts_of(read_rows(options.drafts))))
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    show("First drafts that are hard to read", table)
    save(options.out, {"table": table})


if __name__ == "__main__":
    main()
