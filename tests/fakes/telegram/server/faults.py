"""What can go wrong between Antiphon and the fake Telegram.

Owns the list of faults to come. Each strikes so often as it says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.telegram.server.refusals import Refused, refused

KINDS: Final = ("429", "409", "5xx", "5xx after", "lose reply", "drop", "timeout", "not JSON")
"""``drop`` closes the connection before the request is carried out, ``lose reply`` after it; ``timeout`` carries it out
and never answers; ``not JSON`` carries it out and answers as a broken proxy would."""

_ARRIVE: Final = ("5xx after", "lose reply", "timeout", "not JSON")


@dataclass
class BotApiFault:
    """One thing that goes wrong.

    Attributes:
        method: of the requests that it strikes; ``*`` for any but getUpdates.
        kind: one of ``KINDS``.
        count: how often it strikes.
        retry_after: of a 429, in seconds.
        chat: the only chat that it strikes, if any.
    """

    method: str
    kind: str
    count: int = 1
    retry_after: int = 1
    chat: int | None = None

    @property
    def arrives(self) -> bool:
        """Whether the request is carried out before."""
        return self.kind in _ARRIVE

    def refusal(self) -> Refused | None:
        """The error that is answered, or ``None`` where the connection is struck."""
        if self.kind == "429":
            return refused(429, f"retry after {self.retry_after}", retry_after=self.retry_after)
        if self.kind == "409":
            return refused(
                409, "terminated by other getUpdates request; make sure that only one bot instance is running"
            )
        return refused(502) if self.kind in ("5xx", "5xx after") else None


class BotApiFaults:
    """The faults to come, in order; ``chance`` is asked where none of them strikes."""

    def __init__(self) -> None:
        self.chance: Callable[[str, dict[str, Any]], BotApiFault | None] | None = None
        self._waiting: list[BotApiFault] = []

    def add(self, fault: BotApiFault) -> None:
        """Let something go wrong.

        Raises:
            ValueError: nothing goes wrong in that way.
        """
        if fault.kind not in KINDS:
            raise ValueError(f"{fault.kind}: the faults are {', '.join(KINDS)}")
        self._waiting.append(fault)

    def take(self, method: str, parameters: dict[str, Any]) -> BotApiFault | None:
        for fault in self._waiting:
            is_any = fault.method == "*" and method != "getUpdates"
            is_there = fault.chat is None or str(fault.chat) == str(parameters.get("chat_id"))
            if (fault.method == method or is_any) and is_there:
                fault.count -= 1
                if fault.count == 0:
                    self._waiting.remove(fault)
                return fault
        return None if self.chance is None else self.chance(method, parameters)
