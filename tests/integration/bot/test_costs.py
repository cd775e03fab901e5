"""What the desk does for one post more does not grow with the cases that it has: counted in steps, not in seconds.

The steps are those of SQLite's virtual machine, of which each row that is looked at takes some. PostgreSQL has the same
indexes. What reads all there is by its nature is not here: the daily digest of the audit log, statistics, an export.
"""

import asyncio
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from adapters.sample import SampleCommunity
from bot.compose.desk import build_casework, build_desk
from core.desk.database.connection import Database, connected
from core.desk.drafting.queue import DraftQueue
from core.desk.intake import Intake
from core.desk.rules.approval import CaseState
from core.desk.sending.outbox import Outbox
from core.desk.store.suggestions import posted_replies
from core.desk.upkeep.retention import Expiry
from core.desk.views.census import census
from core.engine.wording.near_duplicates import Likeness
from tests.fakes.desk.boards import CHANNEL, all_steps, board_of, choose_channel
from tests.fakes.desk.chores import NOW
from tests.fakes.desk.decisions import OWN_TEXT, progress_of, take
from tests.fakes.desk.many_cases import Meter, apart, fill
from tests.fakes.desk.people import COMMUNITY, MODERATOR, PLATFORM, SECRET
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.sqlite_at_once import call_at_once
from tests.fakes.ports.surface import FakeSurface

FEW, MANY = 100, 1000
NOISE = 40
"""Steps: one look more into an index takes about so many."""
NEW = 10**6
"""The number of a post that nobody flagged yet."""
TWO_DAYS = 48 * 3600
SAID = (
    "They come here, take what is ours, and nobody in this town dares to say a word about it any more. "
    "Go and look for yourself who stands in line at the office every single morning, and ask yourself why."
)
"""Most of what the posts say that begin so; another part of each is its own."""
T = TypeVar("T")
Spent = dict[str, Counter[str]]
"""The steps that each statement took, by what was done."""


async def _spent(file: Path, count: int) -> Spent:
    """What everything takes that the desk does for one post more, over a database with so many cases."""
    clock = FakeClock()
    database = Database(connected(file), SECRET, clock)
    await call_at_once(database.engine)
    try:
        return await _measured(database, clock, count)
    finally:
        await database.close()


async def _measured(database: Database, clock: FakeClock, count: int) -> Spent:
    await choose_channel(database, CHANNEL)
    await fill(database, clock, count)
    await database.engine.dispose()
    meter, spent = Meter(database), Spent()

    async def do(what: str, call: Callable[[], Awaitable[T]]) -> T:
        found, spent[what] = await meter.spent(call)
        return found

    desk, platform = build_desk(database, undo_seconds=15, campaign_hours=24), SampleCommunity(clock=clock)
    intake, queue, board = desk.intake, DraftQueue(database, "worker-1"), board_of(database, FakeSurface())
    outbox = Outbox(database, {PLATFORM: platform})
    front = build_casework(desk, outbox)
    await do("flag a post beside open campaigns", lambda: intake.flag(apart(NEW)))
    await queue.give_up(await take(queue), "It is not of interest here.")
    clock.advance(TWO_DAYS)  # what was posted before counts for no cap any more, and no campaign can be joined
    await intake.admit_waiting()
    await all_steps(board)
    written = platform.add("somebody", "Something unkind.")
    post = platform.flag(written.id, "mill_pond")
    case = await do("flag a post", lambda: intake.flag(post))
    await do("flag it again", lambda: intake.flag(post))
    await do("flag one like it", lambda: intake.flag(replace(post, ref=replace(post.ref, message="like it"))))
    await do("look how long it takes", lambda: progress_of(database, case.id))
    await do("show its card", board.step)
    await do("look at the board", board.step)
    taken = await do("take it", lambda: take(queue))
    await do("keep it", lambda: queue.keep(taken, "reading"))
    await do(
        "look for replies to learn from",
        lambda: database.run("look", lambda s: posted_replies(s, PLATFORM, COMMUNITY, 20)),
    )
    case = await do("store its drafts", lambda: queue.store(taken, suggestion_for(taken.case.post)))
    await do("see it", lambda: front.card(case.id, MODERATOR))
    shown = await do("propose a text", lambda: front.propose(case.id, case.version, MODERATOR, text=OWN_TEXT))
    await do("approve it", lambda: front.approve(shown.id, MODERATOR))
    clock.advance(16)
    (delivery,) = await do("send it", outbox.send_due)
    assert delivery.state is CaseState.POSTED
    await do("look for sends to recover", outbox.recover)
    await do("look for replies to retract", outbox.carry_out_retractions)
    await do("look whose reply a message is", lambda: front.find(replace(post.ref, message="unknown"), MODERATOR))
    await do("hear that a post is gone", lambda: front.original_changed(post.ref, None))
    await do("look for what expired", lambda: Expiry(database, draft_hours=TWO_DAYS).do(NOW))
    await do("look for lost cases", queue.put_back_lost)
    await do("let waiting cases in", intake.admit_waiting)
    await do("count what there is", lambda: database.run("count", census))
    return spent


@pytest.fixture(scope="module")
def spent(settled_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Spent, Spent]:
    """The same with few cases and with many."""

    async def both() -> tuple[Spent, Spent]:
        files = [tmp_path_factory.mktemp("costs") / "desk" for _ in range(2)]
        for file in files:
            shutil.copy(settled_file, file)
        return await _spent(files[0], FEW), await _spent(files[1], MANY)

    return asyncio.run(both())


def test_it_costs_the_same_with_ten_times_the_cases(spent: tuple[Spent, Spent]) -> None:
    """Protects a desk that has been used for a year: whatever is done takes as many steps as with few cases."""
    few, many = ({what: sum(steps.values()) for what, steps in each.items()} for each in spent)
    assert len(few) > 20 and min(few.values()) > 0
    dearer = {what: (spent[1][what] - spent[0][what]).most_common(2) for what in few if many[what] > few[what] + NOISE}
    assert dearer == {}


@pytest.mark.parametrize("count", [100, 300])
async def test_a_post_is_compared_with_a_bounded_number_of_campaigns(
    database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """However many say something like it and are open; of those, it is folded into one that says the same."""
    compared, compare = list[float](), Likeness.to

    def counted(own: Likeness, other: Likeness) -> float:
        compared.append(compare(own, other))
        return compared[-1]

    intake = Intake(database, max_queued=count)
    posts = [apart(number, says=SAID) for number in range(count)]
    cases = await asyncio.gather(*map(intake.flag, posts))
    assert all(case.state is CaseState.QUEUED for case in cases)
    monkeypatch.setattr(Likeness, "to", counted)
    for number in (0, count // 2, count - 1):
        ref = replace(posts[number].ref, message=f"like {number}")
        folded = await intake.flag(replace(posts[number], ref=ref, text=posts[number].text + "!"))
        assert folded.state is CaseState.FOLDED
        assert folded.campaign_id is not None
    assert 3 <= len(compared) <= 3 * 50
