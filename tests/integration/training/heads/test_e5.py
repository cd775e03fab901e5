"""What ships of multilingual-e5-small is what the package holds, and its languages lie close to each other."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from core.engine.backends.e5 import SHIPPED, TOKENIZER, WORDS, tokenizer, words
from core.errors import IndexUnavailable
from training.heads import e5
from training.heads.network import Base, new_network, pack, unpacked

MEANINGS = [
    ["Women are worse at maths than men.", "The train was late again today."],
    ["Las mujeres son peores en matemáticas que los hombres.", "El tren volvió a llegar tarde hoy."],
    ["Le donne sono peggiori in matematica degli uomini.", "Oggi il treno era di nuovo in ritardo."],
    ["Emakumeak gizonak baino okerragoak dira matematikan.", "Gaur trena berriro berandu iritsi da."],
]
"""Two sentences in four languages."""


def test_what_ships_is_cut_from_the_package() -> None:
    """Word pieces with their scores, word vectors and layers; what is cut stays as small as the page says."""
    pieces = json.loads(TOKENIZER.read_text("utf-8"))["model"]["vocab"]
    whole = e5.whole().pieces
    assert [piece for piece, _ in pieces] == [whole[place][0] for place in e5.kept()]
    assert [score for _, score in pieces] == pytest.approx([whole[place][1] for place in e5.kept()])
    assert SHIPPED.read_bytes() == e5.shipped()
    assert SHIPPED.stat().st_size + TOKENIZER.stat().st_size < 25_000_000


def test_four_bits_are_read_as_the_package_means_them() -> None:
    """By the word vectors that a text has in use, and those that training begins with."""
    ids = np.array(tokenizer().encode("Emakumeek ere badakite zenbatzen.").ids)
    assert (words(ids) == e5.floats(0)[WORDS][ids]).all()
    assert np.abs(words(ids)).max() > 0


def test_a_sentence_lies_closest_to_its_translations() -> None:
    """In all four languages, by the mean of what eight layers make of it; wrongly read weights would say nothing."""
    network = new_network(1, Base.E5)
    with torch.inference_mode():
        means = []
        for language in MEANINGS:
            tokens = network.tokenized([(text,) for text in language])
            vectors, real = network.encoder(**tokens).last_hidden_state, tokens["attention_mask"].unsqueeze(-1)
            means.append(torch.nn.functional.normalize((vectors * real).sum(1) / real.sum(1), dim=1))
    for mine in means:
        for others in means:
            near = mine @ others.T
            assert near[0, 0] > near[0, 1], near
            assert near[1, 1] > near[1, 0], near


def test_only_what_learns_is_packed(tmp_path: Path) -> None:
    """The upper four layers and the outputs; what all share does not ship again."""
    network = new_network(3, Base.E5)
    pack(network, {"outputs": ["a", "b", "c"]}, tmp_path / "w")
    assert (tmp_path / "w").stat().st_size < 5_000_000
    learnt = [name for name, one in unpacked(tmp_path / "w").named_parameters() if one.requires_grad]
    assert {name.split(".")[3] for name in learnt if name.startswith("encoder.")} == {"4", "5", "6", "7"}


@pytest.mark.parametrize("content", [None, b"E5S1 but another"])
def test_another_file_is_refused(content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    (tmp_path / "another").mkdir()
    if content:
        (tmp_path / "another" / e5.FILE).write_bytes(content)
    (tmp_path / "another" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(e5, "PACKAGE", "another")
    with pytest.raises(IndexUnavailable, match="multilingual-e5-small") as refused:
        e5.packaged.__wrapped__()
    assert "antiphon[training]" in str(refused.value.remedy)
