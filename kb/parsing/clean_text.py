"""Cleans the text of pages, once, before any offset into it is taken.

The cleaning removes invisible characters, letters of other alphabets inside words, raised marks of notes
(``kb.parsing.raw_text``), lines that repeat at the head or foot of pages, and page numbers. It joins words that are
hyphenated at line ends, and lines inside paragraphs. A letter that a file gives without saying which it is becomes
``UNREADABLE``, never nothing.

Characters are folded to NFKC except superscripts, subscripts and fractions: "2019¹" must not become "20191", nor "2½"
"21/2".
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from itertools import takewhile

from core.engine.wording.disguises import without_lookalikes
from core.engine.wording.text import UNREADABLE, is_unseen
from kb.parsing.raw_text import Raw, note_of_marks, without_marks

_LONGEST = 200
_LEAST_LETTERS = 3
_HEADING_WORDS = 20
_LOOKED_AT = 5  # lines at the head of the text; a heading further down is of a chapter
_PROGRAM_TITLE = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel) - |(?:Presentación|Presentation|Document)\d+$)")
_NO_TITLE = re.compile(
    r"\A(?:\(?(?:untitled|anonymous|no title|sin título|senza titolo)(?: document)?\)?|"
    r".*\.(?:docx?|pdf|indd|qxd|pptx?|odt|tex))",
    re.IGNORECASE,
)
_NO_AUTHOR = re.compile(
    r"\(?(?:anonymous|unspecified|unknown|author|admin(?:istrator)?|user|owner|usuario|utente|windows user|"
    r"microsoft office user|python-docx|root)\)?|https?:.*|.*@.*",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?=$|\D|\d{2}(?:$|\D)|\d{4})")


def title_in(text: str) -> str | None:
    """A title as a file's description gives it; ``None`` where a program wrote it, or it is too long for a title."""
    title = _PROGRAM_TITLE.sub("", text).strip()
    return None if _NO_TITLE.fullmatch(title) or not _is_name(title) else title


def heading_in(pages: Sequence[str]) -> str | None:
    """The heading with which the text begins, or ``None`` where it begins with a sentence."""
    text = next((page for page in pages if page.strip()), "")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    for line in lines[:-1][:_LOOKED_AT]:  # the last line stands above nothing
        if _is_heading(line):
            return line
        if line.endswith((".", ";")) or len(line.split()) > _HEADING_WORDS:
            return None
    return None


def author_in(text: str) -> str | None:
    """An author as a file's description gives it; ``None`` where a program or a computer's user stands there."""
    return None if _NO_AUTHOR.fullmatch(text) or not _is_name(text) else text


def year_in(dated: str) -> int | None:
    """The year of a date in any of the usual forms: ``D:20230401``, ``2023-04-01T10:00:00Z``, ``1 April 2023``."""
    match = _YEAR.search(dated[:100])
    return int(match[1]) if match else None


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST and sum(character.isalpha() for character in text) >= _LEAST_LETTERS


def _is_heading(line: str) -> bool:
    first = next((character for character in line if character.isalpha()), "a")
    ends = line.endswith((".", ",", ";", ":", "…"))
    return _is_name(line) and len(line.split()) <= _HEADING_WORDS and not first.islower() and not ends


_BREAK = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_KEPT = ("<super>", "<sub>", "<fraction>")
_SOFT_HYPHEN_BREAK = re.compile(r"\u00ad[ \t]*\n[ \t]*")
_HYPHEN_BREAK = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[-\u2010]\n([^\W\d_]+)")
_RANGE_BREAK = re.compile(
    r"(?<=\w)([-\u2010\u2013])[ \t]*\n(?=\d)|(?<=\d)([-\u2010\u2013])[ \t]*\n(?=\w)|(?<=\w)(\u2013)\n(?=\w)"
)
_ADDRESS, _LONGEST_ADDRESS = re.compile(r"(?:://|www\.)\S*\Z"), 300
_WORD, _HYPHENATED = re.compile(r"[^\W\d_]+"), re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W\d_]+)+")
_ENGLISH = re.compile(r"\b(?:the|and|of)\b")
_ALWAYS = frozenset("self non well cross".split())
_COMPOUNDING = _ALWAYS | frozenset("anti quasi".split())
_BEFORE_WORDS = frozenset("pro ex pan".split())
"""Prefixes that English joins to whole words by a hyphen, at which it also divides words."""
_FUSED = frozenset(
    "mis dis un re pre de con per sub trans inter out over under fore post super semi counter in".split()
)
_ENDINGS = frozenset(
    "able ing ment ness less ful hood ward wards wise ally ion ions ist ists ity er ers est ship".split()
)
"""What begins and ends words without a hyphen, though it is a word by itself as well."""
_LEAST_PART = 2
_COMPOUNDED = frozenset(
    "up wide based third thirds quarter quarters year level term sector making driven related owned funded speaking "
    "friendly religious racist discrimination abiding".split()
)
"""What English joins to a word by a hyphen, and what is no last syllable of a word without one."""
_TENS = frozenset("twenty thirty forty fifty sixty seventy eighty ninety".split())
_NUMBERS = frozenset("one two three four five six seven eight nine ten".split())
_OF_NUMBERS = frozenset(
    "half third thirds fourth fourths fifth fifths sixth sixths eighth eighths tenth tenths quarter quarters year day "
    "month week hour time way off sided person fold".split()
)
"""What follows a number after a hyphen: one-third, two-year, one-off."""

_LIKE = r"[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd\ufffd]"
_LETTER_LIKE = re.compile(_LIKE)
_CONTROL = re.compile(r"(?<=\w)[\x00-\x08\x10-\x1f\x7f]+(?=\w)")
_PRIVATE = {"\uf001": "fi", "\uf002": "fl"} | {
    **{chr(0xF730 + digit): str(digit) for digit in range(10)},
    **{chr(0xF761 + place): chr(ord("A") + place) for place in range(26)},
}
_PRIVATE |= {
    chr(code): bytes([code]).decode("cp1252")
    for code in range(0x80, 0xA0)
    if code not in (0x81, 0x85, 0x8D, 0x8F, 0x90, 0x9D)
}
"""What Windows writes at places that are control characters elsewhere, and private characters that mean the same in all
fonts: WGL4's ligatures, Adobe's old-style digits and small capitals."""
_UNTOLD_WORD = re.compile(rf"(?:(?<!\w)\w++)?(?:(?<=\w){_LIKE}|(?<!{_LIKE}){_LIKE}++(?=\w))(?:\w|{_LIKE})*+")
_UNCLEAR = re.compile(rf"\d[\d.,]{{0,20}}{UNREADABLE}[\d.,]{{0,20}}\d")
_SYMBOL = re.compile(r"(?<!\w)[\uf020-\uf0ff]+")  # of a symbol font: a bullet before a word

_EDGE = 3  # lines at the head and foot of a page that may be a running header or footer
_LEAST_PAGES, _LEAST_SHARE = 3, 0.4  # a header of left-hand pages is on half of them, less the first
_PAGE_NUMBER = re.compile(
    r"\A(?:page|p\.|página|pág\.|pagina|pag\.|orrialdea|seite)? ?[-–—\[(|]? ?(?:\d{1,4}|x{0,3}(?:ix|iv|v?i{1,3}|v|x))"
    r" ?(?:(?:/|of|de|di|von|sur) ?\d{1,4})? ?[-–—\])|]?",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:[•▪◦●■□–—*·-]|\(?\d{1,3}[.)]|\(?[a-z]{1,4}\)|Art(?:icle|\.)?\s\d)\s", re.IGNORECASE)
_WIDEST = 200  # characters; longer lines are paragraphs that nobody wrapped
_SHORT = 0.75
_LETTERS_EACH = 200  # a page of English has at least one "the", "and" or "of" in as many letters


def cleaned(raw: Raw) -> tuple[list[str], list[str]]:
    """The clean text of each page, and a sentence for each kind of thing that was removed or changed.

    In the text every line is a paragraph, a heading, an item or a row; empty lines of the file stay.
    """
    pages, notes = [_BREAK.sub("\n", page) for page in raw.pages], []
    if raw.hidden:
        notes.append(f"Text that people would not see was taken out: {_count(raw.hidden, 'character')}.")
    pages, untold = _with_unreadable(pages)
    if untold:
        notes.append(
            f"Letters could not be read in {_count(untold, 'word')}; these are marked with {UNREADABLE}, and their "
            "sentences are not used as evidence."
        )
    pages, marks = without_marks(pages)
    if unclear := sum(len(_UNCLEAR.findall(page)) for page in pages):
        notes.append(
            f"{_count(unclear, 'figure')} could not be told apart from a mark beside it; it is marked with "
            f"{UNREADABLE}, and its sentence is not used as evidence."
        )
    if marks:
        notes.append(note_of_marks(marks))
    pages, unseen = _without_unseen(pages)
    if unseen:
        notes.append(f"{_count(unseen, 'character')} that show nothing were taken out.")
    plain = [without_lookalikes(page) for page in pages]
    if changed := sum(count for _, count in plain):
        notes.append(
            f"Letters of other alphabets that look like Latin ones were turned back in {_count(changed, 'word')}."
        )
    lines = [[" ".join(line.split()) for line in page.split("\n")] for page, _ in plain]
    lines, repeated = _without_running_lines(lines)
    if repeated:
        notes.append(f"{_count(repeated, 'line')} repeated at the head or foot of pages were taken out.")
    texts = _dehyphenated(["\n".join(page) for page in lines])
    if raw.is_wrapped:
        texts = [_reflowed(text) for text in texts]
    return [re.sub(r"\n{3,}", "\n\n", text).strip() for text in texts], notes


def clean_line(text: str) -> str:
    """A text on one line, cleaned like a page: for titles."""
    pages, _ = _with_unreadable([_BREAK.sub(" ", text)])
    pages, _ = _without_unseen(without_marks(pages)[0])
    return " ".join(without_lookalikes(pages[0])[0].split())


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _with_unreadable(pages: Sequence[str]) -> tuple[list[str], int]:
    """The pages with ``UNREADABLE`` for each letter that is in no alphabet, and in how many words there are any.

    Such a character that touches no letter is a symbol, such as a bullet, and shows nothing that could be written.
    """
    count = 0

    def marked(match: re.Match[str]) -> str:
        nonlocal count
        count += not _UNCLEAR.fullmatch(match.group())
        return _LETTER_LIKE.sub(UNREADABLE, match.group())

    texts = []
    for page in pages:
        page = _CONTROL.sub(UNREADABLE, page.translate(_PRIVATE_TABLE))
        if _LETTER_LIKE.search(page):
            page = _UNTOLD_WORD.sub(marked, _SYMBOL.sub(" ", page))
        texts.append(page)
    return texts, count


_PRIVATE_TABLE = str.maketrans(_PRIVATE)


def _without_unseen(pages: Sequence[str]) -> tuple[list[str], int]:
    """The pages in NFKC without invisible characters, and how many these were.

    Soft hyphens, joiners and byte order marks are not counted: ordinary documents hold them.
    """
    characters = set().union(*pages)
    unseen = {character for character in characters if character not in "\n\t" and is_unseen(character)}
    table = {ord(character): _folded(character) for character in characters - unseen if ord(character) > 126}
    table |= {ord(character): "" for character in unseen}
    counted = unseen - {"\u00ad", "\u200c", "\u200d", "\ufeff"}
    count = sum(page.count(character) for page in pages for character in counted)
    return [unicodedata.normalize("NFC", _SOFT_HYPHEN_BREAK.sub("", page).translate(table)) for page in pages], count


def _folded(character: str) -> str:
    if unicodedata.decomposition(character).startswith(_KEPT):
        return character
    return unicodedata.normalize("NFKC", character)


def _without_running_lines(pages: Sequence[Sequence[str]]) -> tuple[list[list[str]], int]:
    """The pages without page numbers and without lines that most pages repeat at their edge, whatever their numbers.

    Lines are removed from the edge inwards, as long as they repeat, but never all lines of a page.
    """
    rows = [[row for row, line in enumerate(page) if line] for page in pages]
    on_pages = Counter(
        key
        for page, own in zip(pages, rows, strict=True)
        for key in {_key(page[row]) for row in (*own[:_EDGE], *own[-_EDGE:])}
    )
    most = max(_LEAST_PAGES, _LEAST_SHARE * len(pages))
    running = {key for key, count in on_pages.items() if count >= most}
    texts, repeated = [], 0
    for page, own in zip(pages, rows, strict=True):
        dropped = _dropped(page, own, running, has_numbers=len(pages) > 1)
        repeated += sum(_key(page[row]) in running for row in dropped)
        texts.append([line for row, line in enumerate(page) if row not in dropped])
    return texts, repeated


def _dropped(page: Sequence[str], rows: Sequence[int], running: set[str], *, has_numbers: bool) -> set[int]:
    def runs(row: int) -> bool:
        return _key(page[row]) in running or (has_numbers and bool(_PAGE_NUMBER.fullmatch(page[row])))

    dropped = {*takewhile(runs, rows[:_EDGE]), *takewhile(runs, rows[: -_EDGE - 1 : -1])}
    return dropped if len(dropped) < len(rows) else set()


def _key(line: str) -> str:
    return re.sub(r"\d+", "#", line).casefold()


def _dehyphenated(pages: Sequence[str]) -> list[str]:
    """The pages with words rejoined that were divided at line ends.

    The hyphen stays where the document writes the word with one elsewhere, before a capital, and where both parts are
    words of the document and the joined word is not.
    """
    pages = [_RANGE_BREAK.sub(_unbroken, page) for page in pages]
    if not any(_HYPHEN_BREAK.search(page) for page in pages):
        return pages
    whole = [_HYPHEN_BREAK.sub(" ", page).casefold() for page in pages]
    compounds = set(_matches(_HYPHENATED, whole))
    is_english = sum(len(_ENGLISH.findall(page)) for page in whole) > sum(map(len, whole)) / _LETTERS_EACH
    all_words = set(_matches(_WORD, whole))
    words = _english_words() if is_english else frozenset[str]()

    def joined(match: re.Match[str]) -> str:
        first, second = match.groups()
        left, right = first.casefold(), second.casefold()
        before = match.string[max(0, match.start() - _LONGEST_ADDRESS) : match.start()]
        if _ADDRESS.search(before):
            return f"{first}-{second}"
        if left + right not in all_words and (
            f"{left}-{right}" in compounds
            or (left in _ALWAYS and left + right not in words)
            or (is_english and _is_compound(left, right, words))
            or (len(first) > 1 and first.isupper() and not second.isupper())
            or (second[0].isupper() and not first.isupper())
            or (left in all_words and right in all_words and len(left) > 2)
        ):
            return f"{first}-{second}"
        return first + second

    return [_HYPHEN_BREAK.sub(joined, page) for page in pages]


@cache
def _english_words() -> frozenset[str]:
    """Some 22,000 common words, in lower case: those that the small model's tokenizer knows whole."""
    path = resources.files("core.engine.backends").joinpath("tokenizer.json")
    vocabulary = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(word for word in vocabulary if word.isalpha())


def _is_compound(left: str, right: str, words: frozenset[str]) -> bool:
    """Whether English writes two words with a hyphen, told by the words alone."""
    if left + right in words:
        return (left in _NUMBERS or left in _TENS) and right in _OF_NUMBERS
    are_words = left in words and right in words and min(len(left), len(right)) >= _LEAST_PART
    return (
        (are_words and left not in _FUSED and right not in _ENDINGS)
        or left in _COMPOUNDING
        or (left in _BEFORE_WORDS and right in words)
        or right in _COMPOUNDED
        or (left in _NUMBERS and right in _OF_NUMBERS)
        or (left in _TENS and right in _NUMBERS)
    )


def _unbroken(match: re.Match[str]) -> str:
    """The hyphen or dash of a range or a name with a number, without the line's end behind it."""
    return match[1] or match[2] or match[3]


def _matches(pattern: re.Pattern[str], pages: Iterable[str]) -> Iterable[str]:
    return (match.group() for page in pages for match in pattern.finditer(page))


def _reflowed(text: str) -> str:
    """A page's printed lines joined to paragraphs: a short line ends one, if what follows does not go on."""
    lines = text.split("\n")
    lengths = sorted(len(line) for line in lines if line)
    width = lengths[int(len(lengths) * 0.9)] if lengths else 0
    if width > _WIDEST:
        return text
    parts: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_short = len(line) < _SHORT * width
        ends = not (line and following) or bool(_ITEM.match(following)) or (is_short and not following[0].islower())
        parts.append(line + ("\n" if ends else " "))
    return "".join(parts)
