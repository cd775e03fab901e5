"""A trained writer beside the embedded model: each answers its own tasks, whatever the other has answered before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from bot.compose.engine import open_model
from bot.compose.settings.loading import load_settings
from core.llm.short_prompts import Task
from core.ports import Generation, Message
from training.writer.export import export_with_card

ASK = [Message("user", "Say hello to the people of Madrid.")]
SECONDS = 120.0


def _random_adapter(folder: Path) -> Path:
    """An adapter of PEFT on two projections of the embedded model's layers, with random weights."""
    folder.mkdir()
    chance, halves = np.random.default_rng(0), dict[str, np.ndarray]()
    for layer in range(28):
        for name, size in (("q_proj", 1536), ("v_proj", 256)):
            module = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            halves[f"{module}.lora_A.weight"] = chance.normal(0, 0.05, (8, 1536)).astype(np.float32)
            halves[f"{module}.lora_B.weight"] = chance.normal(0, 0.05, (size, 8)).astype(np.float32)
    save_file(halves, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA", "lora_alpha": 16, "r": 8}')
    return folder


async def test_neither_leaves_anything_in_the_others_answers(weights: Path, tmp_path: Path) -> None:
    """In one server llama.cpp answers some requests with half of the adapter; so there are two."""
    adapter = tmp_path / "writer.gguf"
    export_with_card(_random_adapter(tmp_path / "peft"), adapter, weights, ("reply",))
    file = tmp_path / "config.toml"
    file.write_text(
        f"[llm]\nmodel_path = '{weights}'\nwriters = ['{adapter}']\ncontext_tokens = 2048\nparallel = 2\nthreads = 1\n"
        f"[kb]\ncache_folder = '{tmp_path / 'cache'}'\n"
    )
    said = []
    async with open_model(load_settings(file, {})) as model:
        [(name, writer)] = model.writers.items()
        assert name.startswith("writer-")
        assert writer.tasks == {Task.REPLY}
        for is_adapted in (False, True, False, True, False):
            how = Generation(max_tokens=8, temperature=0.0, is_adapted=is_adapted, writer=name)
            said.append((await model.generate(ASK, how, SECONDS)).texts[0])
    plain, adapted = said[0::2], said[1::2]
    assert len(set(plain)) == 1
    assert len(set(adapted)) == 1
    assert plain[0] != adapted[0]
