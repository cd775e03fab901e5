"""The promises of the desk, I1 to I18 (reliability, section 1.3), each as a function that looks for a violation.

Owns what the promises mean, once, for the tests and for ``antiphon doctor --audit``. Reads only; must never change a
row, and never say a word of a post, a reply or a note.
"""

from bot.invariants.auditing import INVARIANTS, Invariant, audit, check, violations
from bot.invariants.facts import AuditLimits, Facts, read_facts, read_tables
from bot.invariants.record import Closed, Record, Revoked, Sent
from bot.invariants.violation import Violation

__all__ = [
    "INVARIANTS",
    "AuditLimits",
    "Closed",
    "Facts",
    "Invariant",
    "Record",
    "Revoked",
    "Sent",
    "Violation",
    "audit",
    "check",
    "read_facts",
    "read_tables",
    "violations",
]
