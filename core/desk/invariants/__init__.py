"""The promises of the desk, I1 to I18 (reliability, section 1.3), each as a function that looks for a violation.

The tests and ``antiphon doctor --audit`` ask the same functions. They only read, and never say a word of a post, a
reply or a note.
"""

from core.desk.invariants.checks import INVARIANTS, Invariant, audit, check, violations
from core.desk.invariants.facts import (
    ArrivedReply,
    AuditLimits,
    Closure,
    Facts,
    OutsideRecord,
    Revocation,
    Violation,
    read_facts,
    read_tables,
)

__all__ = [
    "INVARIANTS",
    "ArrivedReply",
    "AuditLimits",
    "Closure",
    "Facts",
    "Invariant",
    "OutsideRecord",
    "Revocation",
    "Violation",
    "audit",
    "check",
    "read_facts",
    "read_tables",
    "violations",
]
