"""The graphs that ship are those that training writes, and say what torch says of the same weights."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.backends.encoders import SmallEncoder
from core.engine.backends.minilm import FOLDER, SHIPPED, TOKENIZER, Form, packaged_folder
from core.engine.cards.answers import FIT
from core.engine.cards.router import ABROAD, WEIGHTS
from core.engine.readers.probe import PROBE
from training.corpus import DATA
from training.heads.graphs import graph_of, shipped
from training.heads.network import unpacked

LANGUAGES = ("en", "es", "it", "eu")
READERS = PROBE.parent


def said(kind: str) -> list[dict[str, Any]]:
    """Some texts of each language."""
    return [
        json.loads(line)
        for language in LANGUAGES
        for line in (DATA / kind / f"{language}.jsonl").read_text("utf-8").splitlines()[5:600:120]
    ]


def posts() -> list[tuple[str, ...]]:
    return [(row["text"],) for row in said("posts")]


def pairs() -> list[tuple[str, ...]]:
    return [(post, row["text"]) for (post,), row in zip(posts(), said("drafts"), strict=True)]


def by_torch(file: Path, texts: list[tuple[str, ...]]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What torch makes of shipped weights."""
    network = unpacked(file).eval()
    with torch.inference_mode():
        return np.stack([network(network.tokenized([text]))[0].numpy() for text in texts])


@pytest.mark.parametrize("form", Form)
def test_a_graph_is_what_training_writes(form: Form) -> None:
    """Nobody has changed the file by hand, or the module without the file."""
    assert (FOLDER / form.value).read_bytes() == graph_of(form)


def test_the_weights_are_those_of_the_package() -> None:
    """Nothing but its word vectors and its layers, rounded, and its word pieces."""
    assert SHIPPED.read_bytes() == shipped()
    assert TOKENIZER.read_bytes() == (packaged_folder() / "tokenizer.json").read_bytes()


@pytest.mark.parametrize(
    ("file", "texts"),
    [
        (READERS / "posts.safetensors", posts()),
        (READERS / "abroad.safetensors", posts()),
        (READERS / "drafts.safetensors", pairs()),
        (WEIGHTS, posts()),
        (ABROAD, posts()),
        (FIT, pairs()),
    ],
    ids=["posts", "abroad", "drafts", "router", "router-abroad", "fit"],
)
def test_shipped_weights_say_what_torch_says(file: Path, texts: list[tuple[str, ...]]) -> None:
    """In four languages, for single texts and pairs: the figures of the readers' cards hold for both."""
    np.testing.assert_allclose(SmallEncoder(file).logits(texts), by_torch(file, texts), atol=1e-3)


def test_vectors_are_those_of_sentence_transformers() -> None:
    """Indexes that were made with them stay valid, for short and long, empty and strange texts."""
    texts = [*(text for (text,) in posts()), "", "汉字 ☃ \u0301", "one word after the other " * 100]
    ours, theirs = SentenceEmbedder().encode(texts), SentenceEmbedder(packaged_folder()).encode(texts)
    assert (np.sum(ours * theirs, axis=1) > 0.999).all()
