"""Which parts of a text are shown where not all of it fits: the least important is shortened or left out first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a text.

    Attributes:
        block: the text it belongs to; segments of one block are shown one under another, in their order.
        importance: a lower number gets room sooner.
        forms: what it may say, the fullest first. The last one is always shown; "" shows nothing.
        cut: makes a form of at most so many units, where there is room for more than the last form and not for the
            fullest; ``None`` where it is not cut to measure.
    """

    block: str
    importance: int
    forms: tuple[str, ...]
    cut: Callable[[int], str] | None = None


def fit(segments: Sequence[Segment], limit: int, units: Callable[[str], int]) -> dict[str, str]:
    """The text of each block that is not empty, all together in at most ``limit`` units.

    The last forms of all segments must fit; each segment then takes the fullest form that has room.
    """

    def size(form: str) -> int:
        return units(form) + 1 if form else 0

    chosen = [segment.forms[-1] for segment in segments]
    room = limit - sum(size(form) for form in chosen)
    for index in sorted(range(len(segments)), key=lambda index: segments[index].importance):
        least, forms = size(chosen[index]), segments[index].forms
        form = next(form for form in forms if size(form) - least <= max(room, 0) or form == forms[-1])
        cut = segments[index].cut
        if cut is not None and form == forms[-1] != forms[0] and room > 0:
            form = cut(least + room - 1)
        room -= size(form) - least
        chosen[index] = form
    blocks: dict[str, list[str]] = {}
    for segment, form in zip(segments, chosen, strict=True):
        if form:
            blocks.setdefault(segment.block, []).append(form)
    return {block: "\n".join(forms) for block, forms in blocks.items()}


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
