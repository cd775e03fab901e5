"""The errors of a model server as ours: each says what to do about it, and what kind of trouble the server is in.

Nothing of a prompt, an answer or a key is repeated.
"""

from dataclasses import dataclass
from enum import StrEnum

from core.engine.servers.abilities import Refusal
from core.errors import ModelAway, ModelUnavailable
from core.i18n.sentences import Sentence, sentence


class Trouble(StrEnum):
    """What is wrong with a server, as far as others need to know, such as who counts calls.

    ``ABSENT``: there is no connection, or no sign of life over one. ``LATE``: the call's time ended first. ``BUSY``: it
    takes no request for now, and may say for how long. ``BROKEN``: it failed. ``REFUSED``: it does not know the key or
    the model. ``FOREIGN``: what answers does not speak the protocol. ``REQUEST``: it refuses this one request, as it is
    sent. ``POST``: it refuses what the request is about, and would take another.
    """

    ABSENT = "absent"
    LATE = "late"
    BUSY = "busy"
    BROKEN = "broken"
    REFUSED = "refused"
    FOREIGN = "foreign"
    REQUEST = "request"
    POST = "post"


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
        is_embedded: whether it is the one that Antiphon runs itself.
    """

    address: str
    model: str
    section: str
    starting: Sentence | str = ""
    is_embedded: bool = False

    def of_refusal(self, refusal: Refusal, wait_seconds: float | None = None) -> ServerFault:
        """A refusal of a request.

        Args:
            wait_seconds: how long it asks to be left alone, by its ``Retry-After``.
        """
        status = refusal.status
        if status in {400, 403, 422} and refusal.is_filtered:
            return self.refused_post(refusal.code or refusal.words)
        match status:
            case 401 | 403:
                return self.wrong_key()
            case 404:
                return self.unknown_model()
            case 400 | 413 | 422:
                return ServerFault(
                    sentence(
                        "The language model at {address} refuses the request: {why}.",
                        address=self.address,
                        why=_without_stop(refusal.said),
                    ),
                    remedy=self._remedy_of(refusal),
                    trouble=Trouble.REQUEST,
                )
            case 429:
                return ServerFault(
                    sentence(
                        "The language model at {address} takes no more requests for now (status 429).",
                        address=self.address,
                    ),
                    remedy=sentence(
                        "Try again later, lower llm.parallel, or raise the limit where the server is paid for."
                    ),
                    trouble=Trouble.BUSY,
                    wait_seconds=wait_seconds,
                )
            case _:
                return ServerFault(
                    sentence(
                        "The language model at {address} failed with status {status}.",
                        address=self.address,
                        status=status,
                    ),
                    remedy=sentence("Read its log, then try again."),
                    trouble=Trouble.BUSY if status == 503 and wait_seconds is not None else Trouble.BROKEN,
                    wait_seconds=wait_seconds,
                )

    def _remedy_of(self, refusal: Refusal) -> Sentence:
        if self.is_embedded:
            return sentence("If the prompt is too long, raise llm.context_tokens.")
        if refusal.is_too_long:
            return sentence("Give the server a longer context, or name a model that has one in {key}.", key=self._model)
        return sentence("Name a model or a server that takes such requests; antiphon doctor tries it.")

    @property
    def _model(self) -> str:
        return f"{self.section}.model"

    def refused_post(self, why: str) -> ServerFault:
        """It refuses what the post says; it is there, and answers others."""
        return ServerFault(
            sentence(
                "The language model at {address} refused this post ({why}).",
                address=self.address,
                why=_without_stop(why) or "content_filter",
            ),
            remedy=sentence(
                "Another post may be taken. Lower the content filter of the server, or use a model without."
            ),
            trouble=Trouble.POST,
        )

    def without_choice(self) -> ServerFault:
        """Its answer holds no text at all."""
        return ServerFault(
            sentence("The language model at {address} answered without a single text.", address=self.address),
            remedy=sentence("Read its log, then try again."),
            trouble=Trouble.BROKEN,
        )

    def thoughts_only(self) -> ServerFault:
        """Its model thinks aloud, and used up the room for an answer with that."""
        return ServerFault(
            sentence(
                "The language model at {address} thinks aloud and came to no answer in the room that it has.",
                address=self.address,
            ),
            remedy=sentence(
                "Set llm.thinking to low, switch its thinking off at the server, or name another model in {key}.",
                key=self._model,
            ),
            trouble=Trouble.REQUEST,
        )

    def cut(self) -> ServerFault:
        """Its answer came to no end, also with more room."""
        return ServerFault(
            sentence("The language model at {address} came to no end of its answer.", address=self.address),
            remedy=sentence("Name another model in {key}.", key=self._model),
            trouble=Trouble.REQUEST,
        )

    def streamed(self) -> ServerFault:
        """It answers piece by piece though it was not asked to."""
        return ServerFault(
            sentence(
                "The language model at {address} sends a stream of events, which nobody asked for.",
                address=self.address,
            ),
            remedy=sentence("Switch streaming off at the server, or at the proxy before it."),
            trouble=Trouble.FOREIGN,
        )

    def wrong_key(self) -> ServerAway:
        return ServerAway(
            sentence("The language model at {address} refuses the API key.", address=self.address),
            remedy=sentence("Set {key}.", key=f"ANTIPHON__{self.section.upper()}__API_KEY"),
            trouble=Trouble.REFUSED,
        )

    def unknown_model(self) -> ServerAway:
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


def _without_stop(words: Sentence | str) -> Sentence | str:
    """A server's words without their last full stop, since a sentence goes on after them."""
    return words if isinstance(words, Sentence) else words.rstrip(" .")
