"""Every route of the pages and the API, by everybody, on a case that is theirs to see and on others (T12).

The routes are those of the router: one without a row here fails, so that nobody adds one without saying who may use it.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final

import pytest

from core.desk.communities.accounts import Scope
from core.desk.database.connection import Session
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role, may_on_case, may_on_community
from core.desk.store import communities, people
from tests.fakes.ports.cards import REVIEWED
from tests.fakes.web.browsing import Answer, Browser, Dashboard, Program, dashboard


class For(Enum):
    """Whom a route answers."""

    ANYBODY = "anybody"
    ACCOUNT = "who has an account, of the communities where they may read"
    READER = "who may read the case"
    DECIDER = "who may decide about the case"
    MANAGER = "who may configure the community"


_OF_ONE_PLACE: Final = (For.READER, For.DECIDER, For.MANAGER)


@dataclass(frozen=True)
class Row:
    """A route: whom it answers, what is sent to it, and whether it shows the words of the post."""

    to: For
    said: Mapping[str, Any] = field(default_factory=dict)
    reveals: bool = False


_VERSION: Final = "VERSION"
_HERE: Final = {"place": "discord/111"}
ROWS: Final[dict[tuple[str, str], Row]] = {
    ("GET", "/static/{name}"): Row(For.ANYBODY),
    ("GET", "/login"): Row(For.ANYBODY),
    ("POST", "/login"): Row(For.ANYBODY, {"account": "nobody", "password": "nothing at all"}),
    ("GET", "/login/{platform}"): Row(For.ANYBODY),
    ("GET", "/login/{platform}/back"): Row(For.ANYBODY),
    ("GET", "/link/{link}"): Row(For.ANYBODY),
    ("POST", "/link/{link}"): Row(For.ANYBODY),
    ("GET", "/api/openapi.json"): Row(For.ANYBODY),
    ("GET", "/"): Row(For.ACCOUNT),
    ("POST", "/paste"): Row(For.ACCOUNT, {"post": "Something."}),
    ("GET", "/decided"): Row(For.ACCOUNT),
    ("GET", "/numbers"): Row(For.ACCOUNT, _HERE),
    ("GET", "/library/cards"): Row(For.ACCOUNT, _HERE),
    ("GET", "/library/cards/new"): Row(For.ACCOUNT, _HERE),
    ("GET", "/library/replies"): Row(For.ACCOUNT, _HERE),
    ("GET", "/library/replies/new"): Row(For.ACCOUNT, _HERE),
    ("GET", "/library/delete"): Row(For.ACCOUNT, _HERE),
    ("GET", "/library/evidence"): Row(For.ACCOUNT, _HERE),
    ("GET", "/library/coverage"): Row(For.ACCOUNT, _HERE),
    ("GET", "/record"): Row(For.ACCOUNT, _HERE),
    ("POST", "/library/cards/new"): Row(For.ACCOUNT, _HERE),
    ("POST", "/library/cards/review"): Row(For.ACCOUNT, _HERE),
    ("POST", "/library/replies/new"): Row(For.ACCOUNT, _HERE),
    ("POST", "/library/replies/act"): Row(For.ACCOUNT, _HERE),
    ("POST", "/library/delete"): Row(For.ACCOUNT, _HERE),
    ("POST", "/record/export"): Row(For.ACCOUNT, _HERE | {"format": "csv"}, reveals=True),
    ("POST", "/record/person"): Row(For.ACCOUNT, _HERE | {"user": "751"}),
    ("POST", "/record/erase"): Row(For.ACCOUNT, _HERE | {"user": "751"}),
    ("GET", "/me/data"): Row(For.ACCOUNT),
    ("GET", "/me"): Row(For.ACCOUNT),
    ("POST", "/me"): Row(For.ACCOUNT, {"language": ""}),
    ("GET", "/events"): Row(For.ACCOUNT),
    ("GET", "/settings"): Row(For.ACCOUNT),
    ("GET", "/settings/{platform}/{community}"): Row(For.MANAGER),
    ("GET", "/settings/{platform}/{community}/setup"): Row(For.MANAGER),
    ("POST", "/settings/{platform}/{community}"): Row(For.MANAGER, {"stamp": "0"}),
    ("POST", "/settings/{platform}/{community}/preview"): Row(For.MANAGER, {"one_in": "500"}),
    ("POST", "/settings/{platform}/{community}/switch"): Row(For.MANAGER, {"act": "posting_off"}),
    ("GET", "/case/{case}"): Row(For.READER),
    ("GET", "/case/{case}/post"): Row(For.READER, reveals=True),
    ("GET", "/case/{case}/edit/{rank}"): Row(For.READER),
    ("POST", "/case/{case}/check"): Row(For.DECIDER, {"extra": "1", "text": "All of us live here."}),
    ("POST", "/case/{case}/act"): Row(For.DECIDER, {"act": "close_as", "value": "silence", "version": _VERSION}),
    ("GET", "/api/me"): Row(For.ACCOUNT),
    ("GET", "/api/cases"): Row(For.ACCOUNT),
    ("GET", "/api/decided"): Row(For.ACCOUNT),
    ("GET", "/api/changes"): Row(For.ACCOUNT, {"since": "0"}),
    ("GET", "/api/cases/{case}"): Row(For.READER),
    ("GET", "/api/cases/{case}/post"): Row(For.READER, reveals=True),
    ("POST", "/api/cases/{case}/check"): Row(For.DECIDER, {"text": "All of us live here."}),
    ("POST", "/api/cases/{case}/hold"): Row(For.DECIDER),
    ("POST", "/api/cases/{case}/release"): Row(For.DECIDER),
    ("POST", "/api/cases/{case}/close"): Row(For.DECIDER, {"version": _VERSION, "reason": "flagged by mistake"}),
    ("POST", "/api/cases/{case}/redraft"): Row(For.DECIDER, {"version": _VERSION}),
    ("POST", "/api/cases/{case}/undo"): Row(For.DECIDER, {"version": _VERSION}),
    ("POST", "/api/cases/{case}/reopen"): Row(For.DECIDER, {"version": _VERSION}),
    ("POST", "/api/cases/{case}/split"): Row(For.DECIDER, {"version": _VERSION}),
    ("POST", "/logout"): Row(For.ACCOUNT),  # the last one: it ends the session
}

_HOLDER, _CLOSER = Person("discord", "751", "Ainhoa"), Person("discord", "752", "Perutxo")
_POST: Final = "came for the benefits"
_OF_THE_CASE: Final = ("come to live on public money", "they pay in more than they draw", "Spoken to on the phone")
_FLAGGER: Final = Person("discord", REVIEWED.post.flagged_by, "Flagger")


@pytest.fixture
async def room(desk_file: Path) -> AsyncIterator[Dashboard]:
    """A case that somebody closed, with a note, and took back, and that somebody else holds."""
    async with dashboard(desk_file) as made:
        desk = made.desk
        desk.roles |= {_HOLDER.user: Role.MODERATOR, _CLOSER.user: Role.MODERATOR}
        await desk.case(REVIEWED)
        now = await desk.now()
        note = "Spoken to on the phone"
        closed = await desk.casework.close(desk.case_id, now.version, _CLOSER, CloseReason.HANDLED, note)
        await desk.casework.undo(desk.case_id, closed.version, _CLOSER)
        await desk.casework.hold(desk.case_id, _HOLDER)
        yield made


async def _grant(room: Dashboard, platform: str, community: str, person: Person, roles: set[Role]) -> None:
    async def work(session: Session) -> None:
        found = await communities.ensure(session, platform, community)
        await people.grant(session, found.id, person, roles, by="test")

    await room.desk.database.run("grant", work)


def _routes(room: Dashboard) -> list[tuple[str, str]]:
    """The method and the address of every route, in the order of the rows."""
    known = list(ROWS)
    found = {
        (route.method, route.resource.canonical)
        for route in room.app.router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    return sorted(found, key=lambda one: known.index(one) if one in ROWS else -1)


async def test_every_route_has_a_row(room: Dashboard) -> None:
    """And every row is a route."""
    assert set(_routes(room)) == set(ROWS)


@dataclass
class Asker:
    """Somebody with a browser and a program."""

    room: Dashboard
    browser: Browser
    program: Program
    csrf: str = ""

    async def ask(self, method: str, route: str, row: Row, case_id: str) -> Answer:
        """Use a route, as somebody would who knows what it takes."""
        place = {"platform": "discord", "community": "111"}
        path = route.format_map({"case": case_id, "rank": "1", "name": "page.css", "link": "x" * 43} | place)
        version = (await self.room.desk.now()).version
        said = {name: version if value == _VERSION else value for name, value in row.said.items()}
        if method == "GET" and said:
            path += "?" + "&".join(f"{name}={value}" for name, value in said.items())
        if path.startswith("/api"):
            return await (self.program.post(path, said or None) if method == "POST" else self.program.get(path))
        if path == "/events":
            return await self._first_event()
        if method == "GET":
            page = await self.browser.get(path, HX_Request="true")
        else:
            fields = {name: str(value) for name, value in said.items()} | {"csrf": self.csrf}
            page = await self.browser.post(path, fields)
        return Answer(page.status, page.headers, page.text)

    async def _first_event(self) -> Answer:
        async with self.browser.session.get(f"{self.room.origin}/events?since=0") as answer:
            text = "" if answer.status == 200 else await answer.text()
            while answer.status == 200 and "data:" not in text:
                text += (await answer.content.readline()).decode()
            return Answer(answer.status, dict(answer.headers), text)


async def _asker(room: Dashboard, *who: Person) -> Asker:
    if not who:
        return Asker(room, room.browser(), room.program())
    browser = await room.logged_in("asker", *who)
    await browser.get("/me")
    token = await room.tokens.make("asker", "", tuple(Scope), 1)
    return Asker(room, browser, room.program(token), browser.page.form("Log out")["csrf"])


async def _all_answers(room: Dashboard, asker: Asker, case_id: str) -> AsyncIterator[tuple[str, Row, Answer]]:
    for method, route in _routes(room):
        row = ROWS[(method, route)]
        yield f"{method} {route}", row, await asker.ask(method, route, row, case_id)


def _tells(room: Dashboard, answer: Answer) -> list[str]:
    """What an answer tells of the case, its post, and of who decided about it."""
    secrets = (_HOLDER.name, _CLOSER.name, _POST, room.desk.number, *_OF_THE_CASE)
    return [secret for secret in secrets if secret in answer.text]


async def _refused_everywhere(room: Dashboard, asker: Asker, refusals: set[int]) -> None:
    before = await room.desk.now()
    async for name, row, answer in _all_answers(room, asker, room.desk.case_id):
        assert answer.status < 500, name
        assert _tells(room, answer) == [], name
        if row.to in _OF_ONE_PLACE:
            assert answer.status in refusals, (name, answer.status)
        elif refusals == {401} and row.to is For.ACCOUNT:
            assert answer.status in {401, 403} or "Log in" in answer.text, name
        assert await room.desk.now() == before, name


async def test_who_is_not_logged_in_gets_nowhere(room: Dashboard) -> None:
    """Nothing is told, of any case, and nothing is done."""
    await _refused_everywhere(room, await _asker(room), {401})


async def test_roles_elsewhere_are_none_here(room: Dashboard) -> None:
    """All of them at once, in another community of the platform and in one of the same name on another platform."""
    who = (Person("discord", "731", "Mikel"), Person("telegram", _HOLDER.user, "Mikel"))
    for one, place in zip(who, ("999", "111"), strict=True):
        await _grant(room, one.platform, place, one, set(Role))
    await _refused_everywhere(room, await _asker(room, *who), {403})


@pytest.mark.parametrize("role", list(Role))
async def test_a_role_here_is_what_the_rules_say(room: Dashboard, role: Role) -> None:
    """Who may read is told what there is, and the post where they ask for it; who may not decide changes nothing."""
    who = Person("discord", "731", "Mikel")
    room.desk.roles[who.user] = role
    asker = await _asker(room, who)
    may = {
        For.READER: may_on_case([role], OnCase.READ),
        For.DECIDER: may_on_case([role], OnCase.REVIEW),
        For.MANAGER: may_on_community([role], OnCommunity.CONFIGURE),
    }
    if not may[For.READER]:
        await _refused_everywhere(room, asker, {403})
        return
    before, seen = await room.desk.now(), set[str]()
    async for name, row, answer in _all_answers(room, asker, room.desk.case_id):
        assert answer.status < 500, name
        told = _tells(room, answer)
        seen |= set(told)
        assert row.reveals or _POST not in told, name
        assert row.to is not For.READER or (_POST in told) is row.reveals, name
        if row.to is For.ANYBODY:
            assert told == [], name
        if not may.get(row.to, True):
            assert answer.status == 403, name
        elif row.to is For.READER:
            assert answer.status == 200, name
        elif row.to in (For.DECIDER, For.MANAGER):
            assert answer.status in {200, 403, 409, 422}, (name, answer.status)
            assert "Only moderators" not in answer.text, name  # the desk may refuse it as the case is now
        if not may[For.DECIDER]:
            assert await room.desk.now() == before, name
    assert {_HOLDER.name, _CLOSER.name, _POST, room.desk.number} <= seen


async def test_who_only_flagged_a_post_learns_no_name(room: Dashboard) -> None:
    """They may see what became of it, and take the flag back; nobody is named, and nothing else is done."""
    room.desk.roles[_FLAGGER.user] = Role.VOLUNTEER
    asker = await _asker(room, _FLAGGER)
    seen = dict[str, int]()
    async for name, row, answer in _all_answers(room, asker, room.desk.case_id):
        assert answer.status < 500, name
        told = set(_tells(room, answer))
        assert not told & {_HOLDER.name, _CLOSER.name, *_OF_THE_CASE}, name
        assert row.reveals or _POST not in told, name
        seen[name] = answer.status
    assert seen["GET /api/cases/{case}"] == 200
    assert seen["POST /api/cases/{case}/hold"] == 403


async def test_a_case_that_is_not_there_is_refused_alike(room: Dashboard) -> None:
    """To a moderator, who learns of no other case by it."""
    asker = await _asker(room, room.desk.ane)
    async for name, row, answer in _all_answers(room, asker, "0" * 32):
        assert answer.status < 500, name
        if row.to in _OF_ONE_PLACE:
            assert 400 <= answer.status < 500, name
            assert _tells(room, answer) == [], name
