"""mastodon-mock in this process, and the accounts, tokens and posts in its database.

Decides nothing about who may do what; ``mending`` puts right what a proxy in front of it could not.
"""

import tempfile
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from mastodon_mock.db.models import Account, OAuthToken, Relationship, Status, StatusMention
from mastodon_mock.streaming import EventBus
from sqlalchemy import select
from sqlalchemy.orm import Session
from yarl import URL

from tests.fakes.mastodon.server.mock import apps
from tests.fakes.mastodon.server.mock.asgi import Answer, exchange
from tests.fakes.mastodon.server.mock.mending import mend


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks.

    Attributes:
        account: their number; ``None`` for nobody, and for an application without an account.
        role: ``user``, ``moderator``, ``admin`` or ``owner``.
        scopes: what the token may; empty for nobody.
    """

    account: int | None = None
    role: str = "user"
    scopes: tuple[str, ...] = ()

    @property
    def is_moderator(self) -> bool:
        """Whether the account's role may manage reports."""
        return self.role != "user"


@dataclass(frozen=True, slots=True)
class Ties:
    """Whom one account follows, and who blocked it."""

    account: int | None
    follows: frozenset[int]
    blocked_by: frozenset[int]

    def sees(self, author: int, visibility: str, mentioned: set[int]) -> bool:
        """Whether a post is shown to the account, as Mastodon's StatusPolicy decides."""
        if self.account is not None and self.account == author:
            return True
        if visibility in ("private", "direct"):
            return self.account in mentioned or (visibility == "private" and author in self.follows)
        return author not in self.blocked_by


class Home:
    """The instance behind the proxy.

    Attributes:
        domain: of the instance.
    """

    def __init__(self, domain: str, now: Callable[[], datetime]) -> None:
        self.domain = domain
        self._now = now
        self._folder = tempfile.TemporaryDirectory(prefix="antiphon_mastodon_")
        self._app = apps.take(domain, Path(self._folder.name))
        mend(self._app.state.session_factory, domain, now)
        self._events: EventBus = self._app.state.event_bus
        self._app.state.event_bus = None  # writing down what nobody hears takes half of a post's time

    def close(self) -> None:
        """Take away what it kept."""
        apps.give_back(self._app)
        self._folder.cleanup()

    async def ask(self, method: str, url: URL, headers: MutableMapping[str, str], body: bytes = b"") -> Answer:
        return await exchange(self._app, method, url, headers, body)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The database, in a transaction that is committed at the end."""
        with self._app.state.session_factory.begin() as session:
            yield session

    def add_account(self, username: str, domain: str | None = None, **fields: Any) -> int:
        """Add an account; its number. See ``mastodon_mock.db.models.Account`` for the fields."""
        made = Account(username=username, domain=domain, created_at=self._now(), **fields)
        with self.session() as session:
            session.add(made)
            session.flush()
            return made.id

    def add_token(self, token: str, account: int | None, scopes: Sequence[str]) -> None:
        with self.session() as session:
            session.add(OAuthToken(access_token=token, account_id=account, scopes=list(scopes), created_at=self._now()))

    def revoke(self, token: str) -> None:
        """Let a token stand for nobody."""
        with self.session() as session:
            session.delete(session.scalars(select(OAuthToken).where(OAuthToken.access_token == token)).one())

    def viewer(self, token: str | None) -> Viewer | None:
        """Who a token stands for; ``None`` for a token that is not known."""
        if token is None:
            return Viewer()
        with self.session() as session:
            known = session.scalar(select(OAuthToken).where(OAuthToken.access_token == token))
            if known is None:
                return None
            account = None if known.account_id is None else session.get(Account, known.account_id)
            role = "user" if account is None else account.role
            return Viewer(known.account_id, role, tuple(known.scopes))

    def ties(self, account: int | None) -> Ties:
        with self.session() as session:
            found = session.scalars(select(Relationship).where(Relationship.source_account_id == account)).all()
            follows = frozenset(each.target_account_id for each in found if each.following)
            return Ties(account, follows, frozenset(each.target_account_id for each in found if each.blocked_by))

    def sees(self, account: int | None, post: str) -> bool:
        with self.session() as session:
            kept = session.get(Status, int(post)) if post.isdecimal() else None
            if kept is None:
                return False
            mentions = session.scalars(select(StatusMention.account_id).where(StatusMention.status_id == kept.id))
            author, visibility, mentioned = kept.account_id, kept.visibility, set(mentions)
        return self.ties(account).sees(author, visibility, mentioned)

    def may_reply(self, account: int | None, post: str, allowed: Sequence[str]) -> bool:
        """Whether an account is among those whom the author lets answer a post."""
        with self.session() as session:
            kept = session.get_one(Status, int(post))
            mentions = session.scalars(select(StatusMention.account_id).where(StatusMention.status_id == kept.id))
            author, mentioned = kept.account_id, set(mentions)
        return (
            account == author
            or "public" in allowed
            or ("followers" in allowed and author in self.ties(account).follows)
            or ("mentioned" in allowed and account in mentioned)
        )

    def written_by(self, account: str) -> list[str]:
        """The ids of somebody's posts, oldest first."""
        with self.session() as session:
            found = session.scalars(select(Status.id).where(Status.account_id == int(account)).order_by(Status.id))
            return [str(each) for each in found]

    def directs_to(self, account: str) -> list[str]:
        """The ids of the direct posts that mention somebody, oldest first."""
        wanted = (
            select(Status.id)
            .join(StatusMention, StatusMention.status_id == Status.id)
            .where(StatusMention.account_id == int(account), Status.visibility == "direct")
            .order_by(Status.id)
        )
        with self.session() as session:
            return [str(each) for each in session.scalars(wanted)]
