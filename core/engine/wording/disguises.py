"""How the letters of a word are disguised, and how a disguise is undone.

The tables hold letters of other alphabets that look like Latin ones, and signs that are used for letters.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from core.engine.wording.text import clean

SIGNS: Final = {"0": "o", "1": "il", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "€": "e"}
"""Digits and signs, and the letters that each may replace."""
READINGS: Final = tuple(str.maketrans({sign: letters[at] for sign, letters in SIGNS.items()}) for at in (0, -1))
"""The tables for ``str.translate`` that replace the signs by letters."""

_LOOKALIKES: Final = str.maketrans(
    "аеорсухіѕјԁкмтвнһӏԛԝαοεικνρτυχАВЕКМНОРСТУХІЅЈҺԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxisjdkmtbhhlqwaoeikvptuxABEKMHOPCTYXISJHQWABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters, and the Latin letters that they look like."""
_COMPARED: Final = _LOOKALIKES | str.maketrans("ıɡĸłđøħгεησωшяпзь", "igkldohrenowwrneb")
"""The same, with letters that look less like others; used only to compare texts."""
_DRAWN: Final = {
    ord(sign): letter
    for letters, signs in (
        # Lisu, Canadian syllabics, Cherokee, and signs of other scripts and currencies that are used as Latin capitals
        ("BPDTGKJCZFMNLSRVHWXYAEIOU", "ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ"),
        ("ABCDDEEFGHIJKLMNOPQRRSUVWXYZ", "ᗩᗷᑕᗪᗞᕮᗴᖴᘜᕼᓰᒍᛕᒪᗰᑎᗝᑭᑫᖇᖆᔕᑌᐯᗯ᙭ᖻᘔ"),
        ("ABCDEGHIIJKLMPRSTVWYZN", "ᎪᏴᏟᎠᎬᏀᎻᏆᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᎩᏃᏁ"),
        ("ABCEFGHIJKLMNOPRSTUWXYZ", "卂乃匚乇千Ꮆ卄丨フҜㄥ爪几ㄖ卩尺丂ㄒㄩ山乂ㄚ乙"),
        ("ABCEFGHKLMNPRSTUWYZDO", "₳฿₵Ɇ₣₲Ⱨ₭Ⱡ₥₦₱Ɽ₴₮Ʉ₩ɎⱫĐØ"),
    )
    for letter, sign in zip(letters, signs, strict=True)
}
"""Letters and signs that are drawn like Latin capitals, and read so only in a word that holds nothing else."""
_STROKED: Final = {ord("ł"): "l", ord("Ł"): "L"}
_TURNED: Final = dict(zip("ɐɔǝɟƃᵷɥᴉıɾʞꞁʅɯɹʇʌʍʎ∀ƆƎℲפſ˥Ԁᴚ┴∩Λ⅄˙¿¡", "acefgghiijkllmrtvwyACEFGJLPRTUVY.?!", strict=True))
"""Letters that are written upside down."""
_TURNED_TOO: Final = dict(zip("bdpqnuWM69", "qpdbunMW96", strict=True))
"""Letters that upside down are other letters, in a word or line that is written so."""
_LEAST_TURNED: Final = 0.45
_BAR: Final = re.compile(r"(?:(?<=\w)|(?<!\S))[!|](?=\w)")
_REPEATED: Final = re.compile(r"(.)\1{2,}")
_DIVIDED: Final = re.compile(r"(?<=\w)[-.*_·]+(?=\w)")
_SPACED: Final = re.compile(r"\b(\w)(?:[\s.,/*_-]+(?=\w\b))")
_STARRED: Final = re.compile(r"(?<![\w*])[^\W\d_]+\*+[\w*]*(?![\w*])")
HUMP: Final = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zß-ÿ])|_")
"""Where a new word begins in a hashtag."""
_STACKED: Final = re.compile(r"\S+")
_WORD_WITH_LOOKALIKE: Final = re.compile(rf"(?<!\w)\w*[{''.join(map(chr, _LOOKALIKES))}]\w*")


def _styled_letters() -> Iterator[tuple[int, str]]:
    """Small capitals, and letters in black squares and circles, which no normal form of Unicode folds."""
    name = re.compile(
        r"(?:LATIN LETTER SMALL CAPITAL|(?:CROSSED )?NEGATIVE (?:SQUARED|CIRCLED) LATIN CAPITAL LETTER) ([A-Z])"
    )
    for first, last in ((0x0250, 0x02AF), (0x1D00, 0x1D7F), (0xA720, 0xA7FF), (0x1F150, 0x1F189)):
        for point in range(first, last + 1):
            if match := name.fullmatch(unicodedata.name(chr(point), "")):
                small = match[0].startswith("LATIN")
                yield point, match[1].lower() if small else match[1]


_STYLED: Final = dict(_styled_letters()) | {ord("ǫ"): "q", 0x1F18A: "P"}


def bare(text: str) -> str:
    """A text in the form for comparison: cleaned, casefolded, without accents, with lookalikes as Latin letters."""
    plain = with_plain_letters(clean(text)[0])
    folded = unicodedata.normalize("NFKD", plain.casefold()).translate(_COMPARED)
    return "".join(character for character in folded if not unicodedata.combining(character))


def spellings(text: str) -> list[str]:
    """A text in plain lower-case letters, and in each way that its disguises may be meant; the plain one comes first.

    Signs are letters, repeated letters are written once or twice, and divided words are joined.
    """
    plain = bare(text)
    marked = _BAR.sub("i", plain)
    readings = dict.fromkeys((plain, *(marked.translate(table) for table in READINGS)))
    return list(dict.fromkeys(joined for reading in readings for joined in _respellings(reading)))


def _respellings(plain: str) -> list[str]:
    readings = [plain, *(_REPEATED.sub(letters, plain) for letters in (r"\1", r"\1\1"))]
    whole = [_DIVIDED.sub("", reading) for reading in readings]
    spaced = [_SPACED.sub(r"\1", reading) for reading in readings]
    return [*readings, *whole, *spaced]


def starred(text: str) -> list[str]:
    """The words of a plain text in which stars stand for letters."""
    return _STARRED.findall(text)


def hidden_by(token: str, words: Iterable[str]) -> set[str]:
    """Which of some words a token with stars may be."""
    pattern = re.compile(token.replace("*", r"\w"))
    return {word for word in words if pattern.fullmatch(word)}


def without_lookalikes(text: str) -> tuple[str, int]:
    """A text with lookalikes in Latin words turned into Latin letters, and how many words were changed.

    A word is changed if it mixes Latin letters with Cyrillic or Greek ones that all look like Latin ones. A word that
    is entirely in another alphabet stays, and so does one with a letter that looks like no Latin one, such as "μm".
    """
    changed = 0

    def plain(match: re.Match[str]) -> str:
        nonlocal changed
        word = match.group()
        others = {letter for letter in word if letter.isalpha() and ord(letter) not in _LOOKALIKES}
        if not others or not all(unicodedata.name(letter, "").startswith("LATIN ") for letter in others):
            return word
        changed += 1
        return word.translate(_LOOKALIKES)

    return _WORD_WITH_LOOKALIKE.sub(plain, text), changed


def with_plain_letters(text: str) -> str:
    """A text with letters that are only drawn like Latin ones as Latin letters: styled, borrowed and upside down ones.

    A word that holds other letters of its alphabet stays: it is a word of that language.
    """
    if text.isascii():
        return text
    text = _STACKED.sub(lambda match: _in_latin(match.group()), text.translate(_STYLED))
    return "\n".join(_turned_up(line) for line in text.split("\n")) if _TURNED.keys() & set(text) else text


def latin_share(text: str) -> float:
    """The part of a text's letters that are Latin ones, in [0, 1]; 1 for a text without letters."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(letter.isascii() or unicodedata.name(letter, "").startswith("LATIN ") for letter in letters)
    return latin / len(letters) if letters else 1.0


def _in_latin(word: str) -> str:
    drawn = sum(ord(sign) in _DRAWN for sign in word)
    if not drawn or any(sign.isdecimal() for sign in word):
        return word
    rest = [sign for sign in word if sign.isalpha() and ord(sign) not in _DRAWN]
    is_latin = all(sign.isascii() or unicodedata.name(sign, "").startswith("LATIN ") for sign in rest)
    is_ordinary = not rest or all(ord(sign) in map(ord, "ĐØ") for sign in word if ord(sign) in _DRAWN)
    if not is_latin or (rest and is_ordinary):
        return word
    return word.translate(_DRAWN | _STROKED)


def _turned_up(line: str) -> str:
    """A line with what is written upside down turned: the whole of it, or its words one by one."""
    if _is_turned(line):
        return _turn(line)
    return _STACKED.sub(lambda match: _turn(match.group()) if _is_turned(match.group()) else match.group(), line)


def _is_turned(text: str) -> bool:
    letters = sum(sign.isalpha() for sign in text)
    turned = sum(sign in _TURNED and sign != "ı" for sign in text if sign.isalpha())  # Turkish has it, too
    return turned >= 2 and turned >= _LEAST_TURNED * letters


def _turn(text: str) -> str:
    letters = _TURNED | _TURNED_TOO
    return "".join(letters.get(sign, sign) for sign in reversed(text))
