"""The whole application as ``antiphon serve`` builds it, with its dashboard, on the fake instance, and a team."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, CookieJar
from pydantic import SecretStr

from adapters.mastodon.capture import BREAK
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.speech import plain_text
from bot.cli.doctor.checks import DoctorSetupChecks
from bot.compose.application import open_application, open_database
from bot.compose.mastodon import mastodon_platform
from bot.compose.web import dashboard
from bot.serve.platforms import ServedPlatform
from bot.serve.supervision import serve
from bot.settings import DeskSettings, MastodonSettings, Settings
from core.desk.communities.accounts import WebAccounts
from core.desk.communities.decisions import CommunityDesk
from core.desk.rules.policy import PlaceRules
from core.desk.rules.roles import Operator, Role
from core.desk.rules.roles import Person as Member
from core.desk.views.platforms import PlatformStatus
from core.engine.pipeline import Engine
from tests.fakes.engine.brief import PATIENT
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import Person
from tests.fakes.web.browsing import PASSWORD, Browser

FAR = "far.example"
"""The author's instance, which agreed to replies."""
_OPERATOR = Operator("operator")


@dataclass
class WholeTown:
    """An instance with a moderator and a volunteer, and an author elsewhere.

    Attributes:
        settings: what the application is served with.
        notes: what the person who runs it is told.
        origin: where its dashboard is, once it is served, and who gets in.
    """

    server: MastodonServer
    settings: Settings
    people: dict[str, Person]
    notes: list[str] = field(default_factory=list)
    origin: str = ""
    accounts: WebAccounts | None = None

    async def directs_to(self, who: str) -> list[str]:
        """What the bot wrote to somebody, oldest first."""
        found = await self.server.town.directs_to(self.people[who])
        ours = [each for each in found if each["account"]["id"] == self.server.bot.id]
        return [plain_text(each["content"]).replace(BREAK, "") for each in ours]

    @asynccontextmanager
    async def logged_in(self, who: str) -> AsyncIterator[Browser]:
        person, accounts = self.people[who], self.accounts
        assert accounts is not None
        await accounts.keep(who, PASSWORD, (Member(NAME, person.id, person.acct),))
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
            browser = Browser(session, self.origin)
            await browser.get("/login")
            assert (await browser.press("Log in", account=who, password=PASSWORD)).path == "/", browser.page.words
            yield browser

    async def until(self, look: Callable[[], Any]) -> Any:
        """What ``look`` finds, awaited, once it finds something."""
        async with asyncio.timeout(GUARD_SECONDS):
            while not (found := await look()):  # noqa: ASYNC110 - the instance tells nobody
                await asyncio.sleep(0.05)
        return found


@asynccontextmanager
async def served(
    engine: Engine,
    folder: Path,
    beside: Callable[[Settings], Sequence[ServedPlatform]] = lambda _: (),
    *,
    has_reports: bool = False,
    **policy: Any,
) -> AsyncIterator[WholeTown]:
    """``antiphon serve`` in an installation that never ran before.

    Args:
        beside: other platforms that are served.
        has_reports: whether a moderator lends a token, with which reports are read.
        policy: what the community wants, beside its team and the instance that agreed.
    """
    desk = DeskSettings(
        database=str(folder / "antiphon.db"),
        secret_file=str(folder / "secret"),
        backup_folder=str(folder / "backups"),
        undo_seconds=0.2,
    )
    async with MastodonServer().running() as server:
        names = {"moderator": None, "volunteer": None, "author": FAR, "stranger": FAR}
        people = {name: server.town.add_account(name, domain) for name, domain in names.items()}
        mastodon = MastodonSettings(url=server.url, token=SecretStr(server.bot.token), poll_seconds=10)
        mastodon = mastodon.model_copy(update={"poll_seconds": 0.1})  # a person may set 10 at least
        if has_reports:
            keeper = people["keeper"] = server.town.add_account("keeper", role="moderator")
            token = SecretStr(server.town.token(keeper, ["admin:read:reports", "admin:write:reports"]))
            mastodon = mastodon.model_copy(update={"moderator_token": token})
        town = WholeTown(server, Settings(desk=desk, mastodon=mastodon), people)
        await _set_up(town, policy)
        async with _serving(engine, town, beside):
            yield town
    assert server.errors == []


async def _set_up(town: WholeTown, policy: dict[str, Any]) -> None:
    """Give the roles, and note that the author's instance agreed."""
    async with open_database(town.settings, creates=True) as database:
        desk = CommunityDesk(database)
        place = await desk.known(NAME, town.server.domain)
        for name, role in (("moderator", Role.MODERATOR), ("volunteer", Role.VOLUNTEER)):
            person = town.people[name]
            await desk.grant(place, Member(NAME, person.id, person.acct), role, _OPERATOR)
        places = {FAR: PlaceRules(consent="Its operator said yes.")}
        wanted = {"places": places} | policy
        await desk.configure(place, lambda _: wanted, _OPERATOR)
        await desk.set_posting(place, True, _OPERATOR)


@asynccontextmanager
async def _serving(
    engine: Engine, town: WholeTown, beside: Callable[[Settings], Sequence[ServedPlatform]]
) -> AsyncIterator[None]:
    stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()

    def hear(standing: PlatformStatus) -> None:
        if standing.note:
            town.notes.append(standing.note)
            if not ready.done():
                ready.set_result(None)

    async def run() -> None:
        settings = town.settings
        platforms = [mastodon_platform(settings), *beside(settings)]
        async with (
            open_application(engine, settings, platforms, PATIENT, on_standing=hear) as whole,
            dashboard(settings, whole, DoctorSetupChecks(settings, whole.database).look) as (
                town.origin,
                town.accounts,
            ),
        ):
            await serve(whole, stop, settings.desk.drain_seconds)

    serving = asyncio.create_task(run())
    try:
        await asyncio.wait({serving, ready}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            await serving
        await town.server.until(lambda: len(town.server.asked("GET", "/api/v1/notifications")) > 1)
        yield
    finally:
        stop.set()
        await serving
