"""The online stage: our posts as prompts, our readers as rewards, and GRPO or RLOO for the writer, by TRL.

Rewards of several replies to one prompt are compared with each other: see Shao and others 2024 and Ahmadian and others
2024. TRL's default has no price for the distance to the reference; ours has one, since a writer without it learns the
reader's habits and forgets the language. Several rewards are brought to one scale before they are added
(``normalize_then_sum``), which RLOO of this version cannot do. The papers learnt by PPO, which TRL has no more.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from datasets import Dataset
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.rloo_config import RLOOConfig
from trl.trainer.rloo_trainer import RLOOTrainer

from core.engine.backends.classifiers import NliCrossEncoder, QualityCrossEncoder
from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.bank import cards_on
from core.engine.readers.networks import Readers
from core.engine.scoring.check import context_for
from core.engine.scoring.gates import fault_of
from core.errors import BadInput
from core.models import Evidence, Intent
from training.corpus import DATA, posts, rows_of
from training.online.rewards import Choice, Reward, Rewards, parts_of
from training.runs.callbacks import Note, Notes, is_bf16, last_checkpoint, shared_arguments
from training.writer.examples import passages, reply_prompt

METHODS: Final = ("grpo", "rloo")


@dataclass(frozen=True, slots=True)
class Values(Choice):
    """How groups are learnt from: ``group`` replies to each of ``prompts_a_step`` prompts. ``kl`` is TRL's beta."""

    method: str = "grpo"
    learning_rate: float = 1e-5
    kl: float = 0.04
    group: int = 8
    prompts_a_step: int = 4
    most_tokens: int = 110
    temperature: float = 1.0
    steps: int = 200
    seed: int = 20261126


def check(values: Values) -> None:
    """Refuse what cannot be learnt with.

    Raises:
        BadInput: the method is neither grpo nor rloo, or the distance costs nothing.
    """
    if values.method not in METHODS:
        raise BadInput(f"There is no method {values.method}.", remedy=f"Choose one of: {', '.join(METHODS)}.")
    if values.kl <= 0:
        raise BadInput("kl must be more than 0, or the writer leaves the language.", remedy="0.02 to 0.05 is usual.")


def train(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Mapping[str, Any]],
    rewards: Sequence[Callable[..., Any]],
    folder: Path,
    values: Values,
    *,
    note: Note = lambda _: None,
    save_steps: int = 20,
) -> list[dict[str, float]]:
    """Train a PEFT model's adapter on rewards and leave it in ``folder/adapter``.

    A run that was killed goes on from its newest checkpoint to the same result. The reference is the adapter as it is
    given, so a run must go on with the model that it began with.

    Args:
        rows: ``prompt``, a conversation, and the columns that the rewards read.
        rewards: functions of prompts and completions (``training.online.rewards``).

    Returns:
        the log: steps with the mean of each reward, the distance to the reference and the loss.

    Raises:
        BadInput: the method is neither grpo nor rloo, or the distance costs nothing.
    """
    trainer = trainer_of(model, tokenizer, rows, rewards, folder, values, note=note, save_steps=save_steps)
    trainer.train(resume_from_checkpoint=last_checkpoint(folder))
    model.save_pretrained(folder / "adapter", selected_adapters=["default"])
    return [dict(entry) for entry in trainer.state.log_history]


def trainer_of(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Mapping[str, Any]],
    rewards: Sequence[Callable[..., Any]],
    folder: Path,
    values: Values,
    *,
    note: Note = lambda _: None,
    save_steps: int = 20,
) -> GRPOTrainer | RLOOTrainer:
    """TRL's trainer with our values, for ``train``, whose arguments and errors it has.

    With G replies to each of P prompts and rewards ``r``, GRPO's advantages [P * G] are, for each reward apart,
    ``(r - mean of the group) / (deviation of the group + 1e-4)``, added up, then brought to mean 0 and deviation 1 over
    the batch. RLOO's are the sum of the rewards, less ``kl`` times the log-ratio of the reply, less the mean of the
    other G - 1 (``GRPOTrainer`` and ``RLOOTrainer`` of TRL 1.16). Deviations are of samples, divided by G - 1.
    """
    check(values)
    common: dict[str, Any] = {
        **shared_arguments(folder, seed=values.seed, save_steps=save_steps),
        "learning_rate": values.learning_rate,
        "beta": values.kl,
        "num_generations": values.group,
        "per_device_train_batch_size": values.group,
        "gradient_accumulation_steps": values.prompts_a_step,
        "max_completion_length": values.most_tokens,
        "temperature": values.temperature,
        "max_steps": values.steps,
        "bf16": is_bf16(model),
    }
    options: dict[str, Any] = {
        "model": model,
        "reward_funcs": list(rewards),
        "train_dataset": Dataset.from_list([dict(row) for row in rows]),
        "processing_class": tokenizer,
        "callbacks": [Notes(note)],
    }
    if values.method == "rloo":
        return RLOOTrainer(args=RLOOConfig(**common), **options)
    return GRPOTrainer(args=GRPOConfig(**common, multi_objective_aggregation="normalize_then_sum"), **options)


def rows(values: Choice) -> list[dict[str, Any]]:
    """A prompt for each intent under each hateful English post that is learnt, with what the rewards need to know.

    Informative replies get the claim and the fact of a card, where a reader named the post's stereotype and a card
    against it rests on a fact. F2RL's reward learns from these alone.

    Raises:
        BadInput: there is no such reward, or a part of it cannot be known.
    """
    parts_of(values)
    rests_on = _claims_and_facts()
    rows = list[dict[str, Any]]()
    for row in posts():
        if row.split != "train" or row.language != "en" or not row.meant.startswith("h"):
            continue
        for intent in Intent:
            claim, fact = rests_on.get(row.id, ("", None)) if intent is Intent.INFORMATIVE else ("", None)
            prompt = reply_prompt(row.text, intent, "en", claim, fact)
            rows.append(
                {
                    "prompt": [{"role": m.role, "content": m.content} for m in prompt],
                    "post": row.text,
                    "language": "en",
                    "intent": intent.value,
                    "claim": claim,
                    "evidence": [fact.text] if fact else [],
                }
            )
    return [row for row in rows if row["evidence"]] if values.reward == "f2rl" else rows


def refuse_few(prompts: Sequence[Mapping[str, Any]], wanted: int) -> None:
    """Refuse fewer prompts than a step takes, of which TRL would make no step.

    Raises:
        BadInput: it says how many are wanted.
    """
    if len(prompts) < wanted:
        raise BadInput(
            f"There are {len(prompts)} prompts, and a step takes {wanted}.",
            remedy=f"Take {wanted} or more (--most), or fewer a step (--set prompts_a_step={max(len(prompts), 1)}).",
        )


def _claims_and_facts() -> dict[str, tuple[str, Evidence]]:
    """For posts, by their ids, the claim of a card against their stereotype, and the fact that it rests on."""
    facts = passages()
    answers = dict[str, tuple[str, Evidence]]()
    for row in rows_of(DATA / "routing"):
        for stereotype in row["labels"][0][:1] if "post" in row else ():
            cards = [card for card in cards_on(stereotype, "en") if card.fact in facts]
            if cards:
                answers[row["post"]] = cards[0].claim, facts[cards[0].fact or ""]
    return answers


def ends(log: Iterable[Mapping[str, Any]]) -> tuple[dict[str, float], dict[str, float]]:
    """The mean of each reward in the first tenth of the steps of a run, over all its starts, and in the last."""
    rewards = [{name: value for name, value in entry.items() if name.startswith("reward")} for entry in log]
    rewards = [entry for entry in rewards if entry]
    tenth = max(len(rewards) // 10, 1)
    return _means(rewards[:tenth]), _means(rewards[-tenth:])


def rewards_of(values: Choice) -> list[Reward]:
    """The functions of the reward that is chosen, over readers and models that are each loaded once.

    Raises:
        BadInput: a part of it cannot be known.
        ScorerUnavailable: a model that was named for it cannot be loaded.
    """
    quality = QualityCrossEncoder(values.quality) if values.quality else None
    inference = NliCrossEncoder(values.inference) if values.inference else None
    for name in (quality, inference):
        if name is not None:
            name.load()
    return Rewards(readers().drafts, readers().embedder, values, quality, inference).functions()


def refuses(text: str, post: str, language: str) -> str | None:
    """Why the application would not show a reply, by its rules alone; ``None`` if it may."""
    return fault_of(text, context_for(post, language))


def _means(entries: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for entry in entries for name in entry)
    return {name: sum(e[name] for e in entries if name in e) / sum(name in e for e in entries) for name in names}


@cache
def readers() -> Readers:
    """The ones that ship, loaded once."""
    return Readers.load(SentenceEmbedder())
