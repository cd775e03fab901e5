"""The text of a file of plain text or Markdown.

Marks of notes are read as writers of Markdown type them. The rest of Markdown becomes HTML (``kb.parsing.html``).
"""

from __future__ import annotations

import re

from kb.parsing import html
from kb.parsing.file_kinds import decoded
from kb.parsing.raised_marks import OFF, ON, lowered
from kb.parsing.raw_text import Raw

_NOTE = re.compile(r"^\[\^([\w.-]{1,30})\]:[ \t]*", re.MULTILINE)
_NOTE_MARK = re.compile(r"\[\^([\w.-]{1,30})\]")
_INLINE_NOTE = re.compile(r"\^\[([^\[\]\n]{1,500})\]")
_UP = re.compile(r"(?<=\w)\^(-?\w{1,6})\^|<sup>([^<>\n]{1,30})</sup>", re.IGNORECASE)
_DOWN = re.compile(r"(?<=[A-Za-z])~(\d{1,3})~|<sub>([^<>\n]{1,30})</sub>", re.IGNORECASE)
_LINKED = re.compile(r"(?<=[\w%.,;:)”»])\[(\d{1,3})\]\(#[^()\s]{1,80}\)")
_FRONT_MATTER = re.compile(r"\A---\n(?:[^\n]*\n){0,60}?---\n")
_NO_SIGNS = {ord(sign): " " for sign in ON + OFF}


def read(data: bytes, media_type: str) -> Raw:
    """The file's lines, with the marks of its notes raised.

    Raises:
        DocumentRefused: its characters are in no known encoding.
    """
    text = decoded(data, media_type).translate(_NO_SIGNS)
    text = _NOTE_MARK.sub(rf"{ON}[\1]{OFF}", _NOTE.sub(r"\n\1 ", text))
    text = _INLINE_NOTE.sub(r" (\1)", _LINKED.sub(rf"{ON}\1{OFF}", text))
    text = _UP.sub(lambda match: f"{ON}{match[1] or match[2]}{OFF}", text)
    return Raw([_DOWN.sub(lambda match: lowered(match[1] or match[2]), text)], is_wrapped=True)


def read_markdown(data: bytes, media_type: str) -> Raw:
    """The text that a reader of rendered Markdown sees.

    Raises:
        DocumentRefused: its characters are in no known encoding.
    """
    from markdown_it import MarkdownIt  # imported here: few documents need it

    text = read(data, media_type).pages[0].replace("\r\n", "\n")
    text = _FRONT_MATTER.sub("", text).replace(ON, "<sup>").replace(OFF, "</sup>")
    page = MarkdownIt("commonmark").enable("table").render(text)
    return html.read(page.encode(), "text/html; charset=utf-8")
