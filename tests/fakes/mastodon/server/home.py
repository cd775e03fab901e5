"""mastodon-mock in its thread, and the accounts, tokens and posts in its database.

Owns what is put right inside mastodon-mock, where a proxy in front of it comes too late: who is mentioned, the HTML of
a post, its address and time. Decides nothing about who may do what.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from mastodon_mock.config import DatabaseConfig, FaultConfig, MastodonMockConfig, SeedConfig, StreamingConfig
from mastodon_mock.db.models import Account, OAuthToken, Status, StatusMention
from mastodon_mock.testing import MockServer
from sqlalchemy import select
from sqlalchemy.orm import Session

_HEARTBEAT_SECONDS: Final = 0.2  # between two signs of life of a stream; also how fast it ends


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


class Home:
    """The instance behind the proxy.

    Attributes:
        domain: of the instance.
        url: where mastodon-mock itself listens.
    """

    def __init__(self, domain: str, now: Callable[[], datetime]) -> None:
        self.domain = domain
        self._now = now
        self._media = tempfile.TemporaryDirectory(prefix="antiphon_mastodon_")
        self._server = MockServer(
            config=MastodonMockConfig(
                domain=domain,
                title="A home instance",
                email=f"admin@{domain}",
                description="Where the bot lives.",
                database=DatabaseConfig(path=":memory:"),
                faults=FaultConfig(enabled=False),
                media_storage_path=self._media.name,
                seed=SeedConfig(),
                streaming=StreamingConfig(heartbeat_seconds=_HEARTBEAT_SECONDS),
            )
        )
        self.url = ""

    @property
    def config(self) -> MastodonMockConfig:
        """What mastodon-mock says of itself."""
        return self._server.config

    def start(self) -> None:
        """Serve, in a thread of its own."""
        self._server.start()
        self.url = self._server.base_url

    def stop(self) -> None:
        """End the thread, and take away what it kept."""
        self._server.stop()
        self._media.cleanup()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The database, in a transaction that is committed at the end."""
        with self._server._server.config.app.state.session_factory.begin() as session:
            yield session

    def add_account(self, username: str, domain: str | None = None, **fields: Any) -> int:
        """Add an account; its number. See ``mastodon_mock.db.models.Account`` for the fields."""
        made = Account(username=username, domain=domain, created_at=self._now(), **fields)
        with self.session() as session:
            session.add(made)
            session.flush()
            return made.id

    def add_token(self, token: str, account: int | None, scopes: Sequence[str]) -> None:
        """Let a token stand for an account."""
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
