"""The online stage with our posts and readers: every method with every reward, on a tiny writer and tiny judges."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from core.errors import BadInput, ScorerUnavailable
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer
from training.online.run import Values, ends, refuse_few, rewards_of, rows, train
from training.writer.base import Lora, with_adapter

LABELS = {"quality": ("quality",), "inference": ("contradiction", "entailment", "neutral")}
"""The models beside our readers, and what each of their outputs is called."""


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The folders of two cross-encoders with random weights."""
    found = {}
    for name, labels in LABELS.items():
        folder = tmp_path_factory.mktemp(name)
        vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        BertTokenizer(vocab={word: at for at, word in enumerate(vocabulary)}, model_max_length=48).save_pretrained(
            folder
        )
        torch.manual_seed(7)
        config = BertConfig(
            vocab_size=len(vocabulary), max_position_embeddings=48, hidden_size=16, num_hidden_layers=1,
            num_attention_heads=2, intermediate_size=16,
            id2label=dict(enumerate(labels)), label2id={label: at for at, label in enumerate(labels)},
        )  # fmt: skip
        BertForSequenceClassification(config).save_pretrained(folder)
        found[name] = str(folder)
    return found


def _values(method: str, reward: str, quality: str, inference: str = "") -> Values:
    small = Values(method=method, steps=2, group=2, prompts_a_step=2, most_tokens=8)
    return replace(small, reward=reward, quality=quality, inference=inference)


@pytest.mark.parametrize(
    ("method", "reward", "known"),
    [
        ("grpo", "own", {"fit", "gates", "stance", "argument_quality"}),
        ("rloo", "coarl", {"stance", "argument_quality", "non_toxicity"}),
        ("grpo", "f2rl", {"stance", "faithfulness_claim", "faithfulness_evidence"}),
    ],
)
def test_each_method_learns_each_reward(
    tmp_path: Path, judges: dict[str, str], method: str, reward: str, known: set[str]
) -> None:
    values = _values(method, reward, **judges)
    found = rows(values)[:6]
    tokenizer = tiny_tokenizer([said["content"] for row in found for said in row["prompt"]])
    model = with_adapter(tiny_model(tokenizer), Lora(), seed=5)
    noted = list[dict[str, Any]]()
    train(model, tokenizer, found, rewards_of(values), tmp_path, values, note=noted.append)
    before, after = ends(noted)
    assert {f"rewards/{name}/mean" for name in known} | {"reward"} <= before.keys() & after.keys()
    assert {entry["step"] for entry in noted if "reward" in entry} == {1, 2}
    json.dumps(noted, allow_nan=False)
    assert (tmp_path / "adapter" / "adapter_model.safetensors").exists()


def test_a_judge_that_is_not_there_is_told_before_anything_is_learnt(tmp_path: Path) -> None:
    values = _values("grpo", "coarl", str(tmp_path))
    with pytest.raises(ScorerUnavailable):
        rewards_of(values)


def test_fewer_prompts_than_a_step_takes_are_refused_since_nothing_would_be_learnt() -> None:
    few = rows(Values())[:2]
    with pytest.raises(BadInput, match="There are 2 prompts, and a step takes 4") as refused:
        refuse_few(few, 4)
    assert "--set prompts_a_step=2" in refused.value.remedy
    refuse_few(few, 2)


def test_the_ends_of_a_run_are_told_of_all_its_starts() -> None:
    """Twenty steps, of which a tenth is two; a line without a reward is none."""
    log = [{"step": at, "loss": 1.0, **({"reward": float(at), "reward_std": 0.5} if at else {})} for at in range(21)]
    assert ends(log) == ({"reward": 1.5, "reward_std": 0.5}, {"reward": 19.5, "reward_std": 0.5})
