"""What the pages have: the services, the templates, the session of a request, its community, and names of communities.

A page is rendered whole or as a fragment, with its status. Names are asked of the platforms, and remembered for an
hour.
"""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from adapters.common.words.labels import OWN_NAMES
from adapters.common.words.markup import no_address
from adapters.web.providers import Provider
from adapters.web.setup_state import SetupState
from adapters.web.speech import PageMarkup, PageReader, language_wanted, reader_for
from core.desk.communities.accounts import ApiTokens, Visitor, WebAccounts
from core.desk.communities.governance import Governance
from core.desk.communities.own_cards import OwnCards, PreparedReplies
from core.desk.review.casework import Casework
from core.desk.review.dashboard import DeskOverview, DeskRecord
from core.desk.rules.roles import OnCase, OnCommunity, Person
from core.desk.views.queue import CommunityRef
from core.engine.ports import EvidenceSource, HateDetector
from core.errors import NotAllowed, PlatformUnavailable
from core.i18n.catalogs import gettext, language_of, translated
from core.i18n.sentences import Sentence, sentence
from core.models import PostRef

Named: TypeAlias = tuple[str, str, str]
"""The ``PostRef.platform``, community and channel of what has a name; the community's own where the channel is ""."""
Ask: TypeAlias = Callable[[str, str, str], Awaitable[str]]
"""Is given what has a name, and gives it; "" where nobody can tell it now."""
_NAME_SECONDS, _NAME_AGAIN_SECONDS = 3600.0, 60.0
_NAME_WAIT_SECONDS: Final = 1.0
_MOST_NAMES: Final = 5000
_HERE: Final = Path(__file__).parent
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "X-CSRF-Token"
VISITOR: Final = web.RequestKey("visitor", Visitor)
SECRET: Final = web.RequestKey("secret", str)
Paste = Callable[[str, Person], Awaitable[str]]
"""Makes a case of words that somebody pastes, and gives its id."""
SetupOf = Callable[[str, str, Person], Awaitable[SetupState]]
"""Looks how far the installation is set up for a community; ``NotAllowed`` if the person may not configure it."""
CheckChannel = Callable[[str, str, Sequence[Person]], Awaitable[None]]
"""Is given a community, as its platform names it, a channel, and who chooses it, one person for each platform."""
STATIC: Final[Mapping[str, bytes]] = {
    file.name: file.read_bytes()
    for file in sorted((_HERE / "static").iterdir())
    if file.suffix in (".css", ".js", ".svg")
}


async def unnamed(_platform: str, _community: str, _channel: str) -> str:
    """No name, where there is nobody to ask."""
    return ""


class Names:
    """The names that pages show.

    Args:
        ask: asks the platform.
        seconds_now: seconds that only grow.
    """

    def __init__(self, ask: Ask = unnamed, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._seconds_now = ask, seconds_now
        self._known: dict[Named, str] = {}
        self._again_at: dict[Named, float] = {}
        self._asking: set[asyncio.Task[None]] = set()

    async def learn(self, wanted: Iterable[Named]) -> None:
        """Ask for the names that are not known or old, for a second at most; a later answer is for the next page."""
        now = self._seconds_now()
        due = [one for one in dict.fromkeys(wanted) if now >= self._again_at.get(one, now)]
        if not due:
            return
        if len(self._again_at) + len(due) > _MOST_NAMES:
            self._known.clear()
            self._again_at.clear()
        self._again_at |= dict.fromkeys(due, now + _NAME_AGAIN_SECONDS)
        tasks = {asyncio.create_task(self._ask_for(one)) for one in due}
        self._asking |= tasks
        done, _ = await asyncio.wait(tasks, timeout=_NAME_WAIT_SECONDS)
        for task in done:
            task.result()

    async def _ask_for(self, wanted: Named) -> None:
        try:
            if name := await self._ask(*wanted):
                self._known[wanted] = name
                self._again_at[wanted] = self._seconds_now() + _NAME_SECONDS
        finally:
            self._asking.discard(asyncio.current_task())

    def of(self, platform: str, community: str, channel: str = "") -> str:
        """The name, as its platform has it; "" where it is not known. With the id where two have the same."""
        name, id_ = self._known.get((platform, community, channel), ""), channel or community
        if not name:
            return ""
        kind = platform, community if channel else "", bool(channel)
        alike = sum(
            other == name and (one[0], one[1] if one[2] else "", bool(one[2])) == kind
            for one, other in self._known.items()
        )
        return f"{name} ({id_})" if alike > 1 else name


@dataclass(frozen=True, kw_only=True)
class Site:
    """The dashboard of one installation.

    Attributes:
        facts: gives the ids of the facts on which a card may rest.
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
    doorkeeper: WebAccounts
    overview: DeskOverview
    tokens: ApiTokens
    record: DeskRecord
    replies: PreparedReplies
    cards: OwnCards
    facts: Callable[[], frozenset[str]]
    setup: SetupOf
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


def csrf_of(secret: str) -> str:
    """What each form of a session carries; a page elsewhere cannot know it."""
    return hmac.new(secret.encode(errors="surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def visitor_of(request: web.Request) -> Visitor:
    """Who asks; the door let nobody in without a session."""
    return request[VISITOR]


async def person_in(request: web.Request, platform: str, community: str, *wanted: OnCase | OnCommunity) -> Person:
    """Who asks, as who may do the first thing of ``wanted`` that any of the account's people may do in a community.

    By the roles that are stored; where none of these allows the first thing, the community's own platform is asked for
    those of the one whom it knows. Where nobody may do any of it, it is that one, and otherwise who may read there.

    Raises:
        NotAllowed: the account has no role there, and is nobody on its platform.
    """
    visitor, site = visitor_of(request), request.app[SITE]
    people, own, able = visitor.people, visitor.on(platform), site.overview.able
    person = await able(people, platform, community, *wanted[:1])
    if person is None and own is not None and len(people) > 1:
        with suppress(PlatformUnavailable):  # then what is stored has to do
            await site.governance.roles_of(platform, community, own)
    person = person or await able(people, platform, community, *wanted) or own
    person = person or await able(people, platform, community, OnCase.READ)
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
    return waited(await request.app[SITE].overview.oldest(visitor_of(request).people), locale_of(request))


def waited(oldest: datetime | None, locale: str) -> str:
    """How long the oldest case of all of a person's communities has waited, in words; ``None`` where none does."""
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
    waits = values.pop("waiting", None) or (await waiting(request) if is_asked else "")
    text = site.templates.get_template(template).render(
        _=partial(_in_language, locale),
        locale=locale,
        visitor=visitor,
        said=said,
        waiting=waits,
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


@dataclass(frozen=True, slots=True)
class ChosenCommunities:
    """The communities in which the visitor may read cases, and the one that a page is about.

    Attributes:
        place: the chosen one, the first where none of them is named; ``None`` where there are none.
        by: the visitor, as who has a role there.
    """

    places: tuple[CommunityRef, ...]
    place: CommunityRef | None = None
    by: Person | None = None

    @property
    def value(self) -> str:
        return "" if self.place is None else f"{self.place.platform}/{self.place.community}"

    @property
    def person(self) -> Person:
        if self.by is None:
            raise web.HTTPNotFound
        return self.by


async def named_places(request: web.Request) -> tuple[CommunityRef, ...]:
    """The communities in which the visitor may read cases, of which the names are asked for."""
    site = request.app[SITE]
    places = (await site.overview.queue(visitor_of(request).people)).places
    await site.names.learn((one.platform, one.community, "") for one in places)
    return places


async def chosen_place(
    request: web.Request, *wanted: OnCase | OnCommunity, said: str | None = None
) -> ChosenCommunities:
    """The community that the address names, or a form.

    Args:
        wanted: what the visitor is to do there, as with ``person_in``.
        said: what a form names; ``None`` for the address.
    """
    address = request.query.get("place", "") if said is None else said
    places = await named_places(request)
    named = [one for one in places if f"{one.platform}/{one.community}" == address]
    if said is not None and not named:
        raise web.HTTPNotFound
    place = next(iter(named or places), None)
    by = None if place is None else await person_in(request, place.platform, place.community, *wanted)
    return ChosenCommunities(places, place, by)
