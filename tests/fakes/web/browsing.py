"""The dashboard over a real desk, and browsers of people who use it without scripts."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp import web
from argon2 import PasswordHasher
from selectolax.lexbor import LexborHTMLParser as Html
from yarl import URL

from adapters.web.door import Tries
from adapters.web.server import application, listening, serving
from adapters.web.site import Site
from bot.cli.doctor.checks import DoctorSetupChecks
from bot.settings import Settings
from core.desk.communities.accounts import ApiTokens, Scope, WebAccounts
from core.desk.communities.governance import Governance
from core.desk.communities.own_cards import OwnCards, PreparedReplies
from core.desk.review.dashboard import DeskOverview, DeskRecord
from core.desk.rules.roles import Person
from core.desk.upkeep.retention import RetentionPeriods
from kb.starter.facts import facts_today
from tests.fakes.desk.review_desk import ReviewDesk, review_desk
from tests.fakes.machine.clock import Seconds

PASSWORD: Final = "four words make it long"
_QUICK: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""The same code with less work, since the tests log in often."""


@dataclass
class Page:
    """What a browser got: where from, how, and the document."""

    path: str
    status: int
    headers: Mapping[str, str]
    text: str
    dom: Html = field(init=False)

    def __post_init__(self) -> None:
        self.dom = Html(self.text)

    @property
    def words(self) -> str:
        """All visible text, with single spaces."""
        body = self.dom.body
        return " ".join((body.text(separator=" ") if body is not None else "").split())

    def said(self, selector: str) -> str:
        """The text of the first element that a selector finds, exactly."""
        found = self.dom.css_first(selector)
        assert found is not None, f"No {selector} on {self.path}: {self.words[:2000]}"
        return found.text()

    def form(self, button: str) -> dict[str, str]:
        """The fields of the form whose button says this, with where it goes as ``action``."""
        for form in self.dom.css("form"):
            for pressed in form.css("button"):
                if " ".join(pressed.text().split()) == button:
                    fields = {
                        str(one.attributes["name"]): one.attributes.get("value") or ""
                        for one in form.css("input[type=hidden]")
                    }
                    action = pressed.attributes.get("formaction") or form.attributes.get("action") or self.path
                    return fields | {"action": action}
        raise AssertionError(f"No form with {button!r} on {self.path}: {self.words[:2000]}")

    @property
    def buttons(self) -> list[str]:
        """What can be pressed."""
        return [" ".join(one.text().split()) for one in self.dom.css("main button, main a.button, main summary")]


class Browser:
    """Somebody's browser: it keeps cookies, follows redirects, and sends what browsers send."""

    def __init__(self, session: aiohttp.ClientSession, origin: str) -> None:
        self.session, self.origin = session, origin
        self.page = Page("", 0, {}, "")

    async def get(self, path: str, **headers: str) -> Page:
        return await self._asked("GET", path, None, headers)

    async def post(self, path: str, fields: Mapping[str, str] | Sequence[tuple[str, str]], **headers: str) -> Page:
        """Send a form, as from a page of ours unless other headers say otherwise."""
        sent = {"Origin": self.origin, "Sec_Fetch_Site": "same-origin"} | headers
        return await self._asked("POST", path, fields, {name: value for name, value in sent.items() if value})

    async def press(self, button: str, **fields: str) -> Page:
        """Press a button on the present page, with other fields of its form filled in."""
        form = self.page.form(button)
        return await self.post(form.pop("action"), form | fields)

    async def _asked(self, method: str, path: str, fields: Any, headers: Mapping[str, str]) -> Page:
        asked = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(method, self.origin + path, data=fields, headers=asked) as answer:
            self.page = Page(answer.url.path, answer.status, dict(answer.headers), await answer.text())
        return self.page

    @property
    def cookies(self) -> dict[str, str]:
        return {name: one.value for name, one in self.session.cookie_jar.filter_cookies(URL(self.origin)).items()}


@dataclass(frozen=True)
class Answer:
    """What a program got; ``said`` is the document, ``None`` where it is no JSON."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def said(self) -> Any:
        """The document."""
        return json.loads(self.text) if "json" in self.headers.get("Content-Type", "") else None


@dataclass(frozen=True)
class Program:
    """A program that uses the API with a token, "" for none; it follows no redirect."""

    session: aiohttp.ClientSession
    origin: str
    token: str

    async def get(self, path: str, **headers: str) -> Answer:
        return await self._asked("GET", path, None, headers)

    async def post(self, path: str, body: object = None, **headers: str) -> Answer:
        """Ask that something be done; the body is sent as JSON."""
        return await self._asked("POST", path, body, headers)

    async def _asked(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        how: dict[str, Any] = {} if body is None else {"json": body}
        how |= {"headers": sent, "allow_redirects": False}
        async with self.session.request(method, self.origin + path, **how) as answer:
            return Answer(answer.status, dict(answer.headers), await answer.text())


@dataclass
class Dashboard:
    """The pages and the API over a desk; ``seconds`` is the clock of failed logins."""

    desk: ReviewDesk
    accounts: WebAccounts
    tokens: ApiTokens
    governance: Governance
    app: web.Application
    origin: str
    seconds: Seconds
    browsers: list[aiohttp.ClientSession] = field(default_factory=list)

    def browser(self) -> Browser:
        """A browser that was never here."""
        session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        self.browsers.append(session)
        return Browser(session, self.origin)

    def program(self, token: str = "") -> Program:
        session = aiohttp.ClientSession()
        self.browsers.append(session)
        return Program(session, self.origin, token)

    async def program_of(self, name: str, *people: Person, scopes: Collection[Scope] = tuple(Scope)) -> Program:
        """The program of somebody who has an account and a token."""
        await self.account(name, *people)
        return self.program(await self.tokens.make(name, "test", scopes, 30))

    async def account(self, name: str, *people: Person) -> None:
        await self.accounts.keep(name, PASSWORD, people)

    async def logged_in(self, name: str, *people: Person) -> Browser:
        await self.account(name, *people)
        browser = self.browser()
        await browser.get("/login")
        page = await browser.press("Log in", account=name, password=PASSWORD)
        assert page.path == "/", page.words
        return browser


@asynccontextmanager
async def dashboard(
    file: Path,
    platform: str = "discord",
    settings: Settings | None = None,
    poll_seconds: float = 0.02,
    **how: Any,
) -> AsyncIterator[Dashboard]:
    """The dashboard over the real desk of one platform, on SQLite; people's browsers are closed at the end."""
    async with review_desk(file, platform) as desk:
        accounts = WebAccounts(desk.database, desk.desk.live_roles, hasher=_QUICK)
        tokens = ApiTokens(desk.database, accounts)
        governance = Governance(desk.database, desk.desk.live_roles)
        at = listening("127.0.0.1", 0)
        origin = f"http://127.0.0.1:{at.getsockname()[1]}"
        keeping = RetentionPeriods(24, 30, 12, 30)
        site = Site(
            casework=desk.casework,
            governance=governance,
            doorkeeper=accounts,
            overview=DeskOverview(desk.database, desk.desk.proposals, keeping),
            tokens=tokens,
            record=DeskRecord(desk.database, desk.desk.live_roles, keeping),
            replies=PreparedReplies(desk.database, desk.desk.live_roles),
            cards=OwnCards(desk.database, desk.desk.live_roles),
            facts=facts_today,
            setup=DoctorSetupChecks(settings or Settings(), desk.database).look,
            origins=(origin,),
            poll_seconds=poll_seconds,
            **how,
        )
        seconds = Seconds()
        app = application(site, Tries(seconds))
        made = Dashboard(desk, accounts, tokens, governance, app, origin, seconds)
        async with serving(app, at):
            try:
                yield made
            finally:
                await asyncio.gather(*(session.close() for session in made.browsers))
