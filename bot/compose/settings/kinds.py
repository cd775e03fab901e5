"""The kinds of values that several sections take.

Owns how each is written in the environment, and what is refused.
"""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
WebAddress = Annotated[str, Field(pattern=r"^https?://\S+$")]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2}$")]


def _of_a_port(address: str) -> str:
    """Refuse an address whose port is no number from 0 to 65535, which the client of the server trips over."""
    try:
        urlsplit(address).port  # noqa: B018 - reading it checks it
    except ValueError as err:
        raise ValueError(f"The port of {address} is no number from 0 to 65535") from err
    return address


ServerAddress = Annotated[str, Field(pattern=r"^(https?://\S+)?$"), AfterValidator(_of_a_port)]


def in_words(value: object) -> object:
    """Split a list, which a variable of the environment holds as words separated by commas."""
    return [word.strip() for word in value.split(",")] if isinstance(value, str) else value


def _addresses(value: object) -> object:
    """As ``in_words``, where an empty text is an empty list."""
    return [] if value == "" else in_words(value)


def _of_servers(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what is no address of a server, and one that stands there twice."""
    for address in addresses:
        if not re.fullmatch(r"https?://\S+", address):
            raise ValueError("Each address begins with http:// or https:// and has no blanks")
        _of_a_port(address)
    if len({address.rstrip("/") for address in addresses}) < len(addresses):
        raise ValueError("Name each server once")
    return addresses


ServerAddresses = Annotated[tuple[str, ...], BeforeValidator(_addresses), AfterValidator(_of_servers)]
"""One address or several, as a text or a list. Checked as a whole, so that an error names the key."""


class Section(BaseModel):
    """A table of the settings: frozen, with no key that is not known, and no value in a message."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
