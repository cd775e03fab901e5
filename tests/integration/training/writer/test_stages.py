"""The stages of the writer on a tiny model: the loss falls, a killed run ends as if nothing had happened."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from core.engine.ports import Message
from core.errors import BadInput
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer, tiny_weights
from training.writer import dpo, sft
from training.writer.base import Lora, with_adapter
from training.writer.export import to_gguf
from training.writer.preferences import Pair
from training.writer.sequences import Example, Tree, plant

WORDS = "red green blue one two three four five six seven".split()
EXAMPLES = [Example((Message("user", f"{a} {b} ?"),), f"{b} {a} .", "test") for a in WORDS for b in WORDS[:4]]
TEXTS = [text for e in EXAMPLES for text in (e.prompt[0].content, e.answer)]
VALUES = sft.Values(epochs=6, learning_rate=5e-2, sequence_tokens=96, sequences_a_step=2)


def _killed(entry: dict[str, float]) -> None:
    """Ends a run at its eighth step, as a kill would."""
    if entry["step"] == 8:
        raise KeyboardInterrupt


def _start() -> tuple[Any, Any, list[Tree]]:
    tokenizer = tiny_tokenizer(TEXTS)
    model = with_adapter(tiny_model(tokenizer), Lora(), seed=5)
    return model, tokenizer, [plant([example], tokenizer) for example in EXAMPLES]


def _adapter(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    return load_file(folder / "adapter" / "adapter_model.safetensors")


def test_answers_are_learnt_and_a_killed_run_ends_the_same(tmp_path: Path) -> None:
    model, _, trees = _start()
    log = sft.train(model, trees[4:], [trees[:4]], tmp_path / "whole", VALUES, save_steps=5)
    losses = [entry["loss"] for entry in log if "loss" in entry]
    assert losses[-1] < losses[0] - 0.2

    again, _, _ = _start()
    with pytest.raises(KeyboardInterrupt):
        sft.train(again, trees[4:], [trees[:4]], tmp_path / "killed", VALUES, note=_killed, save_steps=5)
    fresh, _, _ = _start()
    sft.train(fresh, trees[4:], [trees[:4]], tmp_path / "killed", VALUES, save_steps=5)
    whole, killed = _adapter(tmp_path / "whole"), _adapter(tmp_path / "killed")
    assert whole.keys() == killed.keys()
    for name, weight in whole.items():
        np.testing.assert_array_equal(weight, killed[name], err_msg=name)


def test_preferences_raise_the_chosen_answer(tmp_path: Path) -> None:
    model, tokenizer, _ = _start()
    pairs = [Pair(e.prompt, e.answer, "seven seven .", "test") for e in EXAMPLES[:16]]
    values = dpo.Values(epochs=3, learning_rate=1e-2, pairs_a_step=4)
    log = dpo.train(model, tokenizer, pairs, tmp_path, values, save_steps=100)
    margins = [entry["rewards/margins"] for entry in log if "rewards/margins" in entry]
    assert margins[0] == pytest.approx(0.0, abs=1e-3), "the reference is the adapter as it was"
    assert margins[-1] > 0.1
    assert {name.split(".")[-1] for name in _adapter(tmp_path)} == {"weight"}, "the reference is not saved"


def test_an_adapter_becomes_a_gguf_file_with_the_same_numbers(tmp_path: Path) -> None:
    model, _, _ = _start()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.uniform_(-1, 1)
    model.save_pretrained(tmp_path / "adapter")
    weights = tiny_weights(tmp_path / "weights.gguf", tiny_model(tiny_tokenizer(TEXTS)))
    reader = gguf.GGUFReader(to_gguf(tmp_path / "adapter", tmp_path / "a.gguf", weights))
    stored = {tensor.name: tensor.data for tensor in reader.tensors}
    assert reader.fields["general.architecture"].contents() == "qwen2"
    assert reader.fields["general.type"].contents() == "adapter"
    assert reader.fields["adapter.lora.alpha"].contents() == 16.0
    trained = _adapter(tmp_path)
    assert len(stored) == len(trained) == 2 * 7 * 2
    wanted = trained["base_model.model.model.layers.1.mlp.down_proj.lora_B.weight"]
    np.testing.assert_array_equal(stored["blk.1.ffn_down.weight.lora_b"], wanted.astype(np.float16))


@pytest.mark.parametrize("part", ["use_rslora", "use_dora"])
def test_what_llama_cpp_would_lose_is_refused(tmp_path: Path, part: str) -> None:
    (tmp_path / "adapter_config.json").write_text(f'{{"peft_type": "LORA", "lora_alpha": 16, "{part}": true}}')
    with pytest.raises(BadInput, match=part):
        to_gguf(tmp_path, tmp_path / "a.gguf", tmp_path)


def test_an_architecture_whose_weights_are_permuted_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA", "lora_alpha": 16}')
    weights = tiny_weights(tmp_path / "weights.gguf", tiny_model(tiny_tokenizer(TEXTS)), "llama")
    with pytest.raises(BadInput, match="llama"):
        to_gguf(tmp_path, tmp_path / "a.gguf", weights)


def test_an_adapter_of_other_weights_is_refused(tmp_path: Path) -> None:
    """Of fewer layers, or of another width; and whatever is not GGUF at all."""
    _start()[0].save_pretrained(tmp_path / "adapter")
    shallow = tiny_weights(tmp_path / "shallow.gguf", tiny_model(tiny_tokenizer(TEXTS), layers=1))
    narrow = tiny_weights(tmp_path / "narrow.gguf", tiny_model(tiny_tokenizer(TEXTS), width=16))
    (tmp_path / "letter.gguf").write_bytes(b"weights")
    for weights, said in (
        (shallow, "llama.cpp knows no place for .*layers.1"),
        (narrow, "has 32 outputs, .* has 16"),
        (tmp_path / "letter.gguf", "holds no weights in GGUF"),
    ):
        with pytest.raises(BadInput, match=said):
            to_gguf(tmp_path / "adapter", tmp_path / "a.gguf", weights)
    assert not (tmp_path / "a.gguf").exists()
