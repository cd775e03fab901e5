"""What a reader gives to the cleaning: text as the file holds it."""

from __future__ import annotations

from dataclasses import dataclass, field

STRUCK = "Text that is struck out was not read: {count} characters."


_LONGEST_CELL = 80  # characters; a longer one is prose, which a row is not joined from


def join_row(lines: list[str], start: int, cells: int) -> None:
    """Join the lines from ``start``, which are a row of a table, to one, so that a figure stays beside what it is of.

    Lines that are prose, or more than there are ``cells``, stay as they are.
    """
    own = lines[start:]
    if 1 < len(own) <= cells and all(len(line) <= _LONGEST_CELL for line in own):
        lines[start:] = [" ".join(own)]


@dataclass(slots=True)
class Raw:
    """What a reader found.

    Attributes:
        pages: the text of each page, empty for a page without text; paragraphs or lines end with a line break.
        labels: the number that each page bears in print, by the file's own word; empty where it says nothing.
        title: as the file gives it, or its first heading.
        author: who wrote or published it, as the file says.
        dated: when it was made or published, in the words of the file.
        is_wrapped: whether lines end at the page's width, so that paragraphs have to be joined from lines.
        hidden: how many characters were left out because people would not see them.
        notes: what else a person should know, as sentences.
    """

    pages: list[str]
    title: str | None = None
    author: str | None = None
    dated: str | None = None
    is_wrapped: bool = False
    hidden: int = 0
    notes: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
