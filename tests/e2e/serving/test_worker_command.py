"""``antiphon worker`` as it is installed: it drafts what others flagged, and ends when it is told to."""

import asyncio
import json
import re
import signal
from pathlib import Path
from urllib.request import urlopen

from bot.compose.desk import build_desk
from core.desk.database.connection import Database
from core.desk.database.secret import load_secret
from core.desk.rules.approval import CaseState
from core.desk.store.suggestions import StoredSuggestion
from tests.e2e.conftest import GUARD_SECONDS, Antiphon, InThisProcess
from tests.fakes.engine.servers.chat import ChatServer
from tests.fakes.machine.heard import OPERATED, port_of
from tests.fakes.machine.installation import flag_in
from tests.fakes.machine.patience import until
from tests.fakes.vllm.standing_in import StandIn, cache_in, free_port, kill


async def when_reviewed(data: Path, case_id: str, seconds: float = GUARD_SECONDS) -> StoredSuggestion | None:
    """The suggestion, once there is one; ``seconds`` only bounds a hang."""
    database = await Database.open(data / "antiphon.db", secret=load_secret(data / "secret"))
    desk = build_desk(database)
    try:
        async with asyncio.timeout(seconds):
            while (await desk.queries.case(case_id)).state is not CaseState.IN_REVIEW:  # noqa: ASYNC110 - another process's
                await asyncio.sleep(0.1)
        return await desk.queries.suggestion(case_id)
    finally:
        await database.close()


def test_a_worker_drafts_what_another_process_flagged(drafter: Antiphon, server: ChatServer) -> None:
    """Over the database alone; it counts what it did, writes JSON where it is told to, and SIGTERM ends it well."""
    data = drafter.home / "data" / "antiphon"
    data.mkdir(parents=True)
    case = asyncio.run(flag_in(data))
    with drafter.having(**OPERATED).started("worker", "--slots", "2") as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        stored = asyncio.run(when_reviewed(data, case.id))
        with urlopen(f"http://127.0.0.1:{port_of(said)}/metrics", timeout=GUARD_SECONDS) as answer:
            metrics = answer.read().decode()
        process.send_signal(signal.SIGTERM)
        said += process.communicate(timeout=GUARD_SECONDS)[1]
    assert stored is not None
    assert stored.suggestion.drafts
    assert process.returncode == 0
    assert 'antiphon_cases{state="in_review"} 1.0' in metrics
    assert 'antiphon_flag_to_drafts_seconds_count{priority="flagged"} 1.0' in metrics
    calls = re.search(r'^antiphon_model_calls_total{outcome="answered",server="127.0.0.1:\d+"} (.+)$', metrics, re.M)
    assert calls is not None
    asked = server.model.calls.total()  # an empty answer is asked for once more
    assert float(calls.group(1)) == asked >= stored.suggestion.cost.model_calls
    events = [json.loads(line) for line in said.splitlines()]
    assert "Drafting 2 at once" in said
    assert "Stopped." in said
    assert {event["case"] for event in events if "case" in event} == {case.id}
    assert case.post.text not in said


def test_a_worker_says_what_is_wrong_before_it_loads_anything(here: InThisProcess) -> None:
    """A wrong profile, or a number of slots that makes no sense."""
    assert here("worker", "--profile", "swift").code == 2
    assert here("worker", "--slots", "0").code == 2


def test_a_worker_that_finds_no_database_says_so(drafter: Antiphon) -> None:
    """The error names the variable, and not the password in it."""
    address = "postgresql://antiphon:hidden-word@127.0.0.1:9/antiphon"
    unknown = drafter.having(ANTIPHON__DESK__DATABASE_URL=address)("worker")
    assert (unknown.code, "There is no secret" in unknown.err) == (2, True)
    (secret := drafter.home / "secret").write_text("ab" * 32)
    result = drafter.having(ANTIPHON__DESK__DATABASE_URL=address, ANTIPHON__DESK__SECRET_FILE=str(secret))("worker")
    assert result.code == 4
    assert "database" in result.err
    assert "hidden-word" not in result.out + result.err


def test_a_worker_finishes_a_case_though_its_model_server_is_killed_meanwhile(
    drafter: Antiphon, server: ChatServer
) -> None:
    """It starts the server, starts it again, and leaves nothing of it; the server sees no secret of Antiphon's."""
    stand_in = StandIn(drafter.home / "program")
    stand_in.does(answers_at=server.url, has_child=True)
    data = drafter.home / "data" / "antiphon"
    data.mkdir(parents=True)
    case = asyncio.run(flag_in(data))
    server.released.clear()
    serving = drafter.having(
        ANTIPHON__KB__CACHE_FOLDER=str(cache_in(drafter.home / "cache")),
        ANTIPHON__VLLM__MODEL="org/fake",
        ANTIPHON__VLLM__PROGRAM=str(stand_in.path),
        ANTIPHON__VLLM__PORT=str(free_port()),
        ANTIPHON__DISCORD__TOKEN="hidden-word",
    )
    with serving.started("worker", "--serve") as process:
        assert server.asked.wait(GUARD_SECONDS)
        kill(stand_in.starts[0]["pid"])
        server.released.set()
        stored = asyncio.run(when_reviewed(data, case.id))
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=GUARD_SECONDS)
    assert stored is not None
    assert stored.suggestion.drafts
    assert process.returncode == 0
    assert len(stand_in.starts) == 2
    asyncio.run(until(stand_in.is_gone))
    assert "ended with the code -9" in said
    assert "hidden-word" not in said + str(stand_in.starts)
    assert case.post.text not in said
