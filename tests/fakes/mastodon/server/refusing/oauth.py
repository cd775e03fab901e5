"""How an application gets a token on the fake instance, where mastodon-mock asks for too little: PKCE, scopes, once.

Owns the codes that people gave. A code is good for one token of the application that asked for it.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from mastodon_mock.db.models import OAuthApp
from sqlalchemy import select

from tests.fakes.mastodon.server.asked import Asked
from tests.fakes.mastodon.server.mock.home import Home
from tests.fakes.mastodon.server.refusing.refusals import Refused
from tests.fakes.mastodon.server.refusing.scopes import cover

OUT_OF_BAND: Final = "urn:ietf:wg:oauth:2.0:oob"


@dataclass(frozen=True, slots=True)
class _Given:
    """What stands behind a code."""

    account: int
    client: str
    redirect: str
    scopes: tuple[str, ...]
    challenge: str | None


class Codes:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._given: dict[str, _Given] = {}

    def approve(self, address: str, account: int) -> str:
        """Somebody lets the application in that sent them to an address.

        Returns:
            Where they are sent with the code, or the code alone where they are to copy it.

        Raises:
            Refused: the application asks for what it may not.
        """
        asked = dict(parse_qsl(urlsplit(address).query))
        app = self._app(asked["client_id"])
        redirect, scopes = asked["redirect_uri"], tuple(asked.get("scope", "read").split())
        if app is None or redirect not in app.redirect_uris or asked.get("response_type") != "code":
            raise Refused(400, "invalid_request")
        if not all(cover(app.scopes, scope) for scope in scopes):
            raise Refused(400, "invalid_scope")
        if "code_challenge" in asked and asked.get("code_challenge_method") != "S256":
            raise Refused(400, "invalid_code_challenge_method")
        code = secrets.token_urlsafe(24)
        self._given[code] = _Given(account, app.client_id, redirect, scopes, asked.get("code_challenge"))
        if redirect == OUT_OF_BAND:
            return code
        state = {"state": asked["state"]} if "state" in asked else {}
        return f"{redirect}?{urlencode({'code': code} | state)}"

    def exchange(self, asked: Asked) -> dict[str, Any]:
        """The token for a code.

        Raises:
            Refused: the code is not this application's, was used, or its verifier is another.
        """
        form = asked.form
        app = self._app(form.get("client_id", ""))
        if app is None or form.get("client_secret") != app.client_secret:
            raise Refused(401, "invalid_client")
        given = self._given.pop(form.get("code", ""), None)
        if given is None or (given.client, given.redirect) != (app.client_id, form.get("redirect_uri")):
            raise Refused(400, "invalid_grant")
        if given.challenge is not None and _challenge(form.get("code_verifier", "")) != given.challenge:
            raise Refused(400, "invalid_grant")
        token = secrets.token_urlsafe(32)
        self._home.add_token(token, given.account, given.scopes)
        created = int(asked.at.timestamp())
        return {"access_token": token, "token_type": "Bearer", "scope": " ".join(given.scopes), "created_at": created}

    def _app(self, client: str) -> OAuthApp | None:
        with self._home.session() as session:
            return session.scalar(select(OAuthApp).where(OAuthApp.client_id == client))


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
