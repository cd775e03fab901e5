"""What the engine and the application need from outside, as Protocols.

Owns the shapes of the ports and of what crosses them. Imports no vendor.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.models import Brief, Evidence, FlaggedPost, Posted, PostRef, TargetGroup
from core.moderation.approval import ApprovedReply
from core.moderation.cards import Card
from core.moderation.roles import Role


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt: ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Generation:
    """What a generation asks for. ``schema`` is a fixed JSON schema, never made from a user's text."""

    max_tokens: int
    temperature: float = 0.0
    n: int = 1
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said: ``n`` texts, and the tokens they took."""

    texts: tuple[str, ...]
    prompt_tokens: int
    completion_tokens: int


class LanguageModel(Protocol):
    """A chat model. Every error that it raises is a ``ModelUnavailable``."""

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """Write ``how.n`` answers."""
        ...

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        """Read the probability of each one-token option from one generated token's log-probabilities.

        Returns the options' shares (summing to 1), or ``None`` where none of them was among the likely tokens.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def languages(self) -> frozenset[str]:
        """The ISO 639-1 codes of the languages whose vectors can be trusted."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension), each of length 1. Blocking: call it in a thread."""
        ...


@dataclass(frozen=True, slots=True)
class EvidenceQuery:
    """A search for passages, at most ``limit`` kept: several queries at once, of which the first is the post itself.

    The passages are ranked to the claim and the first query; the others widen the coarse search. Those about
    ``target_group`` are preferred. Where given, only passages about ``groups``, published in ``since`` or later, by
    ``publishers`` and in ``languages`` are looked at.
    """

    queries: tuple[str, ...]
    claim: str
    target_group: TargetGroup | None = None
    limit: int = 3
    groups: tuple[TargetGroup, ...] = ()
    since: int | None = None
    publishers: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: passages, best first, and what a person should know of it, in sentences."""

    passages: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()


class EvidenceSource(Protocol):
    """Where evidence comes from."""

    async def search(self, query: EvidenceQuery) -> Found:
        """The passages that bear on the claim; none means: no evidence. Raises ``IndexUnavailable``."""
        ...


class Reranker(Protocol):
    """Tells how far passages bear on a text."""

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each text and passage one number in [0, 1]. Raises ``ScorerUnavailable``."""
        ...


class Scorer(Protocol):
    """One reward. ``name`` is a field of ``Scores``; higher is better, in [0, 1]."""

    @property
    def name(self) -> str:
        """The field of ``Scores`` that this scorer fills."""
        ...

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        """One number for each text; ``None`` where the scorer cannot tell (another language, no evidence).

        Raises:
            ScorerUnavailable: its model cannot be loaded, or fails.
        """
        ...


class HateDetector(Protocol):
    """A filter that is fast enough for every message of a watched channel."""

    async def score(self, text: str) -> float:
        """How likely a text is hateful, in [0, 1]. Raises ``ScorerUnavailable``."""
        ...


@dataclass(frozen=True, slots=True)
class Inferred:
    """What a premise says about a hypothesis, as probabilities in [0, 1]; what both leave to 1 is neutral."""

    entailment: float
    contradiction: float


@runtime_checkable
class Inference(Protocol):
    """Natural language inference."""

    @property
    def languages(self) -> frozenset[str]:
        """The ISO 639-1 codes of the languages that it can be trusted in."""
        ...

    async def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Inferred]:
        """What each premise, the first of its pair, says about the hypothesis, the second.

        Raises:
            ScorerUnavailable: its model cannot be loaded, or fails.
        """
        ...


class ChatPlatform(Protocol):
    """A place where people talk. Every adapter passes the conformance suite of ``tests/conformance.py``."""

    @property
    def name(self) -> str:
        """The ``PostRef.platform`` of its posts."""
        ...

    @property
    def max_characters(self) -> int:
        """The longest reply that it takes."""
        ...

    def flags(self) -> AsyncIterator[FlaggedPost]:
        """The posts that people flag, as they do, until the platform is closed."""
        ...

    async def read(self, ref: PostRef) -> str | None:
        """The post's text as it stands now, or ``None`` if it is gone.

        Raises:
            TextHidden: it stands there, but its words are not for us; its ``revision`` tells whether it was edited.
            PlatformUnavailable: the platform cannot be asked.
        """
        ...

    @property
    def resend_seconds(self) -> float:
        """How long after its first send a reply may be sent again: in that time the same ``key`` posts once.

        0 where the platform knows no keys. Shorter than what the platform promises, since the clocks differ.
        """
        ...

    async def post(self, reply: ApprovedReply) -> Posted:
        """Post exactly ``reply.text`` as an answer, in the channel of the post that it answers.

        Within ``resend_seconds`` the same ``reply.key`` never posts twice. The adapter makes one request and lets no
        library repeat it, unless every repetition carries the key. Only ``bot.sending.gate`` may call this.

        Raises:
            PlatformBusy: it was certainly not posted, and may be tried again later: a rate limit, or a server error
                before the body was taken.
            PlatformUnavailable: it was certainly not posted, and will not be.
            AmbiguousSend: it may have been posted.
        """
        ...

    async def find_reply(self, reply: ApprovedReply) -> Posted | None:
        """Our reply, read back from the platform after an ambiguous send; ``None`` if it does not stand there.

        Raises:
            PlatformUnavailable: the platform cannot be asked, or has no history that a bot may read.
        """
        ...

    async def retract(self, ref: PostRef) -> None:
        """Take our own reply away; one that is gone already is no error. Only ``bot.sending.gate`` may call this.

        Raises:
            PlatformBusy: it certainly still stands; try again later.
            PlatformUnavailable: it certainly still stands, and cannot be taken away: it is not ours, or too old.
            AmbiguousSend: it may still stand.
        """
        ...

    async def close(self) -> None:
        """End ``flags`` and give back what is held."""
        ...


class RoleSource(Protocol):
    """Who may do what in a community by the platform's own rights, such as who may delete messages there."""

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        """The roles that somebody has now, none for who is not there any more.

        Args:
            community: the ``PostRef.community``.
            user: the platform's id of the person.

        Raises:
            PlatformUnavailable: the platform cannot be asked.
        """
        ...


class ReviewSurface(Protocol):
    """Where the people of a platform review cases: cards in a channel of theirs."""

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or put its new form in place of the one that ``shown`` names; where it stands now.

        One that is gone is shown anew. Shown twice for one case without ``shown``, within ``resend_seconds`` of the
        platform, it stands once: a crash between showing and keeping the place leaves no second card.

        Raises:
            PlatformBusy: not now; ``retry_after_seconds`` says when.
            PlatformUnavailable: the channel is gone or closed to us; the remedy is for the community's manager.
        """
        ...
