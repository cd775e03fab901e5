"""The tables of the database.

Everything shares the root, moments in UTC and columns that take only the values of an enumeration. Then come people and
their communities; cases, suggestions, campaigns and the audit log; approvals, the outbox and posted replies; jobs,
updates of platforms and leadership.
"""

import json
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    JSON,
    TIMESTAMP,
    BigInteger,
    CheckConstraint,
    DateTime,
    Enum,
    ForeignKey,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine

from core.desk.rules.approval import TRANSITIONS, CaseState
from core.desk.rules.roles import Role
from core.engine.cards.bank import CardVerdict
from core.i18n.sentences import Said, restored
from core.i18n.sentences import stored as as_stored
from core.models import Intent, PostRef, Priority, TargetGroup

_FILLED: Final = '{"template": '
"""How the JSON of a sentence begins; no plain text of ours begins like this."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: stored as UTC, given back aware. A naive time is refused, since its moment is unknown."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime]:
        """PostgreSQL keeps the zone, SQLite has none."""
        is_postgresql = dialect.name == "postgresql"
        return dialect.type_descriptor(TIMESTAMP(timezone=True) if is_postgresql else DateTime())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn an aware time into UTC, without its zone for SQLite."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A time without a time zone cannot be stored.")
        moment = value.astimezone(UTC)
        return moment if dialect.name == "postgresql" else moment.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class SaidText(TypeDecorator[str]):
    """A sentence of the project: plain text, or JSON with the template and the values that fill it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Store the template and the values of a sentence together."""
        stored_value = None if value is None else as_stored(value)
        return json.dumps(stored_value, ensure_ascii=False) if isinstance(stored_value, dict) else stored_value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Give the sentence back, so that it can be translated."""
        return value if value is None or not value.startswith(_FILLED) else restored(json.loads(value))


def stored(values: type[StrEnum], name: str, *, is_listed: bool = True) -> Enum:
    """A text column with the values of an enumeration; a CHECK constraint lists them, if it is ``is_listed``."""
    return Enum(
        values,
        name=name,
        native_enum=False,
        create_constraint=is_listed,
        validate_strings=True,
        length=32,
        values_callable=lambda members: [member.value for member in members],
    )


class Base(DeclarativeBase):
    """The root of all tables."""

    type_annotation_map = {  # noqa: RUF012
        datetime: UtcDateTime,
        str: Text,
        Said: SaidText,
        list[dict[str, Any]]: JSON,
        dict[str, Any]: JSON,
    }


class PersonRow(Base):
    """The only row that links a pseudonym to a person; deleting it destroys the link (reliability, T26).

    ``lookup`` is a hash of the platform's id under the installation's secret. ``id``, the pseudonym, is a hash under
    ``key``, which belongs only to this person.
    """

    __tablename__ = "persons"

    id: Mapped[str] = mapped_column(primary_key=True)
    lookup: Mapped[str] = mapped_column(unique=True)
    key: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime]


class CommunityRow(Base):
    """One community of one platform, and how Antiphon behaves there. ``version`` grows with every change of it.

    ``rules_version`` is the version since which its rules about posting have not changed; an approval holds only for
    it. A setting of how drafts are made, a role that is given to a person, or the kill switch does not change it.

    Without ``is_posting`` it is in shadow mode: drafts are made and reviewed, nothing is posted. The row ``*`` is not a
    community but the whole installation, whose admins are members of it. ``policy`` holds the fields of
    ``core.desk.rules.policy.CommunityPolicy`` that were set.
    """

    __tablename__ = "communities"

    id: Mapped[str] = mapped_column(primary_key=True)
    platform: Mapped[str]
    name: Mapped[str]
    version: Mapped[int]
    rules_version: Mapped[int]
    is_posting: Mapped[bool] = mapped_column(default=False)
    discloses: Mapped[bool] = mapped_column(default=True)
    policy: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[datetime]


class WatchDayRow(Base):
    """How many messages of a community the filter of watched channels read on one day (UTC), from ``first_at`` on."""

    __tablename__ = "watch_days"

    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    looked_at: Mapped[int]
    first_at: Mapped[datetime]


class MembershipRow(Base):
    """A role that a person has in a community: granted here, read from the platform (``is_native``), or both.

    ``user`` and ``name`` are the platform's own, since the role is checked again before every send. ``platform`` is ""
    for the community's; it names another where the cases are reviewed in a channel there.
    """

    __tablename__ = "memberships"
    __table_args__ = (Index("memberships_by_person", "person_id"),)

    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[Role] = mapped_column(stored(Role, "role"), primary_key=True)
    user: Mapped[str]
    name: Mapped[str]
    is_native: Mapped[bool] = mapped_column(primary_key=True, default=False)
    granted_by: Mapped[str]
    granted_at: Mapped[datetime]
    platform: Mapped[str] = mapped_column(default="")


class KnownNameRow(Base):
    """What a community called a person who has, or had, a role there; kept until the person is erased."""

    __tablename__ = "known_names"

    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]


class PreparedReplyRow(Base):
    """What a community did with one prepared reply: added it, took it out of its drafts, or reviewed it.

    ``text`` and what it is for are there for a reply of the community's own; one of the project's is known by its id
    alone. ``reviewed_by`` is the reviewer's pseudonym, ``reviewer`` the name that they gave. The audit log says who
    decided.
    """

    __tablename__ = "prepared_replies"

    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"), primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    language: Mapped[str | None]
    target_group: Mapped[TargetGroup | None] = mapped_column(stored(TargetGroup, "prepared_target_group"))
    stereotype: Mapped[str | None]
    intent: Mapped[Intent | None] = mapped_column(stored(Intent, "prepared_intent", is_listed=False))
    text: Mapped[str | None]
    is_hidden: Mapped[bool] = mapped_column(default=False)
    reviewed_by: Mapped[str | None]
    reviewer: Mapped[str | None]
    reviewed_at: Mapped[datetime | None]


class OwnCardRow(Base):
    """An argument card that a community wrote, and what became of it.

    ``document`` is the card (``core.desk.rules.own_cards``), ``digest`` tells this version of it from another. The
    person who proposed this version, and the one who reviewed it, are there by pseudonym, or as the operator, and by
    the name that they gave. It is used once its ``verdict`` is that it is accepted. The audit log says who decided.
    """

    __tablename__ = "own_cards"

    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"), primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    document: Mapped[dict[str, Any]]
    digest: Mapped[str]
    proposed_by: Mapped[str | None]
    proposer: Mapped[str | None]
    proposed_at: Mapped[datetime]
    verdict: Mapped[CardVerdict | None] = mapped_column(stored(CardVerdict, "card_verdict"))
    reviewed_by: Mapped[str | None]
    reviewer: Mapped[str | None]
    reviewed_at: Mapped[datetime | None]


class PauseRow(Base):
    """The kill switch: while a row exists, nothing is posted in ``scope``, a community's id or ``*`` for all."""

    __tablename__ = "pauses"

    scope: Mapped[str] = mapped_column(primary_key=True)
    paused_by: Mapped[str]
    at: Mapped[datetime]


class AccountRow(Base):
    """An account of the dashboard, and how its person wants the pages.

    ``password`` is an argon2 hash, "" where only links lead in; ``hides`` the categories that are left out of the
    person's queue, with spaces between them.
    """

    __tablename__ = "accounts"

    name: Mapped[str] = mapped_column(primary_key=True)
    password: Mapped[str]
    language: Mapped[str] = mapped_column(default="")
    has_keys: Mapped[bool] = mapped_column(default=False)
    is_quiet: Mapped[bool] = mapped_column(default=False)
    hides: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime]


class AccountPersonRow(Base):
    """Who somebody with an account is on a platform, by the platform's own id, since their roles are asked there."""

    __tablename__ = "account_people"

    account: Mapped[str] = mapped_column(ForeignKey("accounts.name"), primary_key=True)
    platform: Mapped[str] = mapped_column(primary_key=True)
    user: Mapped[str]


class WebSessionRow(Base):
    """A session of the dashboard, or a link that begins one; ``id`` is the SHA-256 of the secret that names it.

    A link has ``link_until``. A session has none: it is over when it was idle too long, or is too old. ``said`` waits
    for its next page.
    """

    __tablename__ = "web_sessions"
    __table_args__ = (Index("web_sessions_by_account", "account"), Index("web_sessions_by_time", "seen_at"))

    id: Mapped[str] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(ForeignKey("accounts.name"))
    begun_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    link_until: Mapped[datetime | None] = mapped_column(default=None)
    said: Mapped[str] = mapped_column(default="")


class ApiTokenRow(Base):
    """A token of the dashboard's API: it acts for ``account``, as far as ``scopes`` allow, until ``expires_at``.

    ``id`` is the part of it that may be seen, ``secret`` the SHA-256 of the other one; ``scopes`` stand in one text
    with spaces, and ``label`` says what it is for. ``used_at`` is at most a minute late.
    """

    __tablename__ = "api_tokens"
    __table_args__ = (Index("api_tokens_by_account", "account"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    secret: Mapped[str]
    account: Mapped[str] = mapped_column(ForeignKey("accounts.name"))
    label: Mapped[str]
    scopes: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None] = mapped_column(default=None)


_CAPTURE: Final = f"from_state IS NULL AND (to_state IS NULL OR to_state = '{CaseState.CAPTURED}')"
_DECLARED: Final = " OR ".join(
    f"(from_state = '{old}' AND to_state IN ({', '.join(repr(str(new)) for new in sorted(TRANSITIONS[old]))}))"
    for old in CaseState
    if TRANSITIONS[old]
)


class Original(StrEnum):
    """What the platform has said about a flagged post since."""

    UNCHANGED = "unchanged"
    EDITED = "edited"
    DELETED = "deleted"


class CaseRow(Base):
    """One flagged post and its state. ``version`` grows by one with every transition.

    ``root`` is the message that began the conversation in the channel, or the post itself if none is known.
    ``revision`` is the platform's name for the post's last edit; a post that ``is_from_elsewhere`` is not a message
    there, and one that ``is_late`` was flagged long before it was taken in (``core.models.FlaggedPost``). ``author``
    and ``flagged_by`` are pseudonyms (``PersonRow.id``); ``author_name`` is what the community called the author.
    ``held_by`` holds the case until ``held_until``. ``wish`` is what the flagger asked for (the fields of
    ``core.models.Wish`` that were set). ``words`` has the fields of ``core.models.MessageWords``, pseudonyms in place
    of ids, and is empty for a plain message. ``text``, ``author_name``, ``thread``, ``words`` and ``wish`` are empty
    from ``erased_at`` on. ``unshown`` counts the visible changes of the case that its card in the review channel does
    not show yet. A post that the filter found has its ``score``; ``is_hateful`` is what a moderator said of it, at
    ``labelled_at``. ``text`` is the post as its author changed it, where that was taken in at ``edited_at``; what
    was said of its earlier words no longer counts. ``most_characters`` is the longest reply that the platform took when
    the post was flagged, 0 where nobody knew it.
    """

    __tablename__ = "cases"
    __table_args__ = (
        UniqueConstraint("platform", "community", "channel", "message", name="one_case_per_post"),
        Index("cases_by_state", "state", "updated_at"),
        Index("cases_by_community", "community_id", "state", "updated_at"),
        Index("cases_by_author", "author", "community_id", "created_at"),
        Index("cases_by_flagger", "flagged_by", "created_at"),
        Index("cases_by_campaign", "campaign_id"),
        Index("cases_by_conversation", "community_id", "root"),
        Index("cases_unshown", "community_id", "unshown"),
        Index("cases_held", "held_until"),
        Index("cases_by_label", "community_id", "labelled_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    platform: Mapped[str]
    community: Mapped[str]
    channel: Mapped[str]
    message: Mapped[str]
    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"))
    root: Mapped[str]
    text: Mapped[str]
    target_sha256: Mapped[str]
    revision: Mapped[str] = mapped_column(default="")
    is_from_elsewhere: Mapped[bool] = mapped_column(default=False)
    author: Mapped[str]
    author_name: Mapped[str] = mapped_column(default="")
    flagged_by: Mapped[str]
    flagged_how: Mapped[str]
    is_late: Mapped[bool] = mapped_column(default=False)
    priority: Mapped[int] = mapped_column(default=int(Priority.FLAGGED))
    thread: Mapped[list[dict[str, Any]]]
    words: Mapped[dict[str, Any]] = mapped_column(default=dict)
    wish: Mapped[dict[str, Any]] = mapped_column(default=dict)
    original: Mapped[Original] = mapped_column(stored(Original, "original"), default=Original.UNCHANGED)
    state: Mapped[CaseState] = mapped_column(stored(CaseState, "case_state"))
    version: Mapped[int]
    campaign_id: Mapped[str | None] = mapped_column(default=None)
    held_by: Mapped[str | None] = mapped_column(default=None)
    held_until: Mapped[datetime | None] = mapped_column(default=None)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    erased_at: Mapped[datetime | None] = mapped_column(default=None)
    unshown: Mapped[int] = mapped_column(default=0)
    score: Mapped[float | None] = mapped_column(default=None)
    is_hateful: Mapped[bool | None] = mapped_column(default=None)
    labelled_at: Mapped[datetime | None] = mapped_column(default=None)
    edited_at: Mapped[datetime | None] = mapped_column(default=None)
    most_characters: Mapped[int] = mapped_column(default=0)

    @property
    def ref(self) -> PostRef:
        return PostRef(self.platform, self.community, self.channel, self.message)


class SuggestionRow(Base):
    """What the engine said about a case, as one JSON document (``core.desk.store.suggestions``).

    A suggestion that ``is_outdated`` is about words that the post no longer has, and is shown to nobody. ``severity``
    and ``target_group`` are the document's.
    """

    __tablename__ = "suggestions"
    __table_args__ = (
        Index("suggestions_by_case", "case_id", "created_at"),
        Index("suggestions_by_reading", "case_id", "is_outdated", "created_at", "severity", "target_group"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    document: Mapped[str]
    created_at: Mapped[datetime]
    is_outdated: Mapped[bool] = mapped_column(default=False)
    severity: Mapped[int | None] = mapped_column(default=None)
    target_group: Mapped[str | None] = mapped_column(default=None)


class PreviewRow(Base):
    """The best draft so far of a case without a suggestion yet, as JSON; deleted when the suggestion comes."""

    __tablename__ = "previews"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    document: Mapped[str]
    at: Mapped[datetime]


class ProposalRow(Base):
    """One exact text that a person was shown to approve, for one version of a case.

    ``text`` is the person's part; the disclosing sentence is added again when it is approved, and ``sha256`` is of the
    whole, with ``quote``: the words of the post that would stand above it, "" for none. ``is_posting`` and
    ``rules_version`` are the community's as the person was shown them: what approving it does. ``suggestion_id`` and
    ``draft_rank`` name the draft that it began as, if any; ``person_id`` is a pseudonym. A text that was refused has no
    hash (""): it is kept for its writer to mend, and cannot be approved.
    """

    __tablename__ = "proposals"
    __table_args__ = (Index("proposals_by_case", "case_id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    version: Mapped[int]
    person_id: Mapped[str]
    text: Mapped[str]
    sha256: Mapped[str]
    suggestion_id: Mapped[str | None]
    draft_rank: Mapped[int | None]
    created_at: Mapped[datetime]
    quote: Mapped[str] = mapped_column(default="")
    is_posting: Mapped[bool] = mapped_column(default=False)
    rules_version: Mapped[int] = mapped_column(default=0)


class ReviewCardRow(Base):
    """Where the card of a case is in a review channel, and the digest of what it shows, "" if that is outdated."""

    __tablename__ = "review_cards"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    channel: Mapped[str]
    message: Mapped[str]
    digest: Mapped[str]
    shown_at: Mapped[datetime]


class NoticeRow(Base):
    """That people were told something about a case: ``kind`` says why, ``about`` of what, where it can happen again.

    ``begun_at`` is before the platform was called, ``said_at`` after it, or ``None``: nobody knows yet.
    """

    __tablename__ = "notices"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    about: Mapped[str] = mapped_column(primary_key=True)
    begun_at: Mapped[datetime]
    said_at: Mapped[datetime | None] = mapped_column(default=None)


class FlaggerRow(Base):
    """A person who is to be told what became of a post that they flagged; deleted once they were.

    ``user`` is the platform's own id, since nobody can be told anything by a pseudonym.
    """

    __tablename__ = "flaggers"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(primary_key=True)
    user: Mapped[str]
    flagged_at: Mapped[datetime]


class MemberFlagRow(Base):
    """A flag of a person without a role, for a post that has no case yet (``core.desk.store.flaggers``)."""

    __tablename__ = "member_flags"
    __table_args__ = (Index("member_flags_by_person", "person_id"),)

    platform: Mapped[str] = mapped_column(primary_key=True)
    community: Mapped[str] = mapped_column(primary_key=True)
    channel: Mapped[str] = mapped_column(primary_key=True)
    message: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(primary_key=True)
    flagged_at: Mapped[datetime]


class BoardTroubleRow(Base):
    """Why and since when a community's cards cannot be shown in a channel; deleted when one is shown there again.

    ``message`` and ``remedy`` are those of an error: sentences of Antiphon (``core.i18n.sentences``).
    """

    __tablename__ = "board_troubles"

    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"), primary_key=True)
    channel: Mapped[str] = mapped_column(primary_key=True)
    message: Mapped[dict[str, Any]]
    remedy: Mapped[dict[str, Any]]
    since: Mapped[datetime]


class ClaimChoiceRow(Base):
    """A counter-claim that a moderator chose; the audit line of the same ``version`` says who chose it and when."""

    __tablename__ = "claim_choices"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    claim: Mapped[str]


class CampaignRow(Base):
    """Near-identical posts of one community: the case ``lead_case_id`` is drafted and reviewed for all of them."""

    __tablename__ = "campaigns"
    __table_args__ = (Index("campaigns_by_lead", "lead_case_id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"))
    lead_case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    posts: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class CampaignBandRow(Base):
    """One band of the MinHash signature of a campaign's first post: posts that share a band may be near-identical.

    ``begun_at`` is when the campaign began; it lies in the future while a post that is not hateful is remembered.
    """

    __tablename__ = "campaign_bands"
    __table_args__ = (Index("bands_by_campaign", "campaign_id"), Index("bands_by_time", "begun_at"))

    community_id: Mapped[str] = mapped_column(ForeignKey("communities.id"), primary_key=True)
    band: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[str] = mapped_column(ForeignKey("campaigns.id"), primary_key=True)
    begun_at: Mapped[datetime]


class Change(StrEnum):
    """What a line of the audit log changed other than a case's state; the invariants read this, not the sentence."""

    SHADOW = "shadow"
    POSTING = "posting"
    STOPPED = "stopped"
    RESUMED = "resumed"
    RULES = "rules"
    SETTING = "setting"
    DELETED = "deleted"


class AuditRow(Base):
    """What happened to a case or a community: one line of a chain. Append-only, by a trigger.

    ``stream`` is the id of the case or the community, ``seq`` the version that it has since. ``sha256`` binds the line
    to ``previous``, the hash of the line before it. ``change`` is ``None`` in a move of a case and in a stream's first
    line. ``reason`` is a sentence of Antiphon; what a person typed is a ``NoteRow``, since it can be erased, and only
    its hash is bound.
    """

    __tablename__ = "audit"
    __table_args__ = (
        UniqueConstraint("stream", "seq", name="one_audit_line_per_version"),
        CheckConstraint(f"({_CAPTURE}) OR {_DECLARED}", name="declared_move"),
        Index("audit_by_time", "at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    stream: Mapped[str]
    seq: Mapped[int]
    from_state: Mapped[CaseState | None] = mapped_column(stored(CaseState, "audit_from_state"))
    to_state: Mapped[CaseState | None] = mapped_column(stored(CaseState, "audit_to_state"))
    change: Mapped[Change | None] = mapped_column(stored(Change, "audit_change"), default=None)
    actor: Mapped[str]
    reason: Mapped[Said]
    note_sha256: Mapped[str | None]
    at: Mapped[datetime]
    previous: Mapped[str]
    sha256: Mapped[str]


class NoteRow(Base):
    """What a person typed as the reason of an audit line; deleted when the post's author or the retention asks for it.

    ``salt`` keeps a short note from being guessed by its hash after it is deleted.
    """

    __tablename__ = "notes"

    stream: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]
    salt: Mapped[str]


class OutboxState(StrEnum):
    """The state of one send (reliability, section 1.2)."""

    QUEUED = "queued"
    SENDING = "sending"
    POSTED = "posted"
    UNKNOWN = "unknown"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SHADOWED = "shadowed"
    RETRACTED = "retracted"


class ApprovalRow(Base):
    """A person's approval of one exact text; ``target_sha256`` is the hash of the post that it answers.

    ``text`` is all that is posted; ``footer`` is the part that discloses Antiphon, and ``quote`` the words of the post
    that the platform shows above it, "" for none; ``sha256`` binds text and quote. The approval holds until
    ``expires_at``, while the community's ``rules_version`` is ``policy_version``. If the rules ask for two persons,
    ``moderator`` approved first, and ``seconded_by`` then approved the same bytes.
    """

    __tablename__ = "approvals"
    __table_args__ = (Index("approvals_by_case", "case_id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    suggestion_id: Mapped[str | None] = mapped_column(ForeignKey("suggestions.id"))
    draft_rank: Mapped[int | None]
    text: Mapped[str]
    footer: Mapped[str]
    sha256: Mapped[str]
    moderator: Mapped[str]
    seconded_by: Mapped[str | None]
    approved_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    policy_version: Mapped[int]
    edited: Mapped[bool]
    target_sha256: Mapped[str]
    quote: Mapped[str] = mapped_column(default="")


class FirstApprovalRow(Base):
    """The first of two approvals, where the rules ask for two persons: of this text, at this version of the case.

    Like an approval it holds until ``expires_at``, and only while the community's ``rules_version`` is
    ``policy_version``.
    """

    __tablename__ = "first_approvals"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[str] = mapped_column(primary_key=True)
    moderator: Mapped[str] = mapped_column(primary_key=True)
    policy_version: Mapped[int]
    at: Mapped[datetime]
    expires_at: Mapped[datetime]


class OutboxRow(Base):
    """The send of one approval: at most one row for each; not sent before ``not_before``.

    ``first_sent_at`` is when the intent of the first attempt was committed; a live sender holds the row until
    ``lease_until``.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        Index("outbox_by_state", "state", "not_before"),
        Index("outbox_by_time", "state", "first_sent_at"),
        Index("outbox_by_message", "remote_message"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    approval_id: Mapped[str] = mapped_column(ForeignKey("approvals.id"), unique=True)
    state: Mapped[OutboxState] = mapped_column(stored(OutboxState, "outbox_state"))
    not_before: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    first_sent_at: Mapped[datetime | None] = mapped_column(default=None)
    lease_until: Mapped[datetime | None] = mapped_column(default=None)
    remote_message: Mapped[str | None] = mapped_column(default=None)
    posted_at: Mapped[datetime | None] = mapped_column(default=None)
    error: Mapped[Said | None] = mapped_column(default=None)
    updated_at: Mapped[datetime]


class OutcomeRow(Base):
    """What a follow-up found some time after a reply was posted; ``None`` where the platform could not say."""

    __tablename__ = "outcomes"

    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), primary_key=True)
    after_hours: Mapped[int] = mapped_column(primary_key=True)
    reply_stands: Mapped[bool | None]
    original_stands: Mapped[bool | None]
    author_flagged_again: Mapped[int]
    at: Mapped[datetime]


class JobState(StrEnum):
    """The state of a piece of work."""

    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class JobRow(Base):
    """One piece of work. ``key`` says what it is, so that it is enqueued only once, however often it is asked for.

    A running job belongs to ``owner`` until ``lease_until``; ``attempts`` grows before work begins, and is the fence: a
    worker that finishes must name the present attempt. ``excused`` counts the attempts that ended through no fault of
    the work: its worker was stopped, or the model was away. ``started_at`` is when the last attempt began.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index("jobs_due", "state", "kind", "priority", "community_id", "run_at", "id"),
        Index("jobs_by_case", "case_id"),
        Index("jobs_by_end", "state", "kind", "updated_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    community_id: Mapped[str]
    case_id: Mapped[str | None]
    payload: Mapped[dict[str, Any]]
    priority: Mapped[int]
    state: Mapped[JobState] = mapped_column(stored(JobState, "job_state"))
    run_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    excused: Mapped[int] = mapped_column(default=0)
    started_at: Mapped[datetime | None] = mapped_column(default=None)
    owner: Mapped[str | None] = mapped_column(default=None)
    lease_until: Mapped[datetime | None] = mapped_column(default=None)
    progress: Mapped[str | None] = mapped_column(default=None)
    error: Mapped[Said | None] = mapped_column(default=None)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class TurnRow(Base):
    """When a community's work was last taken, so that another community has the next turn."""

    __tablename__ = "turns"

    community_id: Mapped[str] = mapped_column(primary_key=True)
    served_at: Mapped[datetime]


class LeadershipRow(Base):
    """Which process holds an office that only one may hold, such as the scheduler's, and until when."""

    __tablename__ = "leaderships"

    office: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
    until: Mapped[datetime]


class PlatformState(StrEnum):
    """The state of a chat platform in the process that serves it."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting"
    REFUSED = "refused"


class PlatformRow(Base):
    """The state of a platform in one process (``owner``), and since when; the process is gone if ``until`` is over.

    If it is not connected, ``message`` and ``remedy`` are those of an error: sentences of Antiphon. A platform that
    waits is tried again at ``again_at``, after ``failures`` failed attempts in a row.
    """

    __tablename__ = "platforms"

    platform: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[PlatformState] = mapped_column(stored(PlatformState, "platform_state"))
    since: Mapped[datetime]
    failures: Mapped[int]
    message: Mapped[dict[str, Any]]
    remedy: Mapped[dict[str, Any]]
    again_at: Mapped[datetime | None]
    until: Mapped[datetime]


class UpdateState(StrEnum):
    """What became of an update: ``UNKNOWN`` is one of a kind that this version does not know."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class UpdateRow(Base):
    """An update of a platform, as Antiphon's account there received it.

    ``payload`` is JSON as the platform sent it, with words of posts; it is erased once the update was dealt with.
    Updates of one ``lane`` are handled in their order; ``is_urgent`` ones before all others.
    """

    __tablename__ = "updates"
    __table_args__ = (
        Index("updates_waiting", "platform", "account", "state", "is_urgent", "received_at", "number"),
        Index("updates_by_age", "received_at"),
    )

    platform: Mapped[str] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    state: Mapped[UpdateState] = mapped_column(stored(UpdateState, "update_state"))
    lane: Mapped[str]
    is_urgent: Mapped[bool]
    payload: Mapped[str | None]
    received_at: Mapped[datetime]


class OffsetRow(Base):
    """What an account asks a platform for next, in the platform's own words, and when it was stored."""

    __tablename__ = "offsets"

    platform: Mapped[str] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(primary_key=True)
    cursor: Mapped[str]
    stored_at: Mapped[datetime]


class DigestRow(Base):
    """A hash over the heads of all chains of the audit log at a moment, so that a missing chain is noticed too."""

    __tablename__ = "digests"

    slot: Mapped[str] = mapped_column(primary_key=True)
    streams: Mapped[int]
    last_line: Mapped[int]
    sha256: Mapped[str]
    at: Mapped[datetime]
