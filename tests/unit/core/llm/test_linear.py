"""A linear classifier over vectors that others make: what is written is what is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import IndexUnavailable
from core.llm.backends.linear import SCALE, LinearClassifier, joined_vectors, pack_linear


def lengths(texts: Sequence[str]) -> NDArray[np.float32]:
    """A vector that turns with a text's length."""
    return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def test_what_was_packed_is_told(tmp_path: Path) -> None:
    """In eight bits, so nearly: within one part in a hundred of the largest weight."""
    matrix = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    offset, centre = np.array([0.5, 0.0, -0.5], dtype=np.float32), np.zeros(4, dtype=np.float32)
    pack_linear(matrix, offset, centre, {"outputs": ["a", "b", "c"]}, tmp_path / "w")
    found = LinearClassifier(tmp_path / "w", (lengths, lengths))
    assert found.about["outputs"] == ["a", "b", "c"]
    joined = joined_vectors([lengths(["ab", "abcd"])] * 2, centre)
    assert np.allclose(np.linalg.norm(joined, axis=1), SCALE * np.sqrt(2), rtol=1e-5)
    expected = joined @ matrix + offset
    assert np.allclose(found.logits([("ab",), ("abcd",)]), expected, atol=0.02 * SCALE * np.abs(matrix).max())


@pytest.mark.parametrize("content", [None, b"no weights"])
def test_a_missing_or_damaged_file_says_what_to_do(tmp_path: Path, content: bytes | None) -> None:
    """At the first use."""
    file = tmp_path / "w"
    if content:
        file.write_bytes(content)
    with pytest.raises(IndexUnavailable, match="router cannot be read") as caught:
        LinearClassifier(file, (lengths,)).logits([("x",)])
    assert caught.value.remedy
