"""What can go wrong between Antiphon and the fake instance.

Owns the list of faults to come. Each strikes so often as it says.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.fakes.mastodon.server.asked import Asked
from tests.fakes.mastodon.server.refusing.refusals import FORBIDDEN, NO_TOKEN, NOT_FOUND, TOO_MANY

KINDS: Final = (
    "drop", "lose reply", "timeout", "slow", "not JSON", "500 after", "401", "403", "404", "422", "429", "500", "503",
)  # fmt: skip
"""``drop`` closes the connection before the request is carried out, ``lose reply`` after it; ``timeout`` carries it out
and never answers; ``slow`` waits before it is carried out; ``not JSON`` carries it out and answers as a broken proxy
would; ``500 after`` carries it out and says that it failed."""

WORDS: Final = {
    401: NO_TOKEN,
    403: FORBIDDEN,
    404: NOT_FOUND,
    422: "Validation failed: Text is not allowed",
    429: TOO_MANY,
    500: "An unexpected error occurred on our end",
    503: "Service is temporarily unavailable",
}
_ARRIVE: Final = ("lose reply", "timeout", "slow", "not JSON", "500 after")


@dataclass
class Fault:
    """One thing that goes wrong.

    Attributes:
        path: of the requests that it strikes: ``*`` is any text between two slashes, ``**`` any text at all.
        kind: one of ``KINDS``.
        method: such as ``POST``; ``*`` for any.
        count: how often it strikes; ``None`` until it is ended.
        seconds: of a 429, until the limit is lifted; of ``slow``, how long the request waits.
    """

    path: str
    kind: str
    method: str = "*"
    count: int | None = 1
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind}: the faults are {', '.join(KINDS)}")

    @property
    def arrives(self) -> bool:
        """Whether the request is carried out."""
        return self.kind in _ARRIVE

    @property
    def code(self) -> int | None:
        """The status of the error that is answered, or ``None`` where it is none."""
        first = self.kind.partition(" ")[0]
        return int(first) if first.isdigit() else None

    def strikes(self, asked: Asked) -> bool:
        parts = [re.escape(part).replace(r"\*", "[^/]+") for part in self.path.split("**")]
        return self.method in ("*", asked.method) and re.fullmatch(".*".join(parts), asked.path) is not None


class Faults:
    """The faults to come, in order; ``chance`` is asked where none of them strikes."""

    def __init__(self) -> None:
        self.chance: Callable[[Asked], Fault | None] | None = None
        self._waiting: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Let something go wrong."""
        self._waiting.append(fault)

    def end(self, fault: Fault) -> None:
        """Let it go wrong no more; one that struck as often as it said is ended already."""
        if fault in self._waiting:
            self._waiting.remove(fault)

    def take(self, asked: Asked) -> Fault | None:
        for fault in self._waiting:
            if fault.strikes(asked):
                if fault.count is not None:
                    fault.count -= 1
                    if fault.count == 0:
                        self._waiting.remove(fault)
                return fault
        return None if self.chance is None else self.chance(asked)
