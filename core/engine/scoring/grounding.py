"""Grounding: which of a draft's figures, dates and names are in its evidence.

No model is asked: ``core.engine.scoring.receipts`` checks whether a passage means what a sentence means.

The figures that a reply repeats from its post are known where it answers them, doubtful where it affirms them. A reply
that denies a figure has to say it, and one that speaks of people past 70, as the post does, claims nothing. But "Yes,
90% of them" makes the post's claim the reply's own. A sentence affirms that begins with assent, or that repeats a
share, money or a count of the same things, and neither asks, denies nor says whose figure it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import Final

from core.engine.scoring.proper_names import NameSpan, TextNames, known_by, names_in
from core.engine.wording.figures import Figure, FigureKind, Weight, figures, says, weight_of
from core.engine.wording.final_text import without_links
from core.engine.wording.giveaways import wordings_of
from core.engine.wording.language import NAMES
from core.engine.wording.text import content_stems, sentence_spans, sentences, stop_words, words
from core.models import Evidence

NAME = "name"
"""The kind of an item that is a name."""
_MARKS = "\"'“”«»‘’ "


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a text that can be looked up.

    Attributes:
        kind: a value of ``core.engine.wording.figures.FigureKind``, or ``"name"``.
        text: its words, as they are written.
        start, end: its place, in code points of the text given.
        weight: how much it claims; of a name always ``COUNT``.
    """

    kind: str
    text: str
    start: int
    end: int
    weight: Weight = Weight.COUNT


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """What one sentence states that can be looked up, and the evidence for it.

    Attributes:
        start, end: the sentence's place, in code points of the text given.
        is_quotation: whether a passage holds it word for word.
        evidence_id: the first passage that holds all of its figures, dates and names; ``None`` if no single passage
            holds them all.
        unsupported: those that no passage holds.
    """

    start: int
    end: int
    is_quotation: bool
    evidence_id: str | None
    unsupported: tuple[Item, ...]


def check(
    text: str,
    evidence: Sequence[Evidence],
    language: str,
    known_names: AbstractSet[str] = frozenset(),
    *,
    post: str = "",
) -> tuple[SentenceCheck, ...]:
    """Look up each sentence of a text in the evidence: pure, without a model, for live editing.

    Args:
        language: of the text, ISO 639-1.
        known_names: casefolded words that count as known, such as the post's own names.
        post: what the text answers; figures that it repeats from there need no evidence.
    """
    stated_text = without_unaffirmed(without_addresses(text, evidence), post, language)
    return tuple(
        _check_sentence(text, span, stated, evidence, language, known_names)
        for span, stated in _by_sentence(stated_text, language)
    )


def unsupported(
    text: str, evidence: Sequence[Evidence], language: str, known_names: AbstractSet[str] = frozenset()
) -> list[Item]:
    """The figures, dates and names of a text that no passage holds, in order."""
    held = [_held_by(passage) for passage in evidence]
    stated = [item for _, part in _by_sentence(without_addresses(text, evidence), language) for item in part]
    return [
        _item(text, item)
        for item in stated
        if not any(_holds(item, by, language, known_names) for by in held or [_NOTHING])
    ]


def without_addresses(text: str, evidence: Sequence[Evidence]) -> str:
    """A text of the same length without the addresses of the passages' sources: their digits state nothing."""
    return without_links(text, (passage.source.url for passage in evidence))


def repeated(items: Sequence[Item], text: str, said_before: str, language: str) -> list[Item]:
    """Those figures of a text that another text, such as its post, says before it."""
    before = figures(said_before, language)
    own = {(figure.start, figure.end): figure for figure in figures(text, language)}
    return [
        item
        for item in items
        if (figure := own.get((item.start, item.end))) and any(says(other, figure) for other in before)
    ]


def same_figures(left: str, right: str) -> bool:
    """Whether two texts hold the same figures: neither has one that the other lacks."""
    mine, other = (figures(text, _likely_language(text)) for text in (left, right))
    return all(any(says(b, a) for b in other) for a in mine) and all(any(says(a, b) for a in mine) for b in other)


@dataclass(frozen=True, slots=True)
class _Held:
    """What a passage and its source hold."""

    figures: tuple[Figure, ...]
    names: TextNames
    sentences: frozenset[str]


_NOTHING = _Held((), TextNames(), frozenset())


def _held_by(passage: Evidence) -> _Held:
    source = passage.source
    about = f"{source.publisher} {source.title} {source.document or ''}"
    return _read_passage(passage.text, about, source.year)


@lru_cache(maxsize=512)
def _read_passage(text: str, about: str, year: int | None) -> _Held:
    language = _likely_language(text)
    numbers = figures(text, language)
    years = {day.year for figure in numbers for day in figure.days} | {year}
    dated = [Figure(FigureKind.YEAR, 0, 0, frozenset({Fraction(year)})) for year in years if year]
    return _Held((*numbers, *dated), known_by(f"{text} {about}", language), frozenset(map(_bare, sentences(text))))


def _likely_language(text: str) -> str:
    """The language whose common words a passage has most of: quick, and exact enough for reading its numbers.

    The detector of ``core.engine.wording.language`` would keep an editor waiting for seconds while it loads.
    """
    tokens = words(text)
    return max(NAMES, key=lambda code: sum(word in stop_words(code) for word in tokens))


def _bare(sentence: str) -> str:
    return sentence.strip(_MARKS)


_Stated = Figure | NameSpan


def _by_sentence(text: str, language: str) -> list[tuple[tuple[int, int], list[_Stated]]]:
    spans = sentence_spans(text)
    stated: list[_Stated] = [*figures(text, language), *names_in(text, spans, language)]
    dates = [item for item in stated if isinstance(item, Figure)]
    apart = [
        item for item in stated if isinstance(item, Figure) or not any(d.start <= item.start < d.end for d in dates)
    ]
    apart.sort(key=lambda item: item.start)
    return [(span, [item for item in apart if span[0] <= item.start < span[1]]) for span in spans]


def _holds(stated: _Stated, facts: _Held, language: str, known_names: AbstractSet[str]) -> bool:
    if isinstance(stated, NameSpan):
        return stated.is_known(facts.names, known_names, language)
    return any(says(figure, stated) for figure in facts.figures)


def _check_sentence(
    text: str,
    span: tuple[int, int],
    stated: Sequence[_Stated],
    evidence: Sequence[Evidence],
    language: str,
    known_names: AbstractSet[str],
) -> SentenceCheck:
    sentence = _bare(" ".join(text[slice(*span)].split()))
    held = [(passage.id, _held_by(passage)) for passage in evidence]
    quoted = next((id_ for id_, by in held if sentence in by.sentences), None)
    looked_up = [item for item in stated if not _holds(item, _NOTHING, language, known_names)]
    if quoted is not None or not looked_up:
        return SentenceCheck(*span, quoted is not None, quoted, ())
    carries = next(
        (id_ for id_, by in held if all(_holds(item, by, language, known_names) for item in looked_up)), None
    )
    strange = [item for item in looked_up if not any(_holds(item, by, language, known_names) for _, by in held)]
    return SentenceCheck(*span, False, carries, tuple(_item(text, item) for item in strange))


def _item(text: str, stated: _Stated) -> Item:
    words_stated = text[stated.start : stated.end]
    if isinstance(stated, NameSpan):
        return Item(NAME, words_stated, stated.start, stated.end)
    return Item(stated.kind.value, words_stated, stated.start, stated.end, weight_of(stated, text))


_CLAIMS: Final = frozenset({FigureKind.PERCENTAGE, FigureKind.SHARE, FigureKind.QUANTITY})
_PART_OF: Final = re.compile(r"\s{0,3}(?:of|de|dei|degli|delle|di)\b", re.IGNORECASE)
_NEXT_WORD: Final = re.compile(r"\s{1,3}([^\W\d_]+)")
_QUOTED: Final = re.compile(r"[\"“”«»‘’]")
_CLOSING: Final = "\"'”’» "
_BLANK: Final = "x"


def without_unaffirmed(text: str, post: str, language: str) -> str:
    """A text of the same length without the figures of its post that it does not affirm: they state nothing new."""
    signs = list(text)
    for figure in _not_affirmed(text, post, language):
        signs[figure.start : figure.end] = _BLANK * (figure.end - figure.start)
    return "".join(signs)


def _not_affirmed(text: str, post: str, language: str) -> Iterator[Figure]:
    before = figures(post, language)
    own = figures(text, language) if before else []
    spans = sentence_spans(text) if own else []
    starts = [start for start, _ in spans]
    for at, stated in groupby(own, lambda figure: bisect_right(starts, figure.start) - 1):
        manner = _manner(text[slice(*spans[max(at, 0)])], post, language)
        for figure in stated:
            same = [other for other in before if says(other, figure)]
            if same and not _affirms(text, figure, figure.start - starts[max(at, 0)], manner, same, post, language):
                yield figure


@dataclass(frozen=True, slots=True)
class _Manner:
    """How a sentence speaks: ``denied`` is the place of the first word that denies, or -1."""

    asks: bool
    assents: bool
    is_anothers: bool
    denied: int


def _manner(part: str, post: str, language: str) -> _Manner:
    """How a sentence speaks. Words of the post do not tell whose a figure is: "90% of the reports are false"."""
    wordings, part, folded_post = wordings_of(language), part.replace("’", "'"), post.casefold()
    distances = {match.group().casefold() for match in wordings.distances.finditer(part)}
    denial = wordings.negation.search(part)
    return _Manner(
        part.rstrip(_CLOSING).endswith("?"),
        wordings.assents.search(part) is not None,
        any(words not in folded_post for words in distances),
        denial.start() if denial else -1,
    )


def _affirms(
    text: str, figure: Figure, place: int, manner: _Manner, same: Sequence[Figure], post: str, language: str
) -> bool:
    """Whether a sentence makes the figure at a place in it its own.

    What is denied after a part of something is what is said of it: "90% of them do not work" denies no figure.
    """
    if manner.asks or manner.assents:
        return not manner.asks
    is_quoted = _QUOTED.match(text, max(figure.start - 1, 0)) and _QUOTED.match(text, figure.end)
    is_part = _PART_OF.match(text, figure.end) or _noun_after(text, figure, language)
    is_denied = 0 <= manner.denied < place or (manner.denied >= 0 and not is_part)
    if is_quoted or manner.is_anothers or is_denied:
        return False
    return _claims(text, figure, same, post, language)


def _claims(text: str, figure: Figure, same: Sequence[Figure], post: str, language: str) -> bool:
    """Whether a figure says how many or how much, and not only whom or when."""
    if figure.kind in _CLAIMS or (figure.kind is FigureKind.AMOUNT and weight_of(figure, text) is Weight.FINDING):
        return True
    noun = _noun_after(text, figure, language) if figure.kind is FigureKind.NUMBER else ""
    return bool(noun) and any(noun == _noun_after(post, other, language) for other in same)


def _noun_after(text: str, figure: Figure, language: str) -> str:
    """The stem of the word after a figure, where it may be what is counted."""
    word = _NEXT_WORD.match(text, figure.end)
    return next(iter(content_stems(word.group(1), language)), "") if word else ""
