"""The name under which somebody stands for what a community prepares: the name they give, or the one it knows."""

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
        member = await people.member(session, community.id, community.platform, pseudonym)
        name = member.name if member else ""
    if not name:
        raise BadInput("A review needs the name of the person who stands for it.", remedy="Give it with --name.")
    if len(name) > MAX_NAME:
        raise BadInput(f"The name has {len(name)} characters; {MAX_NAME} at most are taken.", remedy="Shorten it.")
    return name
