"""How a button, a select or a dialog on Discord carries its ``Target``.

Owns the form of a custom id, which Discord keeps beside the component.
"""

from __future__ import annotations

import re
from typing import Final

from adapters.common.cards.acts import Act, Target

TEMPLATE: Final = (
    r"antiphon:(?P<act>[a-z_]{1,16}):(?P<case>[0-9a-f]{32}):(?P<version>[0-9]{1,10})(?::(?P<extra>[0-9a-z]{1,16}))?"
)
_PATTERN: Final = re.compile(TEMPLATE)


def custom_id(target: Target) -> str:
    """At most 83 of the 100 characters that Discord keeps."""
    parts = ["antiphon", target.act, target.case_id, str(target.version), *([target.extra] if target.extra else [])]
    return ":".join(parts)


def target_of(custom_id: str) -> Target | None:
    """What a custom id says; ``None`` if it is not one of ours."""
    match = _PATTERN.fullmatch(custom_id)
    if match is None or match["act"] not in list(Act):
        return None
    return Target(Act(match["act"]), match["case"], int(match["version"]), match["extra"] or "")
