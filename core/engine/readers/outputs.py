"""The names of the outputs of the two small readers.

``POST_OUTPUTS`` and ``DRAFT_OUTPUTS`` are what the next training gives its weights. The weights that ship name their
columns, in their order, in their own file: ``by_name`` goes by that.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from core.models import Intent, TargetGroup


class DraftFault(StrEnum):
    """What can be wrong with what a reply says: the kinds that blind readers would not post."""

    CONCEDES = "concedes"
    PRESUPPOSES = "presupposes"
    MIRRORS = "sets one group above another"
    STEREOTYPES = "stereotypes or patronises"
    INSULTS = "insults the author"
    CALLS_FOR_HARM = "calls for harm or exclusion"
    OFF_SUBJECT = "another group or subject"
    GENERIC = "generic"
    RESTATES = "restates at length"


INTENTS: Final = tuple(Intent)
POST_OUTPUTS: Final = ("hateful", "implied", "threat", "person", "severity", *TargetGroup)
"""Probabilities, but for the severity from 1 to 5; the groups are those attacked."""
DRAFT_OUTPUTS: Final = ("unfit", "opposes", *DraftFault, *INTENTS)
"""Probabilities; the intents sum to 1. ``unfit``: two readers would not post it, for whatever fault."""


def by_name(outputs: Sequence[str], row: Iterable[float]) -> dict[str, float]:
    """One row of numbers under the names that the weights' own file gives its columns.

    A kind that these weights were not taught, because it was named later, is said to be absent: 0.

    Raises:
        ValueError: the row has another length than the file tells.
    """
    return dict.fromkeys((*POST_OUTPUTS, *DRAFT_OUTPUTS), 0.0) | dict(zip(outputs, map(float, row), strict=True))
