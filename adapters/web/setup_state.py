"""How far an installation is set up, as the page of setup shows it; no secret is part of it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class PlatformSetup:
    """A chat platform as this installation serves it.

    Attributes:
        has_token: whether one is configured.
        since: since when it is connected; ``None`` where it is not.
        problem: what is wrong with it or its account, with ``remedy``; "" for nothing.
    """

    platform: str
    has_token: bool = False
    since: datetime | None = None
    problem: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class WritingModel:
    """The language model that writes drafts, and what its last trial found.

    Attributes:
        name: "" where replies are those that people prepared.
        problem: what is wrong with it, with ``remedy``; "" for nothing.
        tried_on: an ISO date; "" where it was never tried.
        writes, reads: the languages that it was found fit for, by their ISO 639-1 codes.
        judges: whether it was found fit to compare drafts.
    """

    name: str
    problem: str = ""
    remedy: str = ""
    tried_on: str = ""
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    judges: bool = False


@dataclass(frozen=True, slots=True)
class SetupState:
    """How far an installation is set up for a community, as it is now.

    Attributes:
        connections: the community's platform; of the sample community every one that is configured.
        language: the language of communities that chose none.
        replies_in: the languages in which drafts are written, by their codes.
        managers, deciders: how many people may change the settings, and approve replies, as far as they were seen.
        with_account: how many of those who may approve get into the dashboard.
    """

    connections: tuple[PlatformSetup, ...]
    model: WritingModel
    language: str
    replies_in: tuple[str, ...]
    managers: int
    deciders: int
    with_account: int
