"""GRPO and RLOO on a tiny model: rewards rise, and the distance to the reference always costs something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import BadInput
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer
from training.online.groups import Values, train
from training.writer.base import Lora, with_adapter

WORDS = "red green blue one two three".split()
ROWS = [{"prompt": [{"role": "user", "content": f"{a} {b}"}], "post": a} for a in WORDS[:3] for b in WORDS[3:]]


def colours(completions: Any, **_: Any) -> list[float]:
    """The share of colours in each reply."""
    said = [one[-1]["content"].split() for one in completions]
    return [sum(word in WORDS[:3] for word in words) / 6 for words in said]


def numbers(completions: Any, **_: Any) -> list[float]:
    """Minus the share of numbers in each reply."""
    said = [one[-1]["content"].split() for one in completions]
    return [-sum(word in WORDS[3:] for word in words) / 6 for words in said]


@pytest.mark.parametrize("method", ["grpo", "rloo"])
def test_a_group_learns_what_is_rewarded(tmp_path: Path, method: str) -> None:
    tokenizer = tiny_tokenizer([row["prompt"][0]["content"] for row in ROWS])  # type: ignore[index]
    model = with_adapter(tiny_model(tokenizer), Lora(), seed=5)
    values = Values(method=method, learning_rate=0.1, kl=0.01, group=16, prompts_a_step=1, most_tokens=6, steps=16)
    log = train(model, tokenizer, ROWS, [colours, numbers], tmp_path, values, save_steps=100)
    steps = [entry for entry in log if "rewards/colours/mean" in entry]
    means = [entry["rewards/colours/mean"] + entry["rewards/numbers/mean"] for entry in steps]
    assert len(means) == 16
    assert sum(means[-4:]) / 4 > sum(means[:4]) / 4 + 0.05
    assert (tmp_path / "adapter" / "adapter_model.safetensors").exists()


def test_a_writer_that_may_go_anywhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="kl"):
        train(None, None, [], [], tmp_path, Values(kl=0.0))
