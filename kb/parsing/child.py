"""The process that reads one document, answers, and ends.

The process first gives up all rights that it does not need (``kb.parsing.sandbox``), and only then reads the first
byte of the document: a reader may hang, crash or be taken over by a hostile file. The file is recognised, read by the
reader of its kind, cleaned, and cut to the limits. The document comes from standard input; the answer, or the reason
why there is none, goes to standard output as one JSON object.
"""

import json
import os
import re
import sys
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from time import monotonic

from core.errors import DocumentRefused
from kb.parsing import ocr, sandbox
from kb.parsing.clean_text import author_in, clean_line, cleaned, heading_in, title_in, year_in
from kb.parsing.file_kinds import FileKind, decoded, kind_of
from kb.parsing.limits import ParsingLimits
from kb.parsing.raw_text import OFF, ON, Raw, lowered

_LONGEST_LABEL = 20
_NOTE = re.compile(r"^\[\^([\w.-]{1,30})\]:[ \t]*", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^([\w.-]{1,30})\]")
_INLINE_NOTE = re.compile(r"\^\[([^\[\]\n]{1,500})\]")
_UP = re.compile(r"(?<=\w)\^(-?\w{1,6})\^|<sup>([^<>\n]{1,30})</sup>", re.IGNORECASE)
_DOWN = re.compile(r"(?<=[A-Za-z])~(\d{1,3})~|<sub>([^<>\n]{1,30})</sub>", re.IGNORECASE)
_LINKED = re.compile(r"(?<=[\w%.,;:)”»])\[(\d{1,3})\]\(#[^()\s]{1,80}\)")
_FRONT_MATTER = re.compile(r"\A---\n(?:[^\n]*\n){0,60}?---\n")
_NO_SIGNS = {ord(sign): " " for sign in ON + OFF}
_DAMAGED = "Open it in the program that made it and save it again, or leave it out."


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
            return _plain(data, media_type)
        case FileKind.MARKDOWN:
            return _markdown(data, media_type)


def _plain(data: bytes, media_type: str) -> Raw:
    """The file's lines, with the marks of its notes raised as writers of Markdown type them."""
    text = decoded(data, media_type).translate(_NO_SIGNS)
    text = _NOTE_MARK.sub(rf"{ON}[\1]{OFF}", _NOTE.sub(r"\n\1 ", text))
    text = _INLINE_NOTE.sub(r" (\1)", _LINKED.sub(rf"{ON}\1{OFF}", text))
    text = _UP.sub(lambda match: f"{ON}{match[1] or match[2]}{OFF}", text)
    return Raw([_DOWN.sub(lambda match: lowered(match[1] or match[2]), text)], is_wrapped=True)


def _markdown(data: bytes, media_type: str) -> Raw:
    """The text that a reader of rendered Markdown sees."""
    from markdown_it import MarkdownIt

    from kb.parsing import html

    text = _plain(data, media_type).pages[0].replace("\r\n", "\n")
    text = _FRONT_MATTER.sub("", text).replace(ON, "<sup>").replace(OFF, "</sup>")
    page = MarkdownIt("commonmark").enable("table").render(text)
    return html.read(page.encode(), "text/html; charset=utf-8")


def _cut(pages: list[str], most: int) -> tuple[list[str], bool]:
    texts, room = [], most
    for page in pages:
        texts.append(page[: max(room, 0)])
        room -= len(page)
    return texts, room < 0


def main(root: str, request: str) -> None:
    """Read the document at standard input.

    Args:
        root: the folder that holds ``core`` and ``kb``.
        request: a JSON object with ``media_type``, ``language`` and ``limits``.
    """
    order = json.loads(request)
    limits = ParsingLimits(**order["limits"])
    deadline = monotonic() + limits.seconds
    answer_to = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is not part of the answer
    readable = [str(Path(root) / "core"), str(Path(root) / "kb"), os.environ.get("TESSDATA_PREFIX", "")]
    missing = sandbox.enter(limits, readable=filter(None, readable), programs=ocr.program() is not None)
    answer = _answer(order["media_type"], order["language"], limits, deadline) | {"missing": missing}
    with os.fdopen(answer_to, "wb") as out:
        out.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", errors="replace"))


def _answer(media_type: str, language: str | None, limits: ParsingLimits, deadline: float) -> dict[str, object]:
    try:
        return read(sys.stdin.buffer.read(), media_type, language=language, limits=limits, deadline=deadline)
    except DocumentRefused as refused:
        return {"refused": refused.message, "remedy": refused.remedy}
    except MemoryError:
        return {"refused": "Reading it takes more memory than a document may.", "remedy": _DAMAGED}
    except Exception as err:  # a hostile file may break any library: only this document fails
        return {"refused": f"It cannot be read ({type(err).__name__}).", "remedy": _DAMAGED}
