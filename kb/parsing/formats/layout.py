"""Lines out of the words of a page: raised marks stay with what they stand at, and columns are read one by one.

Owns what is told by place and size. PDFium gives words in the order in which the page paints them, and breaks a line
wherever the height changes.
"""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.wording.text import UNREADABLE
from kb.parsing.raised import OFF, ON, lowered

_MARK = re.compile(r"[\[(]?[\d,;–-]{1,9}[\])]?,?|[*†‡§¶#∗⁎]{1,4}|[\[(]?[a-z][\])]?,?")
_LONGEST_RAISED = 8
_LEAST_RISE, _MOST_RISE = 0.15, 0.8  # of the size of the text beside it
_LEAST_FALL = 0.06
_SMALL, _LEAST_SIZE = 0.9, 0.35  # of its size
_CLOSE, _NEAR, _SAME_LINE = 0.2, 1.2, 3.0  # widths between words, in sizes
_ROW = 0.3  # heights that are one row, in sizes
_GUTTER = 0.7  # the least width between columns, in sizes
_LEAST_ROWS = 3
_LEAST_WORDS = 2.5  # in a column's line, on average: fewer are cells of a table
_MOST_FIGURES = 0.3
_MOST_ROWS = 300  # of a page; one with more is no page of prose
_MOST_STRAY = 200
_WIDE_GAP = 1.5  # times the usual distance between lines: a paragraph begins


@dataclass(slots=True)
class Word:
    """Characters between two spaces of one text object, and where they stand, in points.

    Attributes:
        is_glued: no space is before it.
        breaks: PDFium begins a line before it.
    """

    text: str
    left: float
    right: float
    baseline: float
    size: float
    is_glued: bool = False
    breaks: bool = False


@dataclass(slots=True)
class Line:
    """The words of a printed line, and the baseline and size of most of them."""

    words: list[Word] = field(default_factory=list)
    baseline: float = 0.0
    size: float = 0.0

    def take(self, word: Word) -> None:
        """Add a word at the end, and read the line's height from it, unless it is raised or lowered."""
        if not self.words or not (_is_raised(word, self) or _is_lowered(word, self)):
            self.baseline, self.size = word.baseline, word.size
        self.words.append(word)

    @property
    def text(self) -> str:
        """The words with spaces, raised ones between ``ON`` and ``OFF``."""
        parts = list[str]()
        for index, word in enumerate(self.words):
            before = self.words[index - 1] if index else None
            if before and not _is_glued(before, word, self.size):
                parts.append(" ")
            if _is_raised(word, self) and len(word.text) <= _LONGEST_RAISED:
                parts.append(f"{ON}{word.text}{OFF}")
            elif _is_lowered(word, self):
                parts.append(lowered(word.text))
            else:
                unclear = before and before.text[-1:].isdigit() and word.text[:1].isdigit() and parts[-1] != " "
                is_small = before and word.size < _SMALL * before.size and not _is_raised(before, self)
                parts.append(UNREADABLE + word.text if unclear and is_small else word.text)
        return "".join(parts)


def lines_of(words: Iterable[Word]) -> list[Line]:
    """The printed lines in the order of the page. A mark that is painted elsewhere is put at the word that it marks."""
    lines: list[Line] = []
    for word in words:
        if lines and (not word.breaks or _goes_on(lines[-1], word)):
            lines[-1].take(word)
        else:
            lines.append(Line([word], word.baseline, word.size))
    return _with_stray_marks(lines)


def _is_raised(word: Word, line: Line) -> bool:
    rise = word.baseline - line.baseline
    if word.size < _LEAST_SIZE * line.size:  # beside a large initial
        return False
    is_mark = word.size < _SMALL * line.size or bool(_MARK.fullmatch(word.text))
    return is_mark and _LEAST_RISE * line.size < rise < _MOST_RISE * line.size and word.size <= line.size * 1.01


def _is_lowered(word: Word, line: Line) -> bool:
    fall = line.baseline - word.baseline
    return word.size < _SMALL * line.size and _LEAST_FALL * line.size < fall < _MOST_RISE * line.size


def _is_glued(before: Word, word: Word, size: float) -> bool:
    if word.breaks:
        return word.left - before.right < _CLOSE * size
    return word.is_glued


def _goes_on(line: Line, word: Word) -> bool:
    """Whether a word that PDFium puts on a new line stands on this one: the height alone has changed."""
    last = line.words[-1]
    size = max(line.size, word.size)
    gap = word.left - last.right
    if gap < -0.3 * size:
        return False
    if _is_raised(word, line) or _is_lowered(word, line):
        return gap < _NEAR * size
    if len(line.words) == 1 and _is_raised(last, Line([word], word.baseline, word.size)):
        return gap < _NEAR * size
    is_back = abs(word.baseline - line.baseline) < 0.1 * size
    return is_back and gap < _SAME_LINE * size and (_is_raised(last, line) or _is_lowered(last, line))


def _with_stray_marks(lines: list[Line]) -> list[Line]:
    """The lines, with each mark that stands on a line of its own put behind the word at which it stands."""
    stray = [line for line in lines if all(_MARK.fullmatch(word.text) for word in line.words)][:_MOST_STRAY]
    gone = set[int]()
    for mark in (mark for mark in stray if len(lines) <= _MOST_ROWS):
        homes = [_home(word, lines) for word in mark.words]
        if all(homes):
            for word, home in zip(mark.words, homes, strict=True):
                if home:
                    word.is_glued, word.breaks = True, False
                    home[0].words.insert(home[1] + 1, word)
                    gone.add(id(mark))
    return [line for line in lines if id(line) not in gone]


def _home(mark: Word, lines: Sequence[Line]) -> tuple[Line, int] | None:
    for line in lines:
        if _is_raised(mark, line) and mark not in line.words:
            for index, word in enumerate(line.words):
                if abs(mark.left - word.right) < 0.35 * line.size:
                    return line, index
    return None


def in_order(lines: list[Line]) -> tuple[list[Line], bool]:
    """The lines with columns that were painted row by row read one after the other, and whether there were any."""
    rows = _rows(lines)
    if len(rows) > _MOST_ROWS:
        return lines, False
    done: list[Line] = []
    was_changed, at = False, 0
    while at < len(rows):
        end, gutter = _block(rows, at)
        if gutter is None:
            done += rows[at]
            at += 1
            continue
        middle = sum(gutter) / 2
        for is_left in (True, False):
            parts = [
                part
                for row in rows[at:end]
                if (part := _part([word for line in row for word in line.words if (word.left < middle) is is_left]))
            ]
            done += in_order(parts)[0]
        was_changed, at = True, end
    return done, was_changed


_Row = list[Line]


def _rows(lines: Sequence[Line]) -> list[_Row]:
    """Lines that follow each other at one height, from left to right, together."""
    rows: list[_Row] = []
    for line in lines:
        last = rows[-1][-1] if rows else None
        if (
            last
            and abs(last.baseline - line.baseline) < _ROW * line.size
            and line.words[0].left >= last.words[-1].right
        ):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _part(words: list[Word]) -> Line | None:
    if not words:
        return None
    line = Line([words[0]], words[0].baseline, words[0].size)
    for word in words[1:]:
        line.take(word)
    return line


def _block(rows: Sequence[_Row], at: int) -> tuple[int, tuple[float, float] | None]:
    """Where the columns end that begin at a row, and the gutter between them, if there are any."""
    best: tuple[int, tuple[float, float] | None] = (at, None)
    for gap in _gaps(rows[at]):
        low, high = gap
        end, both = at, 0
        while end < len(rows):
            narrowed = _narrowed(rows[end], low, high)
            if narrowed is None:
                break
            low, high = narrowed
            both += any(word.right <= low + 0.1 for word in _words(rows[end])) and any(
                word.left >= high - 0.1 for word in _words(rows[end])
            )
            end += 1
        is_enough = both >= _LEAST_ROWS or (both == _LEAST_ROWS - 1 and end - at > _LEAST_ROWS)
        if is_enough and end > best[0] and _are_columns(rows[at:end], (low + high) / 2):
            best = (end, (low, high))
    return best


def _words(row: _Row) -> list[Word]:
    return [word for line in row for word in line.words]


def _gaps(row: _Row) -> list[tuple[float, float]]:
    return [
        (before.right, after.left)
        for before, after in itertools.pairwise(_words(row))
        if after.left - before.right >= _GUTTER * max(before.size, after.size)
    ]


def _narrowed(row: _Row, low: float, high: float) -> tuple[float, float] | None:
    """The gap as far as this row leaves it free; ``None`` where a word crosses it or too little is left."""
    for word in _words(row):
        if word.right <= (low + high) / 2:
            low = max(low, word.right)
        elif word.left >= (low + high) / 2:
            high = min(high, word.left)
        else:
            return None
    size = max(word.size for word in _words(row))
    return (low, high) if high - low >= _GUTTER * size else None


def _are_columns(rows: Sequence[_Row], middle: float) -> bool:
    """Whether both sides are prose; cells of a table are short or hold figures."""
    for is_left in (True, False):
        sides = [[word for word in _words(row) if (word.left < middle) is is_left] for row in rows]
        words = [word for side in sides for word in side]
        figures = sum(word.text.strip("%.,()–-").replace(",", "").replace(".", "").isdigit() for word in words)
        if len(words) < _LEAST_WORDS * sum(map(bool, sides)) or figures > _MOST_FIGURES * len(words):
            return False
    return True


def text_of(lines: Sequence[Line]) -> str:
    """The lines, with an empty one before each line that is further from the last than usual."""
    steps = [above.baseline - below.baseline for above, below in itertools.pairwise(lines)]
    down = [step for step in steps if step > 0]
    usual = statistics.median(down) if down else math.inf
    gaps = ["\n" if step > _WIDE_GAP * usual or step < -usual else "" for step in steps]
    return "\n".join(gap + line.text for gap, line in zip(["", *gaps], lines, strict=False))
