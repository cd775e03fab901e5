"""The papers' values as data: what ``--recipe coarl`` and ``--recipe f2rl`` set, and where each value stands.

Where the text of a paper lost a number, its public code is the source, and the value says so. A stage has a frozen
dataclass of values with our own defaults; a recipe replaces those that the paper gives and keeps the others. Both
papers learn from rewards by PPO; the values of PPO that TRL's GRPO and RLOO lack are named as departures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from core.errors import BadInput

OWN: Final = "own"
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class PublishedValue:
    value: Any
    source: str


_COARL_TEXT: Final = "CoARL, phase 2"
_COARL_CODE: Final = "CoARL's public code; the paper's text lost it"
_F2RL_TEXT: Final = "F2RL, experimental setup"
RECIPES: Final[Mapping[str, Mapping[str, Mapping[str, PublishedValue]]]] = MappingProxyType(
    {
        "coarl": {
            "writer": {
                "rank": PublishedValue(16, "CoARL, name of the method (its public code has 256)"),
                "alpha": PublishedValue(32, "twice the rank, as in CoARL's public code (512 at 256)"),
                "targets": PublishedValue(("q_proj", "v_proj"), _COARL_TEXT),
                "epochs": PublishedValue(3, _COARL_CODE),
                "learning_rate": PublishedValue(1e-6, _COARL_CODE),
                "weight_decay": PublishedValue(0.0, "CoARL names Adam, which has none"),
                "is_phased": PublishedValue(True, "CoARL, section 3: phase 1, then phase 2"),
            },
            "online": {
                "method": PublishedValue("ppo", "CoARL, section 3"),
                "learning_rate": PublishedValue(1.41e-5, _COARL_CODE),
                "epochs_a_batch": PublishedValue(1, _COARL_CODE),
                "mini_batch": PublishedValue(4, _COARL_CODE),
                "batch": PublishedValue(16, _COARL_CODE),
                "steps": PublishedValue(10_000, _COARL_CODE),
                "least_tokens": PublishedValue(30, _COARL_CODE),
                "reward": PublishedValue("coarl", "CoARL, section 4"),
                "is_kl_adaptive": PublishedValue(True, "CoARL, appendix F"),
            },
        },
        "f2rl": {
            "reranker": {"epochs": PublishedValue(5, _F2RL_TEXT), "learning_rate": PublishedValue(1e-5, _F2RL_TEXT)},
            "online": {
                "method": PublishedValue("ppo", "F2RL, section 3.3"),
                "learning_rate": PublishedValue(3e-5, _F2RL_TEXT),
                "kl": PublishedValue(0.2, _F2RL_TEXT),
                "epochs_a_batch": PublishedValue(3, _F2RL_TEXT),
                "batch": PublishedValue(16, _F2RL_TEXT),
                "accumulated": PublishedValue(4, _F2RL_TEXT),
                "reward": PublishedValue("f2rl", "F2RL, section 3.3"),
                "is_kl_adaptive": PublishedValue(False, _F2RL_TEXT),
            },
        },
    }
)


def by_recipe(recipe: str, stage: str, own: V) -> V:
    """Our values with those of the paper in their places.

    Raises:
        BadInput: nobody published a recipe of that name, or not for that stage.
    """
    if recipe == OWN:
        return own
    published = _published(recipe, stage)
    names = {field.name for field in fields(own)}  # type: ignore[arg-type]  # V is a dataclass
    replaced = {name: value.value for name, value in published.items() if name in names}
    return replace(own, **replaced)  # type: ignore[type-var]  # as above


def departures(recipe: str, stage: str, values: Mapping[str, Any]) -> list[str]:
    """Each value of a run that the recipe has otherwise, in words."""
    if recipe == OWN:
        return []
    published = _published(recipe, stage).items()
    differ = [(name, value) for name, value in published if name in values and values[name] != value.value]
    lack = [(name, value) for name, value in published if name not in values]
    return [
        *(f"{name} is {values[name]}, not {value.value} ({value.source})" for name, value in differ),
        *(f"{name} was {value.value} ({value.source}); this trainer has none" for name, value in lack),
    ]


def _published(recipe: str, stage: str) -> Mapping[str, PublishedValue]:
    stages = RECIPES.get(recipe, {})
    if stage not in stages:
        recipes = [name for name, those in RECIPES.items() if stage in those]
        raise BadInput(
            f"There is no recipe {recipe} for {stage}.", remedy=f"Choose one of: {', '.join([OWN, *recipes])}."
        )
    return stages[stage]
