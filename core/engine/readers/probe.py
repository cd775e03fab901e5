"""A second word on a post from the model that ships: linear outputs over its hidden states, read through an adapter.

Outputs and adapter were learnt together for one file of weights, say nothing over another, and count in the languages
that they were fitted in. ``README.md`` beside this file says what they learnt and what was measured.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.weights import has_hash
from core.engine.cards.router import Beside, RouterFit, as_routed
from core.engine.ports import HiddenStates
from core.engine.readers.networks import Sureness
from core.engine.readers.pooling import log_odds, probability
from core.errors import ModelUnavailable

logger = logging.getLogger(__name__)

PROBE: Final = Path(str(resources.files("core.engine.readers"))) / "probe.safetensors"
ADAPTER: Final = PROBE.with_suffix(".gguf")
HATEFUL: Final = "hateful"
"""The first output; those of the router follow, in its order."""
MOST_SECONDS: Final = 20.0
_FARTHEST: Final = 8.0
"""So many standard deviations from the mean a state counts at most: a strange text is no proof of anything."""


@dataclass(frozen=True, slots=True)
class PooledHatefulness:
    """How hateful a post is by the small reader and the probe together, in [0, 1], and how sure they are."""

    hateful: float
    sureness: Sureness


@dataclass(frozen=True, slots=True, eq=False)
class ProbeReading:
    """What the probe says of one post.

    Attributes:
        beside: what it says of stereotypes, for the router.
    """

    hate: float
    pooling: tuple[float, float, float]
    unsure: tuple[float, float]
    beside: Beside | None

    def pooled(self, small: float, *, is_coded: bool = False) -> PooledHatefulness:
        """How hateful the post is, given the small reader's probability; not sure at least where it ``is_coded``."""
        bias, of_small, of_probe = self.pooling
        chance = probability(bias + of_small * log_odds(small) + of_probe * self.hate)
        low, high = self.unsure
        chance = max(chance, (low + high) / 2) if is_coded else chance
        middle = Sureness.NOT_SURE if chance < high else Sureness.HATEFUL
        return PooledHatefulness(chance, Sureness.NOT_HATEFUL if chance < low else middle)


class Probe:
    """Reads posts by the hidden states of the model that ships. One post at a time: the others wait.

    Args:
        states: of the weights that the outputs were fitted for.
        file: the outputs, as ``training.probe`` writes them.
    """

    def __init__(self, states: HiddenStates, file: Path = PROBE) -> None:
        self._states, self._file = states, file
        self._free = asyncio.Semaphore(1)

    @property
    def about(self) -> Mapping[str, Any]:
        """What was kept beside the outputs: the weights that they belong to, languages, pooling and limits."""
        return self._stored[0]

    async def read(self, text: str, language: str | None, most_seconds: float) -> ProbeReading | None:
        """What it says of a post; nothing in a language that it was not fitted in, or without states of the post.

        Args:
            most_seconds: longer than this, or than ``MOST_SECONDS``, nobody waits.

        Raises:
            IndexUnavailable: the outputs are missing or damaged.
        """
        if language is None or language not in self.about[HATEFUL]:
            return None
        try:
            async with asyncio.timeout(max(0.0, min(MOST_SECONDS, most_seconds))), self._free:
                states = await asyncio.to_thread(self._states.of, as_routed(text, language))
        except (ModelUnavailable, TimeoutError) as err:  # the small readers' word stands, as without this model
            logger.info("The hidden states of a post could not be had (%s): %s", type(err).__name__, err)
            return None
        return None if states is None else self.said(states, language)

    def said(self, states: NDArray[np.float32], language: str) -> ProbeReading:
        """What the outputs say of states, in one of the languages that they were fitted in."""
        about, arrays = self._stored
        far = np.clip((states - arrays["mean"]) / arrays["spread"], -_FARTHEST, _FARTHEST)
        outputs = arrays["weight"] @ far + arrays["bias"]
        fitted, beside = about["stereotypes"].get(language), None
        if fitted:
            its = RouterFit(*fitted["calibration"], *fitted["limits"])
            beside = Beside(fitted["weight"] * outputs[1:], its, fitted["scale"])
        of_hate = about[HATEFUL][language]
        return ProbeReading(float(outputs[0]), tuple(of_hate["pooling"]), tuple(of_hate["unsure"]), beside)

    @cached_property
    def _stored(self) -> tuple[Mapping[str, Any], Mapping[str, NDArray[np.float32]]]:
        return read_outputs(self._file)


def read_outputs(file: Path) -> tuple[Mapping[str, Any], Mapping[str, NDArray[np.float32]]]:
    """What ``training.probe`` wrote: what stands beside the outputs, and the outputs."""
    from safetensors import safe_open

    with safe_open(file, framework="numpy") as opened:
        about: Mapping[str, Any] = json.loads(opened.metadata()["about"])
        arrays = {name: opened.get_tensor(name).astype(np.float32) for name in opened.keys()}  # noqa: SIM118
    return about, arrays


def adapter_for(weights: Path, folder: Path, file: Path = PROBE, adapter: Path = ADAPTER) -> Path | None:
    """The adapter through which the probe reads these very weights; ``None`` for others. Blocking.

    Args:
        folder: keeps the hash of weights that were hashed.
    """
    its = read_outputs(file)[0]["weights"]
    is_its = weights.stat().st_size == its["bytes"] and has_hash(weights, its["sha256"], folder)
    return adapter if is_its else None
