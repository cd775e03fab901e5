"""What is fitted beside a reader's weights on texts that it did not learn: calibration, languages, limits of use."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, genpareto
from sklearn.linear_model import LogisticRegression

LEAST_KNOWN: Final = 0.75
"""The least that recall and specificity on the development split surely are: the lower end of the 95 % interval."""
SURE: Final = 0.9
WARNED_OF_GOOD: Final = 0.12
REFUSED_OF_GOOD: Final = 0.05
"""Of good drafts of the development split, whose writers the training knows; of strangers about twice as many."""
LOST_IN_LONG: Final = 0.02
_PEAKS_ARE_ONE_IN: Final = 50


def calibration(logits: NDArray[np.float32], targets: NDArray[np.float32]) -> list[tuple[float, float]]:
    """For each output the slope and offset that make its logit a probability (Platt); (1, 0) where few are known."""
    fits = []
    for at in range(targets.shape[1]):
        is_labelled = ~np.isnan(targets[:, at])
        is_so = targets[is_labelled, at] >= 0.5
        if is_labelled.sum() < 50 or min(is_so.sum(), (~is_so).sum()) < 10:
            fits.append((1.0, 0.0))
            continue
        fit = LogisticRegression(C=100.0).fit(logits[is_labelled, at : at + 1], is_so)
        fits.append((round(float(fit.coef_[0, 0]), 4), round(float(fit.intercept_[0]), 4)))
    return fits


def beside(odds: NDArray[np.float64], is_so: NDArray[np.bool_]) -> list[float]:
    """How the log-odds of networks, shape (texts, networks), become those of all: an offset, and what each counts."""
    fit = LogisticRegression(C=100.0).fit(odds, is_so)
    return [round(float(number), 4) for number in (fit.intercept_[0], *fit.coef_[0])]


def even(
    odds: NDArray[np.float64], is_so: NDArray[np.bool_], others: NDArray[np.float64], said_of_others: NDArray[np.bool_]
) -> tuple[float, float]:
    """The offset and slope that make log-odds fit our texts and those of other writers, which weigh alike together."""
    weights = np.concatenate([np.ones(len(is_so)), np.full(len(others), len(is_so) / len(others))])
    fit = LogisticRegression(C=100.0).fit(
        np.concatenate([odds, others])[:, None], np.concatenate([is_so, said_of_others]), sample_weight=weights
    )
    return float(fit.intercept_[0]), float(fit.coef_[0, 0])


def by_language(
    spoken: NDArray[np.str_], is_so: NDArray[np.bool_], chances: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """What the main output finds and lets pass in each language, and whether it is enough to count there."""
    rows = []
    for language in sorted(set(spoken)):
        is_language = spoken == language
        caught, let_pass = chances[is_language & is_so] >= 0.5, chances[is_language & ~is_so] < 0.5
        is_known = all(part.size and _surely(part) >= LEAST_KNOWN for part in (caught, let_pass))
        rows.append(
            {
                "language": str(language),
                "texts": int(is_language.sum()),
                "recall": _share(caught),
                "specificity": _share(let_pass),
                "known": is_known,
            }
        )
    return rows


def _surely(right: NDArray[np.bool_]) -> float:
    """The lower end of the 95 % interval (Wilson) of a share."""
    return float(binomtest(int(right.sum()), len(right)).proportion_ci(method="wilson").low)


def unsure_between(chances: NDArray[np.float64], is_so: NDArray[np.bool_]) -> tuple[float, float]:
    """The probabilities between which the reader is not sure: outside, nine in ten of what it says are right."""
    grid = np.linspace(0.02, 0.98, 97)
    high = next((p for p in grid if p >= 0.5 and _share(is_so[chances >= p]) >= SURE), 0.98)
    low = next((p for p in grid[::-1] if p <= 0.5 and _share(~is_so[chances < p]) >= SURE), 0.02)
    return round(float(low), 2), round(float(high), 2)


def _share(right: NDArray[np.bool_]) -> float:
    """The share that is so; none of nothing."""
    return float(right.mean()) if right.size else 0.0


def false_alarms(logits: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """How rarely ordinary messages exceed a logit: log10 of one in how many, and the logits, both rising.

    Up to one in two hundred the share is counted. Beyond, a generalised Pareto distribution of what exceeds the rarest
    fiftieth goes on (peaks over a threshold: Coles, An Introduction to Statistical Modeling of Extreme Values, chapter
    4), since a few thousand messages cannot show what one in two thousand does. Its tail is never heavier than an
    exponential one: a logit has an upper end.
    """
    ordered = np.sort(logits)[::-1]
    rarity = np.log10(len(ordered) / np.arange(1, len(ordered) + 1))
    counted = np.array([0.0, 0.3, 0.7, 1.0, 1.3, 1.7, 2.0, 2.3])
    at = np.interp(counted, rarity[::-1], ordered[::-1])
    peaks = ordered[: max(len(ordered) // _PEAKS_ARE_ONE_IN, 10)]
    excess = peaks - peaks[-1]
    shape, _, scale = genpareto.fit(excess, floc=0)
    if shape > 0:
        shape, scale = 0.0, float(excess.mean())
    beyond = np.array([2.5, 3.0, 3.3, 3.7, 4.0, 5.0])
    rarer = peaks[-1] + genpareto.isf(_PEAKS_ARE_ONE_IN / 10**beyond, shape, 0, max(scale, 1e-6))
    there = np.maximum.accumulate(np.concatenate([at, rarer]))
    return [round(float(number), 3) for number in (*counted, *beyond)], [round(float(number), 3) for number in there]


def limits(unfit: NDArray[np.float64], is_so: NDArray[np.bool_]) -> tuple[float, float]:
    """From which probability a draft is warned of, and refused: what these cost of the good drafts is fixed."""
    good = unfit[~is_so]
    warned, refused = (float(np.quantile(good, 1 - share)) for share in (WARNED_OF_GOOD, REFUSED_OF_GOOD))
    return round(warned, 3), round(refused, 3)


def long_discount(worst: NDArray[np.float64], pieces: NDArray[np.intp], alone: NDArray[np.float64]) -> float:
    """What the log of the number of pieces takes off the worst one's logit: among many, one looks hateful by chance.

    Args:
        worst: the logit of the worst piece of each long text with a hateful post in it.
        pieces: how many pieces each has.
        alone: the logit of each of these posts by itself.

    Returns:
        The largest discount that loses at most ``LOST_IN_LONG`` of the recall that the posts have alone.
    """
    least = float((alone >= 0).mean()) - LOST_IN_LONG
    kept = [at for at in np.linspace(0, 1.5, 61) if (worst - at * np.log(pieces) >= 0).mean() >= least]
    return round(float(max(kept, default=0.0)), 3)
