"""The audit log: its lines, and whether its chains hold, every line bound to the one before it."""

from sqlalchemy import select

from core.desk.database.connection import Database, Session
from core.desk.schema import AuditRow
from core.desk.store.audit import line_hash


async def lines_of(database: Database, stream: str) -> list[AuditRow]:
    """The lines of a stream, oldest first."""

    async def work(session: Session) -> list[AuditRow]:
        return list(await session.scalars(select(AuditRow).filter_by(stream=stream).order_by(AuditRow.seq)))

    return await database.run("read lines", work)


async def broken_chains(database: Database) -> list[str]:
    """The streams whose lines are not whole, each once."""

    async def work(session: Session) -> list[str]:
        heads: dict[str, tuple[int, str]] = {}
        broken = list[str]()
        for line in await session.scalars(select(AuditRow).order_by(AuditRow.stream, AuditRow.seq)):
            seq, previous = heads.get(line.stream, (0, ""))
            if (line.seq, line.previous, line.sha256) != (seq + 1, previous, line_hash(line)):
                broken.append(line.stream)
            heads[line.stream] = line.seq, line.sha256
        return sorted(set(broken))

    return await database.run("check the chains", work)
