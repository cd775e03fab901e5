"""Cases and what is known about each: suggestions, chosen claims, campaigns, and the audit log."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from bot.store.schema.base import Base, stored
from core.i18n.sentences import Said
from core.models import Priority
from core.moderation.approval import TRANSITIONS, CaseState

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


class SuggestionRow(Base):
    """What the engine said about a case, as one JSON document (``bot.store.cases.documents``).

    What ``is_outdated`` was said of words that the post no longer has, and is shown to nobody. ``severity`` is the
    document's.
    """

    __tablename__ = "suggestions"
    __table_args__ = (
        Index("suggestions_by_case", "case_id", "created_at"),
        Index("suggestions_by_severity", "case_id", "is_outdated", "created_at", "severity"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"))
    document: Mapped[str]
    created_at: Mapped[datetime]
    is_outdated: Mapped[bool] = mapped_column(default=False)
    severity: Mapped[int | None] = mapped_column(default=None)


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
    ``rules_version`` are the community's as the person was shown them.
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
    """A flag of a person without a role, for a post that has no case yet (``bot.store.cases.member_flags``)."""

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

    ``message`` and ``remedy`` are those of an error: sentences of ours (``core.i18n.sentences``).
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
    line. ``reason`` is a sentence of ours; what a person typed is a ``NoteRow``, since it can be erased, and only its
    hash is bound.
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
