"""Logging in through a platform: away to it with a state, and back with a code.

The logins that are under way are kept in this process: each belongs to one browser and one platform, lasts ten minutes,
and is used up by the first answer. Where the browser is sent back to is fixed, and so is where it goes on.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from adapters.common.words.errors import log_failure
from adapters.web.door import let_in, login_form, status_of
from adapters.web.providers import Provider
from adapters.web.site import SITE, Site, locale_of, page
from core.errors import AntiphonError, NotAllowed, PlatformUnavailable
from core.i18n.catalogs import translated
from core.i18n.sentences import sentence

_LASTS_SECONDS: Final = 600.0
_MOST: Final = 5000


@dataclass(frozen=True, slots=True)
class _Begun:
    platform: str
    verifier: str
    until: float


class UnderWay:
    """Logins that somebody began and did not end, by their state.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun: dict[str, _Begun] = {}

    def begin(self, platform: str) -> tuple[str, str]:
        """The state and the verifier of a new login; the oldest is forgotten where there are very many."""
        if len(self._begun) >= _MOST:
            del self._begun[next(iter(self._begun))]
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(64)
        self._begun[state] = _Begun(platform, verifier, self._clock() + _LASTS_SECONDS)
        return state, verifier

    def end(self, platform: str, state: str, kept: str) -> str:
        """The verifier of a login, which then is over; ``kept`` is the state that the browser keeps.

        Raises:
            NotAllowed: another browser began it, or for another platform, or it is over.
        """
        is_its_own = hmac.compare_digest(state.encode(errors="surrogatepass"), kept.encode(errors="surrogatepass"))
        begun = self._begun.pop(state, None) if is_its_own else None
        if begun is None or begun.platform != platform or begun.until <= self._clock():
            raise NotAllowed(
                sentence("This login was not begun in this browser, or is too old."),
                remedy=sentence("Begin it again on this page."),
            )
        return begun.verifier


UNDER_WAY: Final = web.AppKey("under way", UnderWay)


async def go_to_platform(request: web.Request) -> web.Response:
    """Send the browser to the platform, and let it keep the state."""
    site, provider = request.app[SITE], _provider(request)
    state, verifier = request.app[UNDER_WAY].begin(provider.platform)
    answer = web.Response(status=303, headers={"Location": provider.address(_back(site, provider), state, verifier)})
    # Lax, since the platform's page sends the browser back
    answer.set_cookie(
        _cookie(site),
        state,
        path="/",
        httponly=True,
        samesite="Lax",
        secure=site.is_secure,
        max_age=int(_LASTS_SECONDS),
    )
    return answer


async def come_back(request: web.Request) -> web.Response:
    """Begin a session for who the platform says that it is.

    The answer is a page that goes on by itself, since browsers send the session's cookie only from our own pages.
    """
    site, provider = request.app[SITE], _provider(request)
    try:
        secret = await _session(request, provider)
    except AntiphonError as err:
        locale = locale_of(request)
        problem = f"{translated(err.message, locale)} {translated(err.remedy, locale)}"
        answer = await login_form(request, "login.html", status=status_of(err), problem=problem, account="")
    else:
        answer = await let_in(request, secret, await page(request, "arrived.html"))
        answer.headers["Refresh"] = "0; url=/"
    answer.del_cookie(_cookie(site), path="/", httponly=True, samesite="Lax", secure=site.is_secure)
    return answer


async def _session(request: web.Request, provider: Provider) -> str:
    site, said = request.app[SITE], request.query
    verifier = request.app[UNDER_WAY].end(
        provider.platform, said.get("state", ""), request.cookies.get(_cookie(site), "")
    )
    if said.get("error") == "access_denied":
        raise NotAllowed(
            sentence("You did not allow {platform} to say who you are.", platform=provider.title),
            remedy=sentence("Begin it again on this page."),
        )
    if "error" in said or not said.get("code"):
        raise provider.silent()
    try:
        user = await provider.user(said["code"], _back(site, provider), verifier)
    except PlatformUnavailable as err:
        log_failure(f"a login through {provider.title}", err)
        raise
    return await site.doorkeeper.log_in_as(provider.platform, user)


def _provider(request: web.Request) -> Provider:
    found = request.app[SITE].providers.get(request.match_info["platform"])
    if found is None:
        raise web.HTTPNotFound
    return found


def _back(site: Site, provider: Provider) -> str:
    """Where the platform sends people back to, as it was told once and exactly."""
    return f"{site.origins[0]}/login/{provider.platform}/back"


def _cookie(site: Site) -> str:
    return "__Host-antiphon-state" if site.is_secure else "antiphon-state"
