"""The sums of PPO as pure functions of tensors (Schulman and others 2017; Ziegler and others 2019).

Owns shapes and signs. B replies of at most T tokens; ``mask`` is 1 where a token was written, and all means are over
these.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def up_to_end(replies: Tensor, end: int) -> Tensor:
    """The mask of what was written, [B, T]: 1 up to the first ``end`` and for it, 0 after it."""
    ended = (replies == end).cumsum(dim=1)
    return ((ended == 0) | ((ended == 1) & (replies == end))).float()


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """The mean where the mask is 1; a scalar."""
    return (values * mask).sum() / mask.sum().clamp(min=1)


def whitened(values: Tensor, mask: Tensor) -> Tensor:
    """The values with mean 0 and variance 1 where the mask is 1, of the same shape."""
    mean = masked_mean(values, mask)
    variance = masked_mean((values - mean) ** 2, mask)
    return (values - mean) * torch.rsqrt(variance + 1e-8) * mask


def token_rewards(scores: Tensor, logprobs: Tensor, reference: Tensor, mask: Tensor, kl: float) -> Tensor:
    """The reward of each token, [B, T]: minus ``kl`` times its log-ratio, and the reply's score at its last token.

    Ziegler and others 2019, equation 2, spread over the tokens.

    Args:
        scores: [B], of whole replies.
        logprobs: [B, T], of the written tokens by the writer.
        reference: [B, T], of the same tokens by the model before.
        mask: [B, T].
        kl: how much the distance to the reference costs (F2RL: 0.2).
    """
    rewards = -kl * (logprobs - reference) * mask
    last = mask.sum(dim=1).long().clamp(min=1) - 1
    rewards[torch.arange(len(scores), device=last.device), last] += scores
    return rewards


def advantages(rewards: Tensor, values: Tensor, mask: Tensor, discount: float, trace: float) -> tuple[Tensor, Tensor]:
    """Generalised advantage estimates and returns, both [B, T] (Schulman and others 2016, equation 16).

    Args:
        rewards: [B, T], of tokens.
        values: [B, T], what the value head foretold.
        mask: [B, T].
        discount: gamma.
        trace: lambda.
    """
    found = torch.zeros_like(rewards)
    after, following = torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards[:, 0])
    for at in reversed(range(rewards.shape[1])):
        delta = rewards[:, at] + discount * following - values[:, at]
        after = (delta + discount * trace * after) * mask[:, at]
        following = values[:, at] * mask[:, at]
        found[:, at] = after
    return found, (found + values) * mask


def policy_loss(logprobs: Tensor, before: Tensor, gains: Tensor, mask: Tensor, clip: float) -> Tensor:
    """PPO's clipped objective as a loss (Schulman and others 2017, equation 7): a scalar.

    Args:
        logprobs: [B, T], of the written tokens now.
        before: [B, T], when they were written.
        gains: [B, T], advantages.
        mask: [B, T].
        clip: how far the ratio of probabilities counts beyond 1.
    """
    ratio = torch.exp((logprobs - before) * mask)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return masked_mean(torch.maximum(-gains * ratio, -gains * clipped), mask)


def value_loss(values: Tensor, before: Tensor, returns: Tensor, mask: Tensor, clip: float) -> Tensor:
    """Half the squared error of the value head, clipped around what it said before; a scalar."""
    near = before + (values - before).clamp(-clip, clip)
    return 0.5 * masked_mean(torch.maximum((values - returns) ** 2, (near - returns) ** 2), mask)


@dataclass
class KlController:
    """The price of the distance to the reference (Ziegler and others 2019, section 2.2).

    Attributes:
        kl: the price now.
        target: the distance that is aimed at, in nats a reply; 0 keeps the price as it is.
        horizon: in how many replies the price can change by a factor of e.
    """

    kl: float
    target: float
    horizon: int

    def update(self, distance: float, replies: int) -> None:
        """Raise the price where the writer went too far, and lower it where it stayed too near."""
        if self.target:
            error = max(-0.2, min(0.2, distance / self.target - 1))
            self.kl *= 1 + error * replies / self.horizon
