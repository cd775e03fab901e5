"""Puts the desk together: the parts through which people work on the cases of one database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.intake import Intake
from core.desk.review.approvals import Approvals, Proposals
from core.desk.review.casework import FrontDesk
from core.desk.review.decisions import Decisions
from core.desk.review.queries import CaseQueries
from core.desk.rules.platforms import ChatPlatform, RoleSource
from core.desk.sending.outbox import Outbox, SendLimits
from core.engine.scoring.check import EditReader


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


def build_casework(desk: Desk, outbox: Outbox) -> FrontDesk:
    """The desk as chat platforms see it."""
    return FrontDesk(
        desk.database,
        live_roles=desk.live_roles,
        intake=desk.intake,
        decisions=desk.decisions,
        proposals=desk.proposals,
        approvals=desk.approvals,
        outbox=outbox,
    )
