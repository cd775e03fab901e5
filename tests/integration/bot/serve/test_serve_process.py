"""``antiphon serve`` as a process that is told to end with a case in drafting and a send in flight."""

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.sample import SampleCommunity
from bot.compose.desk import build_desk
from bot.serve.status import STOPPING
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from tests.fakes.desk.decisions import approve, drafted
from tests.fakes.desk.people import SECRET, settle
from tests.fakes.machine.heard import OPERATED, heard, port_of, told
from tests.fakes.machine.patience import GUARD_SECONDS

PLACES = ("DATABASE", "SECRET_FILE", "BACKUP_FOLDER")


@asynccontextmanager
async def _serving(preloaded: Sequence[str], folder: Path, drain: str) -> AsyncIterator[Process]:
    """The process; killed at the end of the block, if it is still there."""
    own = {name: text for name, text in os.environ.items() if not name.upper().startswith("ANTIPHON")}
    (folder / "SECRET_FILE").write_text(SECRET.hex())
    (folder / "SECRET_FILE").chmod(0o600)
    more = {
        **{f"ANTIPHON__DESK__{place}": str(folder / place) for place in PLACES},
        "ANTIPHON__DESK__DRAIN_SECONDS": drain,
        "ANTIPHON__DESK__BACKUP_HOURS": "0",
        "GO": str(folder / "go"),
        "XDG_RUNTIME_DIR": str(folder),
    }
    process = await asyncio.create_subprocess_exec(
        *(*preloaded, "-m", "tests.fakes.desk.serve_process"), stdout=PIPE, stderr=PIPE, env=own | more | OPERATED
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize("drain", ["60", "0.1"])
async def test_told_to_end_it_is_not_ready_first_and_leaves_nothing_half_done(
    preloaded: Sequence[str], tmp_path: Path, drain: str
) -> None:
    """What it has time for is finished. Else the draft goes back into the queue, and the send is read back later."""
    has_time, community = drain == "60", SampleCommunity()
    live = await Database.open(tmp_path / "DATABASE", secret=SECRET)
    try:
        await settle(live)
        desk = build_desk(live, undo_seconds=0)
        sent = await drafted(desk, DraftQueue(live, "test"), community.flag("103", "mill_pond"))
        await approve(desk, sent)
        begun = await desk.intake.flag(community.flag("101", "mill_pond"))
        async with _serving(preloaded, tmp_path, drain) as process:
            assert process.stdout is not None
            async with asyncio.timeout(GUARD_SECONDS):
                assert {await process.stdout.readline() for _ in range(2)} == {b"drafting\n", b"sending\n"}
            said = await heard(process, "answered at port")
            port = port_of(said)
            assert await told(port, "/ready") == (200, {"ready": True, "reasons": {}})
            process.send_signal(signal.SIGTERM)
            said += await heard(process, "Stopping")
            assert await told(port, "/ready") == (503, {"ready": False, "reasons": {"process": STOPPING}})
            assert (await told(port, "/health"))[0] == 200
            if has_time:
                (tmp_path / "go").touch()
            async with asyncio.timeout(GUARD_SECONDS):
                _, rest = await process.communicate()
            said += rest.decode()
        ends = [(await desk.queries.case(case.id)).state for case in (sent, begun)]
        assert ends == ([CaseState.POSTED, CaseState.IN_REVIEW] if has_time else [CaseState.SENDING, CaseState.QUEUED])
        assert process.returncode == 0
        events = [json.loads(line) for line in said.splitlines()]
        assert "Stopped. What was not finished is in the queue again." in [one["event"] for one in events]
        assert [one for one in events if one.get("case") == begun.id]
        assert sent.post.text not in said
        assert begun.post.text not in said
    finally:
        await live.close()
