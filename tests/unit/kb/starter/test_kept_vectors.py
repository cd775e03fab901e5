"""Vectors that are kept on the disk: made once, and never read damaged."""

from pathlib import Path

import numpy as np
import pytest

from kb.starter.fact_search import KeptVectors
from tests.fakes.engine.embedder import FakeEmbedder

TEXTS = ["women: cannot lead", "migrants: take our jobs"]


def test_are_made_once(tmp_path: Path) -> None:
    first, second = FakeEmbedder(), FakeEmbedder()
    made = KeptVectors(first, tmp_path).encode(TEXTS)
    kept = KeptVectors(second, tmp_path).encode(TEXTS)
    np.testing.assert_array_equal(kept, made)
    assert (first.asked, second.asked) == (TEXTS, [])
    another = FakeEmbedder()
    another.name = "another"
    for other, texts in ((second, TEXTS[:1]), (another, TEXTS)):
        KeptVectors(other, tmp_path).encode(texts)
        assert other.asked == texts


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:-1] + b"x", lambda data: b"x" + data[1:], lambda _: b""]
)
def test_damaged_ones_are_made_again(tmp_path: Path, damage) -> None:
    made = KeptVectors(FakeEmbedder(), tmp_path).encode(TEXTS)
    (file,) = tmp_path.rglob("*.vectors")
    file.write_bytes(damage(file.read_bytes()))
    again = FakeEmbedder()
    np.testing.assert_array_equal(KeptVectors(again, tmp_path).encode(TEXTS), made)
    assert again.asked == TEXTS


def test_what_cannot_be_kept_is_made_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "kb").write_text("a file where the folder belongs")
    with caplog.at_level("INFO"):
        assert len(KeptVectors(FakeEmbedder(), tmp_path).encode(TEXTS)) == 2
    assert "could not be kept" in caplog.text
