"""Measures of texts: variety, repetition, similarity to references, novelty. Pure functions, no model.

METEOR is left out: its matching needs WordNet, and no light and maintained package has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

import sacrebleu

from core.wording.text import words

WINDOW = 1000
STEP = 100
LONGEST_RUN = 4


def distinct(texts: Sequence[str], size: int) -> float:
    """The share of different runs of ``size`` words among all (distinct-n)."""
    runs = [tuple(own[at : at + size]) for own in map(words, texts) for at in range(len(own) - size + 1)]
    return len(set(runs)) / len(runs) if runs else 0.0


def repetition_rate(texts: Sequence[str], window: int = WINDOW, step: int = STEP) -> float:
    """How much a system repeats itself (RR; Cettolo, Bertoldi and Federico 2014), in [0, 1].

    The share of different n-grams that occur more than once within a window of ``window`` words, n from 1 to 4,
    summed over the windows; the geometric mean of the four shares. The window moves by ``step`` words; fewer words
    than a window are one window.
    """
    own = [word for text in texts for word in words(text)]
    starts = range(0, max(len(own) - window, 0) + 1, step)
    shares = []
    for size in range(1, LONGEST_RUN + 1):
        repeated = different = 0
        for start in starts:
            part = own[start : start + window]
            counts = Counter(tuple(part[at : at + size]) for at in range(len(part) - size + 1))
            repeated += sum(count > 1 for count in counts.values())
            different += len(counts)
        shares.append(repeated / different if different else 0.0)
    return float(prod(shares) ** (1 / LONGEST_RUN))


def novelty(text: str, others: Sequence[str]) -> float | None:
    """1 minus the greatest Jaccard similarity of its words with another text's (Wang and Wan 2018).

    ``None`` where there is nothing to compare with.
    """
    own = set(words(text))
    likeness = [len(own & theirs) / len(own | theirs) for theirs in (set(words(other)) for other in others) if theirs]
    return 1 - max(likeness) if own and likeness else None


def rouge_l(text: str, reference: str) -> float:
    """ROUGE-L: the F-measure of the longest common subsequence of words."""
    own, other = words(text), words(reference)
    best = [0] * (len(other) + 1)
    for word in own:
        corner = 0
        for at, theirs in enumerate(other, start=1):
            corner, best[at] = best[at], corner + 1 if word == theirs else max(best[at], best[at - 1])
    return 2 * best[-1] / (len(own) + len(other)) if own and other else 0.0


def bleu_4(texts: Sequence[str], references: Sequence[str]) -> float | None:
    """BLEU-4 of all texts against one reference each, by sacrebleu with its defaults, in [0, 100]."""
    return float(sacrebleu.corpus_bleu(list(texts), [list(references)]).score) if texts else None
