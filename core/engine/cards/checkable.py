"""The words of a text for which somebody could ask a source, by wording alone.

A prepared sentence gets no receipt, so it must not state a figure, a finding, history, a law or an event. The rule does
not find every fact; the authors of such sentences have to look for the others.
"""

from __future__ import annotations

from core.engine.wording.figures import Figure, FigureKind, figures
from core.engine.wording.giveaways import wordings_of
from core.engine.wording.text import sentences

_FEW = 2


def checkable_in(text: str, language: str) -> tuple[str, ...]:
    """The words of a text that need a source, in order.

    A number of two at most is left out ("two people who love each other"), and so is the wording of a question.
    """
    spans = []
    for sentence in sentences(text):
        plain = sentence.replace("’", "'")
        spans += [plain[figure.start : figure.end] for figure in figures(plain, language) if not _is_small(figure)]
        if not plain.endswith("?"):
            wordings = wordings_of(language)
            spans += [match.group() for match in wordings.credits.finditer(plain)]
            spans += [match.group() for match in wordings.checkable.finditer(plain)]
    return tuple(dict.fromkeys(spans))


def _is_small(figure: Figure) -> bool:
    return figure.kind is FigureKind.NUMBER and not figure.unit and all(value <= _FEW for value in figure.values)
