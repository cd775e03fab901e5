"""One file read: recognised, read by the reader of its kind, cleaned, and cut to the limits.

Runs only in the locked process: a reader may hang, crash or be taken over by a hostile file.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from core.errors import DocumentRefused
from kb.parsing.clean_text import author_in, clean_line, cleaned, heading_in, title_in, year_in
from kb.parsing.file_kinds import FileKind, kind_of
from kb.parsing.limits import ParsingLimits
from kb.parsing.raw_text import Raw

_LONGEST_LABEL = 20


def read(
    data: bytes, media_type: str, *, language: str | None, limits: ParsingLimits, deadline: float
) -> dict[str, object]:
    """The answer of the locked process: pages as number, text and printed number, title, author, year and notes.

    Args:
        deadline: on the monotonic clock.

    Raises:
        DocumentRefused: the file cannot be used, or holds no text.
    """
    raw = _raw(data, media_type, language=language, limits=limits, deadline=deadline)
    pages, was_cut = _cut(raw.pages, limits.characters)
    texts, notes = cleaned(replace(raw, pages=pages))
    texts, grew = _cut(texts, limits.characters)  # cleaning may write one character as several
    notes = [*raw.notes, *notes]
    if was_cut or grew:
        notes.append(f"Only the first {limits.characters:,} characters were read.")
    if not any(texts):
        raise DocumentRefused(" ".join(["It holds no text.", *notes]), remedy="Give a file with text.")
    return {
        "pages": [
            (number, text, clean_line(label)[:_LONGEST_LABEL])
            for number, (text, label) in enumerate(zip_longest(texts, raw.labels, fillvalue=""), start=1)
            if text
        ],
        "title": title_in(clean_line(raw.title or "")) or heading_in(texts),
        "author": author_in(clean_line(raw.author or "")),
        "year": year_in(raw.dated or ""),
        "notes": notes,
    }


def _raw(data: bytes, media_type: str, *, language: str | None, limits: ParsingLimits, deadline: float) -> Raw:
    # A reader's library is loaded only where it is needed: every document has a process of its own
    match kind_of(data, media_type):
        case FileKind.PDF:
            from kb.parsing import pdf

            return pdf.read(data, limits, language=language, deadline=deadline)
        case FileKind.DOCX:
            from kb.parsing import docx

            return docx.read(data, limits)
        case FileKind.HTML:
            from kb.parsing import html

            return html.read(data, media_type)
        case FileKind.TEXT:
            from kb.parsing import plain

            return plain.read(data, media_type)
        case FileKind.MARKDOWN:
            from kb.parsing import plain

            return plain.read_markdown(data, media_type)


def _cut(pages: list[str], most: int) -> tuple[list[str], bool]:
    texts, room = [], most
    for page in pages:
        texts.append(page[: max(room, 0)])
        room -= len(page)
    return texts, room < 0
