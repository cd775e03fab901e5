"""Who gets into the dashboard and its API: accounts, their sessions and their tokens.

Passwords are kept only as argon2 hashes. An account gives nobody a role: it says who somebody is on the platforms, and
the desk asks the platforms for their roles at each decision.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, select

from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.rules.preferences import Preferences
from core.desk.rules.roles import Person
from core.desk.schema import ApiTokenRow
from core.desk.store import accounts, communities
from core.errors import BadInput, NotAllowed, PlatformUnavailable
from core.i18n.catalogs import LANGUAGES
from core.i18n.sentences import sentence

MOST_DAYS: Final = 366
_MOST_LABEL: Final = 60
_TOKEN: Final = re.compile(r"antiphon_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_USED_EVERY: Final = timedelta(minutes=1)
"""When a token was used last is not written at each request."""
LEAST_PASSWORD: Final = 12
_MOST_PASSWORD: Final = 1000
_MOST_NAME: Final = 60
_AT_ONCE: Final = 2
"""How many passwords are hashed at a time: each takes 64 MiB."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is logged in: their account, who they are on each platform, and how they want the page.

    Attributes:
        account: its name.
        people: who they are, one for each platform.
        said: what the last page left to say on the next one, "" for nothing; ``WebAccounts.say_next`` clears it.
    """

    account: str
    people: tuple[Person, ...]
    wants: Preferences = field(default_factory=Preferences)
    said: str = ""

    def on(self, platform: str) -> Person | None:
        """Who they are on a platform; ``None`` where they are nobody."""
        return next((person for person in self.people if person.platform == platform), None)


class Scope(StrEnum):
    """What a token of the API may be used for. None of them approves a reply, or lets one be posted."""

    READ = "read"
    REVEAL = "reveal"
    DECIDE = "decide"


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token of the API, without its secret: for which account, for what, until when, and when it was used last."""

    id: str
    account: str
    label: str
    scopes: frozenset[Scope]
    expires_at: datetime
    used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Bearer:
    """The person who asks by a token, and the token."""

    visitor: Visitor
    token: ApiToken


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

        name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)

        async def work(session: Session) -> bool:
            if await accounts.find(session, account) is None:
                return False
            await session.execute(delete(ApiTokenRow).where(ApiTokenRow.expires_at <= session.moment))
            ends = session.moment + timedelta(days=days)
            own = {"id": name, "secret": _hash(secret), "account": account, "label": label}
            said = " ".join(sorted(scopes))
            session.add(ApiTokenRow(**own, scopes=said, created_at=session.moment, expires_at=ends))
            await session.flush()
            return True

        if not await self._database.run("make a token", work):
            raise BadInput(f"There is no account {account}.", remedy="antiphon web list shows them.")
        return f"antiphon_{name}_{secret}"

    async def listed(self) -> list[ApiToken]:
        async def work(session: Session) -> list[ApiToken]:
            rows = await session.scalars(select(ApiTokenRow).order_by(ApiTokenRow.account, ApiTokenRow.created_at))
            return [_read(row) for row in rows]

        return await self._database.run("list tokens", work)

    async def revoke(self, name: str) -> bool:
        """End a token at once; ``False`` if there is none of this id."""
        query = delete(ApiTokenRow).where(ApiTokenRow.id == name).returning(ApiTokenRow.id)
        return await self._database.run("revoke a token", lambda session: session.scalar(query)) is not None

    async def bearer(self, token: str) -> Bearer | None:
        """Whose token it is; ``None`` if it is none, was revoked, is too old, or its account has no role any more.

        The platforms are asked who they are there once a minute, and again about each case.
        """

        async def work(session: Session) -> tuple[ApiToken, bool, accounts.Account] | None:
            use = await _used(session, token)
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


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


async def _used(session: Session, token: str) -> tuple[ApiToken, bool] | None:
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


def check_password(password: str) -> None:
    """Refuse a password that is too short, or longer than anybody types."""
    if not LEAST_PASSWORD <= len(password) <= _MOST_PASSWORD:
        raise BadInput(
            sentence("The password is too short.")
            if len(password) < LEAST_PASSWORD
            else sentence("The password is too long."),
            remedy=sentence("Take {least} characters or more, such as four words.", least=LEAST_PASSWORD),
        )


class WebAccounts:
    """Accounts and sessions. A session is named by a secret that only the browser has.

    Args:
        live_roles: asks the platforms who somebody is there; ``None`` on the command line, where nobody logs in.
        hasher: makes and checks the hashes of passwords.
    """

    def __init__(
        self, database: Database, live_roles: LiveRoles | None = None, *, hasher: PasswordHasher | None = None
    ) -> None:
        self._database = database
        self._live_roles = live_roles
        self._hasher = hasher or PasswordHasher()
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._nobody = ""

    # For who runs Antiphon

    async def keep(self, name: str, password: str, people: tuple[Person, ...]) -> None:
        """Make an account, or give one a new password and people; "" allows no password. Its sessions end.

        Raises:
            BadInput: the name or the password is not one, or it names nobody, or two people of one platform.
        """
        if not name.strip() or name != name.strip() or len(name) > _MOST_NAME or not name.isprintable():
            raise BadInput(
                "This cannot be the name of an account.", remedy=f"Take 1 to {_MOST_NAME} visible characters."
            )
        if len({person.platform for person in people}) < max(1, len(people)):
            raise BadInput(
                "An account is one person, on one platform or several.",
                remedy="Name the person once for each platform, as PLATFORM/ID.",
            )
        if password:
            check_password(password)
        hashed = await self._hashed(password) if password else ""
        await self._database.run("keep an account", lambda session: accounts.keep(session, name, hashed, people))

    async def remove(self, name: str) -> bool:
        """Delete an account, and end its sessions; ``False`` if there is none."""
        return await self._database.run("remove an account", lambda session: accounts.remove(session, name))

    async def listed(self) -> list[accounts.Account]:
        return await self._database.run("list accounts", accounts.every)

    async def link(self, name: str) -> str:
        """The secret of a link that logs an account in once, within ten minutes; ``BadInput`` if there is none."""

        async def work(session: Session) -> str | None:
            account = await accounts.find(session, name)
            return None if account is None else await accounts.log_in(session, account.name, is_link=True)

        secret = await self._database.run("make a link", work)
        if secret is None:
            raise BadInput(f"There is no account {name}.", remedy="antiphon web list shows them.")
        return secret

    # For the page

    async def log_in(self, account: str, password: str) -> str:
        """Begin a session with a password, and return its secret; it takes as long for an account that is not there.

        Raises:
            NotAllowed: there is no such account, the password is wrong, or the person has no role any more.
        """
        row = await self._database.run("find an account", lambda session: accounts.find(session, account))
        hashed = row.password if row is not None else ""
        is_right = await self._verified(hashed or await self._of_nobody(), password[:_MOST_PASSWORD])
        if row is None or not hashed or not is_right:
            raise NotAllowed(
                sentence("The name or the password is wrong."),
                remedy=sentence("Try again, or ask who runs Antiphon for a new link."),
            )
        return await self._begun(row)

    async def use_link(self, secret: str) -> str:
        """Begin a session with a link, which then is used up; ``NotAllowed`` if it was before, or is too old."""

        async def work(session: Session) -> accounts.Account | None:
            name = await accounts.used_link(session, secret)
            return None if name is None else await accounts.find(session, name)

        account = await self._database.run("use a link", work)
        if account is None:
            raise NotAllowed(
                sentence("This link was used already, or is too old."),
                remedy=sentence("Ask who runs Antiphon for a new one: antiphon web link."),
            )
        return await self._begun(account)

    async def log_in_as(self, platform: str, user: str) -> str:
        """Begin a session for the person whom a platform vouches for; ``NotAllowed`` without an account or any role."""
        account = await self._database.run(
            "find whose account it is", lambda session: accounts.of_person(session, platform, user)
        )
        if account is None:
            raise NotAllowed(
                sentence("Nobody with an account is {person}.", person=f"{platform}/{user}"),
                remedy=sentence(
                    "Ask who runs Antiphon to make one: {command}.",
                    command=f"antiphon web account NAME {platform}/{user}",
                ),
            )
        return await self._begun(account)

    async def visitor(self, session: str, *, is_idle: bool = False) -> Visitor | None:
        """Whose session it is; ``None`` if it is over.

        Args:
            is_idle: the page asks by itself, and nobody did anything, so that the session lasts no longer.
        """
        row = await self._database.run(
            "look at a session", lambda opened: accounts.account_of(opened, session, is_idle=is_idle)
        )
        if row is None:
            return None
        return Visitor(row.name, row.people, row.wants, row.said)

    async def leave(self, session: str) -> None:
        """End a session; one that is over is ignored."""
        await self._database.run("end a session", lambda opened: accounts.end(opened, session))

    async def say_next(self, session: str, said: str) -> None:
        """Keep a sentence for the next page of this session, "" once it is said."""
        await self._database.run("keep what to say", lambda opened: accounts.say(opened, session, said))

    async def prefer(self, session: str, wanted: Preferences) -> None:
        """Keep how the person wants the pages."""
        if wanted.language not in ("", *LANGUAGES):
            raise BadInput(
                sentence("Antiphon does not speak this language."), remedy=sentence("Choose one of the list.")
            )
        await self._database.run("keep how pages are wanted", lambda opened: accounts.prefer(opened, session, wanted))

    async def _begun(self, account: accounts.Account) -> str:
        """A session for somebody who has a role now, by what the platforms say."""
        await self.ask_for_roles(account)

        async def work(session: Session) -> str | None:
            return await accounts.log_in(session, account.name) if await accounts.has_role(session, account) else None

        secret = await self._database.run("begin a session", work)
        if secret is None:
            raise NotAllowed(
                sentence("This account has no role in any community."),
                remedy=sentence("Ask a manager of the community for the role {role}.", role=sentence("moderator")),
            )
        return secret

    async def ask_for_roles(self, account: accounts.Account) -> None:
        """Ask each platform once; one that is away leaves what it said last, and is asked again at each decision."""
        if self._live_roles is None:
            return
        every = await self._database.run("name communities", communities.all_communities)
        for person in account.people:
            for community in every:
                if community.platform == person.platform:
                    with contextlib.suppress(PlatformUnavailable):
                        await self._live_roles.refresh(community, [person])

    async def _of_nobody(self) -> str:
        """The hash that is checked where there is no account, so that nobody learns which names there are."""
        self._nobody = self._nobody or await self._hashed("nobody has this password")
        return self._nobody

    async def _hashed(self, password: str) -> str:
        async with self._turns:
            return await asyncio.to_thread(self._hasher.hash, password.encode(errors="surrogatepass"))

    async def _verified(self, hashed: str, password: str) -> bool:
        async with self._turns:
            return await asyncio.to_thread(self._matches, hashed, password)

    def _matches(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password.encode(errors="surrogatepass"))
        except (VerificationError, InvalidHashError):
            return False
