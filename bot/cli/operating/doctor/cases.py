"""What waits for a worker or a person, and whether posting is stopped.

Each is in order on a quiet day; what is told is that nobody does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

from bot.cli.operating.doctor.database import is_there, opened
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding
from bot.store.engine.database import Session
from bot.store.people.communities import EVERYWHERE
from bot.store.schema import PlatformState
from bot.store.views.overdue import Overdue, overdue
from bot.store.views.platforms import SeenPlatform, seen
from bot.upkeep.schedule import OFFICE
from core.errors import AntiphonError
from core.wording.counting import counted

PATIENCE: Final = timedelta(minutes=10)
"""How long work may wait before somebody is told that nobody does it."""
_QUEUE: Final = timedelta(hours=1)
_STOPPED: Final = timedelta(minutes=2)
"""Twice the lease of the schedule's leader."""


async def examine_cases(settings: Settings) -> list[Finding]:
    """Nothing before the first run."""

    async def look(session: Session) -> tuple[Overdue, list[SeenPlatform]]:
        return await overdue(session, OFFICE), await seen(session)

    try:
        if not await is_there(settings):
            return []
        async with opened(settings) as database:
            found, platforms = await database.run("look at what waits", look)
    except AntiphonError as err:
        return [Finding("cases", False, err.message, err.remedy)]
    is_served = any(one.state is PlatformState.CONNECTED and not one.is_gone for one in platforms)
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        lambda: _drafting(found),
        lambda: _review(found, timedelta(hours=settings.desk.draft_hours)),
        lambda: _sending(found),
        lambda: _posting(found),
        lambda: _schedule(found, is_served=is_served),
    )
    return [finding for check in checks for finding in check()]


def _drafting(found: Overdue) -> Iterator[Finding]:
    name, waiting = "drafting", found.undrafted
    if waiting.since is None or found.now - waiting.since < (_QUEUE if found.workers else PATIENCE):
        yield Finding(name, True, f"{counted(waiting.count, 'case')} to draft, {counted(found.workers, 'worker')} busy")
    elif found.workers:
        yield Finding(
            name,
            False,
            f"{counted(waiting.count, 'case')} to draft, the first since {_at(waiting.since)}, with "
            f"{counted(found.workers, 'worker')} at work.",
            "Run more workers (antiphon worker), use a faster model, or raise desk.drafts_at_once.",
        )
    else:
        yield Finding(
            name,
            False,
            f"{counted(waiting.count, 'case')} to draft, the first since {_at(waiting.since)}, and no worker drafts.",
            "Run: antiphon serve, or: antiphon worker. If one runs, read its log: the model may be away.",
        )


def _review(found: Overdue, kept: timedelta) -> Iterator[Finding]:
    waiting = found.undecided
    if waiting.since is None or found.now - waiting.since < kept / 2:
        yield Finding("review", True, f"{counted(waiting.count, 'case')} before moderators")
        return
    yield Finding(
        "review",
        False,
        f"{counted(waiting.count, 'case')} before moderators, the first since {_at(waiting.since)}.",
        "Ask moderators to decide, or find more of them: antiphon community show names them. What waits too long "
        "expires (desk.draft_hours).",
    )


def _sending(found: Overdue) -> Iterator[Finding]:
    unknown = found.unknown
    if unknown.since is None or found.now - unknown.since < PATIENCE:
        yield Finding("sending", True, "no reply waits for a person to look for it")
        return
    yield Finding(
        "sending",
        False,
        f"Nobody knows whether {counted(unknown.count, 'reply', 'replies')} arrived, the first sent at "
        f"{_at(unknown.since)}.",
        "A moderator looks in the chat, and says on the card of the case whether it is there.",
    )


def _posting(found: Overdue) -> Iterator[Finding]:
    if not found.paused:
        yield Finding("posting", True, "stopped nowhere")
    for scope, since in found.paused:
        where, how = ("everywhere", "--everywhere") if scope == EVERYWHERE else (f"in {scope}", scope)
        yield Finding(
            "posting",
            False,
            f"Posting is stopped {where} since {_at(since)}.",
            f"When all is well again: antiphon community resume {how}",
        )


def _schedule(found: Overdue, *, is_served: bool) -> Iterator[Finding]:
    if is_served and (found.led_until is None or found.now - found.led_until > _STOPPED):
        yield Finding(
            "schedule",
            False,
            "Platforms are served, but no process leads the schedule: nothing expires, is erased or is backed up.",
            "Start antiphon serve again. If that does not help, run the chores by hand: antiphon schedule run-once.",
        )
    elif not found.given_up:
        led = "led" if found.led_until is not None and found.led_until >= found.now else "not led: nothing is served"
        yield Finding("schedule", True, led)
    for chore, why in found.given_up:
        yield Finding(
            "schedule",
            False,
            f"The chore {chore} was given up: {why or 'it never ended.'}",
            "Remove the cause, then run: antiphon schedule run-once.",
        )


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
