"""How text is cleaned, cut into sentences and words, and compared; and numbers with their nouns, in English."""

import re
import unicodedata
from collections.abc import Iterable

MAX_POST_CHARACTERS = 5000
UNREADABLE = "\ufffd"
"""Stands in a text for letters that could not be read. A figure that it touches has no value."""

_SENTENCE_END = re.compile(r"(?<=[.!?…])([\"'”’»)\]]*)\s+(?=[\"'“‘«(¿¡]?[A-ZÀ-ÖØ-Þ0-9])")
_ABBREVIATION = re.compile(
    r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Dra|Prof|Rev|St|Sr|Sra|Sig|Dott|vs|v|cf|cfr|e\.g|i\.e|U\.S|U\.K|U\.N)\.$"
)
_BEFORE_NUMBER = re.compile(
    r"(?:(?<![\w'’])[cnp]|\b(?i:nos|nº|nn|nrs?|nros?|n[úu]ms?|zk|pp|pgs?|pagg?|p[áa]gs?|orr?|ik|artt?|arts|chs?|"
    r"chaps?|capp?|caps|kap|voll?|vols|figg?|figs|tabb?|secs?|sect|sez|par|paras?|p[áa]rrs?|apdos?|lett?|t[íi]t|ann|"
    r"approx|ca|al)|\bNo|(?:[(\[,;:]\s?|\b(?i:at|the|see|case|in|under|of|from|by|on|and|article|room|table|report|"
    r"document|resolution|law|regulation|directive)\s)no)\.$"
)
"""What is an abbreviation where a number follows. A bare "no." ends a sentence: "They said no. 4 people left."."""
_NUMERAL = re.compile(r"[(\[]?(?:\d|(?:[VX]|[IVXLC]{2,8})\b)")
_LONGEST_ABBREVIATION = 16  # with the text before it
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?", re.UNICODE)
_CONTRACTED = re.compile(r"'(?:s|re|ve|ll|d|m)$")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAME = re.compile(r"(?<![.!?…]\s)(?<!^)(?<![\"“‘«¿¡])\b(?!I['’]|OK\b)[A-ZÀ-ÖØ-Þ][\w’'-]*[^\W_]", re.UNICODE)
"""A word with a capital that is not at the start of a sentence or a quotation."""
_BREAK = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
UNSEEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that Unicode counts as letters or marks, but that show nothing."""

_SQUARED = re.compile(r"^(?!REGIONAL).*\bLETTER\b")

_STOP_WORDS: dict[str, frozenset[str]] = {
    "en": frozenset(
        "a about above after again against all also am an and any are as at be because been before being below "
        "between both but by can cannot could did do does doing don down during each either else ever every few for "
        "from further get gets go goes going got had has have having he her here hers herself him himself his how i "
        "if in into is it its itself just let like made make makes many may me might more most much must my myself "
        "no nor not nothing now of off on once one only or other our ours out over own people really same she should "
        "so some such than that the their theirs them themselves then there these they thing things this those "
        "through to too under until up us very was way we well were what when where which who whom whose why will "
        "with would yes yet you your yours yourself s t re ve ll d m".split()
    ),
    "es": frozenset(
        "a al algo como con contra cual cuando de del desde donde e el ella ellas ellos en entre era es esa ese eso "
        "esta este esto están estos fue ha hace han hay la las le les lo los más me mi muy nada ni no nos nosotros o "
        "para pero por porque que quien se ser si sin sobre son su sus también te tiene todo todos tu un una uno y ya "
        "yo".split()
    ),
    "it": frozenset(
        "a al alla alle ai anche che chi ci come con cui da dal dalla dei del della delle di dove e è ed ella gli ha "
        "hanno i il in io la le lei li lo loro lui ma mi ne nei nella noi non o per perché più quando quello questa "
        "questo se si sono su sua sue suo tra tu tutti un una uno voi".split()
    ),
    "eu": frozenset(
        "al ala asko bai baina bat batzuk bera berak beren bezala da dago dagoen dira dituzte du duen dute edo egin "
        "egon ere eta ez ezin gara gu guk guztiak guztiek hau haiek hori horiek inor izan naiz ni nik oso zein zer "
        "zu zuek".split()
    ),
}


def clean(text: str) -> tuple[str, int]:
    """Normalise a text to NFKC and remove control, zero-width and bidirectional characters.

    Returns:
        The text, stripped at both ends, and how many characters were removed.
    """
    characters: list[str] = []
    removed = 0
    for character in unicodedata.normalize("NFKC", _BREAK.sub("\n", text)):
        if character in "\n\t" or not is_unseen(character):
            characters.append(character)
        else:
            removed += character != "\u200d"
    return unicodedata.normalize("NFKC", "".join(characters)).strip(), removed


def is_unseen(character: str) -> bool:
    """Whether a character is invisible or has no fixed look: control, format, private use, unassigned, blank letter."""
    return character in UNSEEN_LETTERS or unicodedata.category(character).startswith("C")


def has_letters(text: str) -> bool:
    """Whether a text has a letter, also one that Unicode counts as a symbol, such as a letter in a square."""
    return any(
        sign.isalpha()
        or (unicodedata.category(sign) == "So" and _SQUARED.search(unicodedata.name(sign, "")) is not None)
        for sign in text
    )


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The places of a text's sentences, in order, in code points: start and end, without white space around them."""
    spans: list[tuple[int, int]] = []
    start, last = 0, len(text.rstrip())
    for end, following in [*((match.end(1), match.end()) for match in _SENTENCE_END.finditer(text)), (last, last)]:
        begin = start + len(text[start:end]) - len(text[start:end].lstrip())
        if spans and _is_abbreviated(
            text[max(spans[-1][0], spans[-1][1] - _LONGEST_ABBREVIATION) : spans[-1][1]], text[begin : begin + 9]
        ):
            spans[-1] = (spans[-1][0], end)
        elif begin < end:
            spans.append((begin, end))
        start = following
    return spans


def _is_abbreviated(before: str, after: str) -> bool:
    """Whether the full stop between two parts of a text belongs to an abbreviation."""
    return bool(_ABBREVIATION.search(before) or (_NUMERAL.match(after) and _BEFORE_NUMBER.search(before)))


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, each with single spaces between its words."""
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]


def stop_words(language: str | None) -> frozenset[str]:
    """The words of a language that carry little meaning; none for a language that Antiphon does not write."""
    return _STOP_WORDS.get(language or "", frozenset())


def words(text: str) -> list[str]:
    return [match.group().casefold().replace("’", "'") for match in _WORD.finditer(text)]


def content_stems(text: str, language: str | None = "en") -> list[str]:
    """The words that carry meaning, cut to a crude stem, in order.

    The stem (six letters at most, no plural s) serves to recognise that a reply repeats a post's words, not to search:
    both texts are cut in the same way.
    """
    stop = stop_words(language)
    bare = (_CONTRACTED.sub("", word) for word in words(text) if not word.endswith("n't"))
    return [stem(word) for word in bare if len(word) > 2 and word not in stop]


def stem(word: str) -> str:
    """A crude stem: no possessive, no plural s, six letters at most."""
    base = word.removesuffix("'s")
    if len(base) > 3 and base.endswith("s") and not base.endswith("ss"):
        base = base[:-1]
    return base[:6]


def numbers(text: str) -> set[str]:
    """The numbers of a text in one spelling: no thousands separator, a point before decimals."""
    return {_plain_number(match.group()) for match in _NUMBER.finditer(text)}


def _plain_number(number: str) -> str:
    grouped = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", number)
    return re.sub(r"[.,]", "", number) if grouped else number.replace(",", ".")


def join(parts: Iterable[str]) -> str:
    """Sentences joined by one space."""
    return " ".join(part.strip() for part in parts if part.strip())


def counted(count: float, singular: str, many: str = "") -> str:
    """A number with its noun: "1 day", "1,204 days"; ``many`` where it is not ``singular`` with an s."""
    number = f"{count:,}" if isinstance(count, int) else f"{count:,g}"
    return f"{number} {singular if count == 1 else many or f'{singular}s'}"
