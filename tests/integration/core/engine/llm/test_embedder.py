"""The packaged embedding model: it loads silently and offline, its memory is bounded, its absence is explained."""

import socket
from pathlib import Path

import numpy as np
import pytest

from core.engine.backends import minilm
from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.backends.minilm import packaged_folder
from core.engine.ports import Embedder
from core.errors import IndexUnavailable


def test_embedder_loads_silently_and_offline(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects that loading the packaged model calls no network and prints nothing."""
    calls: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: calls.append(address))
    vectors = SentenceEmbedder().encode(["one", "two", "one"])
    assert not calls
    assert capfd.readouterr() == ("", "")
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_embedder_is_an_embedder(embedder: SentenceEmbedder) -> None:
    """Protects the port: what the engine and the index are given."""
    assert isinstance(embedder, Embedder)
    assert embedder.languages == {"en"}
    assert embedder.encode([]).shape == (0, 384)


def test_embedder_counts_the_time_that_the_model_works() -> None:
    """Protects the benchmarks' own time: a vector that is remembered costs the model nothing."""
    embedder = SentenceEmbedder()
    embedder.encode(["one"])
    worked = embedder.seconds
    embedder.encode(["one"])
    assert embedder.seconds == worked > 0


def test_embedder_forgets_the_oldest() -> None:
    """Protects that the memory of vectors is bounded, and that forgetting changes no result."""
    small = SentenceEmbedder(remembered=2)
    first = small.encode(["a", "b", "c"])
    assert len(small._vectors) == 2
    np.testing.assert_allclose(small.encode(["c", "a"]), first[[2, 0]], atol=1e-5)


@pytest.mark.parametrize("damaged", [None, "modules.json", "model.safetensors", "tokenizer.json"])
def test_missing_or_damaged_model_folder(tmp_path: Path, damaged: str | None) -> None:
    """Protects that a wrong model folder is an error with a remedy, and no call to the hub."""
    folder = tmp_path / "model"
    if damaged:
        folder.mkdir()
        for part in packaged_folder().iterdir():
            (folder / part.name).symlink_to(part)
        (folder / damaged).unlink()
        (folder / damaged).write_text("{")
    with pytest.raises(IndexUnavailable) as caught:
        SentenceEmbedder(folder).encode(["text"])
    assert "kb.embedding_model" in caught.value.remedy


def test_missing_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Protects that a damaged installation says what to do, and that nothing is looked up elsewhere."""
    monkeypatch.setattr(minilm, "SHIPPED", tmp_path / "none")
    minilm._weights.cache_clear()
    minilm.own_layers.cache_clear()
    with pytest.raises(IndexUnavailable, match="cannot be loaded") as caught:
        SentenceEmbedder().encode(["text"])
    assert "Install Antiphon again" in caught.value.remedy
