"""A second word on a post from the model that ships: linear outputs over its hidden states.

Owns how the shipped outputs are read and how their word is pooled with that of the small readers. They were fitted for
one file of weights (``Probe.weights``), say nothing over the states of another, and count in the languages that they
were fitted in. ``README.md`` beside this file has what they learnt and what was measured.
"""

from __future__ import annotations

import hashlib
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

from core.cards.routing import Fitted, as_routed
from core.errors import IndexUnavailable, ModelUnavailable
from core.i18n.sentences import sentence
from core.llm.backends.weight_files import has_hash
from core.ports import HiddenStates
from core.scoring.readers.pooling import log_odds, probability
from core.scoring.readers.readers import Sureness

logger = logging.getLogger(__name__)

PROBE: Final = Path(str(resources.files("core.scoring.readers"))) / "probe.safetensors"
HATEFUL: Final = "hateful"
"""The first output; those of the router follow, in its order."""
_FARTHEST: Final = 8.0
"""So many standard deviations from the mean a state counts at most: a strange text is no proof of anything."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """How hateful a post is by the small reader and the probe together, in [0, 1], and how sure they are."""

    hateful: float
    sureness: Sureness


class Probe:
    """Reads posts by the hidden states of the model that ships. Blocking: call it in a thread.

    Args:
        states: of the weights that the outputs were fitted for.
        file: the outputs, as ``training.probe`` writes them.
    """

    def __init__(self, states: HiddenStates, file: Path = PROBE) -> None:
        self._states, self._file = states, file
        self._last: tuple[bytes, NDArray[np.float32] | None] | None = None

    @property
    def about(self) -> Mapping[str, Any]:
        """What was kept beside the outputs: the weights that they belong to, languages, pooling and limits."""
        found: Mapping[str, Any] = self._read[0]
        return found

    def on_hate(self, text: str, language: str | None, small: float) -> Pooled | None:
        """How hateful a post is, given the small reader's probability; ``None`` where it says nothing.

        Raises:
            IndexUnavailable: the outputs are missing or damaged.
        """
        fitted = self.about[HATEFUL].get(language)
        outputs = self._outputs(as_routed(text, language)) if fitted else None
        if fitted is None or outputs is None:
            return None
        bias, of_small, of_probe = fitted["pooling"]
        chance = probability(bias + of_small * log_odds(small) + of_probe * float(outputs[0]))
        low, high = fitted["unsure"]
        middle = Sureness.NOT_SURE if chance < high else Sureness.HATEFUL
        return Pooled(chance, Sureness.NOT_HATEFUL if chance < low else middle)

    def on_stereotypes(self, shown: str, language: str | None) -> tuple[NDArray[np.float32], Fitted] | None:
        """What is added to the router's outputs, and what was fitted for the sums (``SecondOpinion``).

        Raises:
            IndexUnavailable: the outputs are missing or damaged.
        """
        fitted = self.about["stereotypes"].get(language)
        outputs = self._outputs(shown) if fitted else None
        if fitted is None or outputs is None:
            return None
        return fitted["weight"] * outputs[1:], Fitted(*fitted["calibration"], *fitted["limits"])

    def _outputs(self, shown: str) -> NDArray[np.float32] | None:
        """The outputs for a text, kept by a digest of the last one; ``None`` where there are no states of it."""
        digest, last = hashlib.blake2b(shown.encode()).digest(), self._last
        if last is None or last[0] != digest:
            self._last = last = (digest, self._asked(shown))
        return last[1]

    def _asked(self, shown: str) -> NDArray[np.float32] | None:
        try:
            states = self._states.of(shown)
        except ModelUnavailable as err:  # the small readers' word stands, as it does without this model
            logger.warning("The hidden states of a post could not be had: %s", err)
            return None
        if states is None:
            return None
        _, arrays = self._read
        far = np.clip((states - arrays["mean"]) / arrays["spread"], -_FARTHEST, _FARTHEST)
        found: NDArray[np.float32] = arrays["weight"] @ far + arrays["bias"]
        return found

    @cached_property
    def _read(self) -> tuple[Mapping[str, Any], Mapping[str, NDArray[np.float32]]]:
        return read_outputs(self._file)


def read_outputs(file: Path) -> tuple[Mapping[str, Any], Mapping[str, NDArray[np.float32]]]:
    """What ``training.probe`` wrote: what stands beside the outputs, and the outputs.

    Raises:
        IndexUnavailable: the file is missing or damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as opened:
            about: Mapping[str, Any] = json.loads(opened.metadata()["about"])
            arrays = {name: opened.get_tensor(name).astype(np.float32) for name in opened.keys()}  # noqa: SIM118
    except (OSError, KeyError, ValueError, SafetensorError) as err:
        raise IndexUnavailable(
            sentence("The weights of a reader cannot be read ({kind}).", kind=type(err).__name__),
            remedy=sentence('Install Antiphon again, with its extra "server" or "embedded".'),
        ) from err
    return about, arrays


def belongs_to(weights: Path, folder: Path, file: Path = PROBE) -> bool:
    """Whether a probe was fitted for the states of these very weights; ``folder`` keeps what was hashed. Blocking.

    Raises:
        IndexUnavailable: the outputs are missing or damaged.
    """
    wanted = read_outputs(file)[0]["weights"]
    return weights.stat().st_size == wanted["bytes"] and has_hash(weights, wanted["sha256"], folder)
