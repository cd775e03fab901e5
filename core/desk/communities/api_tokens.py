"""Who may use the dashboard's API: ``core.desk.rules.dashboard_ports.TokenKeeper`` over the database.

A token acts for an account, and has no right of its own: the platforms are asked at each request what the account's
people may do.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, select

from core.desk.communities.accounts import WebAccounts
from core.desk.database.connection import Database, Session
from core.desk.rules.dashboard_ports import ApiToken, Bearer, Scope, Visitor
from core.desk.schema import ApiTokenRow
from core.desk.store import accounts
from core.desk.store.accounts import Account
from core.errors import BadInput

MOST_DAYS: Final = 366
_MOST_LABEL: Final = 60


class ApiTokens:
    """Tokens of accounts.

    Args:
        people: asks the platforms who somebody is there.
    """

    def __init__(self, database: Database, people: WebAccounts) -> None:
        self._database = database
        self._people = people

    async def make(self, account: str, label: str, scopes: Collection[Scope], days: int) -> str:
        """A new token, which is told this once.

        Raises:
            BadInput: there is no such account, nothing is allowed, or it would last too long.
        """
        if not scopes:
            raise BadInput("The token could do nothing.", remedy=f"Add --scope: {', '.join(Scope)}.")
        if not 1 <= days <= MOST_DAYS:
            raise BadInput("A token cannot last so long.", remedy=f"Take 1 to {MOST_DAYS} days.")
        if len(label) > _MOST_LABEL or (label and not label.isprintable()):
            raise BadInput("This cannot be what a token is for.", remedy=f"Say it in {_MOST_LABEL} visible characters.")

        async def work(session: Session) -> str | None:
            if await accounts.find(session, account) is None:
                return None
            return await make(session, account, label, scopes, timedelta(days=days))

        secret = await self._database.run("make a token", work)
        if secret is None:
            raise BadInput(f"There is no account {account}.", remedy="antiphon web list shows them.")
        return secret

    async def listed(self) -> list[ApiToken]:
        """All tokens, by account."""
        return await self._database.run("list tokens", every)

    async def revoke(self, name: str) -> bool:
        """End a token at once; ``False`` if there is none of this id."""
        return await self._database.run("revoke a token", lambda session: revoke(session, name))

    async def bearer(self, token: str) -> Bearer | None:
        """Whose token it is; the platforms are asked who they are there once a minute, and again about each case."""

        async def work(session: Session) -> tuple[ApiToken, bool, Account] | None:
            use = await of(session, token)
            account = None if use is None else await accounts.find(session, use[0].account)
            return None if use is None or account is None else (*use, account)

        use = await self._database.run("look at a token", work)
        if use is None:
            return None
        allowed, is_first, account = use
        if is_first:
            await self._people.ask_for_roles(account)
        if not await self._database.run("ask for a role", lambda session: accounts.has_role(session, account)):
            return None
        return Bearer(Visitor(account.name, account.people, account.wants), allowed)


_TOKEN: Final = re.compile(r"antiphon_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_USED_EVERY: Final = timedelta(minutes=1)
"""When a token was used last is not written at each request."""


async def make(session: Session, account: str, label: str, scopes: Collection[Scope], lasts: timedelta) -> str:
    """A new token of an account, which is kept nowhere; tokens whose time is over are forgotten."""
    await session.execute(delete(ApiTokenRow).where(ApiTokenRow.expires_at <= session.moment))
    name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    session.add(
        ApiTokenRow(
            id=name,
            secret=_hash(secret),
            account=account,
            label=label,
            scopes=" ".join(sorted(scopes)),
            created_at=session.moment,
            expires_at=session.moment + lasts,
        )
    )
    await session.flush()
    return f"antiphon_{name}_{secret}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


async def of(session: Session, token: str) -> tuple[ApiToken, bool] | None:
    """What a token may do, which then was used, and whether it was not for a minute; ``None`` if it is not valid."""
    parts = _TOKEN.fullmatch(token)
    row = None if parts is None else await session.get(ApiTokenRow, parts[1], populate_existing=True)
    is_right = hmac.compare_digest(_hash(parts[2] if parts else ""), row.secret if row is not None else _hash(""))
    if row is None or not is_right or row.expires_at <= session.moment:
        return None
    is_first = row.used_at is None or row.used_at <= session.moment - _USED_EVERY
    if is_first:
        row.used_at = session.moment
        await session.flush()
    return _read(row), is_first


def _read(row: ApiTokenRow) -> ApiToken:
    scopes = frozenset(Scope(scope) for scope in row.scopes.split())
    return ApiToken(row.id, row.account, row.label, scopes, row.expires_at, row.used_at)


async def every(session: Session) -> list[ApiToken]:
    """All tokens, by account and age."""
    rows = await session.scalars(select(ApiTokenRow).order_by(ApiTokenRow.account, ApiTokenRow.created_at))
    return [_read(row) for row in rows]


async def revoke(session: Session, name: str) -> bool:
    """Forget a token by its id; ``False`` if there is none."""
    deleted = await session.execute(delete(ApiTokenRow).where(ApiTokenRow.id == name).returning(ApiTokenRow.id))
    return deleted.first() is not None
