"""What the dashboard may ask of the application beside the desk, as Protocols: who comes in, and what waits.

What people decide goes through ``core.desk.rules.desk_ports``, as on every platform.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol

from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Holder, ReplyNow, ReviewOfPrepared
from core.desk.rules.numbers import Numbers
from core.desk.rules.own_cards import WrittenCard
from core.desk.rules.roles import Person, Role
from core.engine.cards.bank import CardVerdict, OwnReply
from core.engine.scoring.check import CheckedSentence
from core.models import Intent, TargetGroup

CALLS_FOR_VIOLENCE: Final = 5
"""The severity of every post that threatens or calls for violence."""


@dataclass(frozen=True, slots=True)
class PreparedReply:
    """A prepared reply as a community has it.

    ``intent`` is ``None`` for a card's claim, ``stereotype`` for a whole group. ``is_own``: the community added it.
    ``is_hidden``: one of the project's that the community took out of its drafts.
    """

    id: str
    language: str
    target_group: TargetGroup
    stereotype: str | None
    intent: Intent | None
    text: str
    is_own: bool
    is_hidden: bool = False
    review: ReviewOfPrepared | None = None


@dataclass(frozen=True, slots=True)
class CommunityCard:
    """A card that a community wrote, who proposed it, and what a second person said of it.

    Nobody is the ``proposer`` of a card whose proposer was erased. Drafts start from it where ``is_accepted``.
    """

    card: WrittenCard
    proposer: ReviewOfPrepared | None
    verdict: CardVerdict | None
    reviewer: ReviewOfPrepared | None
    is_accepted: bool


class OwnLibrary(Protocol):
    """A community's prepared replies and cards, for the people of its platform, who are asked for their roles.

    Those who may see its statistics read them, those who may configure it change them: ``NotAllowed`` for others.
    ``BadInput`` says what is wrong with a text, or that there is no such reply or card. ``note`` is their reason.
    """

    async def replies(self, platform: str, community: str, by: Person) -> list[PreparedReply]:
        """All prepared replies: its own first, then the project's, including those that it took out."""
        ...

    async def add_reply(self, platform: str, community: str, by: Person, reply: OwnReply, note: str = "") -> str:
        """Add a reply of its own, which ``core.desk.rules.own_cards`` checked; gives its id."""
        ...

    async def review_reply(self, platform: str, community: str, by: Person, id_: str) -> None:
        """Record that this person has read a reply and stands for it."""
        ...

    async def remove_reply(
        self, platform: str, community: str, by: Person, id_: str, note: str = "", *, is_undone: bool = False
    ) -> None:
        """Delete one of its own, or use one of the project's no more; ``is_undone`` uses that again."""
        ...

    async def cards(self, platform: str, community: str, by: Person) -> list[CommunityCard]: ...

    async def propose_card(
        self, platform: str, community: str, by: Person, row: Mapping[str, Any], note: str = ""
    ) -> bool:
        """Check and keep a card as it is written down, or a new version of one; whether anything changed."""
        ...

    async def review_card(
        self, platform: str, community: str, by: Person, id_: str, verdict: CardVerdict, digest: str
    ) -> None:
        """Accept or decline the version of a card that was read; ``BadInput`` for the person who proposed it."""
        ...

    async def remove_card(self, platform: str, community: str, by: Person, id_: str, note: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class HiddenCategories:
    """Categories of cases that somebody keeps out of their own queue: posts against some groups, and threats."""

    groups: frozenset[TargetGroup] = frozenset()
    threats: bool = False

    def has(self, group: TargetGroup | None, severity: int | None) -> bool:
        return group in self.groups or (self.threats and severity == CALLS_FOR_VIOLENCE)


NOTHING_HIDDEN: Final = HiddenCategories()


@dataclass(frozen=True, slots=True)
class Preferences:
    """How somebody wants the pages. Kept with their account, shown to nobody else, and changes nothing for others.

    Attributes:
        language: one of ``core.i18n.catalogs.LANGUAGES``; "" for the browser's.
        has_keys: whether single keys act.
        is_quiet: whether pages stay as they are until they are loaded again, without numbers of cases.
        hides: what is left out of their queue.
    """

    language: str = ""
    has_keys: bool = False
    is_quiet: bool = False
    hides: HiddenCategories = NOTHING_HIDDEN


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is logged in: their account, who they are on each platform, and how they want the page.

    Attributes:
        account: its name.
        people: who they are, one for each platform.
        said: what the last page left to say on the next one, "" for nothing; ``Doorkeeper.say_next`` clears it.
    """

    account: str
    people: tuple[Person, ...]
    wants: Preferences = Preferences()
    said: str = ""

    def on(self, platform: str) -> Person | None:
        """Who they are on a platform; ``None`` where they are nobody."""
        return next((person for person in self.people if person.platform == platform), None)


class Doorkeeper(Protocol):
    """Accounts and sessions of the dashboard. A session is named by a secret that only the browser has."""

    async def log_in(self, account: str, password: str) -> str:
        """Begin a session; its secret is returned.

        Raises:
            NotAllowed: there is no such account, the password is wrong, or the person has no role any more.
        """
        ...

    async def use_link(self, secret: str) -> str:
        """Begin a session with a link that was printed for somebody; ``NotAllowed`` if it was used, or is too old."""
        ...

    async def log_in_as(self, platform: str, user: str) -> str:
        """Begin a session for the person whom a platform vouches for; ``NotAllowed`` without an account or any role."""
        ...

    async def visitor(self, session: str, *, is_idle: bool = False) -> Visitor | None:
        """Whose session it is; ``None`` if it is over: too old, idle too long, ended, or without any right.

        Args:
            is_idle: the page asks by itself, and nobody did anything.
        """
        ...

    async def leave(self, session: str) -> None:
        """End a session; one that is over is ignored."""
        ...

    async def say_next(self, session: str, said: str) -> None:
        """Keep a sentence for the next page of this session, "" once it is said."""
        ...

    async def prefer(self, session: str, wanted: Preferences) -> None:
        """Keep how the person wants the pages."""
        ...


class Scope(StrEnum):
    """What a token of the API may be used for. None of them approves a reply, or lets one be posted."""

    READ = "read"
    REVEAL = "reveal"
    DECIDE = "decide"


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token of the API, without its secret: for which account, for what, until when, and when it was used last."""

    id: str
    account: str
    label: str
    scopes: frozenset[Scope]
    expires_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Bearer:
    """The person who asks by a token, and the token."""

    visitor: Visitor
    token: ApiToken


class TokenKeeper(Protocol):
    async def bearer(self, token: str) -> Bearer | None:
        """Whose token it is; ``None`` if it is none, was revoked, is too old, or its account has no role any more."""
        ...


@dataclass(frozen=True, slots=True)
class CommunityRef:
    """A community in which somebody may read cases."""

    platform: str
    community: str


@dataclass(frozen=True, slots=True)
class QueuedCase:
    """A case that is not closed, in one row.

    ``gist`` is "" where it is not a sentence of the project's cards. ``waits_until`` is when the schedule closes the
    case if nobody does anything; ``None`` where it does not. ``reply`` is the approved one that waits, if one does.
    """

    case_id: str
    place: CommunityRef
    state: CaseState
    opened_at: datetime
    holder: Holder | None
    severity: int | None
    group: TargetGroup | None
    gist: str
    drafts: int
    waits_until: datetime | None = None
    reply: ReplyNow | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """A page of what waits, what needs a decision first, then the gravest, then the oldest.

    ``total`` and ``oldest`` are of all pages; ``oldest`` of what needs a person, ``None`` where nothing does.
    ``places`` are all communities in which this visitor may read. ``hidden`` cases are left out, as they chose.
    """

    cases: tuple[QueuedCase, ...]
    page: int
    pages: int
    total: int
    oldest: datetime | None
    places: tuple[CommunityRef, ...]
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """A line of a case's history: who did what when, and the note that they wrote, "" for none."""

    state: CaseState | None
    by: str
    reason: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TextCheck:
    """What the evidence of a case says about a text that somebody writes; warnings and reasons in sentences."""

    sentences: tuple[CheckedSentence, ...]
    warnings: tuple[str, ...]
    why_two: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseChanges:
    """The cases that changed since ``number`` was told last; ``number`` only grows, over restarts, too."""

    number: int
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptPost:
    """A post that came to the desk lately, as it is kept: where, how and when, and what is known of it.

    ``text`` is for the filter to read, and ``channel`` is ``PostRef.channel``; ``score`` is that of the filter where it
    found the post.
    """

    case_id: str
    channel: str
    text: str
    flagged_how: str
    score: float | None
    at: datetime
    group: TargetGroup | None


class Overview(Protocol):
    """What somebody sees over all their communities. Their rights are read in the transaction that answers."""

    async def queue(
        self,
        people: tuple[Person, ...],
        *,
        platform: str = "",
        community: str = "",
        page: int = 0,
        hides: HiddenCategories = NOTHING_HIDDEN,
    ) -> Queue:
        """A page of what waits, of all their communities or of one; of a page that there is not, the last one."""
        ...

    async def reader(self, people: tuple[Person, ...], platform: str, community: str) -> Person | None:
        """Who of them may read cases of a community, as its own platform knows them or as another; ``None`` if none."""
        ...

    async def oldest(self, people: tuple[Person, ...]) -> datetime | None:
        """Since when the oldest case that needs a person waits, in all their communities; ``None`` if none does."""
        ...

    async def history(self, case_id: str, by: Person) -> tuple[Move, ...]:
        """Every move of a case, oldest first, with names; ``NotAllowed`` if they may not read cases there."""
        ...

    async def waits_until(self, case_id: str, by: Person) -> datetime | None:
        """As ``QueuedCase.waits_until``; ``NotAllowed`` if they may not read cases there."""
        ...

    async def check(self, case_id: str, by: Person, text: str) -> TextCheck:
        """A text, checked against the case's evidence; ``NotAllowed`` if they may not decide about cases there."""
        ...

    async def changes(self, people: tuple[Person, ...], since: int | None) -> CaseChanges:
        """What changed in their communities since a number; nothing, and the present number, where there is none."""
        ...

    async def holds(self, people: tuple[Person, ...]) -> dict[str, str]:
        """Who holds which case in their communities, by a pseudonym that no page shows; no number tells of it."""
        ...

    async def kept_posts(self, platform: str, community: str, by: Person) -> tuple[KeptPost, ...]:
        """The newest posts of the last seven days whose words are kept; ``NotAllowed`` if they may not configure it."""
        ...


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


class SetupChecks(Protocol):
    """What the steps of setup find. Each call looks again; no secret is part of any answer."""

    async def look(self, platform: str, community: str, by: Person) -> SetupState:
        """How far it is set up for a community; ``NotAllowed`` if the person may not configure it."""
        ...


class LogLines(StrEnum):
    """Which lines of the audit log are wanted: all of a community, those of its cases, or those about itself."""

    ALL = "all"
    CASES = "cases"
    COMMUNITY = "community"


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the audit log.

    Attributes:
        number: its place in the log; it only grows.
        case_id: its case, "" for a line about the community itself.
        actor: who acted, as the log names them: a pseudonym (``p-``), ``terminal:`` and an operator, or a part of
            Antiphon; ``by`` is the name that the community knows, "" for none.
        note: what the person typed, "" for nothing or where it was erased.
    """

    number: int
    case_id: str
    version: int
    state: CaseState | None
    actor: str
    by: str
    reason: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LogPage:
    """Lines of the log, the newest first; ``more`` is the number before which the next page begins, if there is one."""

    lines: tuple[LogLine, ...]
    more: int | None


@dataclass(frozen=True, slots=True)
class LogFault:
    """A chain of the log that is broken: of a case, or of the community itself (``case_id`` ""), and how."""

    case_id: str
    what: str


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What a check of the log found: of so many chains and lines, those that are broken, the first hundred of them."""

    chains: int
    lines: int
    faults: tuple[LogFault, ...]


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """How long an installation keeps what it knows; ``antiphon`` deletes it after that by itself."""

    draft_hours: float
    retention_days: float
    statistics_months: int
    backup_days: float


@dataclass(frozen=True, slots=True)
class OwnPost:
    """A post of somebody that was flagged; ``text`` is "" once its words were erased."""

    case_id: str
    place: CommunityRef
    state: CaseState
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class OwnRole:
    """A role of somebody in a community, and the name under which they are known there."""

    place: CommunityRef
    role: Role
    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class PersonalData:
    """What is kept about a person on one platform; no other person is named in it.

    Attributes:
        posts: posts of theirs that were flagged, the newest first.
        flagged: how many posts they flagged.
        said_around: in the threads of how many other posts words of theirs are kept.
        decisions: how many lines of the audit log name them as who acted; these stay, under a pseudonym.
        notes: how many notes of theirs are kept.
    """

    platform: str
    roles: tuple[OwnRole, ...] = ()
    posts: tuple[OwnPost, ...] = ()
    flagged: int = 0
    said_around: int = 0
    decisions: int = 0
    notes: int = 0


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """What was erased of a person: posts, roles and notes; ``waiting`` posts are erased once a send is settled."""

    posts: int
    roles: int
    notes: int
    waiting: int


class CommunityRecord(Protocol):
    """What is on record of a community. Each call asks the platform for the person's roles at this moment."""

    @property
    def keeping(self) -> RetentionPeriods:
        """How long things are kept."""
        ...

    async def numbers(self, platform: str, community: str, by: Person, since: timedelta) -> Numbers:
        """What ``Governance.statistics`` does not count, of the cases that were flagged in the last ``since``.

        Raises:
            NotAllowed: they may not see the community's numbers.
        """
        ...

    async def log(
        self, platform: str, community: str, by: Person, *, which: LogLines = LogLines.ALL, before: int | None = None
    ) -> LogPage:
        """A page of the audit log, before a line or from the newest on; ``NotAllowed`` if they may not read it."""
        ...

    async def verify(self, platform: str, community: str, by: Person) -> LogCheck:
        """Compute every chain of the community's log again; ``NotAllowed`` if they may not read it."""
        ...

    async def kept(self, person: Person) -> PersonalData: ...

    async def kept_about(self, platform: str, community: str, by: Person, user: str) -> PersonalData | None:
        """What is kept about somebody, by the platform's id; ``None`` where nobody is known by it.

        Raises:
            NotAllowed: they may erase nobody there, or the person is known in other communities, too.
        """
        ...

    async def erase(self, platform: str, community: str, by: Person, user: str) -> ErasedPerson | None:
        """Erase somebody from this installation; raises and returns as ``kept_about``."""
        ...
