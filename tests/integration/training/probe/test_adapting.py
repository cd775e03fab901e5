"""The adapter that reads: what is learnt of a text, its loss by hand, a run that is killed, and what it leaves."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from core.engine.cards.bank import gist_in_words, load_stereotypes
from core.engine.readers.probe import adapter_for, read_outputs
from core.models import TargetGroup
from tests.fakes.training.command import train
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer, tiny_weights
from training.heads import router
from training.heads.router import Outputs
from training.probe import texts as shipped
from training.probe.adapter import LabelledTokens, ProbeModel, Values, adapt, collated, labelled
from training.probe.outputs import Fit
from training.probe.texts import Learnt, learnt
from training.writer import base as bases
from training.writer.base import Lora, with_adapter

OUTPUTS = Outputs.of_taxonomy()
NAMES = [one.id for one in load_stereotypes().values() if one.target_group is TargetGroup.WOMEN][:2]
AROUND = ["Post: ", "\nThe stereotype it repeats:"]
SAID = [f"{a} {b}" for a in "women they girls".split() for b in "rule lie vote drive cook run".split()]
GISTS = [gist_in_words(load_stereotypes()[name]) for name in NAMES]
VALUES = Values(epochs=8, learning_rate=3e-2, sequence_tokens=96, sequences_a_step=2)


def _texts(split: str = "train") -> Learnt:
    """Who lies is hated; who rules or votes repeats the first stereotype, the others the second one."""
    posts = [(at, "en", split, float("lie" in text)) for at, text in enumerate(SAID)]
    named = [NAMES[not ("rule" in text or "vote" in text)] for text in SAID]
    known = [
        (at, router.LabelledText(text, "en", TargetGroup.WOMEN, ((name,),), split))
        for at, (text, name) in enumerate(zip(SAID, named, strict=True))
    ]
    return Learnt(SAID, posts, known)


def _start() -> tuple[Any, Any, Fit]:
    tokenizer = tiny_tokenizer([*AROUND, *SAID, *(f" {gist}\n" for gist in GISTS)])
    model = with_adapter(tiny_model(tokenizer), Lora(), seed=5)
    chance = np.random.default_rng(3)
    width = 2 * model.config.hidden_size
    weight = chance.normal(0, 0.1, (1 + len(OUTPUTS.at), width)).astype(np.float32)
    mean, spread = chance.normal(0, 0.2, width), chance.uniform(0.5, 2, width)
    bias = chance.normal(0, 0.2, len(weight))
    return model, tokenizer, Fit(*(one.astype(np.float32) for one in (mean, spread, weight, bias)))


def test_what_is_learnt_is_the_post_with_the_words_that_ask_and_the_stereotype_in_words() -> None:
    _, tokenizer, _ = _start()
    found = labelled(_texts(), OUTPUTS, tokenizer)
    one, asked = found[0], tokenizer.encode(AROUND[0] + SAID[0] + AROUND[1])
    branch = one.tree.branches[0]
    assert [*one.tree.stem, *branch.tokens[: branch.answer]] == asked
    assert one.point == len(asked) - 1
    assert list(branch.tokens[branch.answer :]) == tokenizer.encode(f" {GISTS[0]}\n")
    assert one.stereotypes[OUTPUTS.at[NAMES[0]]] == one.stereotypes.sum() == 1
    assert labelled(_texts("dev"), OUTPUTS, tokenizer) == []


def test_the_loss_of_two_texts_is_that_of_each_alone() -> None:
    """Half of both outputs' losses and the words', over states that see nothing of the text beside them."""
    model, tokenizer, begun = _start()
    reading, texts = ProbeModel(model, begun).eval(), labelled(_texts(), OUTPUTS, tokenizer)[:2]
    with torch.no_grad():
        parts = {name: one.item() for name, one in reading(**collated(texts)).items()}
        rows, words = [], []
        for one in texts:
            branch = one.tree.branches[0]
            ids = torch.tensor([[*one.tree.stem, *branch.tokens]])
            vectors = model.get_base_model().base_model(input_ids=ids).last_hidden_state[0]
            rows.append(torch.cat([vectors[1 : one.point + 1].mean(dim=0), vectors[one.point]]).numpy())
            said = model(input_ids=ids).logits[0].log_softmax(dim=-1)
            words += [-said[at - 1, ids[0, at]] for at in range(one.point + 1, ids.shape[1])]
        logits = torch.from_numpy(begun.outputs(np.stack(rows)))
    at = OUTPUTS.at[NAMES[0]], OUTPUTS.at[NAMES[1]]
    wanted = -np.mean([logits[row, 1:].log_softmax(0)[at[row]].item() for row in range(2)])
    hateful = np.mean([math.log1p(math.exp(z)) - z * one.hateful for z, one in zip(logits[:, 0], texts, strict=True)])
    assert parts["stereotypes"] == pytest.approx(wanted, rel=1e-4)
    assert parts["hateful"] == pytest.approx(hateful, rel=1e-4)
    assert parts["words"] == pytest.approx(torch.stack(words).mean().item(), rel=1e-4)
    assert parts["loss"] == pytest.approx(0.5 * wanted + 0.5 * hateful + parts["words"], rel=1e-4)


def _adapted(
    folder: Path, killed_at: int | None = None
) -> tuple[Fit, list[dict[str, float]], list[LabelledTokens], Any]:
    """A run, or one that ends at a step as a kill would end it."""
    model, tokenizer, begun = _start()
    texts, log = labelled(_texts(), OUTPUTS, tokenizer), list[dict[str, float]]()

    def note(entry: dict[str, float]) -> None:
        if entry["step"] == killed_at:
            raise KeyboardInterrupt
        log.append(entry)

    return adapt(model, begun, texts, folder, VALUES, note, save_steps=5), log, texts, model


def test_it_learns_and_a_killed_run_ends_the_same(tmp_path: Path) -> None:
    whole, log, texts, model = _adapted(tmp_path / "whole")
    losses = [entry["loss"] for entry in log if "loss" in entry]
    assert losses[-1] < losses[0] - 1
    told = [ProbeModel(model, whole).eval()(**collated([one])) for one in texts]
    assert np.mean([one["stereotypes"].item() for one in told]) < 1

    with pytest.raises(KeyboardInterrupt):
        _adapted(tmp_path / "killed", killed_at=8)
    checkpoint = next((tmp_path / "killed" / "checkpoints").glob("checkpoint-5/model.safetensors"))
    assert checkpoint.stat().st_size < 200_000, "a checkpoint holds the trained weights alone"
    killed = _adapted(tmp_path / "killed")[0]
    np.testing.assert_array_equal(whole.weight, killed.weight)
    one, other = (load_file(tmp_path / name / "adapter" / "adapter_model.safetensors") for name in ("whole", "killed"))
    for name, weight in one.items():
        np.testing.assert_array_equal(weight, other[name], err_msg=name)


def test_a_run_leaves_two_files_that_belong_together_and_to_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On our own texts, a few of each kind, and a tiny model in the place of the one that ships."""
    _, tokenizer, _ = _start()
    weights = tiny_weights(tmp_path / "weights.gguf", tiny_model(tokenizer))
    loaded = list[str]()

    def load(source: str) -> tuple[Any, Any]:
        loaded.append(source)
        return tiny_model(tokenizer), tokenizer

    few = learnt(12)  # all texts are looked through for them
    monkeypatch.setattr(bases, "load_base", load)
    monkeypatch.setattr(shipped, "learnt", {12: few}.__getitem__)
    words = ["--base", weights, "--most", 12, "--set", "epochs=1", "--set", "sequences_a_step=64"]
    out = tmp_path / "run" / "probe.safetensors"
    train("probe", tmp_path / "run", *words)
    assert adapter_for(weights, tmp_path, out, out.with_suffix(".gguf")) == out.with_suffix(".gguf")
    about, arrays = read_outputs(out)
    assert about["outputs"] == ["hateful", *OUTPUTS.at]
    assert arrays["weight"].shape == (len(about["outputs"]), 64)
    card = (tmp_path / "run" / "card.md").read_text()
    assert "| likeliest stereotype right |" in card
    assert "| of | language | split | posts | by | area | recall | specificity |" in card
    read = len(loaded)
    train("probe", tmp_path / "run", *words)
    assert len(loaded) == read + 1, "the states that stand there are not computed again"
