"""What was seen from outside the database: the platform's log, and what people did.

Owns plain values. A test's platform and its people write them. On a live database there is no such record, and the
invariants then say what the database alone can tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.models import PostRef


@dataclass(frozen=True, slots=True)
class Sent:
    """A reply of ours that reached the platform, whether or not it is still there.

    ``target_sha256`` is the hash of the post that it answers as Antiphon last read it, ``None`` where nobody looked.
    """

    approval_id: str
    ref: PostRef
    in_reply_to: PostRef
    sha256: str
    target_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Revoked:
    """A person, by pseudonym, had no right to approve in a community from ``since`` until before ``until``."""

    person_id: str
    community_id: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """Nothing could be posted in ``scope``, a community or "*", from ``since`` until before ``until``."""

    scope: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that was seen from outside.

    Args:
        sent: every reply that reached a platform, oldest first; ``None`` if nobody looked.
        acknowledged: the posts whose capture was acknowledged to the people who flagged them.
        revoked: when people could not approve.
        closed: when nothing could be posted.
        erased: the pseudonyms of those whose erasure was acknowledged.
        passages: the knowledge base: the SHA-256 of each passage by its id; ``None`` if it was not looked at.
    """

    sent: tuple[Sent, ...] | None = None
    acknowledged: tuple[PostRef, ...] = ()
    revoked: tuple[Revoked, ...] = ()
    closed: tuple[Closed, ...] = ()
    erased: tuple[str, ...] = ()
    passages: Mapping[str, str] | None = None
