"""One memory of what the networks that ship make of a text, for all readers and embedders of a process.

The tests of the engine read the same posts and drafts again and again: four fifths of what they take.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.engine.backends import embeddings, minilm
from core.engine.backends.encoders import SmallEncoder

_SHIPPED: Final = Path(embeddings.__file__).parents[1]
_Vector: TypeAlias = NDArray[np.float32]


@cache
def share_readings() -> None:
    """Let each shipped network read each text once from now on. Weights elsewhere, as tests write them, stay alone."""
    read, said = SmallEncoder.logits, dict[tuple[Path, tuple[str, ...]], _Vector]()

    def logits(encoder: SmallEncoder, texts: Sequence[tuple[str, ...]]) -> _Vector:
        weights = encoder._weights
        if not texts or _SHIPPED not in weights.parents:
            return read(encoder, texts)
        new = [text for text in dict.fromkeys(texts) if (weights, text) not in said]
        said.update(((weights, text), outputs) for text, outputs in zip(new, read(encoder, new), strict=True))
        return np.stack([said[weights, text] for text in texts])

    SmallEncoder.logits = logits  # type: ignore[method-assign, assignment]
    embeddings.vector_of = cache(minilm.vector_of)  # type: ignore[attr-defined]
