"""What the pages have: the services, the templates, and the session of a request.

A page is rendered whole or as a fragment, with its status.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from adapters.common.words.labels import OWN_NAMES
from adapters.common.words.markup import no_address
from adapters.web.names import Names
from adapters.web.providers import Provider
from adapters.web.speech import PageMarkup, PageReader, language_wanted, reader_for
from core.desk.rules import dashboard_ports
from core.desk.rules.desk_ports import Casework, Governance
from core.desk.rules.roles import Person
from core.engine.ports import EvidenceSource, HateDetector
from core.errors import NotAllowed
from core.i18n.catalogs import gettext, language_of, translated
from core.i18n.sentences import Sentence, sentence
from core.models import PostRef

_HERE: Final = Path(__file__).parent
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "X-CSRF-Token"
VISITOR: Final = web.RequestKey("visitor", dashboard_ports.Visitor)
SECRET: Final = web.RequestKey("secret", str)


Paste = Callable[[str, Person], Awaitable[str]]
"""Makes a case of words that somebody pastes, and gives its id."""


CheckChannel = Callable[[str, str, Sequence[Person]], Awaitable[None]]
"""Is given a community, as its platform names it, a channel, and who chooses it, one person for each platform."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """The dashboard of one installation.

    Attributes:
        origins: the addresses by which it is reached, such as ``http://127.0.0.1:8470``; people are told the first one.
        address_of: where a post can be read on its platform, "" where that is not known.
        names: what communities and channels are called.
        paste: what becomes of a post that somebody pastes; ``None`` where none can be pasted.
        knowledge: where evidence is looked up; ``None`` where this process has none.
        detector: the filter of watched channels; ``None`` where there is none.
        configured: what holds for every community, as the configuration names it, with its value.
        providers: through which platforms people log in, by the platform's name.
        check_review_channel: for each platform whose cases are reviewed here, looks whether those of a community can be
            reviewed in a channel that somebody chose on another platform, too, and raises what speaks against it.
    """

    casework: Casework
    governance: Governance
    doorkeeper: dashboard_ports.Doorkeeper
    overview: dashboard_ports.Overview
    tokens: dashboard_ports.TokenKeeper
    record: dashboard_ports.CommunityRecord
    library: dashboard_ports.OwnLibrary
    setup: dashboard_ports.SetupChecks
    origins: tuple[str, ...]
    address_of: Callable[[PostRef], str] = no_address
    names: Names = field(default_factory=Names)
    paste: Paste | None = None
    knowledge: EvidenceSource | None = None
    detector: HateDetector | None = None
    configured: Mapping[str, object] = field(default_factory=dict)
    providers: Mapping[str, Provider] = field(default_factory=dict)
    check_review_channel: Mapping[str, CheckChannel] = field(default_factory=dict)
    poll_seconds: float = 1.0
    templates: Environment = field(default_factory=lambda: templates())

    @property
    def is_secure(self) -> bool:
        """Whether people reach it by HTTPS alone."""
        return all(origin.startswith("https://") for origin in self.origins)

    @property
    def cookie(self) -> str:
        """The name of the session's cookie; where there is HTTPS, browsers let no neighbour set it."""
        return "__Host-antiphon" if self.is_secure else "antiphon"


SITE: Final = web.AppKey("site", Site)


def templates() -> Environment:
    """The templates: everything is escaped, and a name that is missing is an error."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = {name: f"/static/{name}?{digest(body)}" for name, body in STATIC.items()}
    made.globals["own_names"] = OWN_NAMES
    return made


def digest(body: bytes) -> str:
    """What tells this version of a file from others."""
    return hashlib.sha256(body).hexdigest()[:12]


STATIC: Final[Mapping[str, bytes]] = {
    file.name: file.read_bytes()
    for file in sorted((_HERE / "static").iterdir())
    if file.suffix in (".css", ".js", ".svg")
}


def csrf_of(secret: str) -> str:
    """What each form of a session carries; a page elsewhere cannot know it."""
    return hmac.new(secret.encode(errors="surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def visitor_of(request: web.Request) -> dashboard_ports.Visitor:
    """Who asks; the door let nobody in without a session."""
    return request[VISITOR]


def person_on(request: web.Request, platform: str) -> Person:
    """Who asks, as a platform knows them.

    Raises:
        NotAllowed: the account is nobody there.
    """
    person = visitor_of(request).on(platform)
    if person is None:
        raise NotAllowed(
            sentence("Your account is nobody on {platform}.", platform=platform),
            remedy=sentence("Ask who runs Antiphon to add who you are there: antiphon web account."),
        )
    return person


def locale_of(request: web.Request) -> str:
    """The language to answer in: the person's choice, or the browser's."""
    visitor = request.get(VISITOR)
    chosen = "" if visitor is None else visitor.wants.language
    return language_of(chosen) if chosen else language_wanted(request.headers.get("Accept-Language", ""))


def reader_of(request: web.Request, *, reveals: bool = False) -> PageReader:
    """Who reads the answer, in their language; the words of posts are shown where it ``reveals`` them."""
    site = request.app[SITE]
    return reader_for(locale_of(request), site.address_of, reveals=reveals, name_of=site.names.of)


def is_fragment(request: web.Request) -> bool:
    """Whether a script of the page asks for a part of it."""
    return request.headers.get("HX-Request") == "true"


async def waiting(request: web.Request) -> str:
    """How long the oldest case has waited that needs the person of a request, in words."""
    locale = locale_of(request)
    oldest = await request.app[SITE].overview.oldest(visitor_of(request).people)
    if oldest is None:
        return gettext("Nothing needs you now.", locale)
    when = PageMarkup(locale=locale).from_now(oldest)
    return gettext("Oldest case: {when}", locale, when=when)


async def page(request: web.Request, template: str, *, status: int = 200, **values: Any) -> web.Response:
    """A page, or the main part of it where a script asked."""
    site = request.app[SITE]
    locale = locale_of(request)
    visitor, said = request.get(VISITOR), ""
    if visitor is not None and visitor.said and not is_fragment(request):
        said = visitor.said
        await site.doorkeeper.say_next(request[SECRET], "")
    secret, reader = request.get(SECRET, ""), reader_of(request)
    is_asked = visitor is not None and not is_fragment(request) and status < 500  # what failed may fail again
    text = site.templates.get_template(template).render(
        _=partial(_in_language, locale),
        locale=locale,
        visitor=visitor,
        said=said,
        waiting=await waiting(request) if is_asked else "",
        csrf=csrf_of(secret) if secret else "",
        csrf_header=json.dumps({CSRF_HEADER: csrf_of(secret)}) if secret else "{}",
        layout="fragment.html" if is_fragment(request) else "page.html",
        path=request.path,
        named=lambda place: reader.markup.place(place.platform, place.community),
        **values,
    )
    return web.Response(text=text, content_type="text/html", charset="utf-8", status=status)


def _in_language(locale: str, said: str, **values: object) -> str:
    return translated(Sentence(said, values), locale)


def see_other(where: str) -> web.HTTPSeeOther:
    """Go on to a page of ours with GET."""
    return web.HTTPSeeOther(where)
