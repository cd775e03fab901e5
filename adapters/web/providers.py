"""Platforms that say who somebody is: OAuth's authorization code with PKCE (RFC 6749, RFC 7636).

A code and a token must never be logged;
the token is used once, to ask for the person's id, and is kept nowhere.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp

from adapters.common.pkce import challenge_of
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

_SECONDS: Final = 10.0
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,512}=*")
"""A bearer token (RFC 6750, section 2.1)."""
_ID: Final = re.compile(r"[A-Za-z0-9]{1,64}")


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One platform, and what it knows us by.

    Attributes:
        platform: its name in identities, such as ``discord``.
        title: its name for people.
    """

    platform: str
    title: str
    authorize: str
    token: str
    identity: str
    scope: str
    client_id: str
    client_secret: str = field(repr=False)

    def address(self, redirect: str, state: str, verifier: str) -> str:
        """Where the person is asked, and sent back from to ``redirect``."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect,
            "scope": self.scope,
            "state": state,
            "code_challenge": challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        return f"{self.authorize}?{urlencode(asked)}"

    async def user(self, code: str, redirect: str, verifier: str) -> str:
        """The platform's id of who allowed it.

        Raises:
            PlatformUnavailable: the platform cannot be reached, takes no such code, or says no id.
        """
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "code_verifier": verifier,
        }
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, headers={"User-Agent": "Antiphon"}) as http:
            token = str((await self._said(http, "POST", self.token, data=form)).get("access_token", ""))
            if not _TOKEN.fullmatch(token):
                raise self.silent()
            bearer = {"Authorization": f"Bearer {token}"}
            user = str((await self._said(http, "GET", self.identity, headers=bearer)).get("id", ""))
        if not _ID.fullmatch(user):
            raise self.silent()
        return user

    async def _said(self, http: aiohttp.ClientSession, method: str, address: str, **how: Any) -> dict[str, Any]:
        """The object that is answered; a redirect is none, so that no secret goes elsewhere."""
        try:
            async with http.request(method, address, allow_redirects=False, **how) as answer:
                found = await answer.json(content_type=None) if answer.status == 200 else None
        except (aiohttp.ClientError, TimeoutError, ValueError) as err:
            raise self.silent() from err
        if not isinstance(found, dict):
            raise self.silent()
        return found

    def silent(self) -> PlatformUnavailable:
        """What is raised where the platform says no id."""
        return PlatformUnavailable(
            sentence("{platform} did not say who you are.", platform=self.title),
            remedy=sentence("Try again in a few minutes, or log in in another way."),
        )


def discord(client_id: str, client_secret: str, root: str = "https://discord.com") -> Provider:
    """Discord (docs.discord.com, OAuth2)."""
    return Provider(
        platform="discord",
        title="Discord",
        authorize=f"{root}/oauth2/authorize",
        token=f"{root}/api/v10/oauth2/token",
        identity=f"{root}/api/v10/users/@me",
        scope="identify",
        client_id=client_id,
        client_secret=client_secret,
    )


def mastodon(client_id: str, client_secret: str, root: str) -> Provider:
    """One instance of Mastodon (docs.joinmastodon.org, methods/oauth), whose ids are its own."""
    return Provider(
        platform="mastodon",
        title="Mastodon",
        authorize=f"{root}/oauth/authorize",
        token=f"{root}/oauth/token",
        identity=f"{root}/api/v1/accounts/verify_credentials",
        scope="read:accounts",
        client_id=client_id,
        client_secret=client_secret,
    )
