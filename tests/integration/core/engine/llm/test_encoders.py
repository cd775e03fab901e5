"""Small encoders: what is packed comes back, and texts keep their order."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.engine.backends.encoders import SmallEncoder
from training.heads.network import new_network, pack

ABOUT = {"outputs": ["one", "two"], "languages": ["en"]}
TEXTS = [
    ("They bake bread.",),
    ("A much longer text about the weather, the harbour and the choir of the town.",),
    ("No.",),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A network whose layers and a few word vectors differ from the package's, and its file."""
    torch.manual_seed(3)
    network = new_network(2)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "word_embeddings" in name:
                parameter[2000:2040].add_(0.05)
            else:
                parameter.add_(0.01 * torch.randn_like(parameter))
    file = tmp_path_factory.mktemp("reader") / "reader.safetensors"
    pack(network, ABOUT, file)
    return file, network


def test_what_is_packed_comes_back(trained: tuple[Path, Any]) -> None:
    """In four bits for what differs the outputs stay close; the file holds no word vector that was not changed."""
    file, network = trained
    encoder = SmallEncoder(file)
    assert encoder.about == ABOUT
    with torch.inference_mode():
        exact = np.stack([network(network.tokenized([text]))[0].numpy() for text in TEXTS])
    assert encoder.logits(TEXTS) == pytest.approx(exact, abs=0.15)
    assert file.stat().st_size < 7_000_000


def test_texts_keep_their_order_and_do_not_sway_each_other(trained: tuple[Path, Any]) -> None:
    """A text reads the same alone and among others."""
    encoder = SmallEncoder(trained[0])
    together, alone = encoder.logits(TEXTS * 7), [encoder.logits([text])[0] for text in TEXTS]
    assert (together == np.tile(np.stack(alone), (7, 1))).all()
    assert encoder.logits([]).shape == (0, 2)


def test_an_encoder_may_keep_all_words_of_the_package(tmp_path: Path) -> None:
    """Its file then holds no word vector at all."""
    network = new_network(2)
    pack(network, ABOUT, tmp_path / "w")
    assert SmallEncoder(tmp_path / "w").logits(TEXTS).shape == (3, 2)


def test_a_pair_is_not_its_two_texts(trained: tuple[Path, Any]) -> None:
    """The second text is read in the light of the first, and very long ones are cut."""
    encoder = SmallEncoder(trained[0])
    pairs = [("Bread is cheap.", "No."), ("No.", "Bread is cheap."), ("word " * 2000, "No.")]
    found = encoder.logits(pairs)
    assert found.shape == (3, 2)
    assert np.isfinite(found).all()
    assert abs(found[0] - found[1]).max() > 0.001


def test_threads_share_an_encoder(trained: tuple[Path, Any]) -> None:
    """It is loaded once, and each thread gets the answer to its own text."""
    encoder = SmallEncoder(trained[0])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: encoder.logits([TEXTS[at % 3]])[0], range(12)))
    assert np.stack(found) == pytest.approx(encoder.logits(TEXTS * 4), abs=0.15)
