"""What log and metrics tell of a case on its whole way: its id in each, and nobody's words or names in any."""

import asyncio
import json
from pathlib import Path
from typing import Literal

import pytest
from prometheus_client import generate_latest
from sqlalchemy import URL

from adapters.sample import SampleCommunity
from bot.compose.application import Application, admit, open_application
from bot.serve.platforms import in_process
from bot.serve.supervision import serve
from core.desk.rules.approval import ApprovedReply, CaseState
from core.desk.rules.closures import RetractReason
from core.desk.rules.roles import Person
from core.desk.runtime import logs
from core.desk.runtime.metrics import REGISTRY
from core.engine.pipeline import OnProgress
from core.engine.request import Request
from core.models import Progress, SentReply, Suggestion
from tests.fakes.desk.canary import AUTHOR, CANARY, canary_suggestion
from tests.fakes.desk.people import COMMUNITY, PLATFORM
from tests.fakes.desk.workers import ToldEngine
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.machine.installation import settings_of
from tests.fakes.machine.logged import logged
from tests.fakes.machine.patience import until

MODERATOR = Person(PLATFORM, f"{CANARY}-moderator", f"The {CANARY}")


class QuotingEngine(ToldEngine):
    """Fails the first time with the post in its error, and then quotes it in all that it says."""

    def __init__(self) -> None:
        super().__init__()
        self.readers = readers_saying()
        self.evidence = FakeEvidence()

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        self.claims.append(request.claim)
        on_progress(Progress("reading", request.post.text, 0.1))
        if len(self.claims) == 1:
            raise ValueError(request.post.text)
        on_progress(Progress("claims", request.post.text, 0.2))
        return canary_suggestion(request.post)


class QuotingCommunity(SampleCommunity):
    """Posts, and then fails with the reply in its error."""

    async def post(self, reply: ApprovedReply) -> SentReply:
        await super().post(reply)
        raise RuntimeError(f"{reply.text} {CANARY}")

    async def close(self) -> None:
        """Let itself be connected again."""


async def whole_way(application: Application, platform: SampleCommunity) -> str:
    """A flag, a failed draft, drafts, an approval, a send whose answer is lost, a retraction; returns the case's id."""
    written = platform.add(AUTHOR, f"They take, {CANARY}, and take.")
    casework, desk = application.casework, application.desk
    card = await casework.intake.take_flag(platform.flag(written.id, f"{CANARY}-flagger"))

    async def is_in(state: CaseState) -> bool:
        return (await desk.queries.case(card.case_id)).state is state

    async def version() -> int:
        return (await desk.queries.case(card.case_id)).version

    await until(lambda: is_in(CaseState.NEEDS_PERSON))
    await casework.reopen(card.case_id, await version(), MODERATOR)
    await until(lambda: is_in(CaseState.IN_REVIEW))
    shown = await casework.propose(card.case_id, await version(), MODERATOR, text=f"We answer {CANARY} kindly.")
    await casework.approve(shown.id, MODERATOR)
    await until(lambda: is_in(CaseState.POSTED))
    await casework.retract(card.case_id, await version(), MODERATOR, RetractReason.OTHER, f"I know {CANARY}.")
    await until(lambda: is_in(CaseState.RETRACTED))
    return card.case_id


@pytest.mark.parametrize("database_server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("form", ["text", "json"])
async def test_a_case_is_named_everywhere_and_quoted_nowhere(
    place: Path | URL, tmp_path: Path, form: Literal["text", "json"]
) -> None:
    platform, engine, stop = QuotingCommunity(), QuotingEngine(), asyncio.Event()
    settings = settings_of(place, tmp_path)
    with logged(form, "debug") as written:
        logs.hear_loop(asyncio.get_running_loop())
        async with open_application(engine, settings, [in_process(platform)], PATIENT, undo_seconds=0) as application:
            await admit(application.database, PLATFORM, COMMUNITY, MODERATOR)
            serving = asyncio.create_task(serve(application, stop, drain_seconds=20))
            case_id = await whole_way(application, platform)
            stop.set()
            await serving
        said = written.getvalue()

    assert CANARY not in said
    assert CANARY not in generate_latest(REGISTRY).decode()
    lines = said.splitlines()
    steps = [
        "flagged: the case is queued", "drafting begins, attempt 1", "drafting ended", "decided: reopen",
        "decided: approve", "its reply is posted", "decided: retract",
    ]  # fmt: skip
    for step in steps:
        assert [line for line in lines if step in line and case_id in line], step
    if form == "json":
        events = [json.loads(line) for line in lines]
        of_case = [
            one
            for one in events
            if one["logger"].startswith(("core.desk.drafting", "core.desk.sending", "core.desk.review.case"))
        ]
        assert {(one["case"], one["platform"]) for one in of_case} == {(case_id, PLATFORM)}
        assert {
            one["worker"] for one in events if one["logger"].startswith(("core.desk.drafting", "core.desk.sending"))
        }
