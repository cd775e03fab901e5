"""The people of the tests, and what they may do in the sample community."""

from pathlib import Path
from typing import Final

from core.desk.database.connection import Database, Session
from core.desk.rules.roles import Operator, Person, Role
from core.desk.schema import Change
from core.desk.store import communities, people
from tests.fakes.machine.clock import FakeClock

SECRET: Final = b"a secret of thirty-two bytes ..."
PLATFORM, COMMUNITY = "sample", "brenmoor"
COMMUNITY_ID: Final = communities.community_id(PLATFORM, COMMUNITY)
MODERATOR = Person(PLATFORM, "moderator_one", "moderator_one")
OTHER_MODERATOR = Person(PLATFORM, "moderator_two", "moderator_two")
MANAGER = Person(PLATFORM, "manager_one", "manager_one")
VOLUNTEER = Person(PLATFORM, "volunteer_one", "volunteer_one")
AUDITOR = Person(PLATFORM, "auditor_one", "auditor_one")
ADMIN = Person(PLATFORM, "admin_one", "admin_one")
STRANGER = Person(PLATFORM, "stranger_one", "stranger_one")
FLAGGER = Person(PLATFORM, "mill_pond", "mill_pond")
"""Without a role; flags the post of most tests."""
KEEPER = Operator("keeper")
"""The person who runs Antiphon."""
ROLES: Final = {
    MODERATOR: Role.MODERATOR,
    OTHER_MODERATOR: Role.MODERATOR,
    MANAGER: Role.MANAGER,
    VOLUNTEER: Role.VOLUNTEER,
    AUDITOR: Role.AUDITOR,
    ADMIN: Role.ADMIN,
}


async def settle(database: Database, *, is_posting: bool = True) -> None:
    """Give everybody their role in the sample community, and leave shadow mode."""

    async def work(session: Session) -> None:
        found = await communities.ensure(session, PLATFORM, COMMUNITY)
        for person, role in ROLES.items():
            await people.grant(session, found.id, person, {role}, by="test")
        if is_posting:
            await communities.change(session, found.id, actor="test", reason="posting on", what=Change.POSTING)

    await database.run("settle", work)


async def settled_at(file: Path) -> Path:
    """Make a SQLite file without cases in which everybody has their role."""
    database = await Database.open(file, secret=SECRET, clock=FakeClock())
    await settle(database)
    await database.close()
    return file


async def pseudonym_of(database: Database, person: Person) -> str:
    async def work(session: Session) -> str:
        return await people.pseudonym(session, person.platform, person.user)

    return await database.run("look somebody up", work)
