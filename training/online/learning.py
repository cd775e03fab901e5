"""The online stage put together: our posts as prompts, our readers as rewards, and the method that was chosen.

Owns the choice; the methods know neither posts nor readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.llm.backends.embeddings import SentenceEmbedder
from core.llm.short_prompts import reply_prompt
from core.models import Intent
from core.scoring.checking import context_for
from core.scoring.gates import fault_of
from core.scoring.readers.readers import DraftReader, Readers
from core.scoring.rewards import WEIGHTS
from training.corpus import posts
from training.online import groups, ppo
from training.online.rewards import Rewards
from training.writer.examples import STYLE
from training.writer.sft import Note


def ppo_values() -> ppo.Values:
    """Our values for PPO."""
    return ppo.Values()


def group_values(method: str) -> groups.Values:
    """Our values for GRPO or RLOO."""
    if method not in ("grpo", "rloo"):
        raise BadInput(f"There is no method {method}.", remedy="Choose grpo, rloo or ppo.")
    return groups.Values(method=method)


def rows() -> list[dict[str, Any]]:
    """A prompt for each intent under each hateful English post that is learnt, with what the rewards need to know."""
    return [
        {
            "prompt": [
                {"role": m.role, "content": m.content} for m in reply_prompt(row.text, intent, "en", style=STYLE)
            ],
            "post": row.text,
            "language": "en",
            "intent": intent.value,
        }
        for row in posts()
        if row.split == "train" and row.language == "en" and row.meant.startswith("h")
        for intent in Intent
    ]


def learn(
    model: Any, tokenizer: Any, found: Sequence[Mapping[str, Any]], run: Path, values: Any, note: Note
) -> tuple[dict[str, float], dict[str, float]]:
    """Train the adapter; the mean of each reward in the first tenth of the steps and in the last."""
    noted = list[dict[str, float]]()

    def keep(entry: dict[str, float]) -> None:
        noted.append(entry)
        note(entry)

    rewards = Rewards(reader_of_drafts(), refuses)
    if isinstance(values, ppo.Values):
        _by_ppo(model, tokenizer, found, rewards, run, values, keep)
    else:
        groups.train(model, tokenizer, found, rewards.functions(), run, values, note=keep)
    told = [{n: v for n, v in entry.items() if n.startswith("reward")} for entry in noted]
    told = [entry for entry in told if entry]
    tenth = max(len(told) // 10, 1)
    return _means(told[:tenth]), _means(told[-tenth:])


def _by_ppo(
    model: Any,
    tokenizer: Any,
    found: Sequence[Mapping[str, Any]],
    rewards: Rewards,
    run: Path,
    values: ppo.Values,
    note: Note,
) -> None:
    """PPO on the weighted sum by which the application ranks, less what the gates refuse."""
    parts = [rewards.stance, rewards.non_toxicity, rewards.fit, rewards.faithfulness_post]

    def score(numbers: Sequence[int], texts: Sequence[str]) -> list[float]:
        asked = [found[number] for number in numbers]
        columns = {name: [row[name] for row in asked] for name in ("post", "language", "intent")}
        said = {part.__name__: part(texts, **columns) for part in parts}
        weight = sum(WEIGHTS[name] for name in said)
        gates = rewards.gates(texts, **columns)
        return [
            sum(WEIGHTS[name] * (values[at] or 0.0) for name, values in said.items()) / weight + (gates[at] or 0.0)
            for at in range(len(texts))
        ]

    prompts = [
        tokenizer.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True) for row in found
    ]
    ppo.Ppo(model, tokenizer, values).train(prompts, score, run, note)
    model.save_pretrained(run / "adapter", selected_adapters=["default"])


def refuses(text: str, post: str, language: str) -> str | None:
    """Why the application would not show a reply, by its rules alone; ``None`` if it may."""
    return fault_of(text, context_for(post, language))


def _means(entries: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for entry in entries for name in entry)
    return {name: sum(e[name] for e in entries if name in e) / sum(name in e for e in entries) for name in names}


@cache
def reader_of_drafts() -> DraftReader:
    """The one that ships."""
    return Readers.load(SentenceEmbedder()).drafts
