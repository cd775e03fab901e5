"""All chores, with how often each one is due; without those whose part is missing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from bot.settings import Settings
from core.desk.database.connection import Database
from core.desk.rules.platforms import ChatPlatform
from core.desk.upkeep.backups import Backups
from core.desk.upkeep.chores import Chore, counting
from core.desk.upkeep.digest import EVERY, Digest
from core.desk.upkeep.erasure import ERASURE, Erasure
from core.desk.upkeep.follow_ups import FollowUps
from core.desk.upkeep.retention import Cleanup, Expiry, FoldedCases, Retention
from core.desk.upkeep.scrub import SCRUB, DiskScrub

SCHEDULED: Final = "scheduled"
"""The folder for automatic backups, which are deleted when they are old; those made by hand lie beside it."""
BACKUP: Final = "backup"
"""The chore that makes them."""
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def all_chores(
    database: Database,
    settings: Settings,
    *,
    platforms: Mapping[str, ChatPlatform] | None = None,
    put_back_lost: Callable[[], Awaitable[int]] | None = None,
    make_backup: Callable[[Path], Awaitable[Path]] | None = None,
    admit: Callable[[], Awaitable[int]] | None = None,
) -> list[Chore]:
    """The chores that this process can do.

    Args:
        platforms: the connected platforms; without any, nothing is followed up.
        put_back_lost: queues cases whose workers were lost, and returns how many; without it they wait for a worker.
        make_backup: makes a backup in a folder and returns its place; without it none is made.
        admit: queues cases that wait for room, and returns how many; without it they wait for another process.
    """
    desk = settings.desk
    expiry = Expiry(database, draft_hours=desk.draft_hours, person_days=desk.retention_days)
    retention = Retention(database, days=desk.retention_days, months=desk.statistics_months)
    chores = [
        Chore("expiry", expiry.do, _MINUTE),
        Chore("folded cases", FoldedCases(database, undo_seconds=desk.undo_seconds).do, _MINUTE),
        Chore("retention", retention.do, _DAY),
        Chore("audit digest", Digest(database).do, EVERY),
        Chore("pruning", Cleanup(database, words_kept=timedelta(days=desk.retention_days)).do, _DAY),
        Chore(ERASURE, Erasure(database).do, must_end=True),
        Chore(SCRUB, DiskScrub(database).do, must_end=True),
    ]
    if put_back_lost is not None:
        chores.append(Chore("lost cases", counting(put_back_lost, "case", "queued again"), _MINUTE))
    if admit is not None:
        chores.append(Chore("waiting cases", counting(admit, "case", "queued"), _MINUTE))
    if platforms and desk.follow_ups:
        chores.append(Chore("follow-ups", FollowUps(database, platforms).do, _HOUR))
    if make_backup is not None and desk.backup_hours:
        backups = Backups(database, make_backup, settings.backup_folder / SCHEDULED, kept_days=desk.backup_days)
        chores.append(Chore(BACKUP, backups.do, timedelta(hours=desk.backup_hours)))
    return chores
