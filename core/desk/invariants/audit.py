"""All invariants in their order, and how they are asked of a database.

``antiphon doctor --audit`` asks them of a live one, a test after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from core.desk.database.connection import Database
from core.desk.invariants import checks
from core.desk.invariants.facts import AuditLimits, Facts, Record, Violation, read_facts
from core.desk.runtime.findings import Finding

_SHOWN = 5
_REMEDY: Final = "Pause all posting, keep a copy of the database, and look at these in the audit log before you go on."


@dataclass(frozen=True, slots=True)
class Invariant:
    """One promise: its number, what it says, and the function that looks for a violation."""

    id: str
    promise: str
    look: Callable[[Facts], Iterable[Violation]]


INVARIANTS: Final = (
    Invariant("I1", "each post matches one approval by a person, of exactly those bytes", checks.posted_as_approved),
    Invariant("I2", "at most one post for each approval", checks.posted_once),
    Invariant("I3", "no acknowledged capture is lost", checks.nothing_is_lost),
    Invariant("I4", "one case for each post", checks.one_case_per_post),
    Invariant("I5", "no work without a live owner", checks.work_has_an_owner),
    Invariant("I6", "what fails again and again stops after the configured attempts", checks.poison_stops),
    Invariant("I7", "who lost the right neither approves nor is the approver of a send", checks.approver_may_approve),
    Invariant("I8", "no approval survives a change", checks.approval_holds),
    Invariant("I9", "what was undone is never posted", checks.undone_is_not_posted),
    Invariant("I10", "two moderators never both win", checks.one_wins),
    Invariant("I11", "cases move along the graph, and the log is a whole chain", checks.moves_are_declared_and_kept),
    Invariant("I12", "nothing posts while paused or in shadow mode", checks.nothing_posts_while_closed),
    Invariant("I13", "only valid drafts reach review", checks.drafts_are_valid),
    Invariant("I14", "evidence that is shown is in the knowledge base", checks.evidence_can_be_opened),
    Invariant("I15", "who was erased leaves no trace", checks.erased_leave_no_trace),
    Invariant("I16", "the backlog is bounded", checks.backlog_is_bounded),
    Invariant("I17", "scheduled work runs once for each slot", checks.once_per_slot),
    Invariant("I18", "the schema is the newest one, whole", checks.schema_is_the_newest),
)


def violations(facts: Facts) -> dict[str, list[Violation]]:
    """The violations of each invariant that is broken, by its number."""
    by_number = {invariant.id: list(invariant.look(facts)) for invariant in INVARIANTS}
    return {name: broken for name, broken in by_number.items() if broken}


async def check(
    database: Database,
    record: Record | None = None,
    limits: AuditLimits | None = None,
    *,
    looks_at_schema: bool = True,
) -> dict[str, list[Violation]]:
    """Read the database in one transaction, and ask every invariant; what is broken, by number.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    facts = await database.run(
        "audit the database", lambda session: read_facts(session, record, limits, looks_at_schema=looks_at_schema)
    )
    return violations(facts)


async def audit(database: Database, limits: AuditLimits | None = None) -> list[Finding]:
    """Ask every invariant of a live database; one finding for each, without a word of any post.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    broken = await check(database, limits=limits)
    return [_finding(invariant, broken.get(invariant.id, [])) for invariant in INVARIANTS]


def _finding(invariant: Invariant, broken: list[Violation]) -> Finding:
    name = f"{invariant.id} {invariant.promise}"
    if not broken:
        return Finding(name, True, "holds")
    rest = f" (and {len(broken) - _SHOWN} more)" if len(broken) > _SHOWN else ""
    return Finding(name, False, "; ".join(map(str, broken[:_SHOWN])) + rest, _REMEDY)
