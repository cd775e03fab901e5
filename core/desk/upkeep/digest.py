"""The daily digest: one hash over the heads of all chains of the audit log (reliability, T21).

A chain shows when one of its lines was changed; only the digest shows when a whole chain is missing. Its hash is
logged too, outside of the database.
"""

import logging
from datetime import timedelta
from typing import Final

from sqlalchemy import func, select, text

from core.desk.database.connection import Database, Session, insert_new
from core.desk.schema import AuditRow, DigestRow
from core.desk.store.audit import heads_hash
from core.desk.store.jobs import Job
from core.desk.upkeep.chores import Done
from core.engine.wording.text import counted

_LOG = logging.getLogger(__name__)
EVERY: Final = timedelta(days=1)


class Digest:
    """Records the heads of the audit log at this moment."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def do(self, job: Job) -> Done:
        """Store the digest of the job's slot, unless it is there."""

        async def work(session: Session) -> str:
            if session.get_bind().dialect.name == "postgresql":
                # A line whose transaction is still open already has its number: wait for it.
                await session.execute(text("LOCK TABLE audit IN SHARE MODE"))
            last_line = await session.scalar(select(func.max(AuditRow.id))) or 0
            streams, digest = await digest_at(session, last_line)
            row = {"slot": job.key, "streams": streams, "last_line": last_line, "sha256": digest, "at": session.moment}
            await insert_new(session, DigestRow, row, "slot")
            return (
                f"kept one hash over the {counted(streams, 'chain')} of the audit log, up to line {last_line}, which "
                f"shows later whether a whole chain is missing: {digest}"
            )

        report = await self._database.run("keep the digest", work)
        _LOG.info("audit digest: %s", report)
        return Done(report)


async def digest_at(session: Session, last_line: int) -> tuple[int, str]:
    """How many chains the audit log had when ``last_line`` was its last one, and the SHA-256 over their heads."""
    heads = select(func.max(AuditRow.id)).where(AuditRow.id <= last_line).group_by(AuditRow.stream)
    lines = list(await session.scalars(select(AuditRow).where(AuditRow.id.in_(heads))))
    return len(lines), heads_hash(lines)
