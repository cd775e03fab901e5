"""How far the probe's word counts beside that of the small readers, fitted on the development split.

Owns the pooling, the limits of use, and the table of what was measured. What is measured on the texts of test writers
chooses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from core.cards.routing import Router, shipped_router
from core.scoring.readers.pooling import log_odds
from core.scoring.readers.probe import HATEFUL
from core.scoring.readers.readers import PostReader, shipped_posts
from training.heads.fitting import unsure_between
from training.heads.routing import ENOUGH, RIGHT, SAID, TOGETHER, Labelled, Outputs, calibrated, limit, odds
from training.probe.learning import Fit, Floats
from training.probe.texts import LANGUAGES, Learnt

_WEIGHTS: Final = (0.3, 0.5, 0.7, 0.9, 1.2, 1.6, 2.2, 3.0)


def pooled(
    texts: Learnt, states: NDArray[Any], found: Fit, outputs: Outputs
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What stands beside the outputs, fitted on the development split, and a table of what was measured."""
    about: dict[str, Any] = {HATEFUL: {}, "stereotypes": {}}
    reader, router, table = shipped_posts(), shipped_router(), list[dict[str, Any]]()
    for language in LANGUAGES:
        table += _pool_hate(texts, states, found, reader, language, about[HATEFUL])
    weight = _WEIGHTS[0]
    for languages in TOGETHER:
        kept = [row for language in languages for row in _rows(texts, language, "dev")]
        both = _both(texts, states, found, router, kept)
        if languages == TOGETHER[0] or len(kept) >= ENOUGH:  # with fewer it counts as for the languages before
            weight = _weight(both, kept, outputs)
        shares, right = _said(outputs, both, weight, kept)
        slope, offset = calibrated(shares, right)
        chances = _chances(shares, slope, offset)
        limits = [limit(chances, right, wanted) for wanted in (RIGHT, SAID)] if len(kept) >= ENOUGH else [1.0, 1.0]
        alone = router.classifier_for("en").about["calibration"]["en"][0]
        scale = slope / alone  # as sure of a group as the router alone
        fitted = {"weight": weight, "calibration": [slope, offset], "limits": limits, "scale": round(scale, 4)}
        about["stereotypes"] |= dict.fromkeys(languages, fitted)
    for language, fitted in about["stereotypes"].items():
        for split in ("dev", "test"):
            table.append(_measured(texts, states, found, outputs, router, fitted, language, split))
    return about, table


def _pool_hate(
    texts: Learnt, states: NDArray[Any], found: Fit, reader: PostReader, language: str, about: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    chances: NDArray[np.float64]
    for split in ("dev", "test"):
        mine = [(at, share >= 0.5) for at, its, of, share in texts.posts if (its, of) == (language, split)]
        shown, said = [texts.texts[at] for at, _ in mine], np.array([is_hateful for _, is_hateful in mine])
        small = np.array([log_odds(float(one)) for one in reader.hateful(shown, language)])
        probe = found.outputs(states[[at for at, _ in mine]])[:, 0].astype(np.float64)
        both = np.stack([small, probe], axis=1)
        if split == "dev":
            fitted = LogisticRegression(C=100.0).fit(both, said)
            chances = fitted.predict_proba(both)[:, 1]
            about[language] = {
                "pooling": [round(float(one), 4) for one in (fitted.intercept_[0], *fitted.coef_[0])],
                "unsure": list(unsure_between(chances, said)),
            }
        bias, *slopes = about[language]["pooling"]
        for name, scores in (("small reader", small), ("probe", probe), ("both", both @ np.array(slopes) + bias)):
            yield {
                "of": HATEFUL,
                "language": language,
                "split": split,
                "posts": len(mine),
                "by": name,
                "area": roc_auc_score(said, scores),
                "recall": (scores[said] >= 0).mean(),
                "specificity": (scores[~said] < 0).mean(),
            }


def _weight(both: tuple[Floats, Floats], kept: Sequence[tuple[int, Labelled]], outputs: Outputs) -> float:
    """How far the probe counts beside the router: what is most often right on texts of the development split."""
    right = {weight: _said(outputs, both, weight, kept)[1].mean() for weight in _WEIGHTS}
    return max(right, key=lambda weight: right[weight])


def _measured(
    texts: Learnt,
    states: NDArray[Any],
    found: Fit,
    outputs: Outputs,
    router: Router,
    fitted: Mapping[str, Any],
    language: str,
    split: str,
) -> dict[str, Any]:
    """How often the likeliest stereotype is right, by each alone and by both, and what is routed and told."""
    mine = _rows(texts, language, split)
    small, probe = _both(texts, states, found, router, mine)
    shares, right = _said(outputs, (small, probe), fitted["weight"], mine)
    chances = _chances(shares, *fitted["calibration"])
    routed, told = (chances >= least for least in fitted["limits"])
    alone = [_said(outputs, pair, 1.0, mine)[1].mean() for pair in ((small, 0 * probe), (0 * small, probe))]
    return {
        "of": "stereotypes",
        "language": language,
        "split": split,
        "posts": len(mine),
        "router right": alone[0],
        "probe right": alone[1],
        "both right": right.mean(),
        "routed": routed.mean(),
        "routed and right": right[routed].mean() if routed.any() else None,
        "with a gist": told.mean(),
        "and right": right[told].mean() if told.any() else None,
    }


def _said(
    outputs: Outputs, pair: tuple[Floats, Floats], weight: float, rows: Sequence[tuple[int, Labelled]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The share of each text's likeliest stereotype by both, and whether a reader saw it."""
    said = np.array(list(outputs.said(pair[0] + weight * pair[1], [one for _, one in rows])))
    return said[:, 0], said[:, 1] > 0.5


def _chances(shares: NDArray[np.float64], slope: float, offset: float) -> NDArray[np.float64]:
    found: NDArray[np.float64] = 1 / (1 + np.exp(-(odds(shares) * slope + offset)))
    return found


def _rows(texts: Learnt, language: str, split: str) -> list[tuple[int, Labelled]]:
    return [(at, one) for at, one in texts.stereotypes if (one.language, one.split) == (language, split)]


def _both(
    texts: Learnt, states: NDArray[Any], found: Fit, router: Router, rows: Sequence[tuple[int, Labelled]]
) -> tuple[Floats, Floats]:
    places = [at for at, _ in rows]
    small = [router.classifier_for(one.language).logits([(texts.texts[at],)])[0] for at, one in rows]
    return np.array(small, dtype=np.float32), found.outputs(states[places])[:, 1:]
