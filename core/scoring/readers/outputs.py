"""What the two small readers say: the names of their outputs, in the order of the shipped weights.

Owns the names only. Plain values; they know neither the weights nor the training.
"""

from __future__ import annotations

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
