"""Fitting how far a language model counts: weights, samples, kept answers, and the file that ships."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import numpy as np
import pytest

from core.scoring.readers.pooling import Pooling, Question
from training.heads.pooling import fitted, pooled_limits, written
from training.heads.sampling import Asked, Kept, chosen


def asked(*, worth: float, count: int = 400, alone: bool = False) -> list[Asked]:
    """Answers of a small reader that is often right, and of a model whose word is worth something or nothing."""
    chance = np.random.default_rng(8)
    labels = chance.uniform(size=count) < 0.5
    small, large = (1 / (1 + np.exp(-chance.normal(np.where(labels, by, -by), 1.5))) for by in (0.7, worth))
    return [
        Asked(bool(label), None if alone else float(one), float(other), 1.0)
        for label, one, other in zip(labels, small, large, strict=True)
    ]


def test_a_model_whose_word_is_worth_nothing_is_not_asked() -> None:
    """Its weight is nought, and the small reader's word stays as it is."""
    weights, measured = fitted(asked(worth=0.0))
    assert (weights.bias, weights.small, weights.large, weights.alone) == (0.0, 1.0, 0.0, 0.0)
    assert measured["large_auc"] == pytest.approx(0.5, abs=0.1)


def test_a_model_that_reads_well_counts() -> None:
    """The more so, the better it is; both together are better than the small reader."""
    weights, measured = fitted(asked(worth=1.5))
    assert weights.large > 0.5
    assert measured["both_auc"] > measured["small_auc"] + 0.05


def test_where_the_small_reader_is_silent_the_model_counts_alone() -> None:
    """With weights of their own."""
    weights, measured = fitted(asked(worth=1.5, alone=True))
    assert weights.large == 0.0
    assert weights.alone > 0.5
    assert measured["alone_auc"] > 0.8


def test_a_model_that_counts_for_drafts_has_limits() -> None:
    """One that does not has none."""
    good = asked(worth=1.5)
    pooling = Pooling("a model", weights={Question.UNFIT: fitted(good)[0]})
    found = pooled_limits(good, pooling, is_alone=False)
    assert found is not None
    assert 0 < found[0] < found[1] < 1
    silent = Pooling("another", weights={Question.UNFIT: fitted(asked(worth=0.0))[0]})
    assert pooled_limits(good, silent, is_alone=False) is None


def test_half_of_a_sample_has_the_label_and_stands_for_all() -> None:
    """As far as there are so many; others fill it up, and what each stands for adds up to the rows."""
    rows = list(range(100))
    found = chosen(rows, [row < 5 for row in rows], 30, random.Random(1))
    assert sum(one.label for one in found) == 5
    assert len(found) == 30
    assert sum(one.counts for one in found) == pytest.approx(100)


async def test_answers_are_kept(tmp_path: Path) -> None:
    """A later run asks only what is new."""
    file = tmp_path / "answers.json"
    times = []

    async def ask() -> float:
        times.append(1)
        return 0.25

    for _ in range(2):
        kept = Kept(file)
        assert await kept.of("hateful", "en-1", ask) == 0.25
        kept.save()
    assert len(times) == 1


def test_the_weights_of_other_models_stay(tmp_path: Path) -> None:
    """One model is written; the notes at the top stay, too."""
    file = tmp_path / "pooling.toml"
    file.write_text('# a note\nshipped = "small"\n\n[models."small"]\nfitted = false\n', encoding="utf-8")
    written(file, "large", {"seed": 7, "hateful": {"bias": 0.5, "large": 1.0}})
    assert file.read_text(encoding="utf-8").startswith("# a note\n")
    read = tomllib.loads(file.read_text(encoding="utf-8"))
    assert read["models"]["small"] == {"fitted": False}
    assert read["models"]["large"]["hateful"] == {"bias": 0.5, "large": 1.0}
