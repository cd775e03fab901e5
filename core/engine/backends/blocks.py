"""Weights in few bits, each block with one scale, as floats. ``training.heads.network`` writes them."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SCALES: Final = ".scales"
"""Ends the name under which the scales of a matrix lie beside it."""
BLOCK: Final = 32
ZERO: Final = 8
"""What stands for zero in four bits."""


def floats_of(bits: NDArray[Any], scales: NDArray[np.float16]) -> NDArray[np.float32]:
    """Weights as floats, shape (rows, columns).

    Args:
        bits: int8, shape (rows, columns); or uint8, two weights of four bits in each, shape (rows, columns / 2): of a
            block the first half in the lower halves.
        scales: one for each block, shape (rows, blocks).
    """
    blocks = bits.reshape(*scales.shape, -1)
    if bits.dtype == np.uint8:
        each = np.concatenate([blocks & 15, blocks >> 4], axis=-1).astype(np.float32) - ZERO
    else:
        each = blocks.astype(np.float32)
    each *= scales.astype(np.float32)[..., None]
    return each.reshape(len(bits), -1)


def unpacked(weights: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    """A weight of a file as floats, be it in blocks or not."""
    scales = weights.get(name + SCALES)
    return weights[name].astype(np.float32) if scales is None else floats_of(weights[name], scales)
