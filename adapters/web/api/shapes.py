"""What the API takes and gives, as pydantic models: the description and the checks are made from them.

Enumerated values are those of the core; sentences are in the reader's language. What failed is told as RFC 9457 says,
with a code for programs and a remedy for people.
"""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from aiohttp import web
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from core.desk.communities.accounts import Scope
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.i18n.sentences import sentence
from core.models import Action, Intent, Kind, ReadBy, TargetGroup, Verdict

MOST_TEXT: Final = 20_000
Words = Annotated[str, StringConstraints(max_length=MOST_TEXT, pattern="^[^\\x00]*$")]
"""A text that somebody wrote."""
Version = Annotated[int, Field(ge=0, lt=10**9)]
Code = Literal[
    "token", "scope", "not_allowed", "not_found", "method", "conflict", "too_large", "not_json", "bad_input",
    "too_many", "broken", "unavailable",
]  # fmt: skip
"""What a failure is, for programs."""
API: Final = "/api"
DESCRIPTION: Final = f"{API}/openapi.json"
CODES: Final[Mapping[int, Code]] = {
    401: "token",
    403: "not_allowed",
    404: "not_found",
    405: "method",
    409: "conflict",
    413: "too_large",
    415: "not_json",
    422: "bad_input",
    429: "too_many",
    500: "broken",
    503: "unavailable",
}
"""By status; a token without the scope has the code ``scope`` instead."""


class Shape(BaseModel):
    """A value of the API."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def _digits(said: Any) -> Any:
    if isinstance(said, str) and not (said.isascii() and said.isdigit() and len(said) < 19):
        raise ValueError("It must be a whole number.")
    return said


# What is asked for


class Asked(Shape):
    """A body: every value has exactly the type that is said."""

    model_config = ConfigDict(strict=True)


class AtVersion(Asked):
    """A decision about a case as the program knows it."""

    version: Version
    """The case's version; another one is refused with 409."""


class Closing(AtVersion):
    """Close a case without a reply."""

    reason: CloseReason
    note: Words = ""
    """More about it, for the case's history; needed with "other"."""


class Redrafting(AtVersion):
    """Ask for other drafts: of one intent, arguing another claim, or simply others."""

    intent: Intent | None = None
    claim: Annotated[str, StringConstraints(max_length=300, pattern="^[^\\x00]*$")] | None = None


class Checking(Asked):
    """A text to be compared with the case's evidence; nothing is kept of it."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=MOST_TEXT, pattern="^[^\\x00]*$")]


class InQueue(Shape):
    """Which part of the queue."""

    platform: str = ""
    """Only this platform."""
    community: str = ""
    """Only this community, by the platform's own id."""
    page: Annotated[int, BeforeValidator(_digits), Field(ge=1, le=1_000_000)] = 1


class Since(Shape):
    """The number that was told last."""

    since: Annotated[int, BeforeValidator(_digits), Field(ge=0, lt=10**18)] | None = None


# What is answered


class Fault(Shape):
    """A value that was wrong: where it stands, and what it must be."""

    at: str
    need: str


class Problem(Shape):
    """Why nothing was done (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: Code
    remedy: str
    faults: tuple[Fault, ...] = ()


class Place(Shape):
    """A community of a platform, by the platform's own id."""

    platform: str
    community: str


class Me(Shape):
    """What the token of this request may do."""

    account: str
    token: str
    scopes: tuple[Scope, ...]
    expires_at: datetime
    places: tuple[Place, ...]
    """The communities whose cases the account may read."""


class Holder(Shape):
    """Who holds a case, and until when."""

    name: str
    until: datetime


class QueuedCase(Shape):
    """A case that is not closed, in short."""

    id: str
    number: str
    """By which people call it."""
    place: Place
    state: CaseState
    opened_at: datetime
    holder: Holder | None
    severity: int | None
    group: TargetGroup | None
    gist: str
    """What the post implies, in our own words; "" where it is hidden with the post."""
    drafts: int


class Queue(Shape):
    """A page of what waits: what needs a decision first, then the gravest, then the oldest."""

    cases: tuple[QueuedCase, ...]
    page: int
    pages: int
    total: int
    oldest: datetime | None
    """Since when the oldest case waits for a person, on all pages."""


class Receipt(Shape):
    """What the evidence says of one sentence of a draft."""

    sentence: str
    verdict: Verdict
    evidence: str | None
    probability: float | None


class Draft(Shape):
    """A text that somebody may approve, on a page or where the cards are."""

    rank: int
    kind: Kind
    intent: Intent
    language: str | None
    text: str
    writer: str | None
    """The model that wrote it; null where it was put together from prepared sentences and evidence."""
    total: float | None
    """Its score, from 0 to 10."""
    receipts: tuple[Receipt, ...]
    warnings: tuple[str, ...]
    caution: str


class Source(Shape):
    """Where a fact is published."""

    publisher: str
    title: str
    year: int | None
    document: str | None
    url: str


class Evidence(Shape):
    """A passage that drafts rest on."""

    id: str
    text: str
    source: Source
    caution: str


class FirstApproval(Shape):
    """A text that one person approved, and that waits for a second one."""

    by: str
    text: str


class Approved(Shape):
    """The text that was approved, by whom, and when."""

    text: str
    by: tuple[str, ...]
    at: datetime


class Move(Shape):
    """A line of a case's history; ``by`` is "" for Antiphon."""

    state: CaseState | None
    by: str
    reason: str
    note: str
    at: datetime


class Case(Shape):
    """A case as it is now, without the words of the post."""

    id: str
    number: str
    version: int
    """Each decision names it."""
    place: Place
    state: CaseState
    opened_at: datetime
    is_partial: bool
    """It is shown to who flagged the post, and lacks what only those see who may read every case."""
    holder: Holder | None
    gist: str
    group: TargetGroup | None
    severity: int | None
    language: str | None
    advice: Action | None
    advice_reason: str
    read_by: ReadBy | None
    drafts: tuple[Draft, ...]
    is_preview: bool
    """Better drafts may follow."""
    evidence: tuple[Evidence, ...]
    claims: tuple[str, ...]
    """What drafts argue, or could argue."""
    argued: str | None
    notes: tuple[str, ...]
    why_two: tuple[str, ...]
    """Why a second person must approve."""
    first_approvals: tuple[FirstApproval, ...]
    approved: Approved | None
    send_at: datetime | None
    close_reasons: tuple[CloseReason, ...]
    """For which it can be closed now."""
    post_url: str
    reply_url: str
    history: tuple[Move, ...]


class Said(Shape):
    """One thing that was said; ``who`` is a name that the community knows, or tells people apart."""

    who: str
    text: str
    is_post: bool
    """It is the post, or a part of it; false for what was said before."""


class Post(Shape):
    """The words of a post and of what was said before it. They may hurt."""

    case: str
    said: tuple[Said, ...]


class CheckedSentence(Shape):
    """One sentence of a text, and the evidence for it."""

    text: str
    evidence: str | None
    """The passage that has all of its figures, dates and names."""
    unsupported: tuple[str, ...]
    """Those that no passage has."""
    is_unchecked: bool
    """It states a fact that was not compared with the evidence."""
    is_prepared: bool


class Check(Shape):
    """What the evidence says of a text."""

    sentences: tuple[CheckedSentence, ...]
    warnings: tuple[str, ...]
    why_two: tuple[str, ...]


class DecidedCase(Shape):
    """A decision: what became of which case, why, by whom, and when."""

    id: str
    number: str
    place: Place
    state: CaseState
    reason: str
    by: str
    at: datetime


class Decided(Shape):
    """The newest decisions, newest first."""

    cases: tuple[DecidedCase, ...]


class Changes(Shape):
    """The cases that changed since a number, and the number to ask with next time."""

    number: int
    cases: tuple[str, ...]


def is_api(request: web.Request) -> bool:
    """Whether a program asks, and not a browser."""
    return request.path == API or request.path.startswith(f"{API}/")


def of_the_api(status: int) -> tuple[str, str]:
    """What a request is told that is for no operation, or too large."""
    remedy = sentence("See the description of the API: {address}.", address=DESCRIPTION)
    if status == 404:
        return sentence("There is nothing at this address."), remedy
    if status == 405:
        return sentence("There is something at this address, but not for this method."), remedy
    if status == 413:
        return sentence("This is more than Antiphon takes at once."), sentence("Shorten the text.")
    return sentence("Antiphon did not understand the request."), remedy


def problem(
    status: int,
    said: str,
    remedy: str,
    *,
    code: Code | None = None,
    faults: tuple[Fault, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """What went wrong and what to do about it, both in the reader's language."""
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=said,
        code=code or CODES.get(status, "bad_input"),
        remedy=remedy,
        faults=faults,
    )
    return web.Response(
        body=body.model_dump_json().encode(), status=status, content_type="application/problem+json", headers=headers
    )
