"""Recipes: what a paper gives, and how a departure is named."""

from dataclasses import asdict, dataclass

import pytest

from core.errors import BadInput
from training.recipes import RECIPES, by_recipe, departures


@dataclass(frozen=True)
class _Values:
    epochs: int = 2
    learning_rate: float = 5e-4
    batch: int = 4


def test_a_recipe_replaces_what_it_gives_and_keeps_the_rest() -> None:
    assert by_recipe("f2rl", "reranker", _Values()) == _Values(epochs=5, learning_rate=1e-5)
    assert by_recipe("own", "reranker", _Values()) == _Values()


def test_each_departure_is_named_with_its_source() -> None:
    values = by_recipe("f2rl", "reranker", _Values())
    assert departures("f2rl", "reranker", asdict(values)) == []
    assert departures("f2rl", "reranker", {"epochs": 1}) == [
        "epochs is 1, not 5 (F2RL, experimental setup)",
        "learning_rate was 1e-05 (F2RL, experimental setup); this trainer has none",
    ]


def test_a_recipe_that_nobody_published_is_refused() -> None:
    with pytest.raises(BadInput, match="coarl") as refused:
        by_recipe("coarl", "reranker", _Values())
    assert refused.value.remedy == "Choose one of: own, f2rl."


def test_the_published_values() -> None:
    """Those that can be read in the papers or in their code."""
    ppo = RECIPES["f2rl"]["online"]
    assert {name: ppo[name].value for name in ("learning_rate", "kl", "epochs_a_batch", "batch", "accumulated")} == {
        "learning_rate": 3e-5, "kl": 0.2, "epochs_a_batch": 3, "batch": 16, "accumulated": 4,
    }  # fmt: skip
    assert RECIPES["coarl"]["online"]["learning_rate"].value == 1.41e-5
    assert all(one.source for stages in RECIPES.values() for those in stages.values() for one in those.values())
