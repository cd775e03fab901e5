"""One real vLLM for all tests of this folder, with the small model and an adapter. ``make test-vllm`` runs them.

``make test`` does not collect this folder: the server has an environment of its own, and starts in minutes.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from safetensors.numpy import save_file

from bot.compose.vllm import Rhythm, VllmServer, served_as
from bot.settings import VllmSettings
from core.engine.servers.chat import ChatModel
from tests.fakes.vllm.standing_in import free_port
from tools.vllm.environment import FOLDER
from tools.vllm.model import MODEL

ROOT = Path(__file__).parents[2]
KEY = "key-of-the-test"
ARGUMENTS = ("--dtype", "bfloat16", "--enforce-eager")
RANK = 8
TALKATIVE = 600.0
"""Seconds that a call may take here, where the server has a part of a CPU."""


@dataclass
class Running:
    """The server, and what was told of it."""

    server: VllmServer
    vllm: VllmSettings
    folder: Path
    told: list[str] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"{self.server.root}/v1"

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text("utf-8", "replace")

    def model(self, name: str = "", base_url: str = "", timeout_seconds: float = TALKATIVE) -> ChatModel:
        """The client that drafts are written with."""
        return ChatModel(base_url or self.base_url, KEY, name or served_as(self.vllm), timeout_seconds=timeout_seconds)


def random_adapter(folder: Path, model: Path) -> Path:
    """An adapter in the form of PEFT with random weights, on two layers of a model; large enough to be seen."""
    shape = json.loads((model / "config.json").read_text())
    hidden = shape["hidden_size"]
    chance = np.random.default_rng(7)
    tensors = {}
    for layer in range(2):
        stem = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        tensors[f"{stem}.lora_A.weight"] = chance.normal(0, 0.1, (RANK, hidden)).astype(np.float32)
        tensors[f"{stem}.lora_B.weight"] = chance.normal(0, 0.1, (hidden, RANK)).astype(np.float32)
    folder.mkdir(parents=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": str(model),
        "r": RANK,
        "lora_alpha": 2 * RANK,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": ["q_proj"],
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def settings_for(**more: object) -> VllmSettings:
    """The small model on a free port."""
    program = ROOT / FOLDER / "bin" / "vllm"
    if not program.exists():
        pytest.fail(f"There is no {program}. Run: make test-vllm")
    given = {"model": str(ROOT / MODEL), "served_name": "small", "port": free_port(), "max_model_len": 4096}
    return VllmSettings.model_validate(given | {"arguments": ARGUMENTS, "program": str(program)} | more)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    folder = tmp_path_factory.mktemp("vllm")
    vllm = settings_for(adapter=str(random_adapter(folder / "writer", ROOT / MODEL)))
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        server = VllmServer(vllm, KEY, folder / "server.log", told.append, Rhythm(health=30))
        await server.start()
        try:
            yield Running(server, vllm, folder, told)
        finally:
            await server.stop()
