"""What people are shown while a case is drafted: the best draft so far, and what it rests on."""

import asyncio
import logging
from dataclasses import replace

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database
from core.desk.drafting.queue import Backoff, DraftQueue
from core.desk.drafting.worker import Worker, unheard
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card
from core.desk.rules.closures import CloseReason
from core.desk.runtime.faults import installed
from core.desk.store.cases import Case
from core.desk.store.suggestions import Preview, preview_from_json, preview_to_json
from core.desk.upkeep.erasure import Erasure
from core.desk.views.cards import build
from core.engine.pipeline import Engine, OnProgress
from core.engine.request import Request
from core.errors import BadAnswer, Conflict, StoreUnavailable
from core.models import Draft, FlaggedPost, Progress, Suggestion
from tests.fakes.desk.canary import CANARY
from tests.fakes.desk.decisions import one_row, take
from tests.fakes.desk.people import MODERATOR, PLATFORM
from tests.fakes.desk.traces import everything
from tests.fakes.desk.workers import Counted, drafting
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS

pytestmark = pytest.mark.both_databases


def _draft(post: FlaggedPost, text: str) -> tuple[Draft, Suggestion]:
    made = suggestion_for(post, (text,))
    return made.drafts[0], made


def _preview(post: FlaggedPost, text: str = "A first draft.") -> Preview:
    draft, made = _draft(post, text)
    return Preview(made.reading, draft, made.evidence)


async def _card(database: Database, case: Case) -> Card:
    return await database.run("build a card", lambda session: build(session, case.id))


async def _previews(database: Database) -> int:
    (count,) = await one_row(database, "SELECT count(*) FROM previews")
    assert isinstance(count, int)
    return count


def test_a_preview_is_read_as_it_was_written(post: FlaggedPost) -> None:
    for preview in (Preview(), _preview(post), replace(_preview(post), draft=None)):
        assert preview_from_json(preview_to_json(preview)) == preview
    with pytest.raises(StoreUnavailable):
        preview_from_json("[]")


async def test_a_draft_shows_with_its_sources_before_the_suggestion_is_there(
    database: Database, queue: DraftQueue, case: Case
) -> None:
    """Better ones replace it, and the suggestion replaces them all."""
    taken = await take(queue)
    preview = _preview(case.post)
    assert await queue.keep(taken, "draft", preview)
    card = await _card(database, case)
    assert (card.is_preview, card.drafts, card.suggestion_id) == (True, (preview.draft,), None)
    assert {receipt.evidence_id for receipt in card.drafts[0].receipts} == {one.id for one in card.evidence}
    assert card.gist == "they take"
    assert card.waiting is not None
    assert card.waiting.stage == "draft"
    assert await queue.keep(taken, "anneal", _preview(case.post, "A better draft."))
    assert [draft.text for draft in (await _card(database, case)).drafts] == ["A better draft."]
    await queue.store(taken, suggestion_for(taken.case.post, ("The best.",)))
    card = await _card(database, case)
    assert (card.is_preview, [draft.text for draft in card.drafts]) == (False, ["The best."])
    assert await _previews(database) == 0


async def test_the_gist_shows_before_any_draft(database: Database, queue: DraftQueue, case: Case) -> None:
    """A person who waits reads first what the post implies."""
    taken = await take(queue)
    await queue.keep(taken, "reading", replace(_preview(case.post), draft=None, evidence=()))
    card = await _card(database, case)
    assert (card.gist, card.drafts, card.is_preview) == ("they take", (), False)


@pytest.mark.parametrize("how", ["fail", "give up", "release", "withdraw", "lose"])
async def test_a_preview_is_gone_when_its_case_leaves_drafting(
    database: Database, desk: Desk, queue: DraftQueue, case: Case, clock: FakeClock, how: str
) -> None:
    taken = await take(queue)
    await queue.keep(taken, "draft", _preview(case.post))
    assert await _previews(database) == 1
    if how == "fail":
        await queue.fail(taken, "The model is away.")
    elif how == "give up":
        await queue.give_up(taken, "No draft.")
    elif how == "release":
        await queue.release(taken, "its worker was stopped")
    elif how == "withdraw":
        await desk.decisions.close(case.id, taken.case.version, MODERATOR, CloseReason.MISTAKE, "a mistake")
    else:
        clock.advance(61)
        assert await queue.put_back_lost() == 1
    assert await _previews(database) == 0
    assert (await _card(database, case)).drafts == ()


async def test_a_worker_that_lost_its_case_shows_nothing(
    database: Database, queue: DraftQueue, case: Case, clock: FakeClock
) -> None:
    """The lease is the fence: what an earlier attempt still finds is not put before people."""
    taken = await take(queue)
    clock.advance(61)
    other = DraftQueue(database, "worker-2", backoff=Backoff("test", 0.001, 0.001))
    await other.put_back_lost()
    clock.advance(1)
    again = await take(other)
    assert not await queue.keep(taken, "draft", _preview(case.post, "Of a lost worker."))
    assert await _previews(database) == 0
    await other.keep(again, "draft", _preview(case.post, "Of the worker that has it."))
    assert [draft.text for draft in (await _card(database, case)).drafts] == ["Of the worker that has it."]


async def test_a_preview_that_comes_with_the_suggestion_is_not_left_behind(
    database: Database, queue: DraftQueue, case: Case
) -> None:
    """Heartbeat and result at the same moment: whichever commits first, no preview outlives the drafting."""
    taken = await take(queue)
    kept, _ = await asyncio.gather(
        queue.keep(taken, "draft", _preview(case.post)),
        queue.store(taken, suggestion_for(taken.case.post)),
    )
    assert kept in (True, False)
    assert await _previews(database) == 0


async def test_an_erased_author_s_preview_is_gone(
    database: Database, queue: DraftQueue, case: Case, post: FlaggedPost
) -> None:
    """It was written from their words; the worker has the post in memory, and can write nothing down again."""
    taken = await take(queue)
    await queue.keep(taken, "draft", _preview(case.post, f"It answers {CANARY}."))
    assert CANARY in await everything(database)
    await Erasure(database).erase(PLATFORM, post.author)
    assert CANARY not in await everything(database)
    assert not await queue.keep(taken)
    with pytest.raises(Conflict):
        await queue.store(taken, suggestion_for(taken.case.post))


# Through the worker


class _Engine(Engine):
    """An engine that shows drafts, then waits until it is let go on."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.go_on = asyncio.Event()

    async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
        post = request.post
        for text in self.texts:
            draft, made = _draft(post, text)
            on_progress(Progress("reading", post.text, 0.1, reading=made.reading))
            on_progress(Progress("draft", text, 0.2, draft, made.reading, made.evidence))
        await self.go_on.wait()
        return suggestion_for(post, self.texts)


def _beats() -> Counted:
    """Reached when the lease was renewed often enough that the worker had something to show."""
    return Counted("keep a lease: after the commit", 3)


def _worker(queue: DraftQueue, desk: Desk, engine: _Engine) -> Worker:
    return Worker(queue, drafting(desk.database, engine), poll_seconds=0.001, heartbeat_seconds=0.01)


async def test_the_worker_shows_the_best_draft_so_far_and_only_when_it_changed(
    database: Database, desk: Desk, queue: DraftQueue, case: Case
) -> None:
    """However often the lease is renewed, the card changes once."""
    engine, beats = _Engine("A first draft.", "A better draft."), _beats()
    with installed(beats):
        task = asyncio.create_task(_worker(queue, desk, engine).step())
        async with asyncio.timeout(GUARD_SECONDS):
            await beats.reached.wait()
        card = await _card(database, case)
        (unshown,) = await one_row(database, "SELECT unshown FROM cases")
        engine.go_on.set()
        assert await task
    assert [draft.text for draft in card.drafts] == ["A better draft."]
    assert (card.is_preview, len(card.evidence)) == (True, 1)
    assert unshown == 3, "queued, taken, and the preview"
    assert (await desk.queries.case(case.id)).state is CaseState.IN_REVIEW
    assert await _previews(database) == 0


async def test_a_draft_that_cannot_be_stored_does_not_end_the_drafting(
    desk: Desk, queue: DraftQueue, case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    """The lease is renewed without it, and nothing of it is logged."""
    engine, beats = _Engine(f"Half \ud83d of {CANARY}"), _beats()
    with installed(beats), caplog.at_level(logging.DEBUG):
        task = asyncio.create_task(_worker(queue, desk, engine).step())
        async with asyncio.timeout(GUARD_SECONDS):
            await beats.reached.wait()
        engine.texts = ("A whole draft.",)
        engine.go_on.set()
        assert await task
    assert (await desk.queries.case(case.id)).state is CaseState.IN_REVIEW
    assert "cannot be shown" in caplog.text
    assert CANARY not in caplog.text
    with pytest.raises(BadAnswer):
        preview_to_json(_preview(case.post, "half \ud83d"))
