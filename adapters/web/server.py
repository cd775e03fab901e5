"""The server of the dashboard: its routes, its life, and the events that it sends to open pages.

Each route says whether it changes something, by its method.

Events are numbered by the log of all cases. A page that slept asks from the number that it knew last, and is told what
it missed. The stream says which cases changed, and no word of them; and how long the oldest has waited, whenever that
changed.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from adapters.web import cases, door, library, numbers, record, settings, setup
from adapters.web.api.routes import API_TRIES, add_to, programs_by_token
from adapters.web.cases import EXPOSURE, Exposure
from adapters.web.door import headers_of
from adapters.web.site import SECRET, SITE, STATIC, Site, digest, visitor_of, waiting
from core.desk.communities.accounts import Visitor
from core.errors import AntiphonError, BadSettings

_CASE: Final = r"/case/{case:[0-9a-f]{32}}"
_PLACE: Final = r"/settings/{platform:[a-z]+}/{community:[^/]{1,200}}"
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_CLOSING_SECONDS: Final = 2.0
STOPPING: Final = web.AppKey("stopping", asyncio.Event)
_ALIVE_EVERY: Final = 15
"""Looks without news before a comment is sent, so that a connection that is gone is noticed."""
_SIZE: Final = 18


def application(site: Site, tries: door.Tries | None = None) -> web.Application:
    """The pages over some services."""
    made = web.Application(
        middlewares=[door.guarded, door.own_pages_only, door.known_only, programs_by_token],
        client_max_size=door.MOST_BODY,
    )
    made[SITE], made[door.TRIES], made[STOPPING] = site, tries or door.Tries(), asyncio.Event()
    made[EXPOSURE] = Exposure(made[door.TRIES].clock)
    made[door.UNDER_WAY] = door.UnderWay(made[door.TRIES].clock)
    made[API_TRIES] = door.Tries(made[door.TRIES].clock)
    made.router.add_get("/static/{name}", static)
    made.router.add_get("/login", door.login_page)
    made.router.add_post("/login", door.log_in)
    made.router.add_get("/login/{platform:[a-z]+}", door.go_to_platform, allow_head=False)
    made.router.add_get("/login/{platform:[a-z]+}/back", door.come_back, allow_head=False)
    made.router.add_get("/link/{link:[\\w-]{20,100}}", door.link_page)
    made.router.add_post("/link/{link:[\\w-]{20,100}}", door.log_in_by_link)
    made.router.add_post("/logout", door.log_out)
    made.router.add_get("/", cases.queue)
    made.router.add_post("/paste", cases.paste)
    made.router.add_get("/decided", cases.decisions_page)
    made.router.add_get("/numbers", numbers.numbers)
    made.router.add_get("/library/cards", library.cards)
    made.router.add_get("/library/cards/new", library.new_card)
    made.router.add_post("/library/cards/new", library.propose_card)
    made.router.add_post("/library/cards/review", library.review_card)
    made.router.add_get("/library/replies", library.replies)
    made.router.add_get("/library/replies/new", library.new_reply)
    made.router.add_post("/library/replies/new", library.add_reply)
    made.router.add_post("/library/replies/act", library.act_on_reply)
    made.router.add_get("/library/delete", library.ask_to_delete)
    made.router.add_post("/library/delete", library.delete)
    made.router.add_get("/library/evidence", library.evidence)
    made.router.add_get("/library/coverage", library.coverage)
    made.router.add_get("/record", record.record)
    made.router.add_post("/record/export", record.export)
    made.router.add_post("/record/person", record.about)
    made.router.add_post("/record/erase", record.erase)
    made.router.add_get("/me/data", record.own_data)
    made.router.add_get("/me", cases.me)
    made.router.add_post("/me", cases.prefer)
    made.router.add_get("/events", events)
    made.router.add_get(_CASE, cases.case_page)
    made.router.add_get(f"{_CASE}/post", cases.post_words)
    made.router.add_get(f"{_CASE}/edit/{{rank:[0-9]}}", cases.edit_page)
    made.router.add_post(f"{_CASE}/check", cases.check)
    made.router.add_post(f"{_CASE}/act", cases.act)
    made.router.add_get("/settings", settings.places)
    made.router.add_get(_PLACE, settings.settings)
    made.router.add_post(_PLACE, settings.save)
    made.router.add_post(f"{_PLACE}/preview", settings.preview)
    made.router.add_post(f"{_PLACE}/switch", settings.switch)
    made.router.add_get(f"{_PLACE}/setup", setup.steps)
    add_to(made.router)
    made.on_shutdown.append(_end_streams)
    return made


async def _end_streams(app: web.Application) -> None:
    app[STOPPING].set()


async def static(request: web.Request) -> web.Response:
    """A file that ships with Antiphon; its address changes with its content."""
    name = request.match_info["name"]
    if name not in STATIC:
        raise web.HTTPNotFound
    body = STATIC[name]
    kind = _TYPES[name[name.rindex(".") :]]
    answer = web.Response(body=body, content_type=kind, charset="utf-8")
    if request.query_string == digest(body):
        answer.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return answer


def listening(host: str, port: int) -> socket.socket:
    """A socket at an address of this machine, at any free port for 0; the port is known before the pages are made.

    Raises:
        BadSettings: nothing can be listened to there.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as err:
        raise BadSettings(
            f"The dashboard cannot listen at {host}, port {port}: it is taken, or the address is not this machine's.",
            remedy="Set web.host and web.port to an address of this machine and a free port, for each process its own "
            "(ANTIPHON__WEB__PORT).",
        ) from err


@asynccontextmanager
async def serving(app: web.Application, at: socket.socket) -> AsyncIterator[None]:
    """Answer within the block; the socket is closed at its end."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSING_SECONDS)
    await runner.setup()
    try:
        await web.SockSite(runner, at).start()
        yield
    finally:
        await runner.cleanup()
        at.close()


def number_of(said: str) -> int | None:
    """The number of an event as a browser repeats it; ``None`` for anything else."""
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _SIZE else None


async def events(request: web.Request) -> web.StreamResponse:
    """Tell the page which cases changed, until it goes away, its session is over, or the process ends."""
    since = number_of(request.headers.get("Last-Event-ID", ""))
    if since is None:
        since = number_of(request.query.get("since", ""))
    stream = web.StreamResponse(headers=headers_of(request) | {"X-Accel-Buffering": "no"})
    stream.content_type = "text/event-stream"
    await stream.prepare(request)
    try:
        async for event in _news(request, since):
            await stream.write(event)
    except (ConnectionResetError, AntiphonError):  # the browser asks again, from the number that it has
        pass
    return stream


async def _news(request: web.Request, since: int | None) -> AsyncIterator[bytes]:
    site, stopping = request.app[SITE], request.app[STOPPING]
    visitor: Visitor | None = visitor_of(request)
    held = dict[str, str]()  # what was taken since the page was made is told at once
    looks, told = 0, ""
    yield b"retry: 2000\n\n"
    while visitor is not None and not stopping.is_set():
        found = await site.overview.changes(visitor.people, since)
        holds = await site.overview.holds(visitor.people)
        touched = {case for case in held.keys() | holds.keys() if held.get(case) != holds.get(case)}
        if found.cases or touched or found.number != since:
            since, held, looks = found.number, holds, 0
            yield _event(found.number, sorted({*found.cases, *touched}))
        if looks % _ALIVE_EVERY == 0 and (said := await waiting(request)) != told:
            told = said
            yield f"event: waiting\ndata: {json.dumps(said)}\n\n".encode()
        looks += 1
        if looks % _ALIVE_EVERY == 0:
            yield b": still here\n\n"
            visitor = await site.doorkeeper.visitor(request[SECRET], is_idle=True)
        try:
            async with asyncio.timeout(site.poll_seconds):
                await stopping.wait()
        except TimeoutError:
            continue
    if visitor is None:
        yield b"event: over\ndata: {}\n\n"


def _event(number: int, cases: list[str]) -> bytes:
    return f"id: {number}\nevent: change\ndata: {json.dumps({'cases': cases})}\n\n".encode()
