"""PPO: its sums by hand, a reward that rises, and a run that is killed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.fakes.training.tiny import tiny_model, tiny_tokenizer
from training.online.ppo import Ppo, Values
from training.online.ppo_maths import (
    KlController,
    advantages,
    policy_loss,
    token_rewards,
    up_to_end,
    value_loss,
    whitened,
)

WORDS = "red green blue one two three".split()
PROMPTS = [f"{a} {b} " for a in WORDS[:3] for b in WORDS[3:]]


def test_a_reply_pays_for_its_distance_and_is_scored_at_its_end() -> None:
    mask = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    logprobs = torch.tensor([[-1.0, -2.0, -9.0], [-1.0, -1.0, -1.0]])
    reference = torch.tensor([[-1.5, -1.0, 0.0], [-1.0, -1.0, -2.0]])
    found = token_rewards(torch.tensor([3.0, 5.0]), logprobs, reference, mask, kl=0.2)
    assert torch.allclose(found, torch.tensor([[-0.1, 3.2, 0.0], [0.0, 0.0, 4.8]]))


def test_advantages_and_returns_by_hand() -> None:
    """Discount .5, trace .5: the last step's error is 4 - 2 = 2, the one before 1 + .5 * 2 - 1 = 1, plus .25 * 2."""
    rewards, values = torch.tensor([[1.0, 4.0, 9.0]]), torch.tensor([[1.0, 2.0, 7.0]])
    gains, returns = advantages(rewards, values, torch.tensor([[1.0, 1.0, 0.0]]), discount=0.5, trace=0.5)
    assert torch.allclose(gains, torch.tensor([[1.5, 2.0, 0.0]]))
    assert torch.allclose(returns, torch.tensor([[2.5, 4.0, 0.0]]))


def test_the_objective_is_clipped_on_the_side_that_would_gain() -> None:
    before, mask = torch.zeros(1, 4), torch.ones(1, 4)
    ratios = torch.tensor([[1.5, 0.5, 1.5, 0.5]])
    gains = torch.tensor([[1.0, 1.0, -1.0, -1.0]])
    found = policy_loss(ratios.log(), before, gains, mask, clip=0.2)
    assert found.item() == pytest.approx(-(1.2 + 0.5 - 1.5 - 0.8) / 4)


def test_the_value_head_is_held_near_what_it_said() -> None:
    values, before, returns = torch.tensor([[3.0, 1.1]]), torch.tensor([[1.0, 1.0]]), torch.tensor([[3.0, 2.0]])
    found = value_loss(values, before, returns, torch.ones(1, 2), clip=0.2)
    assert found.item() == pytest.approx(0.5 * ((1.2 - 3.0) ** 2 + (1.1 - 2.0) ** 2) / 2)


def test_whitening_looks_only_at_what_was_written() -> None:
    found = whitened(torch.tensor([[1.0, 3.0, 100.0]]), torch.tensor([[1.0, 1.0, 0.0]]))
    assert torch.allclose(found, torch.tensor([[-1.0, 1.0, 0.0]]), atol=1e-4)


def test_the_price_follows_the_distance() -> None:
    far, near, fixed = KlController(0.2, 6, 100), KlController(0.2, 6, 100), KlController(0.2, 0, 100)
    far.update(60, 16)
    near.update(5.7, 16)
    fixed.update(60, 16)
    assert far.kl == pytest.approx(0.2 * (1 + 0.2 * 0.16))
    assert near.kl == pytest.approx(0.2 * (1 - 0.05 * 0.16))
    assert fixed.kl == 0.2


def test_a_reply_ends_with_its_first_end() -> None:
    replies = torch.tensor([[5, 0, 0, 7], [5, 6, 7, 8], [0, 5, 0, 0]])
    assert up_to_end(replies, 0).tolist() == [[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]]


class _Stopped(Exception):
    """The run was killed."""


def _values(steps: int) -> Values:
    return Values(
        learning_rate=2e-2, kl=0.01, kl_target=0.5, kl_horizon=100, batch=16, mini_batch=4, accumulated=2,
        epochs_a_batch=2, steps=steps, least_tokens=1, most_tokens=6, value_weight=0.5,
    )  # fmt: skip


def _score(numbers: Sequence[int], texts: Sequence[str]) -> list[float]:
    return [text.split().count("blue") / max(len(text.split()), 1) for text in texts]


def _run(
    folder: Path, steps: int, stop_at: int | None = None, **settings: float
) -> tuple[list[dict[str, float]], Any, Ppo]:
    """The log, the writer and its trainer; ``settings`` are the model's own, of generation."""
    tokenizer = tiny_tokenizer([*PROMPTS, *WORDS])
    model, noted = tiny_model(tokenizer), list[dict[str, float]]()
    model.generation_config.update(**settings)

    def note(entry: dict[str, float]) -> None:
        noted.append(entry)
        if entry["step"] == stop_at:
            raise _Stopped

    ppo = Ppo(model, tokenizer, _values(steps))
    ppo.train(PROMPTS, _score, folder, note, save_steps=2)
    return noted, model, ppo


def test_the_reward_rises_and_a_killed_run_ends_the_same(tmp_path: Path) -> None:
    """The same weights, value head, price of the distance and log; the optimiser shows in the steps that follow."""
    noted, whole, one = _run(tmp_path / "whole", 12)
    rewards = [entry["reward"] for entry in noted]
    assert sum(rewards[-3:]) / 3 > sum(rewards[:3]) / 3 + 0.1
    assert all(math.isfinite(entry["loss"]) for entry in noted)
    assert noted[0]["kl"] == pytest.approx(0, abs=1e-4)
    assert len({entry["kl price"] for entry in noted}) == 12
    with pytest.raises(_Stopped):
        _run(tmp_path / "killed", 12, stop_at=7)
    again, resumed, other = _run(tmp_path / "killed", 12)
    assert again == noted[6:]
    assert one.controller == other.controller
    both = zip(
        (*whole.parameters(), *one.head.parameters()), (*resumed.parameters(), *other.head.parameters()), strict=True
    )
    assert all(torch.equal(ours, theirs) for ours, theirs in both)


def test_the_models_own_settings_of_generation_do_not_count(tmp_path: Path) -> None:
    """A published model may sample from few tokens and forbid repetition; its log-probabilities know nothing of it."""
    plain, _, _ = _run(tmp_path / "plain", 1)
    narrow, _, _ = _run(tmp_path / "narrow", 1, top_k=1, top_p=0.1, temperature=0.1, repetition_penalty=9.0)
    assert plain == narrow
