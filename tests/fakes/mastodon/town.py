"""What people do on the fake instance: post, answer, report, block; and what they see of the bot.

A remote account acts through the instance as a local one would; only its name says where it lives.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

from aiohttp import ClientSession

from tests.fakes.mastodon.server.kinds import Kind
from tests.fakes.mastodon.server.mock.home import Home
from tests.fakes.mastodon.server.refusing.oauth import Codes
from tests.fakes.mastodon.server.refusing.rules import Rules

JSON = dict[str, Any]
TOWN_HEADER: Final = "X-Town"
"""What requests of people carry, so that they are neither recorded nor struck by faults."""
_SCOPES: Final = ("read", "write", "follow", "push")
_EVERY_SCOPE: Final = (*_SCOPES, "admin:read", "admin:write")


class TownRefused(Exception):
    """Somebody was not let do something.

    Attributes:
        code: the status of the answer.
    """

    def __init__(self, code: int, words: str) -> None:
        super().__init__(f"{code}: {words}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Person:
    """An account.

    Attributes:
        id: as the API writes it.
        username: without the domain.
        domain: of a remote account; ``None`` at home.
        token: of the application that they use; the town itself acts in their name without asking for scopes.
    """

    id: str
    username: str
    domain: str | None
    token: str

    @property
    def acct(self) -> str:
        """Their name as the instance writes it."""
        return self.username if self.domain is None else f"{self.username}@{self.domain}"


class MastodonTown:
    """People, their posts and their reports. A post is the JSON that the instance answered; it does not change."""

    def __init__(self, home: Home, kind: Kind, rules: Rules, codes: Codes, url: str) -> None:
        self._home, self._kind, self._rules, self._codes, self._url = home, kind, rules, codes, url
        self._addresses = itertools.count(1)
        self._own: dict[str, str] = {}
        self._session: ClientSession

    @asynccontextmanager
    async def running(self) -> AsyncIterator[MastodonTown]:
        async with ClientSession(headers={TOWN_HEADER: "1"}) as self._session:
            yield self

    def add_account(
        self,
        username: str,
        domain: str | None = None,
        *,
        bot: bool = False,
        role: str = "user",
        note: str = "",
        scopes: Sequence[str] = _SCOPES,
        **fields: Any,
    ) -> Person:
        """Add an account.

        Args:
            domain: of its instance; ``None`` for the bot's home.
            role: ``user``, ``moderator``, ``admin`` or ``owner``.
            scopes: of its token.
            fields: others of ``mastodon_mock.db.models.Account``, such as ``email`` and ``ip``, which local accounts
                have anyway.
        """
        own = {"email": f"{username}@example.org", "ip": f"192.0.2.{next(self._addresses)}"} if domain is None else {}
        fields = {"display_name": username.capitalize(), "fields": []} | own | fields
        number = self._home.add_account(username, domain, bot=bot, role=role, note=note, **fields)
        made = Person(self._kind.shown(number), username, domain, self._token(number, scopes))
        self._own[made.id] = self._token(number, _EVERY_SCOPE)
        return made

    def token(self, person: Person, scopes: Sequence[str]) -> str:
        """Another token for an account, such as a moderator's with ``admin:read:reports`` only."""
        return self._token(int(self._kind.kept(person.id)), scopes)

    def revoke(self, token: str) -> None:
        self._home.revoke(token)

    def approve(self, person: Person, address: str) -> str:
        """Somebody lets the application in that sent them to an address; where they are sent back to, or the code.

        Raises:
            Refused: the application asks for what it may not.
        """
        return self._codes.approve(address, int(self._kind.kept(person.id)))

    def let_reply(self, post: JSON, *who: str) -> None:
        """The author of a post says who may answer it: ``public``, ``followers``, ``mentioned``; nobody without."""
        self._rules.may_reply[self._kind.kept(post["id"])] = who

    async def post(
        self,
        person: Person,
        text: str,
        *,
        visibility: str = "public",
        spoiler: str = "",
        language: str | None = None,
        reply_to: JSON | str | None = None,
        **more: Any,
    ) -> JSON:
        """Somebody posts.

        Args:
            reply_to: the post that it answers, or its id.
            more: other parameters.
        """
        form = {"status": text, "visibility": visibility, "spoiler_text": spoiler, "language": language} | more
        if reply_to is not None:
            form["in_reply_to_id"] = _id(reply_to)
        return cast(JSON, await self.call(person, "POST", "/api/v1/statuses", form))

    async def mention(self, person: Person, bot: Person, words: str, *, reply_to: JSON | None = None) -> JSON:
        """Somebody calls the bot, maybe in answer to a post, as public as that is."""
        visibility = "public" if reply_to is None else reply_to["visibility"]
        return await self.post(person, f"@{bot.acct} {words}", visibility=visibility, reply_to=reply_to)

    async def direct(self, person: Person, text: str, *to: Person, reply_to: JSON | str | None = None) -> JSON:
        """Somebody writes to some people only."""
        names = " ".join(f"@{each.acct}" for each in to)
        return await self.post(person, f"{names} {text}".strip(), visibility="direct", reply_to=reply_to)

    async def edit(self, person: Person, post: JSON | str, text: str, **more: Any) -> JSON:
        return cast(JSON, await self.call(person, "PUT", f"/api/v1/statuses/{_id(post)}", {"status": text} | more))

    async def delete(self, person: Person, post: JSON | str) -> None:
        await self.call(person, "DELETE", f"/api/v1/statuses/{_id(post)}")

    async def block(self, person: Person, other: Person) -> None:
        """Somebody wants to have nothing to do with somebody."""
        await self.call(person, "POST", f"/api/v1/accounts/{other.id}/block")

    async def unblock(self, person: Person, other: Person) -> None:
        """Somebody changes their mind about it."""
        await self.call(person, "POST", f"/api/v1/accounts/{other.id}/unblock")

    async def mute(self, person: Person, other: Person) -> None:
        """Somebody wants to hear nothing of somebody."""
        await self.call(person, "POST", f"/api/v1/accounts/{other.id}/mute")

    async def follow(self, person: Person, other: Person) -> None:
        await self.call(person, "POST", f"/api/v1/accounts/{other.id}/follow")

    async def report(self, person: Person, post: JSON, comment: str = "", *, category: str = "other") -> JSON:
        """Somebody reports a post to the instance's moderators; the report as they see it."""
        form = {"account_id": post["account"]["id"], "status_ids": [post["id"]], "comment": comment}
        return cast(JSON, await self.call(person, "POST", "/api/v1/reports", form | {"category": category}))

    async def see(self, post: JSON | str, person: Person | None = None) -> JSON | None:
        """A post as it stands now, as everybody or one person sees it; ``None`` if they do not."""
        try:
            return cast(JSON, await self.call(person, "GET", f"/api/v1/statuses/{_id(post)}"))
        except TownRefused as err:
            if err.code != 404:
                raise
            return None

    async def replies(self, post: JSON | str, person: Person | None = None) -> list[JSON]:
        """The answers to a post, and to those, as everybody or one person sees them, oldest first."""
        found = await self.call(person, "GET", f"/api/v1/statuses/{_id(post)}/context")
        return cast(list[JSON], found["descendants"])

    async def written_by(self, person: Person) -> list[JSON]:
        """All that somebody wrote and did not delete, for whomever, oldest first."""
        return await self._posts(person, self._home.written_by(self._kind.kept(person.id)))

    async def directs_to(self, person: Person) -> list[JSON]:
        """What was written to somebody and a few others only, oldest first."""
        return await self._posts(person, self._home.directs_to(self._kind.kept(person.id)))

    async def call(self, person: Person | None, method: str, path: str, form: JSON | None = None) -> Any:
        """What the instance answers to one person.

        Raises:
            TownRefused: it refuses.
        """
        headers = {} if person is None else {"Authorization": f"Bearer {self._own[person.id]}"}
        sent = None if form is None else {name: value for name, value in form.items() if value is not None}
        async with self._session.request(method, f"{self._url}{path}", json=sent, headers=headers) as answer:
            body = await answer.json()
            if answer.status != 200:
                raise TownRefused(answer.status, body["error"])
            return body

    async def _posts(self, person: Person, kept: list[str]) -> list[JSON]:
        return [await self.call(person, "GET", f"/api/v1/statuses/{self._kind.shown(each)}") for each in kept]

    def _token(self, account: int, scopes: Sequence[str]) -> str:
        token = secrets.token_urlsafe(24)
        self._home.add_token(token, account, scopes)
        return token


def _id(post: JSON | str) -> str:
    return post if isinstance(post, str) else str(post["id"])
