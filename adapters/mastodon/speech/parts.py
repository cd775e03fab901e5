"""A long text in parts that an instance takes one by one.

Owns where a text is cut: between its blocks, else between paragraphs, lines, words. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

_BETWEEN: Final = "\n\n"
_CUTS: Final = (_BETWEEN, "\n", " ")
"""Where a block may be cut, the best first."""


def parts_of(blocks: Sequence[str], room: int, units: Callable[[str], int]) -> list[str]:
    """The blocks, one under another, in parts of at most ``room`` units each; none that is empty.

    A block that fits into one part is never cut.
    """
    found: list[str] = []
    for block in blocks:
        for piece in _pieces(block.strip("\n"), room, units):
            joined = f"{found[-1]}{_BETWEEN}{piece}" if found else ""
            if joined and units(joined) <= room:
                found[-1] = joined
            else:
                found.append(piece)
    return found


def _pieces(block: str, room: int, units: Callable[[str], int]) -> Iterator[str]:
    while block and units(block) > room:
        end = _longest(block, room, units)
        at = next((at for at in (block.rfind(cut, 1, end + len(cut)) for cut in _CUTS) if at > end // 2), end)
        if piece := block[:at].strip():
            yield piece
        block = block[at:].strip("\n" if block[at : at + 1] == "\n" else " ")
    if block:
        yield block


def _longest(block: str, room: int, units: Callable[[str], int]) -> int:
    """How many characters of a block fit; at least one, so that the rest becomes shorter."""
    low, high = 1, len(block)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if units(block[:middle]) <= room else (low, middle - 1)
    return low
