"""Which community a page is about, where somebody has several."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from adapters.web.site import SITE, person_on, visitor_of
from core.desk.rules.dashboard_ports import CommunityRef
from core.desk.rules.roles import Person


@dataclass(frozen=True, slots=True)
class ChosenCommunities:
    """The communities in which the visitor may read cases, and the one that a page is about.

    Attributes:
        place: the chosen one, the first where none of them is named; ``None`` where there are none.
        by: the visitor, as its platform knows them.
    """

    places: tuple[CommunityRef, ...]
    place: CommunityRef | None = None
    by: Person | None = None

    @property
    def value(self) -> str:
        """The place as forms name it."""
        return "" if self.place is None else f"{self.place.platform}/{self.place.community}"

    @property
    def person(self) -> Person:
        """The visitor there."""
        if self.by is None:
            raise web.HTTPNotFound
        return self.by


async def named_places(request: web.Request) -> tuple[CommunityRef, ...]:
    """The communities in which the visitor may read cases, of which the names are asked for."""
    site = request.app[SITE]
    places = (await site.overview.queue(visitor_of(request).people)).places
    await site.names.learn((one.platform, one.community, "") for one in places)
    return places


async def chosen_place(request: web.Request, said: str | None = None) -> ChosenCommunities:
    """The community that the address names, or a form.

    Args:
        said: what a form names; ``None`` for the address.
    """
    wanted = request.query.get("place", "") if said is None else said
    places = await named_places(request)
    named = [one for one in places if f"{one.platform}/{one.community}" == wanted]
    if said is not None and not named:
        raise web.HTTPNotFound
    place = next(iter(named or places), None)
    return ChosenCommunities(places, place, None if place is None else person_on(request, place.platform))
