"""A probe over hidden states that a test names, with two outputs of the router that can be reckoned by hand."""

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from core.engine.cards.bank import load_stereotypes
from core.engine.cards.router import outputs_of
from core.engine.readers.probe import Probe
from core.errors import ModelUnavailable

WEIGHTS, LORA = b"the weights", b"an adapter"
"""What the files hold that the outputs belong to."""
ABOUT: Mapping[str, Any] = {
    "weights": {"sha256": hashlib.sha256(WEIGHTS).hexdigest(), "bytes": len(WEIGHTS)},
    "adapter": {"sha256": hashlib.sha256(LORA).hexdigest(), "bytes": len(LORA)},
    "hateful": {
        "en": {"pooling": [0.5, 1.0, 2.0], "unsure": [0.4, 0.7]},
        "es": {"pooling": [0.0, 0.0, 1.0], "unsure": [0.4, 0.7]},
    },
    "stereotypes": {"en": {"weight": 2.0, "calibration": [1.0, 0.0], "limits": [0.6, 0.8], "scale": 0.5}},
}
"""In Spanish it speaks alone of hate, and says nothing of stereotypes."""


class FakeStates:
    """Two numbers for each text: the log-odds of hate, and how strongly it puts forward the stereotype of the test."""

    def __init__(self, said: Mapping[str, tuple[float, float] | None], *, is_away: bool = False) -> None:
        self.said, self.is_away, self.asked = said, is_away, list[str]()
        self.go_on = threading.Event()
        self.go_on.set()
        self.most_at_once = self._at_once = 0

    def of(self, text: str) -> NDArray[np.float32] | None:
        """What the test said of it, once it may ``go_on``; ``None`` for a text that is too long."""
        self.asked.append(text)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        self.go_on.wait(30)
        self._at_once -= 1
        if self.is_away:
            raise ModelUnavailable("It is away.")
        found = self.said[text]
        return None if found is None else np.array(found, dtype=np.float32)


def probe_file(file: Path, stereotype: str = "women/vote", about: Mapping[str, Any] = ABOUT) -> Path:
    """Outputs that repeat the two numbers."""
    names = ["hateful", *outputs_of(load_stereotypes().values())]
    weight = np.zeros((len(names), 2), dtype=np.float16)
    weight[0, 0] = weight[names.index(stereotype), 1] = 1.0
    arrays: dict[str, NDArray[Any]] = {
        "mean": np.zeros(2, dtype=np.float32),
        "spread": np.ones(2, dtype=np.float32),
        "weight": weight,
        "bias": np.zeros(len(names), dtype=np.float32),
    }
    save_file(arrays, file, metadata={"about": json.dumps(about)})
    return file


def probe_saying(states: FakeStates, folder: Path) -> Probe:
    return Probe(states, probe_file(folder / "probe.safetensors"))
