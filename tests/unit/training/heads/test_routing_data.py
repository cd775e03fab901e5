"""What the router and the rule on sources learn from: labels that name what is there, and nothing of the tests."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.engine.cards.bank import load_stereotypes
from core.engine.cards.router import NONE
from core.models import TargetGroup
from training.corpus import DATA, POST_WRITERS_OF_TESTS, posts
from training.heads.router import Outputs, calibrated, labelled, limit


def rows(name: str) -> list[dict[str, object]]:
    """The lines of a file of training data."""
    file = Path(DATA) / name
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_each_label_names_a_stereotype_of_its_group() -> None:
    """A slip of a reader would teach the router nonsense."""
    known, written = load_stereotypes(), {row.id for row in posts()}
    found = rows("routing/labels.jsonl")
    assert len(found) > 6000
    assert [row["post"] for row in found if row["post"] not in written] == []
    labels = [(row, label) for row in found for label in row["labels"]]  # type: ignore[attr-defined]
    assert [label for _, label in labels if not 1 <= len(label) <= 2] == []
    named = [(row, one) for row, label in labels for one in label if one != NONE]
    assert [one for row, one in named if known[one].target_group != row["target_group"]] == []


def test_each_wording_is_one_stereotypes() -> None:
    """Twenty English posts for each and five in each other language, and none twice."""
    found = rows("routing/wordings.jsonl")
    counted = Counter((str(row["id"]), row["language"]) for row in found)
    assert {id_ for id_, _ in counted} <= load_stereotypes().keys()
    assert {(language, count) for (_, language), count in counted.items()} == {
        ("en", 20),
        ("es", 5),
        ("it", 5),
        ("eu", 5),
    }
    assert len({row["text"] for row in found}) == len(found)


def test_nothing_of_the_test_writers_is_learnt() -> None:
    """What is measured must be new to the router; limits alone are fixed on other posts of the same writers."""
    known = {row.text: row for row in posts()}
    for one in labelled():
        of_tests = known[one.text] if one.text in known and known[one.text].writer in POST_WRITERS_OF_TESTS else None
        if of_tests is not None:
            assert one.split == of_tests.split != "train"
            assert one.language != "en" or one.split == "test"


def test_sentences_are_labelled_once_or_twice() -> None:
    """By the three letters that the guide knows."""
    found = rows("sentences/en.jsonl")
    labels = [row["labels"] for row in found]
    assert all(isinstance(some, list) and 1 <= len(some) <= 2 and set(some) <= set("CTN") for some in labels)
    assert len({row["text"] for row in found}) == len(found)


def test_targets_are_shares_of_what_the_readers_saw() -> None:
    """Two readers count alike, and the second stereotype of a label less than the first."""
    outputs = Outputs.of_taxonomy()
    one = next(one for one in labelled() if len(one.labels) == 2 and one.labels[0] != one.labels[1])
    target = outputs.target(one)
    assert target.sum() == pytest.approx(1.0)
    assert len(target) == len(outputs.groups[one.group])
    assert len(outputs.groups) == len(TargetGroup)


def test_the_limit_holds_what_was_asked_for() -> None:
    """Above it the wanted share is right; where that is never so, nothing is told."""
    chances = np.linspace(1, 0, 100)
    right = np.array([True] * 50 + [False] * 50)
    least = limit(chances, right, 0.9)
    assert right[chances >= least].mean() >= 0.9
    assert limit(chances, ~right, 0.9) == 1.0
    slope, offset = calibrated(np.clip(chances, 0.01, 0.99), right)
    assert slope > 0
    assert isinstance(offset, float)
