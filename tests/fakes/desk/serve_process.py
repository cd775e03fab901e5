"""``antiphon serve`` in a process of its own, whose drafts and sends wait, to be told to end in the middle of both.

``python -m tests.fakes.desk.serve_process``, with the settings in the environment. It serves the sample community. A
draft waits for the file ``GO``, and so does the answer to a send, whose reply is there by then. A line on standard
output says when either has begun.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.sample import SampleCommunity
from bot.cli import serve as serve_command
from bot.serve.platforms import ServedPlatform, in_process
from bot.settings import Settings
from core.desk.rules.approval import ApprovedReply
from core.engine.pipeline import Engine, OnProgress, is_ready
from core.engine.request import Request
from core.models import SentReply, Suggestion
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggestions import suggestion_for


async def _waits(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()
    go = Path(os.environ["GO"])
    while not await asyncio.to_thread(go.exists):  # noqa: ASYNC110 - a file
        await asyncio.sleep(0.02)


class WaitingEngine(Engine):
    """Drafts once it may."""

    def __init__(self) -> None:
        """It needs no model."""
        self.readers = readers_saying()
        self.evidence = FakeEvidence()
        self.ready = is_ready

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        await _waits("drafting")
        return suggestion_for(request.post, ("We all live here.",))


class WaitingCommunity(SampleCommunity):
    """Answers a send once it may."""

    async def post(self, reply: ApprovedReply) -> SentReply:
        posted = await super().post(reply)
        await _waits("sending")
        return posted


@asynccontextmanager
async def _open_engine(*_: object, **__: object) -> AsyncIterator[Engine]:
    yield WaitingEngine()


def _platforms(settings: Settings) -> list[ServedPlatform]:
    del settings
    return [in_process(WaitingCommunity())]


if __name__ == "__main__":
    serve_command.open_engine = _open_engine  # type: ignore[attr-defined]  # in place of the real ones
    serve_command.platforms_to_serve = _platforms  # type: ignore[attr-defined]
    serve_command.app()
