"""What a call of a model server cost, for what counts calls. It loads no client, since a library mode has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.engine.servers.errors import Trouble


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was sent to a server.

    Attributes:
        server: its address, as it is configured.
        seconds: from the sending to the answer, or to the failure.
        prompt_tokens: as the server counts them; 0 where there was no answer.
        answer_tokens: those of all answers to the call.
        failed: what was wrong; ``None`` where there was an answer.
    """

    server: str
    seconds: float
    prompt_tokens: int = 0
    answer_tokens: int = 0
    failed: Trouble | None = None


OnCall = Callable[[Call], None]
"""Called after each call; must not block or raise."""


def tell_nobody(_: Call) -> None:
    """Count no call."""
