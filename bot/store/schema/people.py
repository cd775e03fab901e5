"""People, the communities they moderate, and what they may do there."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from bot.store.schema.base import Base, stored
from core.cards.bank import CardVerdict
from core.models import Intent, TargetGroup
from core.moderation.roles import Role


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
    ``core.moderation.community.policy.CommunityPolicy`` that were set.
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

    ``user`` and ``name`` are the platform's own, since the role is checked again before every send.
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

    ``document`` is the card (``core.moderation.own.cards``), ``digest`` tells this version of it from another. Who
    proposed this version, and who reviewed it, is there by pseudonym, or as the operator, and by the name that they
    gave. It is used once its ``verdict`` is that it is accepted. The audit log says who decided.
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
    """An account of the dashboard. ``password`` is an argon2 hash, "" where only links lead in."""

    __tablename__ = "accounts"

    name: Mapped[str] = mapped_column(primary_key=True)
    password: Mapped[str]
    language: Mapped[str] = mapped_column(default="")
    has_keys: Mapped[bool] = mapped_column(default=True)
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
