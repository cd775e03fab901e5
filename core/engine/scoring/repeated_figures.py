"""The figures that a reply repeats from its post: known where it answers them, doubtful where it affirms them.

A reply that denies a figure has to say it, and one that speaks of people past 70, as the post does, claims nothing. But
"Yes, 90% of them" makes the post's claim the reply's own. A sentence affirms that begins with assent, or that repeats a
share, money or a count of the same things, and neither asks, denies nor says whose figure it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from core.engine.wording.figures import Figure, FigureKind, Weight, figures, says, weight_of
from core.engine.wording.giveaways import wordings_of
from core.engine.wording.text import content_stems, sentence_spans

_CLAIMS: Final = frozenset({FigureKind.PERCENTAGE, FigureKind.SHARE, FigureKind.QUANTITY})
_PART_OF: Final = re.compile(r"\s{0,3}(?:of|de|dei|degli|delle|di)\b", re.IGNORECASE)
_NEXT_WORD: Final = re.compile(r"\s{1,3}([^\W\d_]+)")
_QUOTED: Final = re.compile(r"[\"“”«»‘’]")
_CLOSING: Final = "\"'”’» "
_BLANK: Final = "x"


def without_repeated(text: str, post: str, language: str) -> str:
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
