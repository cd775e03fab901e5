"""``antiphon serve``: the chat platforms that are configured, until it is stopped.

Several such processes may run over one PostgreSQL database.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import typer

from bot.cli.command import ConfigOption, ProfileOption, run_to_exit, say
from bot.cli.output import PreparationBar
from bot.compose.application import Application, open_application
from bot.compose.engine import open_engine
from bot.compose.operations import counted, ending_at_once, ending_in_order, model_answers, operated
from bot.compose.platforms import platforms_to_serve
from bot.serve.platforms import ServedPlatform
from bot.serve.status import Status, platform_connected
from bot.serve.supervision import serve as serve_all
from bot.settings import Settings, load_settings
from core.desk.schema import PlatformState
from core.desk.views.platforms import PlatformStatus
from core.engine.llm.budget import Profile
from core.engine.pipeline import Engine
from core.engine.wording import language

app = typer.Typer()


@app.command()
def serve(profile: ProfileOption = "", config: ConfigOption = None) -> None:
    """Serve every configured chat platform until Ctrl-C or SIGTERM. If one fails, the others go on."""

    async def begin() -> None:
        settings = load_settings(config)
        async with operated(settings) as status:
            wanted, served = settings.profile_named(profile), platforms_to_serve(settings)
            # What is wrong shows before a model is loaded.
            opening = open_engine(settings, PreparationBar(), on_call=counted(settings))
            await _serve(settings, served, wanted, opening, status)

    run_to_exit(begin)


async def _serve(
    settings: Settings,
    served: Sequence[ServedPlatform],
    profile: Profile,
    opening: AbstractAsyncContextManager[Engine],
    status: Status,
) -> None:
    stop, drain_seconds = asyncio.Event(), settings.desk.drain_seconds

    def say_end() -> None:
        status.stop()
        say(f"Stopping: what is being drafted has {drain_seconds:g} seconds. Once more to stop at once.")

    with ending_at_once():
        language.prepare()  # later it would keep a platform waiting for longer than it does
        async with opening as engine:
            await engine.ready()  # a model that cannot be had is told before anything is served
            with ending_in_order(stop, say_end):
                async with (
                    open_application(engine, settings, served, profile, on_standing=say_standing) as application,
                    status.working(
                        application.database,
                        {"model": model_answers(settings), "platforms": platform_connected(application.platforms)},
                    ),
                    _pages(settings, application),
                ):
                    await serve_all(application, stop, drain_seconds)
    say("Stopped. What was not finished is in the queue again.")


@asynccontextmanager
async def _pages(settings: Settings, application: Application) -> AsyncIterator[None]:
    """The dashboard, where the settings want one."""
    if not settings.web.port:
        yield
        return
    from bot.cli.doctor.checks import DoctorSetupChecks  # its checks import what only they need
    from bot.compose.web import dashboard  # its templates and hashes are not needed where there is none

    async with dashboard(settings, application, DoctorSetupChecks(settings, application.database).look) as (address, _):
        say(f"The dashboard is at {address}")
        yield


def say_standing(standing: PlatformStatus) -> None:
    """Tell the person who started the process the state of a platform from now on."""
    name = standing.platform
    if standing.state is PlatformState.CONNECTED:
        say(f"{name} is connected. Ctrl-C stops.")
        if standing.note:
            say(standing.note)
        return
    text = f"{name}: {standing.message} {standing.remedy}".strip()
    if standing.state is PlatformState.WAITING:
        say(f"{text} Tried again in {standing.wait_seconds:.0f} s.")
    elif standing.state is PlatformState.REFUSED:
        say(f"{text} Then start Antiphon again; until then {name} is not served.")
