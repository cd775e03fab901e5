"""The parts put together over a real database: what a community said before, and what a moderator chose, is drafted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from sqlalchemy import URL

from adapters.sample import SampleCommunity
from bot.cli.render import show_suggestion
from bot.cli.report import document
from bot.compose.application import Application, admit, open_application
from bot.compose.desk import build_desk
from bot.serve.platforms import Connection, in_process
from bot.serve.supervision import connected
from core.desk.communities.export import export
from core.desk.communities.own_cards import PreparedReplies
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.own_cards import checked_reply
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from core.desk.store.suggestions import PostedReply, posted_replies
from core.engine.cards.bank import prepared_id
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.models import FlaggedPost, Intent, Kind, Origin, TargetGroup, Wish
from tests.fakes.desk.decisions import approve, drafted, take
from tests.fakes.desk.people import COMMUNITY, COMMUNITY_ID, MODERATOR, OTHER_MODERATOR, PLATFORM
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.installation import settings_of

OWN = (
    "Nobody is spoken of like that at our harbour. We look out for one another here.",
    "Talk like this is not welcome at our harbour. Please leave it.",
)
CHOSEN = "Newcomers bring up their children in this town."


class _Community:
    """A desk and an outbox over the sample community; every reply is approved word for word."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.platform = SampleCommunity()
        self.desk = build_desk(database, undo_seconds=0)
        self.queue = DraftQueue(database, "worker")
        self.outbox = Outbox(database, {PLATFORM: self.platform})
        self.clock = clock

    async def approved(self, text: str, reply: str, author: str = "somebody") -> Case:
        post = self.platform.flag(self.platform.add(author, text).id, "mill_pond")
        case = await drafted(self.desk, self.queue, post)
        await approve(self.desk, case, reply=reply)
        self.clock.advance(1)
        return await self.desk.queries.case(case.id)

    async def remembers(self, limit: int = 10, **place: str) -> list[PostedReply]:
        ref = replace(self.platform.ref("1"), **place)
        return await self.desk.database.run(
            "read replies", lambda session: posted_replies(session, ref.platform, ref.community, limit)
        )


@pytest.fixture
def community(database: Database, clock: FakeClock) -> _Community:
    return _Community(database, clock)


async def test_a_community_remembers_what_it_posted(community: _Community) -> None:
    """As it was approved, with the post that it answered, latest first; and no other community sees it."""
    for word in ("green", "blue", "red"):
        await community.approved(f"post {word}", f"Our reply {word}.", f"author {word}")
        await community.outbox.send_due()
    assert await community.remembers(2) == [
        PostedReply("post red", "Our reply red."),
        PostedReply("post blue", "Our reply blue."),
    ]
    assert len(await community.remembers()) == 3
    assert await community.remembers(community="elsewhere") == await community.remembers(platform="telegram") == []


@pytest.mark.parametrize("kind", [Kind.REPLY, Kind.NOTICE])
async def test_what_was_no_reply_is_remembered_as_none(community: _Community, kind: Kind) -> None:
    """It is not to be said again, and shows nobody how a reply sounds here."""
    post = community.platform.flag(community.platform.add("somebody", "post green").id, "mill_pond")
    await community.desk.intake.flag(post)
    taken = await take(community.queue)
    made = suggestion_for(taken.case.post)
    first = replace(made.drafts[0], kind=kind)
    case = await community.queue.store(taken, replace(made, drafts=(first, *made.drafts[1:])))
    await approve(community.desk, case, reply=None, rank=1)
    await community.outbox.send_due()
    assert await community.remembers() == [PostedReply("post green", first.text, kind is Kind.REPLY)]


async def test_what_was_not_posted_is_not_remembered(community: _Community) -> None:
    """A reply that failed, that was withdrawn or that still waits is nobody's example."""
    failed = await community.approved("post 1", "too long " * 60, "author 1")
    await community.outbox.send_due()
    assert (await community.desk.queries.case(failed.id)).state is CaseState.NEEDS_PERSON
    withdrawn = await community.approved("post 2", "We take this back.", "author 2")
    await community.desk.decisions.close(
        withdrawn.id, withdrawn.version, OTHER_MODERATOR, CloseReason.MISTAKE, "they asked us to"
    )
    await community.approved("post 3", "This one waits.", "author 3")
    assert await community.remembers() == []


@asynccontextmanager
async def _running(
    engine: Engine, platform: SampleCommunity, place: Path | URL, folder: Path
) -> AsyncIterator[Application]:
    """The application over the test's database, as another start of it finds it; the moderator is let in."""
    settings = settings_of(place, folder)
    async with (
        open_application(engine, settings, [in_process(platform)], PATIENT, undo_seconds=0) as application,
        connected(application, Connection(platform)),
    ):
        await admit(application.database, PLATFORM, COMMUNITY, MODERATOR)
        yield application


async def _drafted(application: Application, post: FlaggedPost) -> Case:
    case = await application.desk.intake.flag(post)
    assert await application.worker.step()
    return await application.desk.queries.case(case.id)


async def _texts(application: Application, case: Case) -> list[str]:
    stored = await application.desk.queries.suggestion(case.id)
    assert stored is not None
    return [draft.text for draft in stored.suggestion.drafts]


@pytest.fixture
def model() -> FakeModel:
    return hate_finding(draft="Everybody here was a newcomer once.")


def _draft_prompts(model: FakeModel) -> list[str]:
    return ["\n".join(message.content for message in asked) for kind, asked, _ in model.asked if kind == "draft"]


async def test_a_posted_reply_is_an_example_for_the_next_draft_and_is_not_said_again(
    readers: Readers, knowledge: EvidenceSource, model: FakeModel, place: Path | URL, tmp_path: Path
) -> None:
    """The words that the moderator approved, not those of the draft; the same post again is answered otherwise."""
    platform = SampleCommunity()
    async with _running(Engine(model, knowledge, readers), platform, place, tmp_path) as application:
        case = await _drafted(application, platform.flag("103", "mill_pond"))
        first = (await _texts(application, case))[0]
        edited = f"{first} Come and say hello."
        assert _draft_prompts(model)
        assert not any("own voice" in prompt for prompt in _draft_prompts(model))
        await approve(application.desk, case, reply=edited)
        assert [delivery.state for delivery in await application.outbox.send_due()] == [CaseState.POSTED]
        model.asked.clear()
        again = platform.add("slate_roof", case.post.text)
        texts = await _texts(application, await _drafted(application, platform.flag(again.id, "mill_pond")))
    assert _draft_prompts(model)
    assert all(f"- in this community's own voice: {edited}\n" in prompt for prompt in _draft_prompts(model))
    assert texts
    assert first not in texts


async def test_a_communitys_own_prepared_reply_is_drafted_and_called_so(
    readers: Readers, knowledge: EvidenceSource, model: FakeModel, place: Path | URL, tmp_path: Path
) -> None:
    """From the command to the moderator's terminal: reviewed by whom, and what the model wrote beside it."""
    platform, console = SampleCommunity(), Console(record=True, width=200)
    async with _running(Engine(model, knowledge, readers), platform, place, tmp_path) as application:
        post = replace(platform.flag("103", "mill_pond"), wish=Wish(Intent.DENOUNCING))
        replies = PreparedReplies(application.database, application.desk.live_roles)
        for text in OWN:
            reply = checked_reply(text, "en", TargetGroup.MIGRANTS, Intent.DENOUNCING)
            id_ = await replies.add(PLATFORM, COMMUNITY, reply, MODERATOR)
            await replies.review(PLATFORM, COMMUNITY, id_, replace(MODERATOR, name="Ane"))
        case = await _drafted(application, post)
        stored = await application.desk.queries.suggestion(case.id)
        assert stored is not None
        mine = next(draft for draft in stored.suggestion.drafts if draft.text in OWN)
        assert (mine.origins, mine.prepared) == ((Origin.PREPARED,) * 2, (prepared_id("en", mine.text),))
        show_suggestion(
            console, stored.suggestion, await application.desk.queries.reviews(COMMUNITY_ID, stored.suggestion.drafts)
        )
        await approve(application.desk, case, reply=None, rank=mine.rank)
        [row] = [row async for row in export(application.database, COMMUNITY_ID)]
    assert "Origin: prepared reply, reviewed by Ane on " in console.export_text()
    assert row["draft_origin"] == "prepared"
    told = document(stored.suggestion)["drafts"][mine.rank - 1]
    assert (told["origins"], told["prepared"]) == (["prepared", "prepared"], list(mine.prepared))


async def test_a_chosen_claim_is_argued_in_the_new_drafts(
    readers: Readers, knowledge: EvidenceSource, model: FakeModel, place: Path | URL, tmp_path: Path
) -> None:
    """From the desk to the prompt and back to the moderator, although the process was started anew between."""
    platform = SampleCommunity()
    async with _running(Engine(model, knowledge, readers), platform, place, tmp_path) as application:
        case = await _drafted(application, platform.flag("103", "mill_pond"))
    again = hate_finding(draft="Newcomers bring up their children here, and so do we.")
    async with _running(Engine(again, knowledge, readers), platform, place, tmp_path) as application:
        await application.desk.decisions.redraft(case.id, case.version, CHOSEN, MODERATOR)
        assert await application.worker.step()
        stored = await application.desk.queries.suggestion(case.id)
    assert stored is not None
    assert (stored.suggestion.claim, bool(stored.suggestion.drafts)) == (CHOSEN, True)
    assert not {"claims", "vote"} & {kind for kind, _, _ in again.asked}
    assert all(f"Counter-claim: {CHOSEN}" in prompt for prompt in _draft_prompts(again))
