"""Slurs and insults in a text, also in many disguises; codes of hate; and calls that name nobody.

A word of the list may be somebody's name or have another sense; the rules for that prefer to find too little. A slur
counts as mentioned, and not used, in quotation marks, as a word that is talked about, as what somebody calls other
people, or denied. A text without slurs may still have a bad tone, which the reader of drafts measures.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

from core.engine.wording.disguises import hidden_by, spellings, starred
from core.engine.wording.language import NAMES
from core.engine.wording.target_groups import groups_named
from core.engine.wording.text import words

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END: Final = re.compile(r"[.!?…:;\n]\W*$|^\W*$")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_ENGLISH: Final = "en"
_MOST_CAPITALS: Final = 0.6
_FEW_WORDS: Final = 3
_SHORT: Final = 2
_GIVEN: Final = frozenset("kike paki checca panchito".split())
"""Names that people are called by, with an article, too."""
_ENGLISH_SLURS: Final = frozenset("kike paki coon coons dyke dykes savage downie".split())
"""English writes peoples with a capital, so that a capital alone proves nothing of these."""
_WORD: Final = re.compile(r"[^\s\"“”«»„()\[\]/]+")
_MARKS: Final = "'‘’.,;:!?…-*_"
_CLAUSE: Final = re.compile(r"[.!?;:—–…\n]+(?:\s|$)| - ")
_QUOTED: Final = re.compile(
    r"\"[^\"]*\"|“[^”]{0,400}”|«[^»]{0,400}»|„[^“”]{0,400}[“”]|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)|(?<![\w*])\*[^*]+\*(?![\w*])"
)
_NEAR: Final = 300
"""So many characters of a clause are read on each side of a word."""
_FALLBACK: Final = "en"


@dataclass(frozen=True, slots=True)
class OtherSense:
    """A place in a text, in code points, where a word of the list is none; ``is_name``: it names somebody."""

    start: int
    end: int
    is_name: bool


def other_senses(text: str, words: frozenset[str], names: frozenset[str], language: str | None) -> list[OtherSense]:
    """The places where listed words have another sense, in order.

    Args:
        words: the words to look for, casefolded.
        names: those of them that may be a person's or a place's name.
        language: ``None`` where it is not known; English writes peoples with a capital, so that one proves less there.
    """
    tokens = list(_TOKEN.finditer(text))
    at = [index for index, token in enumerate(tokens) if _bare(token.group()) in words]
    if not at:
        return []
    covered = bytearray(len(text))
    for match in _senses().finditer(text):
        covered[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    listed = frozenset(at)
    is_title = _is_title_case([token.group() for place, token in enumerate(tokens) if place and place not in listed])
    senses = list[OtherSense]()
    for index in at:
        token = tokens[index]
        if all(covered[token.start() : token.end()]):
            senses.append(OtherSense(*token.span(), is_name=False))
        elif _bare(token.group()) in names and not is_title and _is_name(text, tokens, index, language):
            senses.append(OtherSense(*token.span(), is_name=True))
    return senses


def replaced(text: str, senses: list[OtherSense], name: str = "Alex", *, names_only: bool = False) -> str:
    """The text with a neutral name instead of each of these places."""
    parts, at = list[str](), 0
    for sense in senses:
        if sense.is_name or not names_only:
            parts += text[at : sense.start], name
            at = sense.end
    return "".join([*parts, text[at:]])


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


def _is_written_as_name(word: str) -> bool:
    plain = _POSSESSIVE.sub("", word)
    return plain[:1].isupper() and plain[1:].islower()


def _is_title_case(words: list[str]) -> bool:
    """Whether most words have a capital, as in a headline, where a capital tells nothing."""
    long = [word for word in words if len(word) > _SHORT]
    return len(long) >= _FEW_WORDS and sum(word[0].isupper() for word in long) > _MOST_CAPITALS * len(long)


def _is_name(text: str, tokens: list[re.Match[str]], index: int, language: str | None) -> bool:
    token, lists = tokens[index], _lists()
    if not _is_written_as_name(token.group()):
        return False
    before = tokens[index - 1] if index and _is_beside(text, tokens[index - 1], token) else None
    after = tokens[index + 1] if index + 1 < len(tokens) and _is_beside(text, token, tokens[index + 1]) else None
    said_before = before.group().casefold() if before else ""
    said_after = after.group().casefold() if after else ""
    is_english = language in {None, _ENGLISH} and _bare(token.group()) in _ENGLISH_SLURS
    if said_before in lists["never"] or (is_english and said_before in lists["never_en"]):
        return False
    if said_before in lists["after"] | lists["greetings"] or _greets(text, tokens, index):
        return True
    if after and _is_written_as_name(after.group()) and said_after not in lists["no_surname"]:
        return _is_no_group(after.group())
    if before and _is_written_as_name(before.group()) and _is_no_group(before.group()):
        is_first = _begins(text, before)
        if not is_first or (said_before not in lists["ordinary"] and not is_english):
            return True
    if said_after in lists["verbs"]:
        return True
    if said_after in lists["joins"] and index + 2 < len(tokens) and _is_written_as_name(tokens[index + 2].group()):
        return _is_no_group(tokens[index + 2].group())
    if is_english:
        return bool(_POSSESSIVE.search(token.group())) or (
            said_before in lists["beside"] and (after is None or said_after in lists["beside"])
        )
    if _begins(text, token):  # a noun has an article here, unless somebody is called it
        return after is not None and said_after not in lists["never_before"]
    return said_before not in lists["articles"] or _bare(token.group()) in _GIVEN


def _begins(text: str, token: re.Match[str]) -> bool:
    return _SENTENCE_END.search(text[max(0, token.start() - 8) : token.start()]) is not None


def _is_no_group(word: str) -> bool:
    """Whether a word with a capital names no group, or is itself a name that is also a slur."""
    return _bare(word) in _GIVEN or not groups_named(word)


def _is_beside(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    return not text[left.end() : right.start()].strip(" -")


def _greets(text: str, tokens: list[re.Match[str]], index: int) -> bool:
    """Whether a greeting and a comma stand right before a word."""
    if not index or text[tokens[index - 1].end() : tokens[index].start()].strip() != ",":
        return False
    return tokens[index - 1].group().casefold() in _lists()["greetings"]


@cache
def _sense_rows() -> Mapping[str, Any]:
    return tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/senses.toml").read_text(encoding="utf-8")
    )


@cache
def _senses() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{expression})" for expression in _sense_rows()["senses"]), re.IGNORECASE)


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    rows = _sense_rows()
    lists = {name: frozenset(words.split()) for name, words in rows.items() if isinstance(words, str)}
    joins = frozenset("and y e eta".split())
    return lists | {"joins": joins, "ordinary": lists["never"] | lists["articles"] | lists["beside"] | joins}


@dataclass(frozen=True, slots=True)
class Slurs:
    """The slurs of a text, as words of the list: those that it uses, and those that it only mentions."""

    used: frozenset[str]
    mentioned: frozenset[str]


def told_apart(text: str, language: str | None = None) -> Slurs:
    """The slurs that a text uses and those that it mentions; a mild word counts as used only if aimed at the reader.

    A slur that is written in a way that no single word shows (letters apart) counts as used.
    """
    text = replaced(text, senses_in(text, language))
    slurs = slurs_in(text, language)
    if not slurs:
        return Slurs(frozenset(), frozenset())
    plain = text.replace("’", "'").replace("‘", "'")
    forms = _wordings()[language if language in NAMES else _FALLBACK]
    located, used, quoted = set[str](), set[str](), bytearray(len(plain))
    for match in _QUOTED.finditer(plain):
        quoted[match.start() + 1 : match.end()] = b"\1" * (match.end() - match.start() - 1)
    for start, end, slurs_there in _places(plain, language):
        located |= slurs_there
        before, after = _clause(plain, start, end)
        if forms["aimed_before"].search(before) or forms["aimed_after"].search(after) or _is_vocative(before, after):
            used |= slurs_there
        elif not (quoted[start] or _is_mention(before, after, forms)):
            used |= slurs_there - mild_slurs()
    used |= slurs - located - mild_slurs()
    return Slurs(frozenset(used), frozenset(slurs - used))


def _places(text: str, language: str | None) -> Iterator[tuple[int, int, set[str]]]:
    for match in _WORD.finditer(text):
        words = slurs_in(match.group(), language)
        if words:
            bare = match.group().lstrip(_MARKS)
            start = match.end() - len(bare)
            yield start, start + len(bare.rstrip(_MARKS)), words


def _clause(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands around a word in its clause, without quotation marks right beside the word."""
    before = _CLAUSE.split(text[max(0, start - _NEAR) : start])[-1]
    after = _CLAUSE.split(text[end : end + _NEAR] + " ")[0]
    return re.sub(r"[\"“«„'*]+$", "", before), re.sub(r"^[\"”»“'*]+", "", after)


def _is_vocative(before: str, after: str) -> bool:
    """Whether the word stands for the one who is spoken to: "Shut up, idiot." or "Idiot, go home."."""
    at_end = before.rstrip().endswith(",") and not after.strip(" ,'\"")
    return at_end and before.count(",") == 1


def _is_mention(before: str, after: str, forms: Mapping[str, re.Pattern[str]]) -> bool:
    if forms["word_before"].search(before) or forms["word_after"].search(after):
        return True
    is_denied = bool(forms["denied"].search(before)) and not forms["not_denied"].search(before)
    if forms["own"].search(before) and not is_denied:
        return False
    if forms["calling_before"].search(before) or forms["calling_after"].search(after):
        return True
    return is_denied and bool(forms["denied_before"].search(before))


@cache
def _wordings() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    rows = tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/mentions.toml").read_text(encoding="utf-8")
    )
    return {
        language: {name: re.compile(expression, re.IGNORECASE) for name, expression in row.items()}
        for language, row in rows.items()
    }


@cache
def _slurs(language: str | None = None) -> frozenset[str]:
    """The words of the list, without those that are ordinary in the language (``word = es``)."""
    return frozenset(word for word, notes in _rows() if language not in notes)


@cache
def mild_slurs() -> frozenset[str]:
    """The words that a reply may need, or that people call themselves (``word = mild``)."""
    return frozenset(word for word, notes in _rows() if "mild" in notes)


@cache
def _rows() -> tuple[tuple[str, frozenset[str]], ...]:
    lines = resources.files("core.engine.wording").joinpath("data/slurs.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.casefold().partition("=") for line in lines if line.strip() and not line.startswith("#")]
    return tuple((word.strip(), frozenset(notes.split())) for word, _, notes in rows)


@cache
def _names() -> frozenset[str]:
    """The words that people and places are called, too (``word = name``)."""
    return frozenset(word for word, notes in _rows() if "name" in notes)


def senses_in(text: str, language: str | None = None) -> list[OtherSense]:
    """The places of a text where a word of the list is a name or has another sense."""
    return other_senses(text, _slurs(), _names(), language)


def slurs_in(text: str, language: str | None = None) -> set[str]:
    """The slurs and insults in a text, disguises undone, less names, other senses and its language's ordinary words.

    These disguises are undone: signs and letters of other alphabets that look like letters, accents, letters that are
    repeated, spaced apart or invisible, marks inside a word, and stars instead of letters.
    """
    return _listed_in(replaced(text, senses_in(text, language)), language)


def homonyms_in(text: str, language: str | None = None) -> set[str]:
    """The words of the list that a text holds only as a name or in another sense."""
    senses = senses_in(text, language)
    return _listed_in(text, language) - _listed_in(replaced(text, senses), language) if senses else set()


def _listed_in(text: str, language: str | None) -> set[str]:
    readings = spellings(text)
    listed = {word.partition("'")[0] for spelling in readings for word in words(spelling)}
    hidden = {slur for token in starred(readings[0]) for slur in hidden_by(token, _slurs())}
    return (listed | hidden) & _slurs(language)


@lru_cache(maxsize=20_000)
def is_slur(word: str) -> bool:
    """Whether one word is a slur or an insult; remembered, since one vocabulary is looked through for every post."""
    return bool(slurs_in(word))


def is_coded(text: str) -> bool:
    """Whether a text uses a code of hate, or calls one of the groups an illness; not one that explains or objects."""
    patterns = _patterns()
    return bool(
        patterns["codes"].search(text)
        or any(groups_named(match.group()) for match in patterns["of_groups"].finditer(text))
    ) and not patterns["about"].search(text)


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    rows = tomllib.loads(resources.files("core.engine.wording").joinpath("data/codes.toml").read_text(encoding="utf-8"))
    flags = re.IGNORECASE | re.MULTILINE
    return {name: re.compile(form if isinstance(form, str) else "|".join(form), flags) for name, form in rows.items()}
