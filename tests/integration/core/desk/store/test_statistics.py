"""Statistics: counted by the database, the same on both, and silent where a few people could be recognised."""

from dataclasses import replace
from datetime import datetime, timedelta
from statistics import median

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Statistics
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from core.desk.views.numbers import OWN_WORDS, statistics
from core.models import FlaggedPost, Intent, Kind, Suggestion, TargetGroup
from tests.fakes.desk.chores import other
from tests.fakes.desk.decisions import OWN_TEXT, approve, execute, take
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR
from tests.fakes.engine.suggestions import DRAFT_TEXTS, suggestion_for
from tests.fakes.machine.clock import FakeClock


class Day:
    """What happens on a desk, minute by minute; how long each step took is kept."""

    def __init__(self, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock) -> None:
        self.desk, self.queue, self.post, self.clock = desk, queue, post, clock
        self.to_draft: list[float] = []
        self.to_decision: list[float] = []
        self.count = 0

    async def drafted(self, seconds: float, group: TargetGroup = TargetGroup.MIGRANTS, kind: Kind = Kind.REPLY) -> Case:
        """Flag the next post, and draft it after so many seconds."""
        self.count += 1
        await self.desk.intake.flag(other(self.post, f"2{self.count}"))
        taken = await take(self.queue)
        self.clock.advance(seconds)
        self.to_draft.append(seconds)
        return await self.queue.store(taken, _about(suggestion_for(taken.case.post), group, kind))

    async def approve(self, case: Case, seconds: float, rank: int | None, text: str | None = None) -> None:
        """Approve a draft, or another text, so many seconds later."""
        self._decide(seconds)
        await approve(self.desk, case, reply=text, rank=rank)

    async def decline(self, case: Case, seconds: float, reason: CloseReason) -> None:
        """Decline so many seconds later."""
        self._decide(seconds)
        await self.desk.decisions.close(case.id, case.version, MODERATOR, reason, "a note")

    async def stay_silent(self, case: Case, seconds: float) -> None:
        """Leave it without a reply so many seconds later."""
        self._decide(seconds)
        await self.desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.SILENCE, "a note")

    def _decide(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.to_decision.append(self.to_draft[-1] + seconds)


def _about(suggestion: Suggestion, group: TargetGroup, kind: Kind = Kind.REPLY) -> Suggestion:
    intents = dict(enumerate((Intent.EMPATHETIC, Intent.QUESTIONING), start=1))
    drafts = tuple(replace(draft, intent=intents[draft.rank], kind=kind) for draft in suggestion.drafts)
    return replace(suggestion, reading=replace(suggestion.reading, target_group=group), drafts=drafts)


@pytest.fixture
def day(desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock) -> Day:
    return Day(desk, queue, post, clock)


async def counted(database: Database, since: datetime, community_id: str = COMMUNITY_ID) -> Statistics:
    return await database.run("count", lambda session: statistics(session, community_id, since))


async def test_a_day_is_told_in_numbers(database: Database, day: Day, clock: FakeClock) -> None:
    """Every number of it, against the same sums done by hand."""
    began = clock.now
    await day.approve(await day.drafted(30), 60.5, 1)
    await day.approve(await day.drafted(10, TargetGroup.JEWS), 20, 2)
    await day.approve(await day.drafted(500), 5, 1, f"{DRAFT_TEXTS[0]} Truly.")
    await day.approve(await day.drafted(70), 900, None, OWN_TEXT)
    await day.decline(await day.drafted(20, TargetGroup.JEWS), 100, CloseReason.PREACHY)
    await day.decline(await day.drafted(1, TargetGroup.WOMEN), 3, CloseReason.OTHER)
    await day.stay_silent(await day.drafted(2), 40)
    await day.approve(await day.drafted(3), 4, 1)
    await day.drafted(25)
    found = await counted(database, began)
    assert found.flagged == 9
    assert found.by_state == {
        CaseState.IN_REVIEW: 1,
        CaseState.APPROVED: 5,
        CaseState.DECLINED: 2,
        CaseState.NO_REPLY: 1,
    }
    assert found.by_group == {TargetGroup.WOMEN: 1, TargetGroup.MIGRANTS: 6, TargetGroup.JEWS: 2}
    assert found.by_intent == {Intent.EMPATHETIC: 3, Intent.QUESTIONING: 1, OWN_WORDS: 1}
    assert found.by_close_reason == dict.fromkeys((CloseReason.SILENCE, CloseReason.PREACHY, CloseReason.OTHER), 1)
    assert found.median_seconds_to_draft == pytest.approx(median(day.to_draft), abs=0.01)
    assert found.median_seconds_to_decision == pytest.approx(median(day.to_decision), abs=0.01)
    assert (found.share_edited, found.share_first_rank) == (2 / 5, 3 / 5)


async def test_what_is_no_reply_counts_by_its_kind(database: Database, day: Day, clock: FakeClock) -> None:
    """A word of support is no empathetic reply."""
    began = clock.now
    for kind in (Kind.SUPPORT, Kind.NOTICE, Kind.REPLY):
        await day.approve(await day.drafted(30, kind=kind), 60, 1)
    found = await counted(database, began)
    assert found.by_intent == {"support": 1, "notice": 1, Intent.EMPATHETIC: 1}


async def test_a_few_cases_give_counts_and_no_rate(database: Database, day: Day, clock: FakeClock) -> None:
    """A median of four would say more about four people than about the work."""
    began = clock.now
    for _ in range(4):
        await day.approve(await day.drafted(30), 60, 1)
    few = await counted(database, began)
    assert (few.flagged, few.by_intent) == (4, {Intent.EMPATHETIC: 4})
    assert few.median_seconds_to_draft is few.median_seconds_to_decision is None
    assert few.share_edited is few.share_first_rank is None
    await day.approve(await day.drafted(30), 60, 1)
    enough = await counted(database, began)
    assert enough.median_seconds_to_draft == pytest.approx(30, abs=0.01)
    assert enough.median_seconds_to_decision == pytest.approx(90, abs=0.01)
    assert (enough.share_edited, enough.share_first_rank) == (0, 1)


async def test_others_and_earlier_cases_do_not_count(
    database: Database, desk: Desk, day: Day, post: FlaggedPost, clock: FakeClock
) -> None:
    """What was flagged before the span is left out whole, also if it is decided in it."""
    early = await day.drafted(5)
    clock.advance(3600)
    since = clock.now
    await desk.intake.flag(replace(post, ref=replace(post.ref, community="harbour")))
    await day.decline(early, 60, CloseReason.PREACHY)
    found = await counted(database, since)
    assert (found.flagged, found.by_state, found.by_group, found.by_close_reason) == (0, {}, {}, {})
    assert (await counted(database, since - timedelta(hours=2))).flagged == 1
    assert (await counted(database, since, "sample/harbour")).flagged == 1


async def test_a_case_drafted_and_approved_again_counts_once(database: Database, day: Day, clock: FakeClock) -> None:
    """By its newest drafts and its last approval; the first draft and the first decision tell the time."""
    began = clock.now
    for _ in range(5):
        case = await day.drafted(30)
        await day.approve(case, 60, 2)
        case = await day.desk.decisions.undo(case.id, case.version + 1, MODERATOR)
        await day.desk.decisions.redraft(case.id, case.version, "Newcomers teach our children.", MODERATOR)
        taken = await take(day.queue)
        clock.advance(1000)
        case = await day.queue.store(taken, _about(suggestion_for(taken.case.post), TargetGroup.WOMEN))
        await day.approve(case, 60, 1)
    found = await counted(database, began)
    assert (found.flagged, found.by_group) == (5, {TargetGroup.WOMEN: 5})
    assert (found.by_intent, found.share_first_rank) == ({Intent.EMPATHETIC: 5}, 1)
    assert found.median_seconds_to_draft == pytest.approx(30, abs=0.01)
    assert found.median_seconds_to_decision == pytest.approx(90, abs=0.01)


async def test_erased_cases_still_count(database: Database, day: Day, clock: FakeClock) -> None:
    """Their words are gone; a suggestion of which nothing could be kept tells no group."""
    began = clock.now
    for document in ("{}", ""):
        case = await day.drafted(30)
        await execute(database, f"UPDATE suggestions SET document = '{document}' WHERE case_id = '{case.id}'")
    await day.drafted(30)
    found = await counted(database, began)
    assert (found.flagged, found.by_group) == (3, {TargetGroup.MIGRANTS: 1})
