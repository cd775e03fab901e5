"""PPO for the writer, small and our own: TRL has none since 1.13, and its older one took no functions of text.

Owns the loop (Ziegler and others 2019, section 2): write, score, learn, keep. The reference is the writer as it was at
the start. A run that is killed goes on from its last checkpoint, with the same random numbers, to the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from core.errors import BadInput
from training.online.ppo_maths import (
    KlController,
    advantages,
    masked_mean,
    policy_loss,
    token_rewards,
    up_to_end,
    value_loss,
    whitened,
)
from training.online.rewards import Choice

CHECKPOINT: Final = "ppo.pt"
_PLAIN_SAMPLING: Final = {"do_sample": True, "top_k": 0, "top_p": 1.0, "repetition_penalty": 1.0}
"""From all tokens, as CoARL's code does, whatever the model's own settings say: its probabilities know none of them."""
Score = Callable[[Sequence[int], Sequence[str]], Sequence[float]]
"""The scores of replies, from the numbers of their prompts and their texts."""
Note = Callable[[dict[str, float]], None]


@dataclass(frozen=True, slots=True)
class Values(Choice):
    """How rewards are learnt. ``kl_target`` is in nats a reply; ``accumulated`` mini-batches make one step.

    The rate, the batches and the KL's values are those of the TRL that CoARL used (adaptive, 0.2 at first, target 6).
    """

    learning_rate: float = 1.41e-5
    kl: float = 0.2
    is_kl_adaptive: bool = True
    kl_target: float = 6.0
    kl_horizon: int = 10_000
    clip: float = 0.2
    value_clip: float = 0.2
    value_weight: float = 0.1
    discount: float = 1.0
    trace: float = 0.95
    batch: int = 16
    mini_batch: int = 4
    accumulated: int = 1
    epochs_a_batch: int = 1
    steps: int = 200
    least_tokens: int = 8
    most_tokens: int = 90
    temperature: float = 1.0
    seed: int = 20261126


@dataclass(frozen=True, slots=True)
class Written:
    """A batch: prompts and replies as tokens [B, P + T]; of the replies what was written, and how likely [B, T]."""

    tokens: Tensor
    attention: Tensor
    mask: Tensor
    logprobs: Tensor
    reference: Tensor
    values: Tensor

    def part(self, rows: Sequence[int]) -> Written:
        """Some of its replies."""
        chosen = torch.tensor(rows)
        return Written(*(getattr(self, name)[chosen] for name in self.__slots__))


class Ppo:
    """The writer, its value head and its reference.

    Args:
        model: a causal model of transformers, with an adapter or not; what may be trained of it is trained.
        tokenizer: its tokenizer, with a token to pad with.
        values: how it learns.

    Raises:
        BadInput: the least length is above the greatest.
    """

    def __init__(self, model: Any, tokenizer: Any, values: Values) -> None:
        if values.least_tokens > values.most_tokens:
            raise BadInput("A reply cannot be at least longer than at most.", remedy="Lower least_tokens.")
        torch.manual_seed(values.seed)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._model, self._tokenizer, self._values = model.to(self._device), tokenizer, values
        self._trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._kept = [parameter.detach().clone() for parameter in self._trained]
        self.head = nn.Linear(model.config.hidden_size, 1).to(self._device)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self._optimiser = torch.optim.Adam([*self._trained, *self.head.parameters()], lr=values.learning_rate)
        target = values.kl_target if values.is_kl_adaptive else 0.0
        self.controller = KlController(values.kl, target, values.kl_horizon)
        self.step = 0

    def train(self, prompts: Sequence[str], score: Score, folder: Path, note: Note, *, save_steps: int = 10) -> None:
        """Learn from the scores of replies to the prompts, in turn.

        Args:
            prompts: in the form that the model knows, up to where the reply begins.
            score: the scores of a batch of replies.
            folder: where the checkpoint stands; one that is there is taken up.
            note: hears of each step.
            save_steps: after how many steps it is written.
        """
        self._restore(folder)
        while self.step < self._values.steps:
            first = self.step * self._values.batch
            numbers = [(first + at) % len(prompts) for at in range(self._values.batch)]
            written = self._write([prompts[number] for number in numbers])
            texts = self._tokenizer.batch_decode(
                [row[keep.bool()] for row, keep in zip(self._replies(written), written.mask, strict=True)],
                skip_special_tokens=True,
            )
            note({"step": self.step + 1, **self._learn(written, list(score(numbers, texts)))})
            self.step += 1
            if self.step % save_steps == 0 or self.step == self._values.steps:
                self._save(folder)

    def _replies(self, written: Written) -> Tensor:
        return written.tokens[:, -written.mask.shape[1] :]

    @torch.no_grad()
    def _write(self, prompts: Sequence[str]) -> Written:
        """Replies by the writer, each in a row [P + T], with what is looked up once for all epochs."""
        values, end = self._values, self._tokenizer.eos_token_id
        self._tokenizer.padding_side = "left"
        found = self._tokenizer(list(prompts), return_tensors="pt", padding=True, add_special_tokens=False)
        asked = found.to(self._device)
        self._model.eval()
        tokens = self._model.generate(
            input_ids=asked["input_ids"],
            attention_mask=asked["attention_mask"],
            **_PLAIN_SAMPLING,
            temperature=values.temperature,
            min_new_tokens=values.least_tokens,
            max_new_tokens=values.most_tokens,
            pad_token_id=self._tokenizer.pad_token_id,
            eos_token_id=end,
        )
        replies = tokens[:, asked["input_ids"].shape[1] :]
        mask = up_to_end(replies, end)
        attention = torch.cat([asked["attention_mask"], mask.long()], dim=1)
        logprobs, told = self._look(tokens, attention, replies.shape[1])
        with self._as_before():
            reference, _ = self._look(tokens, attention, replies.shape[1])
        return Written(tokens, attention, mask, logprobs, reference, told)

    def _look(self, tokens: Tensor, attention: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """The log-probabilities of the last ``count`` tokens, and what the value head says before each; both [B, T]."""
        positions = (attention.cumsum(dim=1) - 1).clamp(min=0)
        asked = {"input_ids": tokens, "attention_mask": attention, "position_ids": positions}
        found = self._model(**asked, output_hidden_states=True, logits_to_keep=count + 1, use_cache=False)
        logits = found.logits[:, :-1].float() / self._values.temperature
        logprobs = logits.log_softmax(dim=-1).gather(2, tokens[:, -count:, None]).squeeze(2)
        values = self.head(found.hidden_states[-1][:, -count - 1 : -1].float()).squeeze(2)
        return logprobs, values

    def _learn(self, written: Written, scores: list[float]) -> dict[str, float]:
        values = self._values
        given = torch.tensor(scores, device=self._device)
        rewards = token_rewards(given, written.logprobs, written.reference, written.mask, self.controller.kl)
        gains, returns = advantages(rewards, written.values, written.mask, values.discount, values.trace)
        gains = whitened(gains, written.mask)
        losses: list[float] = []
        self._model.train()
        for _ in range(values.epochs_a_batch):
            order = torch.randperm(len(scores)).tolist()
            parts = [order[at : at + values.mini_batch] for at in range(0, len(order), values.mini_batch)]
            for number, rows in enumerate(parts, start=1):
                part = written.part(rows)
                logprobs, told = self._look(part.tokens, part.attention, part.mask.shape[1])
                loss = policy_loss(logprobs, part.logprobs, gains[rows], part.mask, values.clip)
                loss = loss + values.value_weight * value_loss(
                    told, part.values, returns[rows], part.mask, values.value_clip
                )
                torch.autograd.backward(loss / values.accumulated)
                losses.append(loss.item())
                if number % values.accumulated == 0 or number == len(parts):
                    nn.utils.clip_grad_norm_([*self._trained, *self.head.parameters()], 1.0)
                    self._optimiser.step()
                    self._optimiser.zero_grad()
        distance = ((written.logprobs - written.reference) * written.mask).sum(dim=1).mean().item()
        self.controller.update(distance, len(scores))
        return {
            "reward": sum(scores) / len(scores),
            "loss": sum(losses) / len(losses),
            "kl": distance,
            "kl price": self.controller.kl,
            "value": masked_mean(written.values, written.mask).item(),
        }

    @contextmanager
    def _as_before(self) -> Iterator[None]:
        """The writer as it was at the start."""
        now = [parameter.detach().clone() for parameter in self._trained]
        try:
            self._put(self._kept)
            yield
        finally:
            self._put(now)

    @torch.no_grad()
    def _put(self, weights: Sequence[Tensor]) -> None:
        for parameter, weight in zip(self._trained, weights, strict=True):
            parameter.copy_(weight)

    def _save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        state = {
            "step": self.step,
            "kl": self.controller.kl,
            "trained": [parameter.detach() for parameter in self._trained],
            "kept": self._kept,
            "head": self.head.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "random": torch.get_rng_state(),
            "random on device": torch.cuda.get_rng_state_all(),
        }
        draft = folder / f"{CHECKPOINT}.part"
        torch.save(state, draft)
        draft.replace(folder / CHECKPOINT)

    def _restore(self, folder: Path) -> None:
        file = folder / CHECKPOINT
        if not file.exists():
            return
        state = torch.load(file, map_location="cpu", weights_only=True)
        self.step, self.controller.kl, self._kept = state["step"], state["kl"], state["kept"]
        self._put(state["trained"])
        self.head.load_state_dict(state["head"])
        self._optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        torch.cuda.set_rng_state_all(state["random on device"])
