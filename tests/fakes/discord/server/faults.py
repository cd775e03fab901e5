"""What can go wrong between Antiphon and the fake Discord.

Owns the list of faults to come. Each strikes once, or for as long as it says.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass
class Fault:
    """One thing that goes wrong.

    Attributes:
        method: of the requests that it strikes.
        pattern: what their path looks like, whole.
        status: what is answered; ``None`` closes the connection without an answer, ``RESET`` resets it, and
            ``SILENCE`` keeps it open without one.
        arrives: whether the request is carried out before.
        body: of the answer, in Discord's form.
        headers: of the answer.
        times: how often it strikes.
    """

    method: str
    pattern: str = ".*"
    status: int | None = None
    arrives: bool = False
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1

    SILENCE: ClassVar[int] = -1
    RESET: ClassVar[int] = -2


class Faults:
    """The faults to come, in order; ``chance`` is asked where none of them strikes."""

    def __init__(self) -> None:
        self.chance: Callable[[str, str], Fault | None] | None = None
        self._waiting: list[Fault] = []
        self._dead: Fault | None = None

    def add(self, fault: Fault) -> None:
        """Let something go wrong."""
        self._waiting.append(fault)

    def take(self, method: str, path: str) -> Fault | None:
        """The fault that strikes a request.

        After an answer of a removal was lost the line stays dead for it until something else is asked: HTTP clients
        repeat what may be repeated on their own.
        """
        dead, self._dead = self._dead, None
        if dead is not None and dead.method == method == "DELETE":
            self._dead = dead
            return Fault(method, status=None)
        for fault in self._waiting:
            if fault.method == method and re.fullmatch(fault.pattern, path):
                fault.times -= 1
                if fault.times == 0:
                    self._waiting.remove(fault)
                self._dead = fault if fault.status is None else None
                return fault
        return None if self.chance is None else self.chance(method, path)
