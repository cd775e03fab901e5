"""Fits the cues that tell whether a sentence needs a source: ``python -m training.heads.factual``.

Learns from the sentences of ``training/data/sentences``, which readers labelled: C for what could be looked up or
disputed, T for what nobody would ask a source for, N for what states no fact. C is told from the others. The figures
that it prints are from five-fold cross-validation, by which the limit is chosen, too.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, cross_val_predict

from core.engine.scoring.factual import cues
from training.corpus import DATA, rows_in

SEED: Final = 7
OUT: Final = Path("core/engine/scoring/factual.json")
FOUND: Final = 0.6
"""The share of the sentences that need a source that the limit finds."""
_LEAST: Final = 3
_STRENGTH: Final = 0.3
_SMALLEST: Final = 0.04


def main() -> None:
    """Fit, write the cues, and print what they do on sentences that they were not fitted on."""
    rows = list(rows_in(DATA / "sentences" / "en.jsonl"))
    needs = np.array([row["labels"][0] == "C" for row in rows])
    vectorizer = DictVectorizer()
    counts = vectorizer.fit_transform([cues(row["text"]) for row in rows])
    often = np.asarray((counts != 0).sum(axis=0)).ravel() >= _LEAST
    counts, names = counts[:, often], vectorizer.get_feature_names_out()[often]
    model = LogisticRegression(C=_STRENGTH, max_iter=3000)
    folds = KFold(5, shuffle=True, random_state=SEED)
    chances = cross_val_predict(model, counts, needs, cv=folds, method="predict_proba")[:, 1]
    limit = float(np.quantile(chances[needs], 1 - FOUND))
    model.fit(counts, needs)
    weights = {
        name: round(float(weight), 2)
        for name, weight in zip(names, model.coef_[0], strict=True)
        if abs(weight) >= _SMALLEST
    }
    fitted: dict[str, Any] = {
        "limit": round(limit, 3),
        "offset": round(float(model.intercept_[0]), 3),
        "weights": weights,
    }
    OUT.write_text(json.dumps(fitted, indent=0, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    twice = [row["labels"] for row in rows if len(row["labels"]) > 1]
    figures = {
        "sentences": len(rows),
        "need a source": needs.mean(),
        "readers agree": np.mean([(first == "C") == (second == "C") for first, second in twice]),
        "area under the curve": roc_auc_score(needs, chances),
        "found": (chances[needs] >= limit).mean(),
        "taken for one": (chances[~needs] >= limit).mean(),
        "cues": len(weights),
    }
    json.dump(figures, sys.stdout, indent=2, default=float)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
