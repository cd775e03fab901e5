"""The kinds of values that several sections take.

Owns how each is written in the environment, and what is refused.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2}$")]


def without_login(address: str) -> str:
    """Refuse an address with a name or a password in it, which logs, cards and errors would show.

    Any @ counts: a password may hold a slash, so that what stands after it looks like a path.
    """
    if "@" in address:
        raise ValueError(
            "Take the name and the password out of the address: logs and errors show it. A key belongs in api_key "
            "(in the environment ANTIPHON__LLM__API_KEY and the like)"
        )
    return address


def _of_a_port(address: str) -> str:
    """Refuse an address whose port is no number from 0 to 65535, which the client of the server trips over."""
    try:
        urlsplit(address).port  # noqa: B018 - reading it checks it
    except ValueError as err:
        raise ValueError(f"The port of {address} is no number from 0 to 65535") from err
    return address


def _as_one(value: object) -> object:
    """Refuse several addresses, in a list or between commas."""
    if isinstance(value, list | tuple) or (isinstance(value, str) and "," in value):
        raise ValueError("Name one address; several servers stand behind a balancer (docs/running/gpu.md)")
    return value


WebAddress = Annotated[
    str,
    BeforeValidator(_as_one),
    Field(pattern=r"^https?://\S+$"),
    AfterValidator(without_login),
    AfterValidator(_of_a_port),
]
ServerAddress = Annotated[
    str,
    BeforeValidator(_as_one),
    Field(pattern=r"^(https?://\S+)?$"),
    AfterValidator(without_login),
    AfterValidator(_of_a_port),
]


def in_words(value: object) -> object:
    """Split a list, which a variable of the environment holds as words separated by commas."""
    return [word.strip() for word in value.split(",")] if isinstance(value, str) else value


class Section(BaseModel):
    """A table of the settings: frozen, with no key that is not known, and no value in a message."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
