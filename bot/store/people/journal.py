"""Lines of the audit log about the installation itself, such as who received an export.

Owns how the next line of such a stream is numbered. Works inside the caller's transaction and never commits.
"""

from __future__ import annotations

from sqlalchemy import func, select, text

from bot.store.engine.database import Session
from bot.store.people.audit import record
from bot.store.schema import AuditRow


async def write(session: Session, stream: str, *, actor: str, reason: str) -> None:
    """Add a line to a stream that belongs to no case and no community; others that do the same wait."""
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(text("SELECT pg_advisory_xact_lock(hashtext(:stream))"), {"stream": stream})
    newest = await session.scalar(select(func.max(AuditRow.seq)).filter_by(stream=stream)) or 0
    await record(session, stream, newest + 1, actor=actor, reason=reason)
