"""Numbers with their nouns, in English: what a terminal, a log or the trace of a draft says.

Owns the plural. Sentences that are translated have their own forms in the catalogs.
"""

from __future__ import annotations


def counted(count: float, one: str, many: str = "") -> str:
    """A number with its noun: "1 day", "1,204 days"; ``many`` where it is not ``one`` with an s."""
    said = f"{count:,}" if isinstance(count, int) else f"{count:,g}"
    return f"{said} {one if count == 1 else many or f'{one}s'}"
