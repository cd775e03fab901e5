"""Where the paragraphs of a document's pages begin and end.

A paragraph is made of whole blocks of one page, about 60 to 180 words, with the heading above them. The
embedding models read about 200 words; the RAG paper (section 3.1) retrieves by paragraph too. Tables of contents,
references, rows of figures, headings with nothing below, sentences with letters that could not be read, and sentences
that a page break divides are left out, since half a sentence may say the opposite. A paragraph never reaches over such
a place. The text is not changed: a paragraph is ``page.text[start:end]``.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from core.engine.wording.text import UNREADABLE, sentence_spans
from kb.documents import Page, Span

MOST_WORDS = 180
_ENOUGH_WORDS = 60
_LEAST_WORDS = 8
_HEADING_WORDS = 14
_MOST_HEADINGS = 2  # headings kept above a paragraph; more of them are a title page
_ENTRY_WORDS = 20
_PROSE_WORDS = 25
_REFERENCE_WORDS = 60
_LONGEST_WORD = 300  # characters; an address may be as long
_SEARCHED = 500  # characters of a line that are looked at, so that no line costs more than its length

_LINE = re.compile(r"[^\n]+")
_TOKEN = re.compile(r"\S+")
_LEADERS = re.compile(r"(?:[.…_·]\s?){4,}\s*[\divxlc]*$|[…]{2,}\s*\d*$")
_SENTENCE_END = re.compile(r"[.!?…:;][\"'”’»)\]]{0,5}$")
_CELL = re.compile(r"[-–+(]?\d[\d.,]*\)?%?[*†]?|[-–—:]|n/?a|\.\.")
_MARKER = re.compile(r"\A(?:\[\d{1,3}\]|\(\d{1,3}\)|\d{1,3}[.)]?|[*†‡¹²³⁰-⁹]+)\s")
_SIGNALS = tuple(
    re.compile(pattern)
    for pattern in (
        r"https?://|www\.|\bdoi\b",
        r"\(?\b(?:19|20)\d\d[a-z]?\b\)",
        r"\b(?:ibid|op\. ?cit|loc\. ?cit|et al|cfr?|eds?)\.",
        r"\b(?:[Vv]ol|[Nn]o|pp?|[Pp]aras?|[Cc]h|[Nn]úm|[Pp]ágs?)\.\s?\d",
        r"\b[A-ZÀ-Ý][\w’'-]{1,40},\s(?:[A-ZÀ-Ý]\.\s?)+",
        r"\b(?:[Aa]vailable at|[Aa]ccessed|[Rr]etrieved|[Dd]isponible en|[Dd]isponibile)\b",
        r"\b(?:ISBN|ISSN|OJ [CL]|[A-Z]/[A-Z\d/.]{1,40}\d)\b",
        r"^(?:See|Ver|Véase|Vedi|Ikus)\b",
    )
)
"""What an entry of a list of references holds; prose seldom holds two of them."""

_CONTENTS = {
    "en": ("contents", "table of contents"),
    "es": ("índice", "contenido", "sumario"),
    "it": ("indice", "sommario"),
    "eu": ("aurkibidea", "edukiak"),
    "fr": ("sommaire", "table des matières"),
}
_REFERENCES = {
    "en": ("references", "bibliography", "works cited", "endnotes", "footnotes", "notes"),
    "es": ("referencias", "bibliografía", "notas", "referencias bibliográficas"),
    "it": ("riferimenti", "bibliografia", "note", "riferimenti bibliografici"),
    "eu": ("erreferentziak", "bibliografia", "oharrak"),
    "fr": ("références", "bibliographie", "notes"),
}


class _Part(Enum):
    PROSE = auto()
    HEADING = auto()
    LEFT_OUT = auto()


@dataclass(frozen=True, slots=True)
class _Block:
    """A line of a page: its place in the text, and its role."""

    start: int
    end: int
    words: int
    part: _Part


def spans(pages: Sequence[Page], language: str | None = None) -> tuple[Span, ...]:
    """The paragraphs of a document, in order; each is on one page and has at most 180 words.

    Args:
        pages: clean, as ``kb.parsing.process`` gives them: each line is a paragraph, a heading, an item or a row.
        language: ISO 639-1, for the headings that lists of contents and references have; English ones always count.
    """
    sorter = _Sorter(language)
    blocks = [sorter.sort(page) for page in pages]
    for index in range(len(pages) - 1):
        _leave_out_divided(pages[index : index + 2], blocks[index : index + 2])
    return tuple(span for page, own in zip(pages, blocks, strict=True) for span in _spans(page, own))


class _Sorter:
    """Tells prose from headings and from what is left out; a list goes on over pages until prose comes."""

    def __init__(self, language: str | None) -> None:
        languages = list(_CONTENTS) if language is None else ["en", language]
        self._contents = {name for code in languages for name in _CONTENTS.get(code, ())}
        self._references = {name for code in languages for name in _REFERENCES.get(code, ())}
        self._in_contents = self._in_references = False

    def sort(self, page: Page) -> list[_Block]:
        """The blocks of a page, in order."""
        blocks: list[_Block] = []
        for match in _LINE.finditer(page.text):
            start, end = match.start(), match.end()
            text = page.text[start:end]
            if text.strip():
                blocks += self._readable(_Block(start, end, len(text.split()), self._part(text)), text)
        return blocks

    @staticmethod
    def _readable(block: _Block, text: str) -> Iterator[_Block]:
        """The block, with each sentence that holds letters that could not be read left out."""
        if UNREADABLE not in text or block.part is _Part.LEFT_OUT:
            yield block
            return
        for first, last in sentence_spans(text):
            part = _Part.LEFT_OUT if UNREADABLE in text[first:last] else block.part
            yield _Block(block.start + first, block.start + last, len(text[first:last].split()), part)

    def _part(self, text: str) -> _Part:
        words, name = len(text.split()), text.strip(" :.0123456789").casefold()
        if name in self._contents or name in self._references:
            self._in_contents, self._in_references = name in self._contents, name in self._references
            return _Part.LEFT_OUT
        signals = sum(bool(signal.search(text, 0, _SEARCHED)) for signal in _SIGNALS)
        self._in_contents &= words < _ENTRY_WORDS and not text.endswith((".", ";"))
        self._in_references &= words < _PROSE_WORDS or signals >= 2
        if self._in_contents or self._in_references or _is_row(text) or _is_reference(text, words, signals):
            return _Part.LEFT_OUT
        return _Part.HEADING if _is_heading(text, words) else _Part.PROSE


def _is_row(text: str) -> bool:
    """Whether a line is an entry of a table of contents, a row of figures, a rule, or not made of words."""
    characters = "".join(text.split())
    tokens = text.split()
    letters = sum(character.isalpha() for character in characters)
    figures = sum(any(character.isdigit() for character in token) for token in tokens)
    ends_in_cells = len(tokens) > 2 and all(_CELL.fullmatch(token) for token in tokens[-2:])
    is_figures = letters < len(characters) / 2 or figures > len(tokens) / 2 or ends_in_cells
    return is_figures or bool(_LEADERS.search(text[-_SEARCHED:])) or max(map(len, tokens)) > _LONGEST_WORD


def _is_reference(text: str, words: int, signals: int) -> bool:
    return words <= _REFERENCE_WORDS and signals >= (2 if _MARKER.match(text) else 3)


def _is_heading(text: str, words: int) -> bool:
    first = next((character for character in text if character.isalpha()), "a")
    return words <= _HEADING_WORDS and not first.islower() and not _SENTENCE_END.search(text.rstrip(":"))


def _leave_out_divided(pages: Sequence[Page], blocks: Sequence[list[_Block]]) -> None:
    """Where a sentence continues on the next page, cut its halves off both pages."""
    above = next((row for row in reversed(range(len(blocks[0]))) if blocks[0][row].part is not _Part.LEFT_OUT), None)
    below = next((row for row, block in enumerate(blocks[1]) if block.part is not _Part.LEFT_OUT), None)
    if above is None or below is None:
        return
    last, first = blocks[0][above], blocks[1][below]
    ending, beginning = pages[0].text[last.start : last.end], pages[1].text[first.start : first.end]
    if _SENTENCE_END.search(ending.rstrip()) or not beginning.lstrip()[0].islower():
        return
    cut = sentence_spans(ending)[-1][0]
    blocks[0][above] = _shortened(pages[0], last.start, last.start + cut)
    following = [start for start, _ in sentence_spans(beginning)][1:2]
    blocks[1][below] = _shortened(pages[1], first.start + (following or [len(beginning)])[0], first.end)


def _shortened(page: Page, start: int, end: int) -> _Block:
    text = page.text[start:end]
    end -= len(text) - len(text.rstrip())
    return _Block(start, end, len(text.split()), _Part.PROSE if text.strip() else _Part.LEFT_OUT)


def _spans(page: Page, blocks: Iterable[_Block]) -> list[Span]:
    gatherer = _Gatherer(page)
    for block in blocks:
        if block.part is _Part.LEFT_OUT:
            gatherer.close(goes_on=False)
        else:
            gatherer.add(block)
    gatherer.close(goes_on=False)
    return gatherer.done


@dataclass(slots=True)
class _Gatherer:
    """Joins the blocks of one page to paragraphs."""

    page: Page
    done: list[Span] = field(default_factory=list)
    _open: list[_Block] = field(default_factory=list)
    _goes_on: bool = False  # whether nothing was left out since the last paragraph

    @property
    def _words(self) -> int:
        return sum(block.words for block in self._open)

    def add(self, block: _Block) -> None:
        """Take a block. A paragraph is closed once it has enough words; one that is too long is cut at sentences."""
        if block.part is _Part.HEADING and self._words + block.words > _ENOUGH_WORDS:
            self.close(goes_on=True)
        room = MOST_WORDS - self._words
        if block.words <= room:
            self._take(block)
            return
        for start, end in _pieces(self.page.text, block, room):
            self._take(_Block(start, end, len(self.page.text[start:end].split()), _Part.PROSE))

    def _take(self, block: _Block) -> None:
        self._open.append(block)
        if block.part is _Part.PROSE and self._words >= _ENOUGH_WORDS:
            self.close(goes_on=True)

    def close(self, *, goes_on: bool) -> None:
        """End the open paragraph; a short one joins the one before it. Headings with nothing below are dropped."""
        blocks = _without_lone_headings(self._open)
        self._open = []
        if blocks:
            start, end = blocks[0].start, blocks[-1].end
            words = sum(block.words for block in blocks)
            if words < _ENOUGH_WORDS and self._goes_on and self._fits(end):
                self.done[-1] = Span(self.page.number, self.done[-1].start, end)
            elif words >= _LEAST_WORDS:
                self.done.append(Span(self.page.number, start, end))
        self._goes_on = goes_on and bool(self.done)

    def _fits(self, end: int) -> bool:
        """Whether the last paragraph may go on to that place."""
        return len(self.page.text[self.done[-1].start : end].split()) <= MOST_WORDS


def _without_lone_headings(blocks: Sequence[_Block]) -> list[_Block]:
    """The blocks from the last headings above the first prose to the last prose."""
    prose = [row for row, block in enumerate(blocks) if block.part is _Part.PROSE]
    return list(blocks[max(0, prose[0] - _MOST_HEADINGS) : prose[-1] + 1]) if prose else []


def _pieces(text: str, block: _Block, room: int) -> Iterator[tuple[int, int]]:
    """A block cut at sentence ends into pieces alike in length, none above ``room`` words."""
    least = block.words / math.ceil(block.words / room)
    start, end, words = block.start, block.start, 0
    for first, last, length in _sentences(text, block, room):
        if words and (words >= least or words + length > room):
            yield start, end
            start, words = first, 0
        end, words = last, words + length
    yield start, end


def _sentences(text: str, block: _Block, room: int) -> Iterator[tuple[int, int, int]]:
    """Start, end and words of a block's sentences; one above ``room`` words is cut, at a comma if it can."""
    for first, last in sentence_spans(text[block.start : block.end]):
        tokens = list(_TOKEN.finditer(text, block.start + first, block.start + last))
        begin = 0
        while begin < len(tokens):
            end = min(begin + room, len(tokens))
            if end < len(tokens):
                half = begin + room // 2
                stops = (row + 1 for row in range(end - 1, half, -1) if tokens[row].group().endswith((",", ";", ":")))
                end = next(stops, end)
            yield tokens[begin].start(), tokens[end - 1].end(), end - begin
            begin = end
