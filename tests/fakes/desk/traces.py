"""Looks for what must not be anywhere: in every column of every table, the bytes of files, and the words of errors."""

from pathlib import Path

from sqlalchemy import select

from core.desk.database.connection import Database, Session
from core.desk.schema import Base


async def everything(database: Database) -> str:
    """Every value that the database gives out, as one text."""

    async def work(session: Session) -> str:
        said = list[str]()
        for table in Base.metadata.sorted_tables:
            for row in await session.execute(select(table)):
                said.append(f"{table.name}: {tuple(row)!r}")
        return "\n".join(said)

    return await database.run("read everything", work)


def files_with(folder: Path, canary: str) -> list[str]:
    """The names of the files under a folder whose bytes hold a text, in any usual encoding."""
    wanted = [canary.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
    return sorted(
        file.name
        for file in folder.rglob("*")
        if file.is_file() and any(bytes_ in file.read_bytes() for bytes_ in wanted)
    )


def all_said(err: BaseException) -> str:
    said, links = "", [err]
    for link in links:
        said += repr(link) + str(link)
        links += [one for one in (link.__cause__, link.__context__, getattr(link, "orig", None)) if one is not None]
    return said
