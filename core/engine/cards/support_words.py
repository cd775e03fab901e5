"""Prepared words of support for the person attacked, and the project's notice on the rules, by language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


def support_in(language: str) -> tuple[str, ...]:
    """The prepared words of support in a language; none where Antiphon does not write it."""
    return tuple(_words()["support"].get(language, ()))


def project_notices() -> dict[str, str]:
    """The project's notice on the rules, by language."""
    return dict(_words()["notice"])


@cache
def _words() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("core.engine.cards").joinpath("beside.toml").read_text(encoding="utf-8"))
