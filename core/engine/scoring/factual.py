"""Whether a sentence states something that a reader could look up, dispute, or ask a source for.

The cues that tell are in ``factual.json``, fitted by ``python -m training.heads.factual`` on labelled English
sentences. A figure always needs a source, a question never does. In other languages the wordings that call for a source
decide (``core.engine.wording``).
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import pairwise
from math import exp
from typing import Any, Final

from core.engine.wording.giveaways import wordings_of
from core.engine.wording.text import numbers

_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+")
_ENDINGS: Final = ("s", "ed", "ing", "ly", "er", "est", "tion")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_COMPARES: Final = re.compile(r"\b(?:more|fewer|less)\b(?:\W+\w+){0,4}?\W+than\b", re.IGNORECASE)
_CLOSING: Final = "\"'”’)"


def is_factual(sentence: str, language: str | None = "en") -> bool:
    """Whether a sentence needs a source. "We" and "here" do not make it an appeal."""
    if numbers(sentence):
        return True
    if sentence.rstrip(_CLOSING).endswith("?"):
        return False
    wordings, plain = wordings_of(language), sentence.replace("’", "'")
    if language != "en":
        return bool(wordings.credits.search(plain) or wordings.checkable.search(plain))
    if wordings.credits.search(plain) or _COMPARES.search(plain):
        return True
    return chance(sentence) >= float(_fit()["limit"])


def chance(sentence: str) -> float:
    """How likely readers say that an English sentence needs a source, in [0, 1]."""
    weights = _fit()["weights"]
    odds = _fit()["offset"] + sum(weights.get(cue, 0.0) * value for cue, value in cues(sentence).items())
    return 1 / (1 + exp(-odds))


def cues(sentence: str) -> dict[str, float]:
    """What is counted in a sentence: its words, pairs of them, endings, names, and how long it is."""
    words = _WORD.findall(sentence.lower().replace("’", "'"))
    weights: dict[str, float] = dict.fromkeys((f"w {word}" for word in words), 1.0)
    weights |= dict.fromkeys((f"b {first} {second}" for first, second in pairwise(words)), 0.7)
    for word in words:
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 2:
                weights[f"e {ending}"] = weights.get(f"e {ending}", 0.0) + 0.3
    if words:
        weights[f"f {words[0]}"] = 1.0
    return weights | {"length": len(words) / 20, "names": len(_NAME.findall(sentence)) / 2}


@cache
def _fit() -> Mapping[str, Any]:
    text = resources.files("core.engine.scoring").joinpath("factual.json").read_text(encoding="utf-8")
    fit: Mapping[str, Any] = json.loads(text)
    return fit
