"""A platform that says who somebody is, by the addresses of Discord and Mastodon, and takes nothing inexact."""

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from adapters.web.providers import Provider, discord, mastodon
from tests.fakes.machine.loopback import in_the_loop

CLIENT: Final = "80351110224678912"
_SCOPES: Final = {"discord": "identify", "mastodon": "read:accounts"}


@dataclass
class StrictPlatform:
    """Who is logged in there, and what was asked of it.

    Attributes:
        who: the id that it knows the person by.
        error: what it answers instead of a code, "" for a code.
        token_status: the status of its answers to a code.
        codes: the codes that it gave, with the platform, the redirect and the challenge of each, until they are used.
        tokens: the tokens that it gave, with the platform of each, until they are used.
        refused: why it refused something.
    """

    url: str = ""
    who: str = ""
    redirects: set[str] = field(default_factory=set)
    secret: str = field(default_factory=secrets.token_urlsafe)
    error: str = ""
    token_status: int = 200
    codes: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @property
    def providers(self) -> dict[str, Provider]:
        """The platform as the dashboard is told of it."""
        both = discord(CLIENT, self.secret, self.url), mastodon(CLIENT, self.secret, self.url)
        return {one.platform: one for one in both}

    def application(self) -> web.Application:
        """Its pages."""
        made = web.Application()
        for platform, (authorize, token, identity) in {
            "discord": ("/oauth2/authorize", "/api/v10/oauth2/token", "/api/v10/users/@me"),
            "mastodon": ("/oauth/authorize", "/oauth/token", "/api/v1/accounts/verify_credentials"),
        }.items():
            made.router.add_get(authorize, self._authorize, name=f"{platform}-authorize")
            made.router.add_post(token, self._token, name=f"{platform}-token")
            made.router.add_get(identity, self._identity, name=f"{platform}-identity")
        return made

    def _refuse(self, why: str) -> web.Response:
        self.refused.append(why)
        return web.json_response({"error": why}, status=400)

    async def _authorize(self, request: web.Request) -> web.Response:
        said, platform = request.query, _platform(request)
        redirect = said.get("redirect_uri", "")
        expected = {"response_type": "code", "client_id": CLIENT, "scope": _SCOPES[platform]}
        expected["code_challenge_method"] = "S256"
        if redirect not in self.redirects or any(said.get(name) != value for name, value in expected.items()):
            return self._refuse("invalid_request")
        if len(said.get("state", "")) < 20 or len(said.get("code_challenge", "")) != 43:
            return self._refuse("invalid_request")
        code = secrets.token_urlsafe()
        self.codes[code] = (platform, redirect, said["code_challenge"])
        answer = f"error={self.error}" if self.error else f"code={code}"
        return web.Response(status=302, headers={"Location": f"{redirect}?{answer}&state={said['state']}"})

    async def _token(self, request: web.Request) -> web.Response:
        said = {name: str(value) for name, value in (await request.post()).items()}
        platform, redirect, challenge = self.codes.pop(said.get("code", ""), ("", "", ""))
        digest = hashlib.sha256(said.get("code_verifier", "").encode()).digest()
        is_exact = (
            said.get("grant_type") == "authorization_code"
            and said.get("client_id") == CLIENT
            and said.get("client_secret") == self.secret
            and said.get("redirect_uri") == redirect
            and platform == _platform(request)
            and base64.urlsafe_b64encode(digest).decode().rstrip("=") == challenge
        )
        if not is_exact:
            return self._refuse("invalid_grant")
        if self.token_status != 200:
            return web.Response(status=self.token_status, headers={"Location": f"{self.url}/elsewhere"})
        token = secrets.token_urlsafe()
        self.tokens[token] = platform
        return web.json_response({"access_token": token, "token_type": "Bearer", "scope": _SCOPES[platform]})

    async def _identity(self, request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.tokens.pop(token, "") != _platform(request):
            return self._refuse("invalid_token")
        return web.json_response({"id": self.who, "username": "somebody"})


def _platform(request: web.Request) -> str:
    return str(request.match_info.route.name).partition("-")[0]


@asynccontextmanager
async def strict_platform(host: str = "127.0.0.1") -> AsyncIterator[StrictPlatform]:
    """Such a platform, within the block."""
    made = StrictPlatform()
    async with in_the_loop(made.application()) as url:
        made.url = url.replace("127.0.0.1", host)
        yield made
