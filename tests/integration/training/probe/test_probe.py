"""The probe's training: states of a tiny model, a run that is killed, and outputs that learn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.engine.cards.bank import load_stereotypes
from core.engine.readers.probe import read_outputs
from core.errors import BadInput
from core.models import TargetGroup
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer
from training.heads.router import LabelledText, Outputs
from training.probe.outputs import fit, write
from training.probe.run import states_of
from training.probe.texts import Learnt, learnt
from training.writer.base import load_base

TEXTS = ["they take all", "we bake bread", "they never learn a word", "bread"]


@pytest.fixture
def base(tmp_path: Path) -> str:
    """A tiny model in a folder of transformers."""
    tokenizer = tiny_tokenizer([*TEXTS, "Post: ", "\nThe stereotype it repeats:"])
    model, folder = tiny_model(tokenizer), tmp_path / "model"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def _silent(done: int, total: int) -> None:
    """Nobody watches."""


def _states(base: str, folder: Path, texts: list[str] = TEXTS) -> Any:
    def load() -> tuple[Any, Any]:
        model, tokenizer = load_base(base)
        return model.base_model, tokenizer

    return states_of(texts, "hash", load, folder, _silent)


def test_states_are_the_mean_and_the_last_vector_of_the_last_layer(base: str, tmp_path: Path) -> None:
    """As one forward pass over one text gives them, without the others of its batch."""
    found, (model, tokenizer) = _states(base, tmp_path / "states"), load_base(base)
    for row, text in zip(found, TEXTS, strict=True):
        parts = (tokenizer.encode(part) for part in ("Post: ", text, "\nThe stereotype it repeats:"))
        ids = torch.tensor([[token for part in parts for token in part]])
        with torch.inference_mode():
            vectors = model.base_model(input_ids=ids).last_hidden_state[0].float()
        wanted = torch.cat([vectors[1:].mean(dim=0), vectors[-1]]).numpy()
        np.testing.assert_allclose(row.astype(np.float32), wanted, atol=0.03)


def test_a_killed_run_reads_what_is_left(base: str, tmp_path: Path) -> None:
    folder = tmp_path / "states"
    whole = _states(base, folder).copy()
    kept = np.load(folder / "states.npy", mmap_mode="r+")
    kept[2:] = 0
    kept[0] = 1
    kept.flush()
    again = _states(base, folder)
    assert (again[0] == 1).all(), "what stood there was not read again"
    np.testing.assert_allclose(again[1:].astype(np.float32), whole[1:].astype(np.float32), atol=0.03)


def test_the_states_of_other_texts_are_refused(base: str, tmp_path: Path) -> None:
    _states(base, tmp_path / "states")
    with pytest.raises(BadInput, match="other texts") as refused:
        _states(base, tmp_path / "states", TEXTS[:2])
    assert refused.value.remedy


def _made() -> tuple[Learnt, Any]:
    """Texts whose first number says whether they are hateful, and whose other numbers which stereotype they repeat."""
    chance = np.random.default_rng(5)
    names = [one.id for one in load_stereotypes().values() if one.target_group is TargetGroup.WOMEN][:4]
    states, said, routed = [], [], []
    for at in range(2400):
        split, which, is_hateful = ("train", "train", "dev")[at % 3], at % 4, bool(at // 4 % 2)
        row = chance.normal(0, 0.3, 6)
        row[0] += 2 if is_hateful else -2
        row[1 + which] += 3
        states.append(row)
        said.append((at, "en", split, float(is_hateful)))
        routed.append((at, LabelledText(str(at), "en", TargetGroup.WOMEN, ((names[which],),), split)))
    return Learnt([str(at) for at in range(2400)], said, routed), np.array(states, dtype=np.float16)


def test_both_kinds_of_outputs_are_learnt_and_come_back_from_the_file(tmp_path: Path) -> None:
    (texts, states), outputs = _made(), Outputs.of_taxonomy()
    found = fit(texts, states, outputs, epochs=80)
    told = found.outputs(states)
    hateful = np.array([share > 0.5 for *_, share in texts.posts])
    assert ((told[:, 0] > 0) == hateful).mean() > 0.95
    assert outputs.best(told[:, 1:], [one for _, one in texts.stereotypes])[1].mean() > 0.95
    write(found, {"outputs": ["hateful", *outputs.at]}, tmp_path / "probe.safetensors")
    about, arrays = read_outputs(tmp_path / "probe.safetensors")
    assert about["outputs"][1:] == list(outputs.at)
    np.testing.assert_allclose(arrays["weight"], found.weight, atol=1e-3)


def test_a_text_is_read_once_and_never_on_both_sides() -> None:
    """Posts whose stereotypes are labelled stand in both lists, and their split is the same in both."""
    texts = learnt()
    split_of = {at: split for at, _, split, _ in texts.posts}
    shared = [(at, one) for at, one in texts.stereotypes if at in split_of]
    assert len(shared) > 5000
    assert len(texts.texts) < len(texts.posts) + len(texts.stereotypes) - 5000
    splits = {(split_of[at], one.split) for at, one in shared}
    assert {pair for pair in splits if "test" in pair} == {("test", "test")}
