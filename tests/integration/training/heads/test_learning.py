"""The router and the readers learn for real: a small encoder of the right architecture, a few steps, the real texts."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.engine.backends.encoders import SmallEncoder
from core.engine.cards.router import Router
from core.engine.readers.probe import PROBE
from core.errors import BadInput
from core.models import TargetGroup
from tests.fakes.training.tiny import tiny_encoder
from training.heads import network, readers
from training.heads import router as routing
from training.heads.epochs import BATCH, TunedNetwork, Values, fine_tuned, shuffled
from training.heads.router import LabelledText, Outputs, labelled, train

TWO = ("women/driving", "women/gold-diggers")


@pytest.fixture(scope="module")
def rows() -> list[LabelledText]:
    """Short English wordings of two stereotypes: the fourth part is kept, the others are learnt."""
    mine = [one for one in labelled() if one.seen & set(TWO) and one.language == "en" and one.split == "train"]
    short = sorted(mine, key=lambda one: len(one.text))[:64]
    return [replace(one, split="dev" if at % 4 == 0 else "train") for at, one in enumerate(short)]


def test_the_router_tells_stereotypes_apart_that_it_learnt(rows: list[LabelledText], tmp_path: Path) -> None:
    """On texts that were kept from it, through the file that ships, and by the limits that are fitted beside it."""
    file, values = tmp_path / "router.safetensors", Values(epochs=4, learning_rate=8e-4, faster=4.0)
    tuned, (kept, _) = train([*rows, *as_of_tests(rows)], Outputs.of_taxonomy(), file, values)
    assert kept["likeliest right"] >= 0.7
    assert tuned.before < tuned.after
    encoder = SmallEncoder(file)
    assert encoder.about["calibration"]["en"][0] > 0
    assert encoder.about["limits"]["en"] == [1.0, 1.0], "a language with so few posts must not be routed"
    kept_rows = [one for one in rows if one.split == "dev"]
    router = Router(encoder)
    first = [router.read(one.text, "en", TargetGroup.WOMEN).routes[0].stereotype.id in one.seen for one in kept_rows]
    assert np.mean(first) == pytest.approx(kept["likeliest right"])
    assert router.route(kept_rows[0].text, "en", TargetGroup.WOMEN) == []


def as_of_tests(rows: list[LabelledText]) -> list[LabelledText]:
    """Some of the kept texts as if a test writer had written them."""
    return [replace(one, split="test") for one in rows if one.split == "dev"][:4]


def test_the_loss_is_the_cross_entropy_of_shares() -> None:
    """By hand: two texts of weight 1 and 0.5, over three outputs with equal logits but for one."""
    logits = torch.tensor([[0.0, 0.0, 0.0], [np.log(2.0), 0.0, 0.0]])
    targets = torch.tensor([[0.7, 0.3, 0.0], [0.5, 0.0, 0.0]])
    by_hand = (np.log(3) + 0.5 * np.log(2)) / 1.5
    assert routing.loss_of(logits, targets).item() == pytest.approx(by_hand, rel=1e-6)
    known = torch.tensor([[1.0, float("nan")]])
    of_readers = readers.loss_of(torch.tensor([[0.0, 9.0]]), known, torch.tensor([4.0, 1.0])).item()
    assert of_readers == pytest.approx(np.log(2), rel=1e-6), "an output without a target counts"


def test_an_epoch_shows_every_text_once_and_like_lengths_together() -> None:
    """In an order that its seed alone decides; what was given stays as it was."""
    found = [(("x" * at,), np.zeros(1, np.float32)) for at in range(BATCH * 3)]
    given = list(found)
    once, again = (shuffled(found, random.Random(3)) for _ in range(2))
    assert [texts for texts, _ in once] == [texts for texts, _ in again]
    assert sorted(texts for texts, _ in once) == sorted(texts for texts, _ in found)
    assert [texts for texts, _ in found] == [texts for texts, _ in given]
    lengths = sorted(len(texts[0]) for texts, _ in once[:BATCH])
    assert lengths == list(range(lengths[0], lengths[0] + BATCH))


EXAMPLES = [((f"a post, the {at}th",), np.array([at % 2, 1 - at % 2], np.float32)) for at in range(BATCH * 2)]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network begins with an encoder that is small enough to be kept at each step."""
    monkeypatch.setattr(network, "_minilm", tiny_encoder)


def learnt(folder: Path, score: Callable[[Any], float], note: Callable[[Any], None], **options: Any) -> TunedNetwork:
    """Two outputs that tell even from odd numbers, learnt in three epochs of two steps."""
    values = Values(epochs=3, learning_rate=1e-3)
    return fine_tuned(
        2, lambda chance: shuffled(EXAMPLES, chance), routing.loss_of, score, values, folder, note, **options
    )


@pytest.mark.usefixtures("tiny")
def test_the_best_epoch_is_kept(tmp_path: Path) -> None:
    """Not the last one: here each score is less than the one before. The first is that of fresh outputs."""
    seen = list[torch.Tensor]()

    def score(learner: Any) -> float:
        seen.append(learner.outputs.bias.detach().clone())
        return 1 / len(seen)

    found = learnt(tmp_path, score, lambda _: None)
    assert len(seen) == 4
    assert torch.equal(found.network.outputs.bias, seen[1])
    assert (found.before, found.after) == (1, 1 / 2)


def by_bias(learner: Any) -> float:
    """A score that differs from step to step."""
    return float(learner.outputs.bias.detach().sum().sigmoid())


@pytest.mark.usefixtures("tiny")
def test_a_run_that_is_killed_twice_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """Amid an epoch and after one; nothing is learnt again that a checkpoint holds."""
    unbroken, killed = tmp_path / "unbroken", tmp_path / "killed"
    unbroken.mkdir()
    killed.mkdir()
    log, resumed = list[Any](), list[Any]()
    whole = learnt(unbroken, by_bias, log.append, save_steps=3)
    for killed_at in (4, 5):

        def note(entry: Any, killed_at: int = killed_at) -> None:
            if entry["step"] == killed_at:
                raise KeyboardInterrupt
            resumed.append(entry)

        with pytest.raises(KeyboardInterrupt):
            learnt(killed, by_bias, note, save_steps=3)
    found = learnt(killed, by_bias, resumed.append, save_steps=3)
    assert (found.before, found.after) == (whole.before, whole.after)
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, found.network.state_dict()[name]), name
    assert resumed == log, "it goes on otherwise than it would have"
    again = list[Any]()
    assert learnt(killed, by_bias, again.append).after == whole.after
    assert again == [], "a run that has ended learns again"


@pytest.mark.parametrize("name", ["drafts.safetensors", "README.md"])
def test_only_weights_of_the_same_reader_are_gone_on_from(name: str, tmp_path: Path) -> None:
    task, note = readers.task_of("posts", 12, goes_on=True), list[Any]().append
    with pytest.raises(BadInput, match=r"something else|cannot be read") as refused:
        readers.train(task, tmp_path / "x", Values(1), note, save_steps=9, begun=PROBE.with_name(name))
    assert "core/engine/readers" in str(refused.value.remedy)


def test_what_goes_on_sees_every_kind_and_a_quarter_of_what_it_knows() -> None:
    """Drawn anew for each epoch; a reader that begins sees all of both."""
    begins, goes_on = readers.task_of("posts"), readers.task_of("posts", goes_on=True)
    counts = [len(goes_on.shown(random.Random(seed))) for seed in (1, 2)]
    of_kinds = sum(not row.readings for row in goes_on.train)
    known = len(begins.shown(random.Random(1))) - of_kinds
    assert of_kinds > 1000
    assert counts[0] != counts[1]
    for count in counts:
        assert count - of_kinds == pytest.approx(0.25 * known, rel=0.1)


def test_no_epoch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no epoch"):
        fine_tuned(2, lambda _: EXAMPLES, routing.loss_of, lambda _: 0.0, Values(epochs=0), tmp_path)
