"""GRPO and RLOO on a tiny model: their advantages by hand, a reward that rises, and a run that is killed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from core.errors import BadInput
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer
from training.online.run import Values, train, trainer_of
from training.writer.base import Lora, with_adapter

WORDS = "red green blue one two three".split()
ROWS = [{"prompt": [{"role": "user", "content": f"{a} {b}"}], "post": a} for a in WORDS[:3] for b in WORDS[3:]]


def colours(completions: Any, **_: Any) -> list[float]:
    """The share of colours in each reply."""
    said = [one[-1]["content"].split() for one in completions]
    return [sum(word in WORDS[:3] for word in words) / 4 for words in said]


def numbers(completions: Any, **_: Any) -> list[float]:
    """Minus the share of numbers in each reply."""
    said = [one[-1]["content"].split() for one in completions]
    return [-sum(word in WORDS[3:] for word in words) / 4 for words in said]


class _Stopped(Exception):
    """The run was killed."""


def _writer() -> tuple[Any, Any]:
    """A writer with words far enough apart for an adapter, which leaves them where they are, to choose among them."""
    tokenizer = tiny_tokenizer([row["prompt"][0]["content"] for row in ROWS])  # type: ignore[index]
    model = tiny_model(tokenizer)
    model.get_input_embeddings().weight.data.mul_(6)
    return with_adapter(model, Lora(), seed=5), tokenizer


def _run(folder: Path, method: str, stop_at: int | None = None) -> list[dict[str, float]]:
    def note(entry: dict[str, float]) -> None:
        if entry["step"] == stop_at:
            raise _Stopped

    values = Values(method=method, learning_rate=0.05, kl=0.01, group=16, prompts_a_step=1, most_tokens=4, steps=8)
    return train(*_writer(), ROWS, [colours, numbers], folder, values, note=note, save_steps=4)


@pytest.mark.parametrize("method", ["grpo", "rloo"])
def test_a_group_learns_what_is_rewarded_and_a_killed_run_ends_the_same(tmp_path: Path, method: str) -> None:
    log = _run(tmp_path / "whole", method)
    steps = [entry for entry in log if "rewards/colours/mean" in entry]
    means = [entry["rewards/colours/mean"] + entry["rewards/numbers/mean"] for entry in steps]
    assert len(means) == 8
    assert sum(means[-2:]) / 2 > sum(means[:2]) / 2 + 0.2, means
    with pytest.raises(_Stopped):
        _run(tmp_path / "killed", method, stop_at=5)
    again = _run(tmp_path / "killed", method)
    assert [entry.get("rewards/colours/mean") for entry in again] == [e.get("rewards/colours/mean") for e in log]
    whole, resumed = (
        load_file(tmp_path / run / "adapter" / "adapter_model.safetensors") for run in ("whole", "killed")
    )
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(weight, resumed[name]) for name, weight in whole.items())


def _given(values: Sequence[float], name: str) -> Callable[..., list[float]]:
    """A reward that gives these numbers, whatever was written."""

    def reward(**_: Any) -> list[float]:
        return list(values)

    reward.__name__ = name
    return reward


def _advantages(folder: Path, method: str, rewards: Sequence[Callable[..., Any]]) -> list[float]:
    """Those of the first step: two prompts with four replies each."""
    values = Values(method=method, kl=0.04, group=4, prompts_a_step=2, most_tokens=4, steps=1)
    trainer = trainer_of(*_writer(), ROWS, rewards, folder, values)
    trainer.train()
    return list(trainer._logs["advantages"])


def test_grpo_brings_each_reward_to_one_scale_in_its_group(tmp_path: Path) -> None:
    """A hundredfold reward counts as much as the other, and one that is the same for all counts for nothing.

    First: 1, 0, 0, 1 has mean 1/2 and deviation sqrt(1/3): +-.8660. Second: 100, 0, 0, 0 has mean 25 and deviation 50:
    1.5, -.5, -.5, -.5; in the second group 0, 0, 0, 300 likewise. The sums 2.366, -1.366, -1.366, .366 and -.5, -.5,
    -.5, 1.5 have mean 0 and the squares 9.4641 + 3, of which a seventh is 1.7806; its root is 1.3344.
    """
    first = _given([1, 0, 0, 1, 2, 2, 2, 2], "first")
    second = _given([100, 0, 0, 0, 0, 0, 0, 300], "second")
    found = _advantages(tmp_path, "grpo", [first, second])
    wanted = [1.7731, -1.0237, -1.0237, 0.2743, -0.3747, -0.3747, -0.3747, 1.1241]
    assert found == pytest.approx(wanted, abs=2e-3)


def test_rloo_adds_the_rewards_as_they_are_less_the_mean_of_the_others(tmp_path: Path) -> None:
    """A fresh adapter is at no distance from the reference. 101 less the mean of 0, 0 and 1 is 100 2/3, and so on."""
    first = _given([1, 0, 0, 1, 2, 2, 2, 2], "first")
    second = _given([100, 0, 0, 0, 0, 0, 0, 300], "second")
    found = _advantages(tmp_path, "rloo", [first, second])
    wanted = [302 / 3, -34, -34, -98 / 3, -100, -100, -100, 300]
    assert found == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize(("values", "said"), [(Values(kl=0.0), "kl"), (Values(method="ppo"), "no method ppo")])
def test_what_cannot_be_learnt_with_is_refused(tmp_path: Path, values: Values, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        train(None, None, [], [], tmp_path, values)
