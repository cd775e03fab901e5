"""Codes of hate, and calls that name nobody.

Owns the list beside this file. A code decides nothing: it keeps a post from being read as harmless.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from core.wording.targets.groups import groups_named


def is_coded(text: str) -> bool:
    """Whether a text uses a code of hate, or calls one of the groups an illness; not one that explains or objects."""
    patterns = _patterns()
    return bool(
        patterns["codes"].search(text)
        or any(groups_named(match.group()) for match in patterns["of_groups"].finditer(text))
    ) and not patterns["about"].search(text)


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    rows = tomllib.loads(resources.files("core.wording.targets").joinpath("codes.toml").read_text(encoding="utf-8"))
    flags = re.IGNORECASE | re.MULTILINE
    return {name: re.compile(said if isinstance(said, str) else "|".join(said), flags) for name, said in rows.items()}
