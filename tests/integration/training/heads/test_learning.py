"""The router and the readers learn for real: a small encoder of the right architecture, a few steps, the real texts."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.cards.routing import Router
from core.llm.backends.encoders import SmallEncoder, pack
from core.models import TargetGroup
from training.heads import readers, routing
from training.heads.learning import BATCH, fine_tuned, shuffled
from training.heads.routing import Labelled, Outputs, labelled, measured, trained

TWO = ("women/driving", "women/gold-diggers")


@pytest.fixture(scope="module")
def rows() -> list[Labelled]:
    """The English wordings of two stereotypes: the fourth part is kept, the others are learnt."""
    mine = [one for one in labelled() if one.seen & set(TWO) and one.language == "en" and one.split == "train"]
    return [replace(one, split="dev" if at % 4 == 0 else "train") for at, one in enumerate(mine)]


@pytest.fixture(scope="module")
def network(rows: list[Labelled]) -> Any:
    """The router after six epochs of these."""
    return trained(rows, Outputs.of_taxonomy(), epochs=6, rate=4e-4)


def test_the_router_tells_stereotypes_apart_that_it_learnt(network: Any, rows: list[Labelled], tmp_path: Path) -> None:
    """On texts that were kept from it, through the file that ships, and by the limits that are fitted beside it."""
    outputs = Outputs.of_taxonomy()
    about: dict[str, Any] = {"outputs": list(outputs.at), "calibration": {}, "limits": {}}
    pack(network, about, tmp_path / "w")
    (kept, _) = measured([*rows, *as_of_tests(rows)], outputs, SmallEncoder(tmp_path / "w"), about)
    assert kept["likeliest right"] >= 0.8
    assert about["calibration"]["en"][0] > 0
    assert about["limits"]["en"] == [1.0, 1.0], "a language with so few posts must not be routed"
    pack(network, about, tmp_path / "w")
    kept_rows = [one for one in rows if one.split == "dev"]
    router = Router(SmallEncoder(tmp_path / "w"))
    first = [router.read(one.text, "en", TargetGroup.WOMEN).routes[0].stereotype.id in one.seen for one in kept_rows]
    assert np.mean(first) == pytest.approx(kept["likeliest right"])
    assert router.route(kept_rows[0].text, "en", TargetGroup.WOMEN) == []


def as_of_tests(rows: list[Labelled]) -> list[Labelled]:
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


def test_the_best_epoch_is_kept() -> None:
    """Not the last one: here each epoch after the first scores less."""
    seen = list[torch.Tensor]()

    def score(network: Any) -> float:
        seen.append(network.outputs.bias.detach().clone())
        return 1 / len(seen)

    examples = [(("a post",), np.ones(2, np.float32))] * 4
    found = fine_tuned(2, lambda _: examples, routing.loss_of, score, epochs=3)
    assert len(seen) == 3
    assert torch.equal(found.outputs.bias, seen[0])
