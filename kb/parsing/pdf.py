"""The text of a PDF file that people see, page by page, by PDFium.

Text is hidden if it has no ink (render modes 3 and 7), has no opacity, is white on white, is lower than two points, or
is outside of the page. A scan often has its own OCR as text without ink. It is not used: nobody sees it, so it may say
anything; the picture is read instead. Text that something covers, or on a layer that is switched off, is not recognised
as hidden. Scripts in a file are never run. Raised marks stay with the word they stand at, and columns are read one by
one.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

import pypdfium2 as pdfium
import pypdfium2.raw as api

from core.engine.wording.text import UNREADABLE
from core.errors import DocumentRefused
from kb.parsing import ocr
from kb.parsing.limits import ParsingLimits
from kb.parsing.raw_text import OFF, ON, Raw, lowered

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
    ordered: list[Line] = []
    was_changed, at = False, 0
    while at < len(rows):
        end, gutter = _block(rows, at)
        if gutter is None:
            ordered += rows[at]
            at += 1
            continue
        middle = sum(gutter) / 2
        for is_left in (True, False):
            parts = [
                part
                for row in rows[at:end]
                if (part := _part([word for line in row for word in line.words if (word.left < middle) is is_left]))
            ]
            ordered += in_order(parts)[0]
        was_changed, at = True, end
    return ordered, was_changed


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


_HYPHEN = 2  # what PDFium gives for a hyphen at the end of a line; it joins the lines then
_OUTLINE_MODE, _INVISIBLE_MODES = 1, frozenset({3, 7})
_LEAST_POINTS = 2.0
_WHITE = 245
_MOST_CHARACTERS_OF_A_PAGE = 200_000
_RISE_OF_GLYPHS, _SIZE_OF_GLYPHS = 0.35, 0.6  # of the size: where a font's own superscripts stand
_LEAST_STANDING = 0.4  # of a digit's height
_UNTOLD = dict.fromkeys([*range(32), *range(127, 160)], UNREADABLE)  # where a font does not say which letter it shows
_LEAST_LETTERS = 40  # a page with fewer is a scan, if a picture covers most of it
_MOST_OF_A_PAGE = 0.5
_DOTS_PER_INCH, _POINTS_PER_INCH = 300, 72
_OCR_SECONDS = 30.0
_SPARE_SECONDS = 5.0
_DEEPEST_FORM = 4


def read(data: bytes, limits: ParsingLimits, *, language: str | None, deadline: float) -> Raw:
    """The pages' text, a line for each printed line, with an empty one where a paragraph begins.

    Args:
        language: ISO 639-1, for OCR.
        deadline: on the monotonic clock; pages that OCR does not reach before are left out, and a note says so.

    Raises:
        DocumentRefused: the file has a password, is damaged, or has no page.
    """
    document = _document(data)
    count = len(document)
    if count < 1:
        raise DocumentRefused("It is a PDF file without a page.", remedy="Fetch it again.")
    raw = Raw(
        [],
        title=document.get_metadata_value("Title"),
        author=document.get_metadata_value("Author"),
        dated=document.get_metadata_value("CreationDate"),
        is_wrapped=True,
    )
    scans: list[int] = []
    length = damaged = ordered = 0
    for number in range(min(count, limits.pages)):
        page = _Page(document, number)
        damaged += page.is_damaged
        raw.pages.append(page.text)
        raw.labels.append(document.get_page_label(number))
        ordered += page.is_ordered
        raw.hidden += page.hidden
        length += len(page.text)
        if page.is_scan:
            scans.append(number)
        if length > limits.characters:
            break
    if len(raw.pages) < count:
        raw.notes.append(f"Only the first {len(raw.pages)} of {count} pages were read.")
    if damaged:
        raw.notes.append(f"{_pages(damaged)} damaged and not read.")
    if ordered:
        raw.notes.append(
            f"The columns of {_pages(ordered).rpartition(' ')[0]} were put in order; compare them with the file."
        )
    if scans:
        _read_scans(document, scans, raw, limits, language=language, deadline=deadline)
    return raw


def _document(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as err:
        if api.FPDF_GetLastError() == api.FPDF_ERR_PASSWORD:
            raise DocumentRefused("The PDF file has a password.", remedy="Save it without one.") from err
        raise DocumentRefused("It is a damaged PDF file.", remedy="Fetch it again, or save it as a PDF again.") from err


class _Page:
    """One page's visible text, and whether it is a scan or damaged."""

    def __init__(self, document: pdfium.PdfDocument, number: int) -> None:
        self.text = ""
        self.hidden = 0
        self.is_scan = self.is_damaged = self.is_ordered = False
        self._verdicts: dict[int, bool] = {}
        self._coloured: list[tuple[float, ...]] | None = None
        try:
            self._read(document[number])
        except pdfium.PdfiumError:
            self.is_damaged = True

    def _read(self, page: pdfium.PdfPage) -> None:
        self._page = page
        left, bottom, right, top = page.get_cropbox()
        self._frame = (min(left, right), min(bottom, top), max(left, right), max(bottom, top))
        self._turn = page.get_rotation()
        textpage = page.get_textpage()
        self._textpage = textpage.raw
        lines, self.is_ordered = in_order(lines_of(self._words(textpage.count_chars())))
        self.text = text_of(lines)
        letters = sum(character.isalnum() for character in self.text)
        self.is_scan = letters < _LEAST_LETTERS and self._is_covered_by_picture()
        textpage.close()
        page.close()

    def _words(self, count: int) -> Iterator[Word]:
        """The visible words, in the order in which the page paints them."""
        characters: list[int] = []
        first, address, is_raised = 0, 0, False
        is_glued, breaks = False, True

        def word(last: int) -> Word:
            baseline, size = self._place(first, is_raised=is_raised)
            left, right = _turned(self._box(first), self._turn)[0], _turned(self._box(last), self._turn)[2]
            return Word(_string(characters), left, right, baseline, size, is_glued, breaks)

        last = 0
        for index in range(min(count, _MOST_CHARACTERS_OF_A_PAGE)):
            code = api.FPDFText_GetUnicode(self._textpage, index)
            if code in (10, 13, 32, 160, _HYPHEN):
                if code == _HYPHEN and characters:
                    characters.append(ord("-"))
                if characters:
                    yield word(last)
                    breaks = False
                characters, is_glued = [], False
                breaks |= code in (10, 13, _HYPHEN)
                continue
            pointer = api.FPDFText_GetTextObject(self._textpage, index)
            if self._is_hidden(pointer, index):
                self.hidden += code > 32
                continue
            here = ctypes.addressof(pointer.contents) if pointer else address
            stands_up = 48 <= code <= 57 and self._stands_up(index)
            if characters and (here != address or stands_up != is_raised):
                yield word(last)
                characters, is_glued, breaks = [], True, False
            if not characters:
                first, address, is_raised = index, here, stands_up
            characters.append(code)
            last = index
        if characters:
            yield word(last)

    def _place(self, index: int, *, is_raised: bool) -> tuple[float, float]:
        """The height of a character's baseline and its size, in points."""
        x, y = ctypes.c_double(), ctypes.c_double()
        api.FPDFText_GetCharOrigin(self._textpage, index, x, y)
        matrix = api.FS_MATRIX()
        api.FPDFText_GetMatrix(self._textpage, index, matrix)
        scale = math.hypot(matrix.c, matrix.d) or 1.0
        size = api.FPDFText_GetFontSize(self._textpage, index) * scale
        baseline = _turned((x.value, y.value, x.value, y.value), self._turn)[1]
        return (baseline + _RISE_OF_GLYPHS * size, size * _SIZE_OF_GLYPHS) if is_raised else (baseline, size)

    def _stands_up(self, index: int) -> bool:
        """Whether a digit's own shape stands above the line, as a font's superscripts do."""
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        x, y = ctypes.c_double(), ctypes.c_double()
        api.FPDFText_GetCharBox(self._textpage, index, left, right, bottom, top)
        api.FPDFText_GetCharOrigin(self._textpage, index, x, y)
        height = top.value - bottom.value
        return bool(height > 0.0 and bottom.value - y.value > _LEAST_STANDING * height)

    def _is_hidden(self, pointer: ctypes._Pointer[api.struct_fpdf_pageobject_t__], index: int) -> bool:
        if not pointer:  # a space that PDFium adds between words
            return False
        address = ctypes.addressof(pointer.contents)
        if address not in self._verdicts:
            self._verdicts[address] = self._hides(pointer, self._box(index))
        return self._verdicts[address]

    def _hides(self, text_object: ctypes._Pointer[api.struct_fpdf_pageobject_t__], box: tuple[float, ...]) -> bool:
        """Whether a text object is hidden, judged by its ink and by the place of its first character."""
        mode = api.FPDFTextObj_GetTextRenderMode(text_object)
        if mode in _INVISIBLE_MODES:
            return True
        left, bottom, right, top = box
        if max(right - left, top - bottom) < _LEAST_POINTS:
            return True
        first, lowest, last, highest = self._frame
        if right < first or top < lowest or left > last or bottom > highest:
            return True
        red, green, blue, opacity = (ctypes.c_uint() for _ in range(4))
        ink = api.FPDFPageObj_GetStrokeColor if mode == _OUTLINE_MODE else api.FPDFPageObj_GetFillColor
        if not ink(text_object, red, green, blue, opacity):
            return False
        if opacity.value == 0:
            return True
        return min(red.value, green.value, blue.value) >= _WHITE and not self._is_on_colour(box)

    def _box(self, index: int) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of a character's place, in points from the page's lower left corner."""
        rect = api.FS_RECTF()
        if not api.FPDFText_GetLooseCharBox(self._textpage, index, rect):
            return (0.0, 0.0, _LEAST_POINTS, _LEAST_POINTS)
        return (rect.left, min(rect.bottom, rect.top), rect.right, max(rect.bottom, rect.top))

    def _is_on_colour(self, box: tuple[float, ...]) -> bool:
        """Whether a picture, a shade, or a shape filled with a colour is behind a character."""
        if self._coloured is None:
            self._coloured = [item.get_bounds() for item in self._objects() if _is_coloured(item)]
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in self._coloured)

    def _is_covered_by_picture(self) -> bool:
        left, bottom, right, top = self._frame
        area = (right - left) * (top - bottom)
        covered = 0.0
        for item in self._objects():
            if item.type == api.FPDF_PAGEOBJ_IMAGE:
                left, bottom, right, top = item.get_bounds()
                covered += (right - left) * (top - bottom)
        return bool(covered > _MOST_OF_A_PAGE * area)

    def _objects(self) -> Iterator[pdfium.PdfObject]:
        yield from self._page.get_objects(max_depth=_DEEPEST_FORM)


def _turned(box: tuple[float, float, float, float], turn: int) -> tuple[float, float, float, float]:
    """A place on a page that is shown turned by so many degrees, as somebody sees it who looks at the page."""
    left, bottom, right, top = box
    match turn:
        case 90:
            return bottom, -right, top, -left
        case 180:
            return -right, -top, -left, -bottom
        case 270:
            return -top, left, -bottom, right
    return box


def _is_coloured(item: pdfium.PdfObject) -> bool:
    if item.type in (api.FPDF_PAGEOBJ_IMAGE, api.FPDF_PAGEOBJ_SHADING):
        return True
    if item.type != api.FPDF_PAGEOBJ_PATH:
        return False
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    api.FPDFPath_GetDrawMode(item, mode, stroke)
    red, green, blue, opacity = (ctypes.c_uint() for _ in range(4))
    api.FPDFPageObj_GetFillColor(item, red, green, blue, opacity)
    return bool(mode.value and opacity.value) and min(red.value, green.value, blue.value) < _WHITE


def _string(codes: list[int]) -> str:
    """Characters as PDFium counts them: one above U+FFFF is two halves."""
    halves = "".join(map(chr, codes)).translate(_UNTOLD)
    return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _read_scans(
    document: pdfium.PdfDocument,
    scans: list[int],
    raw: Raw,
    limits: ParsingLimits,
    *,
    language: str | None,
    deadline: float,
) -> None:
    """Fill each scanned page with the text that OCR finds, and note what was done."""
    path = ocr.program()
    if path is None:
        raw.notes.append(f"{_pages(len(scans))} scanned and not read: {ocr.INSTALL}.")
        return
    tesseract = ocr.Tesseract(path, language)
    count = 0
    for number in scans[: limits.ocr_pages]:
        seconds = min(_OCR_SECONDS, deadline - _SPARE_SECONDS - monotonic())
        if seconds <= 0:
            break
        picture, dots_per_inch = _picture(document, number, limits.pixels)
        raw.pages[number] = tesseract.read(picture, dots_per_inch, seconds=seconds)
        count += 1
    if count:
        raw.notes.append(f"{_pages(count)} scanned and read by OCR; letters may be wrong.")
    if count and not tesseract.is_as_wanted:
        raw.notes.append(f"OCR has no data for the language {language} here and read as English.")
    if count < len(scans):
        raw.notes.append(f"{_pages(len(scans) - count)} scanned and not read: the limit of OCR was reached.")


def _pages(count: int) -> str:
    return "1 page is" if count == 1 else f"{count} pages are"


def _picture(document: pdfium.PdfDocument, number: int, pixels: int) -> tuple[bytes, int]:
    """A page in grey, as PGM, and its dots per inch: 300, or fewer where it would have more than ``pixels``."""
    page = document[number]
    width, height = page.get_size()
    scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, math.sqrt(pixels / (width * height)))
    bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
    rows = memoryview(bitmap.buffer).cast("B")
    grey = b"".join(rows[row * bitmap.stride :][: bitmap.width] for row in range(bitmap.height))
    page.close()
    return b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + grey, max(70, round(scale * _POINTS_PER_INCH))
