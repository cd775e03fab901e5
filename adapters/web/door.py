"""The door of the dashboard: who gets in, and what every request and answer must satisfy.

Here are the headers of every answer, the check that a request comes from one of our own pages, the cookie of a session,
the login, here or through a platform, and how an error becomes a page with its status.

The logins that are under way at a platform are kept in this process: each belongs to one browser and one platform,
lasts ten minutes, and is used up by the first answer. Where the browser is sent back to is fixed, and so is where it
goes on.
"""

import hmac
import secrets
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler

from adapters.common.words.errors import log_failure
from adapters.web.api.shapes import is_api, of_the_api, problem
from adapters.web.providers import Provider
from adapters.web.site import CSRF_FIELD, CSRF_HEADER, SECRET, SITE, VISITOR, Site, csrf_of, locale_of, page, see_other
from core.errors import AntiphonError, BadInput, Conflict, NotAllowed, PlatformUnavailable, Unavailable
from core.i18n.catalogs import translated
from core.i18n.sentences import sentence

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
MOST_BODY: Final = 64 * 1024
_SAFE: Final = frozenset({"GET", "HEAD"})
_OPEN: Final = ("/login", "/link/", "/static/")
"""Where nobody is asked who they are."""
_TRIES, _TRIES_OF_ONE_ADDRESS, _WITHIN_SECONDS = 5, 30, 900.0
BACKGROUND: Final = "X-Antiphon-Background"
"""A page asks by itself: the session does not last longer for it."""
_MOST_REMEMBERED: Final = 5000
_BEFORE_LOGIN: Final = "antiphon-login"
_LOGIN_SECONDS: Final = 600.0
_MOST_LOGINS: Final = 5000


class Tries:
    """Logins that failed lately, by account and by address, in this process.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._failed: defaultdict[tuple[str, str], deque[float]] = defaultdict(deque)

    def seconds_left(self, account: str, address: str) -> int:
        """How long nobody may try this account, or from this address; 0 if they may now."""
        kinds = ((("account", account), _TRIES), (("address", address), _TRIES_OF_ONE_ADDRESS))
        return max(self._left(key, most) for key, most in kinds)

    def _left(self, key: tuple[str, str], most: int) -> int:
        failed, now = self._failed[key], self.clock()
        while failed and failed[0] <= now - _WITHIN_SECONDS:
            failed.popleft()
        if not failed:
            del self._failed[key]
            return 0
        return ceil(failed[-most] + _WITHIN_SECONDS - now) if len(failed) >= most else 0

    def failed(self, account: str, address: str) -> None:
        """Count one; what nobody tries any more is forgotten, and the oldest where there are very many."""
        for key in (("account", account), ("address", address)):
            self._failed[key].append(self.clock())
        if len(self._failed) > _MOST_REMEMBERED:
            for key in list(self._failed):
                self._left(key, _TRIES)
            for key in list(self._failed)[: max(0, len(self._failed) - _MOST_REMEMBERED)]:
                del self._failed[key]


TRIES: Final = web.AppKey("tries", Tries)


def status_of(error: AntiphonError) -> int:
    """The status of a page that tells an error."""
    if isinstance(error, Conflict):
        return 409
    if isinstance(error, NotAllowed):
        return 403
    if isinstance(error, BadInput):
        return 422
    return 503 if isinstance(error, Unavailable) else 500


@web.middleware
async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Put the headers on every answer, whatever becomes of the request."""
    try:
        answer = await _told(request, handler)
    except web.HTTPException as raised:
        for name, value in headers_of(request).items():
            raised.headers.setdefault(name, value)
        raise
    if not answer.prepared:
        for name, value in headers_of(request).items():
            answer.headers.setdefault(name, value)
    return answer


def headers_of(request: web.Request) -> dict[str, str]:
    """The headers of an answer."""
    found = HEADERS | {"Cache-Control": "no-store"}
    if request.app[SITE].is_secure:
        found["Strict-Transport-Security"] = "max-age=31536000"
    return found


async def _told(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Run a handler; every error is a page that says what to do, and none shows how it was made."""
    try:
        return await handler(request)
    except AntiphonError as err:
        return await tell(request, err.message, err.remedy, status_of(err))
    except web.HTTPException as err:
        if err.status < 400:
            raise
        said, remedy = of_the_api(err.status) if is_api(request) else _http_in_words(err.status)
        return await tell(request, said, remedy, err.status, err.headers)
    except Exception as err:
        log_failure(f"{request.method} of a page", err)
        said = sentence("Something went wrong in Antiphon, and nothing was changed.")
        return await tell(request, said, sentence("Try again, or tell the person who runs it."), 500)


def _http_in_words(status: int) -> tuple[str, str]:
    if status == 404:
        return sentence("There is no such page."), ""
    if status == 405:
        return sentence("This page cannot be used in this way."), ""
    if status == 413:
        return sentence("This is more than Antiphon takes at once."), sentence("Shorten the text.")
    return sentence("Antiphon did not understand the request."), sentence("Go back, and try again.")


async def tell(request: web.Request, said: str, remedy: str, status: int, headers: Any = None) -> web.Response:
    """A page, a fragment, or a document for a program, that says one thing and what to do about it."""
    locale = locale_of(request)
    what, todo = translated(said, locale), translated(remedy, locale)
    if is_api(request):
        answer = problem(status, what, todo)
    else:
        answer = await page(request, "told.html", status=status, problem=what, remedy=todo)
    for name in ("Allow", "Retry-After"):
        if headers is not None and name in headers:
            answer.headers[name] = headers[name]
    return answer


@web.middleware
async def own_pages_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse another host's name, and a change that no page of ours asked for."""
    origins = request.app[SITE].origins
    if request.headers.get("Host", "").lower() not in {origin.partition("://")[2] for origin in origins}:
        raise NotAllowed(
            sentence("The dashboard does not answer to this address."),
            remedy=sentence("Open {address}.", address=origins[0]),
        )
    if request.method not in _SAFE and not is_api(request):  # no browser sends a token by itself
        _check_origin(request, origins)
    return await handler(request)


def _check_origin(request: web.Request, origins: tuple[str, ...]) -> None:
    """Believe the browser, which says where a request is from; no page can change either header.

    It says "null" as the origin of our own forms, since our pages send no referrer.
    """
    site, origin = request.headers.get("Sec-Fetch-Site", ""), request.headers.get("Origin", "")
    is_ours = (site == "same-origin" and origin in (*origins, "null", "")) or (not site and origin in origins)
    if not is_ours:
        raise NotAllowed(
            sentence("This did not come from a page of Antiphon, so nothing was done."),
            remedy=sentence("Open the dashboard itself, and do it there."),
        )


@web.middleware
async def known_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let in who has a session; others are sent to the login. Each change carries the session's token."""
    if request.path.startswith(_OPEN) or is_api(request):
        return await handler(request)
    site = request.app[SITE]
    secret = request.cookies.get(site.cookie, "")
    is_idle = request.path == "/events" or BACKGROUND in request.headers
    visitor = await site.doorkeeper.visitor(secret, is_idle=is_idle) if secret else None
    if visitor is None:
        return await _unknown(request)
    request[VISITOR], request[SECRET] = visitor, secret
    if request.method not in _SAFE:
        await require_token(request, secret)
    return await handler(request)


async def _unknown(request: web.Request) -> web.StreamResponse:
    """Nobody is logged in: a page goes to the login, what a script asked for says so."""
    if request.method in _SAFE and not request.headers.get("HX-Request") and request.path != "/events":
        raise see_other("/login")
    return await tell(
        request,
        sentence("You are not logged in any more."),
        sentence("Log in again; nothing was done."),
        401,
    )


async def require_token(request: web.Request, secret: str) -> None:
    """Refuse a change that does not carry the token of its session."""
    given = request.headers.get(CSRF_HEADER, "") or str((await request.post()).get(CSRF_FIELD, ""))
    if not hmac.compare_digest(given.encode(errors="surrogatepass"), csrf_of(secret).encode()):
        raise NotAllowed(
            sentence("This form is of another session, so nothing was done."),
            remedy=sentence("Load the page again, and do it there."),
        )


# Logging in


async def login_page(request: web.Request) -> web.Response:
    return await login_form(request, "login.html", account="")


async def link_page(request: web.Request) -> web.Response:
    """Ask whether to log in by a link; looking at it does not use it up."""
    return await login_form(request, "link.html", link=request.match_info["link"])


async def login_form(
    request: web.Request, template: str, *, status: int = 200, problem: str = "", **values: Any
) -> web.Response:
    """A page with a form for somebody who has no session yet; its token is bound to a cookie of its own."""
    before = request.cookies.get(_BEFORE_LOGIN) or secrets.token_urlsafe(24)
    titles = {one.platform: one.title for one in request.app[SITE].providers.values()}
    values |= {"token": csrf_of(before), "problem": problem, "providers": titles}
    answer = await page(request, template, status=status, **values)
    secure = request.app[SITE].is_secure
    answer.set_cookie(_BEFORE_LOGIN, before, path="/", httponly=True, samesite="Strict", secure=secure, max_age=3600)
    return answer


async def _require_first_token(request: web.Request) -> None:
    await require_token(request, request.cookies.get(_BEFORE_LOGIN) or secrets.token_urlsafe(24))


async def log_in(request: web.Request) -> web.Response:
    await _require_first_token(request)
    site, tries, said = request.app[SITE], request.app[TRIES], await request.post()
    account, password = str(said.get("account", "")).strip(), str(said.get("password", ""))
    address = address_of_asker(request)
    if left := tries.seconds_left(account, address):
        problem = sentence("Too many tries. Wait {minutes} minutes, then try again.", minutes=ceil(left / 60))
        answer = await login_form(
            request, "login.html", status=429, problem=translated(problem, locale_of(request)), account=account
        )
        answer.headers["Retry-After"] = str(left)
        return answer
    try:
        secret = await site.doorkeeper.log_in(account, password)
    except NotAllowed as err:
        tries.failed(account, address)
        said_why = translated(err.said, locale_of(request))
        return await login_form(request, "login.html", status=403, problem=said_why, account=account)
    return await let_in(request, secret)


def address_of_asker(request: web.Request) -> str:
    """Where somebody is: behind a reverse proxy, which alone reaches us, what it says of them last."""
    said = request.headers.get("X-Forwarded-For", "") if request.app[SITE].is_secure else ""
    return said.rpartition(",")[2].strip() or request.remote or ""


async def log_in_by_link(request: web.Request) -> web.Response:
    """Begin a session by a link, which then is used up."""
    await _require_first_token(request)
    try:
        secret = await request.app[SITE].doorkeeper.use_link(request.match_info["link"])
    except NotAllowed as err:
        problem = translated(err.said, locale_of(request))
        return await login_form(request, "login.html", status=403, problem=problem, account="")
    return await let_in(request, secret)


async def let_in(request: web.Request, secret: str, answer: web.Response | None = None) -> web.Response:
    """Give the browser its new session with an answer, or on the way to the queue; an earlier one of it ends."""
    site = request.app[SITE]
    if earlier := request.cookies.get(site.cookie):
        await site.doorkeeper.leave(earlier)
    answer = answer or web.Response(status=303, headers={"Location": "/"})
    answer.set_cookie(site.cookie, secret, path="/", httponly=True, samesite="Strict", secure=site.is_secure)
    answer.del_cookie(_BEFORE_LOGIN, path="/")
    return answer


async def log_out(request: web.Request) -> web.Response:
    site = request.app[SITE]
    await site.doorkeeper.leave(request[SECRET])
    answer = web.Response(status=303, headers={"Location": "/login"})
    answer.del_cookie(site.cookie, path="/", secure=site.is_secure, httponly=True, samesite="Strict")
    return answer


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
        if len(self._begun) >= _MOST_LOGINS:
            del self._begun[next(iter(self._begun))]
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(64)
        self._begun[state] = _Begun(platform, verifier, self._clock() + _LOGIN_SECONDS)
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
        max_age=int(_LOGIN_SECONDS),
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
        problem = translated(err.said, locale_of(request))
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
