"""``--set NAME=VALUE``: other values for a stage.

Owns how a text becomes a value of the type that stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from core.errors import BadInput

V = TypeVar("V")


def changed_by(values: V, given: Sequence[str] | None) -> V:
    """The values with those of ``--set`` that they have, in the type that they have.

    Raises:
        BadInput: a value is not of that type.
    """
    known = {field.name: getattr(values, field.name) for field in fields(values)}  # type: ignore[arg-type]
    changed = {}
    for one in given or ():
        name, _, text = one.partition("=")
        if name in known:
            try:
                changed[name] = _as(known[name], text)
            except ValueError as err:
                kind = type(known[name]).__name__
                raise BadInput(
                    f"{name} cannot be {text!r}.", remedy=f"It takes a value such as {known[name]} ({kind})."
                ) from err
    return replace(values, **changed)  # type: ignore[type-var]  # V is a dataclass


def _as(example: Any, text: str) -> Any:
    if isinstance(example, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    return tuple(text.split(",")) if isinstance(example, tuple) else type(example)(text)


def refuse_unknown(given: Sequence[str] | None, *several: Any) -> None:
    """Refuse a name that none of these values has.

    Raises:
        BadInput: there is one, or one without a value.
    """
    known = sorted({field.name for values in several for field in fields(values)})
    for one in given or ():
        if one.partition("=")[0] not in known or "=" not in one:
            raise BadInput(
                f"--set {one} names no value of this stage.", remedy=f"These can be set: {', '.join(known)}."
            )
