"""Tokens of the dashboard's API, in the database.

A token is ``antiphon_ID_SECRET``: the id finds its row, of the secret only the SHA-256 is kept, which is right for 256
bits of chance. Works inside the caller's transaction and never commits.
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

from bot.store.engine.database import Session
from bot.store.schema import ApiTokenRow
from core.moderation.dashboard_ports import ApiToken, Scope

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
    said = _TOKEN.fullmatch(token)
    row = None if said is None else await session.get(ApiTokenRow, said[1], populate_existing=True)
    is_right = hmac.compare_digest(_hash(said[2] if said else ""), row.secret if row is not None else _hash(""))
    if row is None or not is_right or row.expires_at <= session.moment:
        return None
    is_first = row.used_at is None or row.used_at <= session.moment - _USED_EVERY
    if is_first:
        row.used_at = session.moment
        await session.flush()
    return _read(row), is_first


def _read(row: ApiTokenRow) -> ApiToken:
    scopes = frozenset(Scope(one) for one in row.scopes.split())
    return ApiToken(row.id, row.account, row.label, scopes, row.expires_at, row.used_at)


async def every(session: Session) -> list[ApiToken]:
    """All tokens, by account and age."""
    rows = await session.scalars(select(ApiTokenRow).order_by(ApiTokenRow.account, ApiTokenRow.created_at))
    return [_read(row) for row in rows]


async def revoke(session: Session, name: str) -> bool:
    """Forget a token by its id; ``False`` if there is none."""
    done = await session.execute(delete(ApiTokenRow).where(ApiTokenRow.id == name).returning(ApiTokenRow.id))
    return done.first() is not None
