"""Who may use the dashboard's API: ``core.moderation.dashboard_ports.TokenKeeper`` over the database.

A token acts for an account, and has no right of its own: what the account's people may do is asked at each request.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from bot.communities.accounts import WebAccounts
from bot.store.engine.database import Database, Session
from bot.store.people import accounts, tokens
from bot.store.people.accounts import Account
from core.errors import BadInput
from core.moderation.dashboard_ports import ApiToken, Bearer, Scope, Visitor

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
            return await tokens.make(session, account, label, scopes, timedelta(days=days))

        made = await self._database.run("make a token", work)
        if made is None:
            raise BadInput(f"There is no account {account}.", remedy="antiphon web list shows them.")
        return made

    async def listed(self) -> list[ApiToken]:
        """All tokens, by account."""
        return await self._database.run("list tokens", tokens.every)

    async def revoke(self, name: str) -> bool:
        """End a token at once; ``False`` if there is none of this id."""
        return await self._database.run("revoke a token", lambda session: tokens.revoke(session, name))

    async def bearer(self, token: str) -> Bearer | None:
        """Whose token it is; the platforms are asked who they are there once a minute, and again about each case."""

        async def work(session: Session) -> tuple[ApiToken, bool, Account] | None:
            found = await tokens.of(session, token)
            account = None if found is None else await accounts.find(session, found[0].account)
            return None if found is None or account is None else (*found, account)

        found = await self._database.run("look at a token", work)
        if found is None:
            return None
        told, is_first, account = found
        if is_first:
            await self._people.ask_for_roles(account)
        if not await self._database.run("ask for a role", lambda session: accounts.has_role(session, account)):
            return None
        return Bearer(Visitor(account.name, account.people, account.language), told)
