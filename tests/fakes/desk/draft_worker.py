"""``antiphon worker`` in a process of its own, with an engine that does as it is told, to be stopped and killed.

``python -m tests.fakes.desk.draft_worker``, with the settings in the environment. ``ENGINE`` says what the engine does:
``drafts`` at once, ``waits`` for the file ``GO``, or ``dies`` and takes the process along. ``HEARTBEAT`` is how often
the lease is renewed. A line on standard output says when the engine begins, and which process it is in.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bot.cli import worker as worker_command
from bot.compose.engine import OnPreparing
from bot.serve.status import Status
from bot.settings import Settings
from core.desk.database.connection import Database
from core.desk.drafting.queue import Backoff, DraftQueue
from core.desk.drafting.worker import Worker, unheard
from core.engine.pipeline import Engine, OnProgress
from core.engine.request import Request
from core.models import Suggestion
from tests.fakes.desk.people import SECRET
from tests.fakes.desk.workers import drafting
from tests.fakes.engine.suggestions import suggestion_for


class SignallingEngine(Engine):
    """Does as ``ENGINE`` says."""

    def __init__(self) -> None:
        """It needs no model."""

    async def suggest(self, request: Request, on_progress: OnProgress = unheard) -> Suggestion:
        del on_progress
        sys.stdout.write(f"begun {os.getpid()}\n")
        sys.stdout.flush()
        if os.environ["ENGINE"] == "dies":
            os._exit(9)
        go = Path(os.environ["GO"])
        while os.environ["ENGINE"] == "waits" and not await asyncio.to_thread(go.exists):  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.02)
        return suggestion_for(request.post, (f"drafted by {os.environ['NAME']}",))


@asynccontextmanager
async def open_workers(
    settings: Settings, profile: str, slots: int, status: Status, on_preparing: OnPreparing | None = None
) -> AsyncIterator[Sequence[Worker]]:
    del profile, on_preparing
    database = await Database.open(settings.database_place, secret=SECRET)
    heartbeat = float(os.environ["HEARTBEAT"]) if "HEARTBEAT" in os.environ else None
    try:
        async with status.working(database, {}):
            yield [
                Worker(
                    DraftQueue(
                        database,
                        f"{os.environ['NAME']}-{slot}",
                        lease_seconds=settings.desk.lease_seconds,
                        backoff=Backoff("test", 0.02, 0.02),
                    ),
                    drafting(database, SignallingEngine()),
                    poll_seconds=0.05,
                    heartbeat_seconds=heartbeat,
                )
                for slot in range(slots)
            ]
    finally:
        await database.close()


if __name__ == "__main__":
    worker_command.open_workers = open_workers  # type: ignore[attr-defined]  # in place of the real ones
    worker_command.app()
