"""Puts the desk together: the parts through which people work on the cases of one database, and its chores."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from bot.settings import Settings
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.intake import Intake
from core.desk.review.approvals import Approvals, Proposals
from core.desk.review.casework import Casework
from core.desk.review.decisions import Decisions
from core.desk.review.queries import CaseQueries
from core.desk.rules.platforms import ChatPlatform, RoleSource
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.upkeep.backups import Backups
from core.desk.upkeep.chores import Chore, counting
from core.desk.upkeep.digest import EVERY, Digest
from core.desk.upkeep.erasure import ERASURE, Erasure
from core.desk.upkeep.follow_ups import FollowUps
from core.desk.upkeep.retention import Cleanup, Expiry, FoldedCases, Retention
from core.desk.upkeep.scrub import SCRUB, DiskScrub
from core.engine.scoring.check import EditReader

SCHEDULED: Final = "scheduled"
"""The folder for automatic backups, which are deleted when they are old; those made by hand lie beside it."""
BACKUP: Final = "backup"
"""The chore that makes them."""
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class Desk:
    """The parts of one desk over ``database``. All of them ask the platforms through the same ``live_roles``."""

    database: Database
    live_roles: LiveRoles
    intake: Intake
    decisions: Decisions
    proposals: Proposals
    approvals: Approvals
    queries: CaseQueries


def build_desk(
    database: Database,
    *,
    role_sources: Mapping[str, RoleSource] | None = None,
    undo_seconds: float = 15.0,
    approval_hours: float = 24.0,
    hold_minutes: float = 5.0,
    max_queued: int = 200,
    campaign_hours: float = 0.0,
    flags_per_hour: int | None = None,
    platforms: Mapping[str, ChatPlatform] | None = None,
    limits: SendLimits | None = None,
    hearing_seconds: Mapping[str, float] | None = None,
    edit_reader: EditReader | None = None,
) -> Desk:
    """A desk over a database.

    Args:
        role_sources: by ``PostRef.platform``, where to ask for the roles that a person has there at this moment.
        undo_seconds: how long an approved reply waits before it is sent, and how long a closing can be undone.
        approval_hours: how long an approval holds, if its reply cannot be sent before.
        hold_minutes: how long a case that somebody holds is closed to others.
        max_queued: how many cases of a community may wait for a draft.
        campaign_hours: how long near-identical posts fold into the first one's case; 0 folds none.
        flags_per_hour: how many posts one person may flag in an hour; ``None`` for any number.
        platforms: those that are connected to this process, by name: what a text must satisfy there.
        limits: how many replies one community may get.
        hearing_seconds: by platform, how long it may take until what a person wrote there is heard.
        edit_reader: reads what a person wrote or changed, for warnings; without it only the rules are applied.
    """
    live_roles = LiveRoles(database, role_sources or {})
    proposals = Proposals(database, platforms=platforms, limits=limits, edit_reader=edit_reader)
    return Desk(
        database=database,
        live_roles=live_roles,
        intake=Intake(
            database,
            max_queued=max_queued,
            campaign_hours=campaign_hours,
            flags_per_hour=flags_per_hour,
            live_roles=live_roles,
            platforms=platforms,
        ),
        decisions=Decisions(
            database, hold_minutes=hold_minutes, undo_seconds=undo_seconds, hearing_seconds=hearing_seconds
        ),
        proposals=proposals,
        approvals=Approvals(
            database,
            live_roles,
            proposals.checks,
            undo_seconds=undo_seconds,
            approval_hours=approval_hours,
            hearing_seconds=hearing_seconds,
        ),
        queries=CaseQueries(database),
    )


def build_casework(desk: Desk, outbox: Outbox) -> Casework:
    """The desk as chat platforms see it."""
    return Casework(
        desk.database,
        live_roles=desk.live_roles,
        intake=desk.intake,
        decisions=desk.decisions,
        proposals=desk.proposals,
        approvals=desk.approvals,
        outbox=outbox,
    )


def all_chores(
    database: Database,
    settings: Settings,
    *,
    platforms: Mapping[str, ChatPlatform] | None = None,
    put_back_lost: Callable[[], Awaitable[int]] | None = None,
    make_backup: Callable[[Path], Awaitable[Path]] | None = None,
    admit: Callable[[], Awaitable[int]] | None = None,
) -> list[Chore]:
    """The chores that this process can do, with how often each is due; without those whose part is missing.

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
