"""What the errors of a model server are called among ours.

Owns that translation: each says what to do about it, and what kind of trouble the server is in. Must never repeat a
prompt, an answer or a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.errors import ModelAway, ModelUnavailable
from core.i18n.sentences import Sentence, sentence

_OVERLOADED: Final = frozenset({429, 502, 503, 504})
"""Statuses of a server, or of a proxy before it, that takes no request for now."""


class Trouble(StrEnum):
    """What is wrong with a server, as far as others need to know: several servers, and who counts calls.

    ``ABSENT``: there is no connection, or no sign of life over one. ``LATE``: the call's time ended first. ``BUSY``: it
    takes no request for now, and may say for how long. ``BROKEN``: it failed. ``REFUSED``: it does not know the key or
    the model. ``FOREIGN``: what answers does not speak the protocol. ``REQUEST``: it refuses this one request.
    """

    ABSENT = "absent"
    LATE = "late"
    BUSY = "busy"
    BROKEN = "broken"
    REFUSED = "refused"
    FOREIGN = "foreign"
    REQUEST = "request"


class ServerFault(ModelUnavailable):
    """A call of a server failed. ``wait_seconds`` is what a busy one asked for; ``None`` where it said nothing."""

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        trouble: Trouble = Trouble.BROKEN,
        wait_seconds: float | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.trouble = trouble
        self.wait_seconds = wait_seconds


class ServerAway(ServerFault, ModelAway):
    """A call of a server failed, and every other one would."""


@dataclass(frozen=True, slots=True)
class ServerFaults:
    """The errors of one server.

    Attributes:
        address: its ``base_url``.
        model: the name that it should know the model by.
        section: the table of config.toml that describes it.
        starting: how to start this server, where it is known.
    """

    address: str
    model: str
    section: str
    starting: Sentence | str = ""

    def of_status(self, status: int, why: str, wait_seconds: float | None = None) -> ServerFault:
        """A refusal of a request.

        Args:
            why: what the server calls it, which must not hold the request.
            wait_seconds: how long it asks to be left alone, by its ``Retry-After``.
        """
        match status:
            case 401 | 403:
                return self.wrong_key()
            case 404:
                return self.unknown_model()
            case 400:
                return ServerFault(
                    sentence(
                        "The language model at {address} refuses the request: {why}.", address=self.address, why=why
                    ),
                    remedy=sentence("If the prompt is too long, raise llm.context_tokens."),
                    trouble=Trouble.REQUEST,
                )
            case _:
                kind = ServerAway if status in _OVERLOADED else ServerFault
                return kind(
                    sentence(
                        "The language model at {address} failed with status {status}.",
                        address=self.address,
                        status=status,
                    ),
                    remedy=sentence("Read its log, then try again."),
                    trouble=_trouble_of(status, wait_seconds),
                    wait_seconds=wait_seconds,
                )

    def wrong_key(self) -> ServerAway:
        """It refuses the key."""
        return ServerAway(
            sentence("The language model at {address} refuses the API key.", address=self.address),
            remedy=sentence("Set {key}.", key=f"ANTIPHON__{self.section.upper()}__API_KEY"),
            trouble=Trouble.REFUSED,
        )

    def unknown_model(self) -> ServerAway:
        """It has no model of this name."""
        return ServerAway(
            sentence(
                "The language model at {address} does not know the model {model}.",
                address=self.address,
                model=f"{self.model!r}",
            ),
            remedy=sentence(
                "Correct {section}.model or {section}.base_url; {list} says what it has.",
                section=self.section,
                list=f"{self.address}/models",
            ),
            trouble=Trouble.REFUSED,
        )

    def unreached(self) -> ServerAway:
        """No connection is made."""
        start = sentence("Start the server, or correct {section}.base_url.", section=self.section)
        return ServerAway(
            sentence("The language model at {address} cannot be reached.", address=self.address),
            remedy=self.starting or start,
            trouble=Trouble.ABSENT,
        )

    def silent(self, seconds: float) -> ServerAway:
        """It takes a connection and says nothing, not even which models it has."""
        return ServerAway(
            sentence(
                "The language model at {address} takes a connection, but does not answer within {seconds} seconds.",
                address=self.address,
                seconds=f"{seconds:.3g}",
            ),
            remedy=sentence("See in its log whether it hangs or still loads its model; start it again if it hangs."),
            trouble=Trouble.ABSENT,
        )

    def late(self, seconds: float) -> ServerFault:
        """A call took longer than it may."""
        return ServerFault(
            sentence(
                "The language model at {address} did not answer within {seconds} seconds.",
                address=self.address,
                seconds=f"{seconds:.3g}",
            ),
            remedy=sentence("Allow more (llm.timeout_seconds, the profile's deadline_seconds), or use a faster model."),
            trouble=Trouble.LATE,
        )

    def not_openai(self) -> ServerFault:
        """Something else answers there."""
        return ServerFault(
            sentence("What answers at {address} is not an OpenAI-compatible server.", address=self.address),
            remedy=sentence("Correct {section}.base_url; it usually ends with {end}.", section=self.section, end="/v1"),
            trouble=Trouble.FOREIGN,
        )


def _trouble_of(status: int, wait_seconds: float | None) -> Trouble:
    """A status of 500 or more is the server's; a 503 that says when to come back is no failure."""
    if status == 429 or (status == 503 and wait_seconds is not None):
        return Trouble.BUSY
    return Trouble.BROKEN if status >= 500 else Trouble.REQUEST
