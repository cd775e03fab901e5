"""How the chat platforms stand in the processes that serve them, as these processes say in the database."""

from __future__ import annotations

from bot.cli.operating.doctor.database import is_there, opened
from bot.compose.platforms.chat_platforms import configured_platforms
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding
from bot.store.schema import PlatformState, UpdateState
from bot.store.views.platforms import SeenPlatform, seen
from bot.store.work import inbox
from core.errors import AntiphonError
from core.wording.counting import counted


async def examine_platforms(settings: Settings) -> list[Finding]:
    """The state of each platform in the processes that serve it, and what is wrong with those that are configured."""
    try:
        configured = [platform.name for platform in configured_platforms(settings)]
        standings, aside = await _standings(settings)
    except AntiphonError as err:
        return [Finding("platforms", False, err.message, err.remedy)]
    found = [_standing(each) for each in standings] + aside
    served = {each.platform for each in standings}
    if idle := [name for name in configured if name not in served]:
        found.append(Finding("platforms", True, f"{', '.join(idle)} configured; antiphon serve does not run"))
    return found or [Finding("platforms", True, "none is configured; antiphon run shows a sample community")]


async def _standings(settings: Settings) -> tuple[list[SeenPlatform], list[Finding]]:
    """How the platforms stand, and what is to be said of updates that nobody could deal with."""
    if not await is_there(settings):
        return [], []
    async with opened(settings) as database:
        aside = await database.run("count updates put aside", inbox.put_aside)
        return await database.run("look at platforms", seen), [_aside(*each) for each in aside.items()]


def _aside(of: tuple[str, UpdateState], count: int) -> Finding:
    """Updates that nobody could deal with, of one platform and for one reason."""
    platform, state = of
    days = inbox.KEPT.days
    if state is UpdateState.UNKNOWN:
        told = f"{count} of kinds that this version does not know, in the last {counted(days, 'day')}"
        return Finding(f"updates of {platform}", True, told)
    return Finding(
        f"updates of {platform}",
        False,
        f"{count} could not be handled in the last {counted(days, 'day')}.",
        "Look for them in the log of antiphon serve, and report what it says.",
    )


def _standing(seen: SeenPlatform) -> Finding:
    """One platform in one process."""
    name, since = f"platform {seen.platform}", f"since {seen.since:%Y-%m-%d %H:%M:%S} UTC"
    if seen.is_gone:
        return Finding(name, False, f"the process that served it {since} is gone.", "Run: antiphon serve.")
    if seen.state is PlatformState.CONNECTED:
        return Finding(name, True, f"connected {since}")
    if seen.state is PlatformState.CONNECTING and not seen.message:
        return Finding(name, False, f"it is being connected {since}.", "Look again in a minute.")
    at = f"{seen.again_at:%H:%M:%S} UTC" if seen.again_at else ""
    again = f" Attempts that failed: {seen.failures}; the next is at {at}." if at else ""
    return Finding(name, False, f"not connected {since}: {seen.message}{again}", seen.remedy)
