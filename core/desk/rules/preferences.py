"""How somebody wants the dashboard, and which categories of cases they keep out of their own queue."""

from dataclasses import dataclass
from typing import Final

from core.models import TargetGroup

CALLS_FOR_VIOLENCE: Final = 5
"""The severity of every post that threatens or calls for violence."""


@dataclass(frozen=True, slots=True)
class HiddenCategories:
    """Categories of cases that somebody keeps out of their own queue: posts against some groups, and threats."""

    groups: frozenset[TargetGroup] = frozenset()
    threats: bool = False

    def has(self, group: TargetGroup | None, severity: int | None) -> bool:
        return group in self.groups or (self.threats and severity == CALLS_FOR_VIOLENCE)


NOTHING_HIDDEN: Final = HiddenCategories()


@dataclass(frozen=True, slots=True)
class Preferences:
    """How somebody wants the pages. Kept with their account, shown to nobody else, and changes nothing for others.

    Attributes:
        language: one of ``core.i18n.catalogs.LANGUAGES``; "" for the browser's.
        has_keys: whether single keys act.
        is_quiet: whether pages stay as they are until they are loaded again, without numbers of cases.
        hides: what is left out of their queue.
    """

    language: str = ""
    has_keys: bool = False
    is_quiet: bool = False
    hides: HiddenCategories = NOTHING_HIDDEN
