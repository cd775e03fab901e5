"""All parts in one process, as it runs for a platform: what people flag is drafted, what is approved is posted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL

from adapters.sample import SampleCommunity
from bot.compose import application as service
from bot.compose.application import admit, open_application, open_workers
from bot.serve.platforms import Connection, in_process
from bot.serve.status import Status
from bot.serve.supervision import connected, serve
from core.desk.database.connection import Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Role
from core.desk.store import people
from core.engine.arguing.evidence import Sources
from core.engine.pipeline import Engine, OnProgress, is_ready
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.request import Request
from core.errors import BadInput, NotAllowed, PlatformUnavailable
from core.models import Intent, Priority, Suggestion, Wish
from tests.fakes.desk.decisions import approve, drafted, one_row
from tests.fakes.desk.people import COMMUNITY, MODERATOR, PLATFORM
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.installation import settings_of
from tests.fakes.machine.patience import until
from tests.fakes.ports.roles import FakeRoles


@pytest.fixture
def engine(readers: Readers, knowledge: EvidenceSource) -> Engine:
    """An engine whose language model is a fake."""
    model = hate_finding(draft="Everybody here was a newcomer once.")
    return Engine(model, knowledge, readers)


async def test_a_flag_becomes_a_reply_without_anybody_calling_the_parts(
    engine: Engine, place: Path | URL, tmp_path: Path
) -> None:
    """Only the moderator does anything; a post that is refused does not end the others; all ends when told to."""
    platform, stop = SampleCommunity(), asyncio.Event()
    settings = settings_of(place, tmp_path)
    async with open_application(engine, settings, [in_process(platform)], PATIENT, undo_seconds=0) as application:
        await admit(application.database, PLATFORM, COMMUNITY, MODERATOR)
        serving = asyncio.create_task(serve(application, stop, drain_seconds=20))
        platform.add("mill_pond", "half a \x00 word")
        with pytest.raises(BadInput):
            await application.casework.intake.take_flag(platform.flag(platform.thread()[-1].id, "mill_pond"))
        await application.casework.intake.take_flag(platform.flag("103", "mill_pond"))

        async def is_in(state: CaseState) -> bool:
            return bool(await application.desk.queries.cases(state))

        await until(lambda: is_in(CaseState.IN_REVIEW))
        (case,) = await application.desk.queries.cases()
        await approve(application.desk, case)
        await until(lambda: is_in(CaseState.POSTED))

        async def were_done() -> bool:
            done = await one_row(application.database, "SELECT count(*) FROM jobs WHERE kind = 'audit digest'")
            return done != (0,)

        await until(were_done)
        stop.set()
        await serving
    assert len([post for post in platform.thread() if post.author == "antiphon"]) == 1


async def test_where_places_are_asked_first_nothing_is_approved_without_a_yes(
    engine: Engine, place: Path | URL, tmp_path: Path
) -> None:
    """The platform says it of itself, and nothing reaches a place of which nobody said yes."""
    platform = SampleCommunity()
    served = replace(in_process(platform), asks_places=True)
    async with (
        open_application(engine, settings_of(place, tmp_path), [served], PATIENT, undo_seconds=0) as application,
        connected(application, Connection(platform)),
    ):
        await admit(application.database, PLATFORM, COMMUNITY, MODERATOR)
        queue = DraftQueue(application.database, "worker-1")
        case = await drafted(application.desk, queue, platform.flag("103", "mill_pond"))
        with pytest.raises(NotAllowed, match="agreed"):
            await approve(application.desk, case)
        assert not await application.outbox.send_due()
    assert all(post.author != "antiphon" for post in platform.thread())


async def test_where_places_have_rules_nothing_is_approved_while_the_platform_cannot_say_them(
    engine: Engine, place: Path | URL, tmp_path: Path
) -> None:
    """Nobody approves what they did not see whole; elsewhere the text is all that there is."""
    platform, settings = SampleCommunity(), settings_of(place, tmp_path)
    async with open_application(engine, settings, [in_process(platform)], PATIENT) as application:
        case = await drafted(
            application.desk, DraftQueue(application.database, "worker-1"), platform.flag("103", "mill_pond")
        )

        async def let_in(session: Session) -> None:
            await people.grant(session, case.community_id, MODERATOR, {Role.MODERATOR}, by="test")

        await application.database.run("let a moderator in, in shadow mode", let_in)
        proposed = await application.casework.propose(case.id, case.version, MODERATOR, rank=1)
        assert proposed.shown.text == proposed.text
    served = replace(in_process(platform), asks_places=True)
    async with open_application(engine, settings, [served], PATIENT) as application:
        with pytest.raises(PlatformUnavailable, match="not connected"):
            await application.casework.propose(case.id, case.version, MODERATOR, rank=1)


async def test_the_desk_has_what_a_moderator_writes_read(
    knowledge: EvidenceSource, place: Path | URL, tmp_path: Path
) -> None:
    """By the same reader that the engine asks about drafts."""
    engine = Engine(hate_finding(), knowledge, readers_saying(unfit=0.9, harm=0.9))
    platform, settings = SampleCommunity(), settings_of(place, tmp_path)
    async with open_application(engine, settings, [in_process(platform)], PATIENT) as application:
        await admit(application.database, PLATFORM, COMMUNITY, MODERATOR)
        queue = DraftQueue(application.database, "worker")
        case = await drafted(application.desk, queue, platform.flag("103", "mill_pond"))
        proposed = await application.casework.propose(case.id, case.version, MODERATOR, text="Let them be beaten.")
    assert "Antiphon would not have suggested this: calls for harm or exclusion." in proposed.warnings


class ListeningEngine:
    """An engine that keeps what it is asked, and drafts the same for everybody."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.readers = readers_saying()
        self.evidence = FakeEvidence()
        self.ready = is_ready

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        self.asked.append(request)
        return suggestion_for(request.post)


@pytest.mark.parametrize("where", ["the process that serves", "a worker on another machine"])
async def test_each_community_is_spoken_for_in_its_own_voice(
    place: Path | URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Its settings over the configured ones, as they are when the case is drafted, and what was wished over both."""
    platform, engine, settings = SampleCommunity(), ListeningEngine(), settings_of(place, tmp_path)

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncIterator[ListeningEngine]:
        yield engine

    monkeypatch.setattr(service, "open_engine", opened)
    async with open_application(engine, settings, [in_process(platform)], PATIENT) as application:  # type: ignore[arg-type]
        await admit(application.database, PLATFORM, COMMUNITY, MODERATOR)
        post = platform.flag("103", MODERATOR.user)

        async def draft(message: str, community: str = COMMUNITY, **changes: object) -> Request:
            ref = replace(post.ref, message=message, community=community)
            await application.desk.intake.flag(replace(post, ref=ref, text=f"Street {message} is full.", **changes))  # type: ignore[arg-type]
            if where == "the process that serves":
                assert await application.worker.step()
            else:
                async with open_workers(settings, "", 1, Status()) as (worker,):
                    assert await worker.step()
            return engine.asked[-1]

        plain = await draft("1")
        governed = {"language": "es", "tone": "dry", "intents": ["questioning", "positive"]}
        preferred = {"publishers": ["OECD"], "evidence_since": 2015}
        await application.governance.configure(PLATFORM, COMMUNITY, {**governed, **preferred}, MODERATOR)
        own = await draft("2")
        wish = Wish(Intent.DENOUNCING, "it", "firm")
        wished = await draft("3", wish=wish, priority=Priority.ASKED)
        elsewhere = await draft("4", "harbour")
    assert (plain.voice.language, plain.voice.style) == (settings.community.language, settings.community.style)
    assert (plain.language, plain.is_asked, plain.sources) == (None, False, Sources())
    assert (own.voice.language, own.voice.style) == ("es", "dry")
    assert own.voice.intents == (Intent.QUESTIONING, Intent.POSITIVE)
    assert (own.language, own.is_asked, own.sources) == (None, False, Sources(("OECD",), 2015))
    assert (wished.voice.style, wished.voice.intents) == ("firm", (Intent.DENOUNCING,))
    assert (wished.language, wished.is_asked, wished.force) == ("it", True, False)
    assert elsewhere.voice == plain.voice


async def test_the_roles_of_the_platform_count_for_who_asks(place: Path | URL, tmp_path: Path) -> None:
    """The application gives its role sources to all that decide."""
    platform, source = SampleCommunity(), FakeRoles(mill_pond=Role.VOLUNTEER)
    settings, engine = settings_of(place, tmp_path), ListeningEngine()
    async with (
        open_application(
            engine,  # type: ignore[arg-type]
            settings,
            [in_process(platform, roles=source)],
            PATIENT,
        ) as application,
        connected(application, Connection(platform, source)),
    ):
        await application.desk.intake.flag(replace(platform.flag("103", "mill_pond"), priority=Priority.ASKED))
        source.now.clear()
        with pytest.raises(NotAllowed):
            await application.desk.intake.flag(replace(platform.flag("105", "mill_pond"), priority=Priority.ASKED))
        assert await application.governance.roles_of(PLATFORM, COMMUNITY, MODERATOR) == frozenset()
