"""What the errors of a model server are called among ours.

Owns that translation: each says what to do about it. Must never repeat a prompt, an answer or a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.errors import ModelAway, ModelUnavailable
from core.i18n.sentences import Sentence, sentence

_OVERLOADED: Final = frozenset({429, 502, 503, 504})
"""Statuses of a server, or of a proxy before it, that takes no request for now."""


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

    def of_status(self, status: int, why: str) -> ModelUnavailable:
        """A refusal of a request; ``why`` is what the server calls it, which must not hold the request."""
        match status:
            case 401 | 403:
                return self.wrong_key()
            case 404:
                return self.unknown_model()
            case 400:
                return ModelUnavailable(
                    sentence(
                        "The language model at {address} refuses the request: {why}.", address=self.address, why=why
                    ),
                    remedy=sentence("If the prompt is too long, raise llm.context_tokens."),
                )
            case _:
                kind = ModelAway if status in _OVERLOADED else ModelUnavailable
                return kind(
                    sentence(
                        "The language model at {address} failed with status {status}.",
                        address=self.address,
                        status=status,
                    ),
                    remedy=sentence("Read its log, then try again."),
                )

    def wrong_key(self) -> ModelAway:
        """It refuses the key."""
        return ModelAway(
            sentence("The language model at {address} refuses the API key.", address=self.address),
            remedy=sentence("Set {key}.", key=f"ANTIPHON__{self.section.upper()}__API_KEY"),
        )

    def unknown_model(self) -> ModelAway:
        """It has no model of this name."""
        return ModelAway(
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
        )

    def unreached(self) -> ModelAway:
        """No connection is made."""
        start = sentence("Start the server, or correct {section}.base_url.", section=self.section)
        return ModelAway(
            sentence("The language model at {address} cannot be reached.", address=self.address),
            remedy=self.starting or start,
        )

    def silent(self, seconds: float) -> ModelAway:
        """It takes a connection and says nothing, not even which models it has."""
        return ModelAway(
            sentence(
                "The language model at {address} takes a connection, but does not answer within {seconds} seconds.",
                address=self.address,
                seconds=f"{seconds:.3g}",
            ),
            remedy=sentence("See in its log whether it hangs or still loads its model; start it again if it hangs."),
        )

    def late(self, seconds: float) -> ModelUnavailable:
        """A call took longer than it may."""
        return ModelUnavailable(
            sentence(
                "The language model at {address} did not answer within {seconds} seconds.",
                address=self.address,
                seconds=f"{seconds:.3g}",
            ),
            remedy=sentence("Allow more (llm.timeout_seconds, the profile's deadline_seconds), or use a faster model."),
        )

    def not_openai(self) -> ModelUnavailable:
        """Something else answers there."""
        return ModelUnavailable(
            sentence("What answers at {address} is not an OpenAI-compatible server.", address=self.address),
            remedy=sentence("Correct {section}.base_url; it usually ends with {end}.", section=self.section, end="/v1"),
        )
