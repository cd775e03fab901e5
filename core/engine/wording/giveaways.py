"""Wordings by language: what refuses or leaks, credits a source, denies, or states something checkable.

``core.engine.scoring.gates`` and ``core.engine.arguing.arguments`` decide what follows from a find.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from core.engine.wording.figures import Figure, FigureKind, figures
from core.engine.wording.language import NAMES
from core.engine.wording.text import sentences, stem
from core.i18n.sentences import sentence

FALLBACK = "en"
_FEW = 2
_FAULTS = {
    name: name
    for name in (
        sentence("claims an identity"),
        sentence("prompt text"),
        sentence("refusal"),
    )
}
"""The names of the faults in the lists, as sentences that can be translated."""


@dataclass(frozen=True, slots=True)
class Wordings:
    """The wordings of one language.

    Attributes:
        faults: what shows each fault, by the fault's name.
        tool: what a tool says of its task, such as "the post".
        negation: a word that denies what follows.
        assents: what affirms what was said before.
        distances: what says whose a figure is, or that it is wrong.
        credits: somebody credited with a finding.
        absolutes: what is said of all, of none or of most.
        checkable: what somebody could ask a source for.
        group_stems: the stems of the words for the groups themselves.
    """

    faults: Mapping[str, re.Pattern[str]]
    tool: re.Pattern[str]
    negation: re.Pattern[str]
    assents: re.Pattern[str]
    distances: re.Pattern[str]
    credits: re.Pattern[str]
    absolutes: re.Pattern[str]
    checkable: re.Pattern[str]
    group_stems: frozenset[str]


@cache
def wordings_of(language: str | None) -> Wordings:
    """The wordings of a language; English ones where Antiphon does not write it."""
    code = language if language in NAMES else FALLBACK
    rows = tomllib.loads(
        resources.files("core.engine.wording").joinpath(f"data/giveaways/{code}.toml").read_text(encoding="utf-8")
    )
    return Wordings(
        faults={_FAULTS[name]: _any(*expressions) for name, expressions in rows["faults"].items()},
        tool=_any(*rows["tool"]),
        negation=_any(rows["negation"]),
        assents=_any(rows["assents"]),
        distances=_any(rows["distances"]),
        credits=_any(rows["credits"]),
        absolutes=_any(*rows["absolutes"]),
        checkable=_any(*rows["checkable"]),
        group_stems=frozenset(stem(word) for word in rows["groups"]),
    )


def _any(*expressions: str) -> re.Pattern[str]:
    return re.compile("|".join(expressions), re.IGNORECASE)


def leak_in(text: str) -> str | None:
    """What a text's wording shows of the model behind it (a refusal, its prompt, an invented identity), or ``None``."""
    plain = text.replace("’", "'")
    for language in NAMES:
        for name, shown_by in wordings_of(language).faults.items():
            if shown_by.search(plain):
                return name
    return sentence("left over from a model") if _artefacts().search(plain) else None


@cache
def _artefacts() -> re.Pattern[str]:
    rows = tomllib.loads(
        resources.files("core.engine.wording").joinpath("data/giveaways/artefacts.toml").read_text("utf-8")
    )
    return re.compile("|".join(f"(?:{artefact})" for artefact in rows["artefacts"]), re.IGNORECASE | re.MULTILINE)


def speaks_as_tool(text: str) -> bool:
    """Whether a text speaks of its task ("the post", "counterspeech"), as a person rarely does."""
    plain = text.replace("’", "'")
    return any(wordings_of(language).tool.search(plain) for language in NAMES)


def checkable_in(text: str, language: str) -> tuple[str, ...]:
    """The words of a text that need a source, in order.

    A number of two at most is left out ("two people who love each other"), and so is the wording of a question. A
    prepared sentence gets no receipt, so it must have none of these words: no figure, finding, history, law or event.
    The rule does not find every fact; the authors of such sentences have to look for the others.
    """
    spans = []
    for part in sentences(text):
        plain = part.replace("’", "'")
        spans += [plain[figure.start : figure.end] for figure in figures(plain, language) if not _is_small(figure)]
        if not plain.endswith("?"):
            wordings = wordings_of(language)
            spans += [match.group() for match in wordings.credits.finditer(plain)]
            spans += [match.group() for match in wordings.checkable.finditer(plain)]
    return tuple(dict.fromkeys(spans))


def _is_small(figure: Figure) -> bool:
    return figure.kind is FigureKind.NUMBER and not figure.unit and all(value <= _FEW for value in figure.values)
