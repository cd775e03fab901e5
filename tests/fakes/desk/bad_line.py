"""What was sent over a bad line, and what stands in the end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.desk.database.connection import Database
from core.desk.rules.approval import CaseState
from core.desk.store.cases import Case, load
from tests.fakes.desk.sending import REPLY


@dataclass
class SendFigures:
    """What was done, and what stands.

    Attributes:
        requests: requests to post on the wire.
        ambiguous: those whose sender could not know whether the reply is there.
        repeated: requests to post a reply whose earlier one may have arrived.
        asked: cases that were left to a person.
        duplicates: replies that stand beside the first one.
        lost: cases that came to no end, count as posted and are not, or stand in other words.
    """

    sends: int = 0
    requests: int = 0
    ambiguous: int = 0
    repeated: int = 0
    posted: int = 0
    asked: int = 0
    duplicates: int = 0
    lost: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    async def count(self, database: Database, case: Case, standing: Sequence[str]) -> None:
        """Add a case, and the replies that stand under its post."""
        now = await database.run("look", lambda session: load(session, case.id))
        is_right = all(text.encode() == REPLY.encode() for text in standing)
        self.sends += 1
        self.posted += now.state is CaseState.POSTED
        self.asked += now.state is CaseState.NEEDS_PERSON
        self.duplicates += max(len(standing) - 1, 0)
        has_end = now.state is CaseState.NEEDS_PERSON or (now.state is CaseState.POSTED and bool(standing))
        self.lost += not (has_end and is_right)
