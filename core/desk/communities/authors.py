"""Who stands for what a community prepares: by which pseudonym, and under which name.

Owns the rule that a name is given or known. The callers say which right it takes.
"""

from __future__ import annotations

from core.desk.database.connection import Session
from core.desk.rules.roles import Person
from core.desk.store import people
from core.desk.store.communities import Community
from core.errors import BadInput

MAX_NAME = 80


async def name_of_signer(session: Session, community: Community, person: Person, pseudonym: str) -> str:
    """The name that somebody gives; otherwise the one that the community knows."""
    name = " ".join(person.name.split())
    if not name:
        known = await people.member(session, community.id, community.platform, pseudonym)
        name = known.name if known else ""
    if not name:
        raise BadInput("A review needs the name of the person who stands for it.", remedy="Give it with --name.")
    if len(name) > MAX_NAME:
        raise BadInput(f"The name has {len(name)} characters; {MAX_NAME} at most are taken.", remedy="Shorten it.")
    return name
