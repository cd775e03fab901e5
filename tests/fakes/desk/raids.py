"""Posts that come in together, given to an intake all at once, and a look at their cases."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.desk.database.connection import Database
from core.desk.intake import Intake
from core.desk.rules.approval import CaseState
from core.desk.store import cases
from core.desk.store.cases import Case
from core.models import FlaggedPost
from tests.fakes.desk.decisions import one_row

RAID = "They come here, take our houses, and nobody in the town hall dares to say a word about it."
OTHERS = (
    "Somebody should tell the mayor that the bus is late again, third time this week.",
    "The new family on our street sends its children to school in clothes that no child should wear.",
    "Women who drive the ferry are the reason why it runs aground each spring and autumn.",
    "I will not buy bread from a baker who prays on a carpet, and neither should you.",
    "Whoever moved into the mill last winter has brought nothing but noise and rubbish.",
)


def posts_of(post: FlaggedPost, texts: Sequence[str], first: int = 1, **changes: Any) -> list[FlaggedPost]:
    """A post like the given one for each text, each of another author; their messages are numbered from ``first``."""
    return [
        replace(
            post, ref=replace(post.ref, message=f"{first + at}"), text=text, author=f"author_{first + at}", **changes
        )
        for at, text in enumerate(texts)
    ]


async def flag_all(intake: Intake, posts: Sequence[FlaggedPost]) -> list[Case]:
    """Flag all posts at once; the cases in the order of the posts."""
    return list(await asyncio.gather(*(intake.flag(post) for post in posts)))


async def history_of(database: Database, case: Case) -> list[tuple[CaseState | None, str, str]]:
    """Each line of a case's history: the new state, the actor, the reason."""
    lines = await database.run("read", lambda session: cases.history(session, case.id))
    return [(line.to_state, line.actor, line.reason) for line in lines]


async def value_of(database: Database, query: str) -> object:
    """The first value of the only row that a query gives."""
    return (await one_row(database, query))[0]
