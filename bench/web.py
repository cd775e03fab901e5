"""How long the dashboard takes while twenty moderators use it, with ten thousand cases that wait.

    python -m bench.web                                     on SQLite, in a folder of its own
    python -m bench.web --database postgresql://USER@HOST/  on an empty PostgreSQL database

Each moderator looks at the queue, opens one of its cases and the words of its post, and pauses as somebody would who
reads. Half of them leave posts against one group, and threats, out of their queues. The server is this process, the
browsers are another one, so that their work does not count as its own.
"""

import argparse
import asyncio
import json
import random
import secrets
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import aiohttp
from argon2 import PasswordHasher
from sqlalchemy import URL, insert, make_url, select

from adapters.web.server import application, listening, serving
from adapters.web.site import Site
from bench.measures.output import Row, note, save, show
from bench.measures.significance import percentile
from bot.cli.doctor.checks import DoctorSetupChecks
from bot.compose.desk import Desk, build_casework, build_desk
from bot.settings import Settings
from core import models
from core.desk.communities.accounts import ApiTokens, WebAccounts
from core.desk.communities.governance import Governance
from core.desk.communities.own_cards import OwnCards, PreparedReplies
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.review.dashboard import DeskOverview, DeskRecord
from core.desk.rules.preferences import HiddenCategories, Preferences
from core.desk.rules.roles import Person, Role
from core.desk.schema import AuditRow, Base, CaseRow, SuggestionRow
from core.desk.sending.outbox import Outbox
from core.desk.store import accounts, communities, people
from core.desk.upkeep.retention import RetentionPeriods
from kb.starter.facts import facts_today

_POST: Final = models.FlaggedPost(
    models.PostRef("discord", "1", "2", "0"), "They only came for the benefits.", "9", "8", "menu"
)
_HIDDEN: Final = Preferences(hides=HiddenCategories(frozenset({models.TargetGroup.MUSLIMS}), threats=True))
_SENTENCE: Final = "Most people who move here find work within a few years, and pay taxes and rent like everybody. "


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """What one request took, in seconds."""

    what: str
    seconds: float


def _suggestion(post: models.FlaggedPost, severity: int) -> models.Suggestion:
    """What an engine says: four drafts and three passages of the usual length."""
    source = models.Source("OECD", "International Migration Outlook", 2021, None, "https://example.org/outlook")
    evidence = tuple(models.Evidence(f"m-{n}", _SENTENCE * 3, _SENTENCE, source) for n in range(3))
    drafts = tuple(
        models.Draft(n, _SENTENCE * 2, models.Intent.INFORMATIVE, models.Scores(total=9.0 - n)) for n in range(1, 5)
    )
    reading = models.Reading(
        "en",
        models.TargetGroup.MIGRANTS if severity % 2 else models.TargetGroup.MUSLIMS,
        None,
        None,
        None,
        _SENTENCE,
        None,
        None,
        severity,
        models.Action.REPLY,
        "",
        stereotypes=("a",),
    )
    cost = models.Cost("quick", 2.5, 1.25, 9, 4, 1200, 300, 2, "")
    return models.Suggestion(post, reading, (), None, (), evidence, drafts, cost)


async def _filled(desk: Desk, cases: int, moderators: Sequence[Person]) -> None:
    """Let five posts become cases with drafts, one of each severity, and copy them until there are so many."""

    async def grant(session: Session) -> None:
        community = await communities.ensure(session, _POST.ref.platform, _POST.ref.community)
        for person in moderators:
            await people.grant(session, community.id, person, {Role.MODERATOR}, by="bench")

    await desk.database.run("grant", grant)
    queue = DraftQueue(desk.database, "worker")
    for severity in range(1, 6):
        flagged = replace(_POST, ref=replace(_POST.ref, message=str(severity)), flagged_by=moderators[0].user)
        await desk.intake.flag(flagged)
        if (job := await queue.take()) is None:
            raise RuntimeError("The case that was flagged is not in the queue.")
        await queue.store(job, _suggestion(job.case.post, severity))
    await desk.database.run("copy cases", lambda session: _copy(session, cases))


async def _copy(session: Session, count: int) -> None:
    tables = [await _rows(session, CaseRow), await _rows(session, SuggestionRow), await _rows(session, AuditRow)]
    cases, suggestions, lines = tables
    lines = [line for line in lines if line["stream"] in {case["id"] for case in cases}]
    for begin in range(len(cases), count, 500):
        ids = {number: secrets.token_hex(16) for number in range(begin, min(begin + 500, count))}
        copied: dict[type[Base], list[dict[str, Any]]] = {CaseRow: [], SuggestionRow: [], AuditRow: []}
        for number, new in ids.items():
            case = cases[number % len(cases)]
            at = case["created_at"] - timedelta(seconds=number)
            copied[CaseRow].append(case | {"id": new, "message": str(number + 10), "root": "", "created_at": at})
            for suggestion in suggestions:
                if suggestion["case_id"] == case["id"]:
                    copied[SuggestionRow].append(suggestion | {"id": secrets.token_hex(16), "case_id": new})
            for line in lines:
                if line["stream"] == case["id"]:
                    copied[AuditRow].append({**line, "stream": new, "id": None})
        for table, rows in copied.items():
            values = [{name: value for name, value in row.items() if value is not None or name != "id"} for row in rows]
            await session.execute(insert(table), values)


async def _rows(session: Session, table: type[Base]) -> list[dict[str, Any]]:
    records = await session.scalars(select(table))
    return [{column.key: getattr(row, column.key) for column in table.__mapper__.column_attrs} for row in records]


@asynccontextmanager
async def _dashboard(place: Path | URL, cases: int, moderators: int) -> AsyncIterator[tuple[str, list[str]]]:
    """The dashboard over so many cases: its address, and the secrets of the sessions."""
    database = await Database.open(place, secret=b"a secret of the benchmark, 32 by", creates=True)
    try:
        desk = build_desk(database, max_queued=cases)
        people = [Person(_POST.ref.platform, str(1000 + number), f"Moderator {number}") for number in range(moderators)]
        await _filled(desk, cases, people)
        doorkeeper = WebAccounts(database, desk.live_roles, hasher=PasswordHasher(time_cost=1))
        cookies = []
        for number, person in enumerate(people):
            await doorkeeper.keep(person.name, "", (person,))
            begin = lambda session, name=person.name: accounts.log_in(session, name)  # noqa: E731
            cookies.append(await database.run("begin a session", begin))
            if _hides(number):
                await doorkeeper.prefer(cookies[-1], _HIDDEN)
        at = listening("127.0.0.1", 0)
        origin = f"http://127.0.0.1:{at.getsockname()[1]}"
        keeping = RetentionPeriods(24, 30, 12, 30)
        site = Site(
            casework=build_casework(desk, Outbox(database, {})),
            governance=Governance(database, desk.live_roles),
            doorkeeper=doorkeeper,
            overview=DeskOverview(database, desk.proposals, keeping),
            tokens=ApiTokens(database, doorkeeper),
            record=DeskRecord(database, desk.live_roles, keeping),
            replies=PreparedReplies(database, desk.live_roles),
            cards=OwnCards(database, desk.live_roles),
            facts=facts_today,
            setup=DoctorSetupChecks(Settings(), database).look,
            origins=(origin,),
        )
        async with serving(application(site), at):
            yield origin, cookies
    finally:
        await database.close()


def _hides(number: int) -> bool:
    return number % 2 == 1


async def moderate(origin: str, session: str, rounds: int, pause: float, number: int) -> list[RequestTimes]:
    """What one moderator waits for: the queue, a case of it, and the words of its post, so many times."""
    chance, taken = random.Random(number), list[RequestTimes]()  # nosec B311 # noqa: S311 - repeatable, no secret
    queue = "queue, some hidden" if _hides(number) else "queue"
    async with aiohttp.ClientSession(cookies={"antiphon": session}) as browser:

        async def ask(what: str, path: str) -> str:
            await asyncio.sleep(chance.expovariate(1 / pause))
            begun = time.perf_counter()
            async with browser.get(origin + path) as answer:
                text = await answer.text()
            taken.append(RequestTimes(what, time.perf_counter() - begun))
            if answer.status != 200 or answer.url.path == "/login":
                raise RuntimeError(f"{path} answered with {answer.status}.")
            return text

        for _ in range(rounds):
            page = await ask(queue, f"/?page={chance.randint(1, 3)}")
            case = chance.choice(page.split('href="/case/')[1:])[:32]
            await ask("case", f"/case/{case}")
            await ask("post", f"/case/{case}?reveal=1")
    return taken


async def _browse(origin: str, sessions: Sequence[str], rounds: int, pause: float) -> None:
    """All moderators at once; what they waited goes to standard output as JSON."""
    turns = (moderate(origin, session, rounds, pause, number) for number, session in enumerate(sessions))
    taken = [request for several in await asyncio.gather(*turns) for request in several]
    sys.stdout.write(json.dumps([[request.what, request.seconds] for request in taken]))


async def _measured(place: Path | URL, args: argparse.Namespace) -> tuple[list[RequestTimes], float]:
    """What every request took, and the seconds of processor that the server needed for one."""
    async with _dashboard(place, args.cases, args.moderators) as (origin, sessions):
        note(f"{args.cases} cases are there; {args.moderators} moderators begin.")
        order = json.dumps([origin, sessions, args.rounds, args.pause]).encode()
        busy = time.process_time()
        browsers = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.web", "--browse", stdin=-1, stdout=-1
        )
        out, _ = await browsers.communicate(order)
        busy = time.process_time() - busy
    taken = [RequestTimes(what, seconds) for what, seconds in json.loads(out)]
    return taken, busy / max(1, len(taken))


def rows(taken: Sequence[RequestTimes]) -> list[Row]:
    table = list[Row]()
    for what in dict.fromkeys(request.what for request in taken):
        ms = [1000 * request.seconds for request in taken if request.what == what]
        middle, most = percentile(ms, 0.5), percentile(ms, 0.95)
        table.append({"request": what, "requests": len(ms), "median ms": middle, "p95 ms": most})
    return table


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Times the dashboard under load.")
    parser.add_argument("--database", type=make_url, help="an empty PostgreSQL database, in place of a SQLite file")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--moderators", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=15, help="how often each looks at queue, case and post")
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds between two requests of one moderator")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--browse", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.browse:
        asyncio.run(_browse(*json.loads(sys.stdin.read())))
        return
    with tempfile.TemporaryDirectory(prefix="antiphon-web-") as folder:
        place = args.database.set(drivername="postgresql+asyncpg") if args.database else Path(folder, "desk.sqlite")
        taken, busy = asyncio.run(_measured(place, args))
    table = rows(taken)
    show("What a moderator waits for", table)
    note(f"The server needed {1000 * busy:.1f} ms of processor for a request.")
    save(args.out, {"requests": table, "processor_ms": 1000 * busy})


if __name__ == "__main__":
    main()
