"""What a moderator writes or changes is read as a draft is, and what is read in it is a warning."""

import pytest

from bot.compose.desk import Desk, build_casework, build_desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.runtime.faults import installed
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from core.engine.cards.bank import load_cards, prepared_sentences
from core.models import FlaggedPost
from tests.fakes.desk.decisions import OWN_TEXT, drafted, propose
from tests.fakes.desk.people import MODERATOR, OTHER_MODERATOR
from tests.fakes.engine.suggestions import DRAFT_TEXTS
from tests.fakes.ports.edit_reader import FakeEditReader, read_as

HARM = f"{DRAFT_TEXTS[0]} People who write this should be beaten."
REFUSED = "Antiphon would not have suggested this: calls for harm or exclusion."


@pytest.fixture
def reader() -> FakeEditReader:
    """A reader that is sure that each text calls for harm."""
    return FakeEditReader(read_as(0.9))


@pytest.fixture
def read_desk(database: Database, reader: FakeEditReader) -> Desk:
    return build_desk(database, edit_reader=reader)


@pytest.fixture
def front(read_desk: Desk, outbox: Outbox) -> Casework:
    return build_casework(read_desk, outbox)


async def test_an_edit_that_calls_for_harm_is_warned_of_and_stops_nobody(
    front: Casework, read_desk: Desk, in_review: Case
) -> None:
    """The person who approves it is in charge."""
    proposed = await front.propose(in_review.id, in_review.version, MODERATOR, rank=1, text=HARM)
    assert REFUSED in proposed.warnings
    assert REFUSED in (await read_desk.proposals.check(in_review.id, MODERATOR, HARM)).warnings
    assert (await front.approve(proposed.id, MODERATOR)).card.state is CaseState.APPROVED


async def test_what_the_reader_doubts_is_a_warning_too(
    front: Casework, in_review: Case, reader: FakeEditReader
) -> None:
    """In the words in which a draft is warned of."""
    reader.says = read_as(0.5)
    (warning,) = (await propose(front, in_review, OWN_TEXT)).warnings
    assert warning.startswith("Look twice: the reader of drafts thinks that it perhaps calls for harm")


async def test_a_text_without_a_fault_gets_no_warning(front: Casework, in_review: Case, reader: FakeEditReader) -> None:
    """A second person, who approves the same text, reads the same."""
    reader.says = read_as(0.1)
    assert (await propose(front, in_review, OWN_TEXT)).warnings == ()
    assert (await propose(front, in_review, OWN_TEXT, by=OTHER_MODERATOR)).warnings == ()
    assert reader.asked == [OWN_TEXT, OWN_TEXT]


@pytest.mark.parametrize("text", [None, DRAFT_TEXTS[0], f" {DRAFT_TEXTS[0]}\n"])
async def test_a_draft_that_stayed_as_it_was_is_not_read_again(
    front: Casework, in_review: Case, reader: FakeEditReader, text: str | None
) -> None:
    """It has the warnings that the engine gave it."""
    proposed = await front.propose(in_review.id, in_review.version, MODERATOR, rank=1, text=text)
    assert (REFUSED in proposed.warnings, reader.asked) == (False, [])


async def test_a_prepared_reply_is_not_read(front: Casework, in_review: Case, reader: FakeEditReader) -> None:
    """The reader is not asked about prepared drafts either."""
    prepared = min(prepared_sentences(load_cards("en")))
    assert REFUSED not in (await propose(front, in_review, prepared)).warnings
    assert reader.asked == []


async def test_a_language_that_the_reader_does_not_know_changes_nothing(
    desk: Desk, read_desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """Only the rules are applied there."""
    case = await drafted(read_desk, queue, post, language="eu")
    text = "Hemen denok bizi gara elkarrekin."
    by_rules = (await desk.proposals.check(case.id, MODERATOR, text)).warnings
    assert (await read_desk.proposals.check(case.id, MODERATOR, text)).warnings == by_rules


async def test_a_text_is_read_after_the_transaction_that_keeps_it(
    front: Casework, in_review: Case, reader: FakeEditReader
) -> None:
    """Nobody waits for a reader with a lock in hand; and no transaction is added."""
    points: list[str] = []
    when_read: list[str] = []

    async def seen(point: str) -> None:
        points.append(point)

    reader.before = lambda: when_read.extend(points)
    with installed(seen):
        await propose(front, in_review, OWN_TEXT)
    assert when_read == points
    assert points[-1] == "propose: after the commit"
