"""What is put right inside mastodon-mock, where a proxy in front of it comes too late.

Owns who is mentioned, which hashtags a post has, its HTML, its address and its time; what goes with a deleted post; and
that nobody is told of whom they blocked or muted. Refuses nothing.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from mastodon_mock import services
from mastodon_mock.db.models import Account, Notification, Report, Status, StatusMention, StatusTag
from mastodon_mock.ids import next_id
from mastodon_mock.routers import statuses
from sqlalchemy import delete, event, func, inspect, select, update
from sqlalchemy.orm import Session, sessionmaker

from tests.fakes.mastodon.server.posts import HASHTAG, MENTION, shown

_DOMAIN: Final = "antiphon_domain"  # of the session's server, in its info
_STREAMED: Final = "stream_notifications"  # mastodon-mock's list of what it is about to tell


def mend(factory: sessionmaker[Session], domain: str, now: Callable[[], datetime]) -> None:
    """Put right what one mastodon-mock writes.

    Args:
        domain: of the instance.
        now: the server's time.
    """
    factory.configure(info={_DOMAIN: domain})

    def before_flush(session: Session, _context: object, _instances: object) -> None:
        for changed in list(session.dirty):
            if isinstance(changed, Status):
                _edit(session, changed, now())
        for made in list(session.new):
            if isinstance(made, Status | Notification | Report):
                made.created_at = now()
            if isinstance(made, Status) and made.reblog_of_id is None:
                made.id = made.id or next_id()
                made.content = _content(session, made.text)
                made.url = _address(session, made)
            if isinstance(made, Notification) and _wants_none(session, made):
                session.expunge(made)
                session.info[_STREAMED] = [each for each in session.info.get(_STREAMED, []) if each is not made]
        for gone in session.deleted:
            if isinstance(gone, Status):
                _forget(session, gone.id)

    event.listen(factory, "before_flush", before_flush)


def mentioned(session: Session, text: str, exclude_account_id: int) -> list[Account]:
    """The accounts that a text mentions, found as Mastodon does; in place of mastodon-mock's ``parse_mentions``."""
    found = (_account(session, name, host or None) for name, host in MENTION.findall(text))
    unique = {each.id: each for each in found if each is not None and each.id != exclude_account_id}
    return list(unique.values())


def hashtags(text: str) -> list[str]:
    """The hashtags of a text, found as Mastodon does; in place of mastodon-mock's ``parse_hashtags``."""
    return list(dict.fromkeys(name.lower() for name in HASHTAG.findall(text)))


services.parse_mentions = mentioned
services.parse_hashtags = hashtags
statuses.MAX_STATUS_CHARACTERS = 10**6  # type: ignore[attr-defined]  # it counts as no instance does; the proxy counts


def _account(session: Session, name: str, host: str | None) -> Account | None:
    domain = None if host is None or host.lower() == session.info.get(_DOMAIN) else host.lower()
    wanted = select(Account).where(func.lower(Account.username) == name.lower(), Account.domain == domain)
    with session.no_autoflush:
        return session.scalar(wanted)


def _content(session: Session, text: str) -> str:
    def address_of(name: str, host: str | None) -> str | None:
        found = _account(session, name, host)
        return None if found is None else f"https://{found.domain or session.info[_DOMAIN]}/@{found.username}"

    return shown(text, session.info[_DOMAIN], address_of)


def _address(session: Session, post: Status) -> str:
    with session.no_autoflush:
        author = session.get_one(Account, post.account_id)
    return f"https://{author.domain or session.info[_DOMAIN]}/@{author.username}/{post.id}"


def _wants_none(session: Session, notification: Notification) -> bool:
    """Whether the receiver blocked or muted who it comes from."""
    with session.no_autoflush:
        tie = services.find_relationship(session, notification.account_id, notification.from_account_id)
    return tie is not None and (tie.blocking or (tie.muting and tie.muting_notifications))


def _edit(session: Session, post: Status, at: datetime) -> None:
    """Mention whom an edited post mentions now; who is new to it is told."""
    state = inspect(post).attrs
    if state.edited_at.history.has_changes():
        post.edited_at = at
    if not state.text.history.has_changes():
        return
    post.content = _content(session, post.text)
    with session.no_autoflush:
        before = set(session.scalars(select(StatusMention.account_id).where(StatusMention.status_id == post.id)))
        after = {each.id for each in mentioned(session, post.text, post.account_id)}
        session.execute(
            delete(StatusMention).where(
                StatusMention.status_id == post.id, StatusMention.account_id.in_(before - after)
            )
        )
        for account in after - before:
            session.add(StatusMention(status_id=post.id, account_id=account))
            services.add_notification(
                session, recipient_id=account, from_account_id=post.account_id, type_="mention", status_id=post.id
            )
        session.execute(delete(StatusTag).where(StatusTag.status_id == post.id))
        session.add_all(StatusTag(status_id=post.id, name=name) for name in hashtags(post.text))


def _forget(session: Session, post: int) -> None:
    """What goes with a post: who it mentioned, who was told of it, that others answered it."""
    with session.no_autoflush:
        for kind in (Notification, StatusMention, StatusTag):
            session.execute(delete(kind).where(kind.status_id == post))
        session.execute(update(Status).where(Status.in_reply_to_id == post).values(in_reply_to_id=None))
