"""``antiphon doctor``: is everything there that Antiphon needs, and if not, what to do about it?

Owns the checks. Each really does what the application will do: loads the model, searches, opens a database.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from sqlalchemy import URL

from bot.cli.drafting.warm.asking import standing
from bot.compose.asking import check_reachable
from bot.compose.chat_platforms import configured_platforms
from bot.compose.engine import make_folder, open_embedder, open_judge, open_knowledge, open_model, open_scorers
from bot.compose.settings import Settings
from bot.compose.settings_sources import IS_CLONE, SHIPPED, own_file
from bot.runtime.findings import Finding, finding_of
from bot.store.engine.database import Database
from bot.store.engine.secret import load_secret
from bot.store.schema import PlatformState, UpdateState
from bot.store.upkeep.backup import check_private
from bot.store.views.platforms import SeenPlatform, seen
from bot.store.work import inbox
from core.errors import AntiphonError
from core.ports import EvidenceQuery, Generation, LanguageModel, Message
from core.scoring.readers.readers import Readers
from core.stages.judge_formats import JudgeFormat
from core.wording.counting import counted

LEAST_FREE_BYTES = 500_000_000
_QUESTION = [Message("user", "Is water wet? Answer Yes or No.")]
_SECONDS = 60.0


async def examine(settings: Settings) -> list[Finding]:
    """Every check, in the order in which things are needed."""
    checks: list[tuple[str, Callable[[Settings], Awaitable[str]]]] = [
        ("settings", _settings),
        ("disk", _disk),
        ("database", _database),
        ("embedding model", _heads),
        ("scorers", _scorers),
        ("knowledge base", _knowledge),
    ]
    found = [await finding_of(name, partial(check, settings)) for name, check in checks]
    models = await examine_models(settings)
    return [*found, *models, await _kept(settings), *await examine_platforms(settings)]


async def examine_models(settings: Settings) -> list[Finding]:
    """Whether the model that writes the drafts answers, and the one that compares them."""
    writer = await finding_of("language model", partial(_model, settings))
    return [writer, await finding_of("judge", partial(_judge, settings, writer))]


def as_document(checks: list[Finding]) -> dict[str, Any]:
    """The checks as JSON."""
    versions = {"antiphon": metadata.version("antiphon"), "python": sys.version.split()[0]}
    return {
        "ok": all(check.ok for check in checks),
        "versions": versions,
        "checks": [asdict(check) for check in checks],
    }


async def _settings(settings: Settings) -> str:
    is_replaced = settings.origin.endswith(str(SHIPPED)) and not IS_CLONE
    place = f", which an update replaces: your own go into {own_file({})}" if is_replaced else ""
    return f"read from {settings.origin}{place}; profile {settings.profile}; language {settings.community.language}"


async def _disk(settings: Settings) -> str:
    make_folder(settings.cache_folder, "kb.cache_folder")
    free = shutil.disk_usage(settings.cache_folder).free
    if free < LEAST_FREE_BYTES:
        raise AntiphonError(f"Only {free / 1e6:.0f} MB are free.", remedy=f"Make room beside {settings.cache_folder}.")
    return f"{free / 1e9:.1f} GB free for the cache in {settings.cache_folder}"


async def _database(settings: Settings) -> str:
    if isinstance(place := settings.database_place, URL):
        await (await Database.open(place, secret=load_secret(settings.secret_file))).close()
        return f"PostgreSQL at {place.host} answers, durable"
    path = settings.database_path
    make_folder(path.parent, "desk.database")
    if path.exists():
        check_private(path)
        await (await Database.open(path, secret=load_secret(settings.secret_file))).close()
        return f"{path} opens, durable and in WAL mode"
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        await (await Database.open(Path(folder) / "probe.db", secret=b"probe")).close()
    return f"{path} will be made at the first run"


async def _heads(settings: Settings) -> str:
    embedder = open_embedder(settings)
    readers = Readers.load(embedder)
    await asyncio.to_thread(readers.posts.hateful, ["Good morning."])
    await asyncio.to_thread(readers.drafts.read, "Good morning.", ["Good morning."])
    return f"{embedder.name} for {', '.join(sorted(embedder.languages))}"


async def _scorers(settings: Settings) -> str:
    scorers = await open_scorers(settings)
    if scorers.notes:
        raise AntiphonError(
            f"{'; '.join(scorers.notes)}.",
            remedy="Correct [scorers]: name a folder, connect to the network, or run: pip install 'antiphon[scorers]'.",
        )
    wanted = settings.scorers
    named = {"toxicity": wanted.toxicity, "inference": wanted.nli, "argument quality": wanted.argument_quality}
    return "; ".join(f"{what}: {model or 'built-in'}" for what, model in named.items())


async def _knowledge(settings: Settings) -> str:
    search = open_knowledge(settings, open_embedder(settings))
    found = await search.search(EvidenceQuery(("equal rights and dignity",), "Everyone is born equal."))
    if found.notes:
        raise AntiphonError(f"{'; '.join(found.notes)}.", remedy="Run: antiphon kb verify --repair.")
    return f"a search finds {counted(len(found.passages), 'passage')}"


async def _model(settings: Settings) -> str:
    await check_reachable(settings, "llm")
    async with open_model(settings) as model:
        await _ask(model)
    return f"{settings.llm.backend} model answers with log-probabilities"


async def _judge(settings: Settings, writer: Finding) -> str:
    """The judge's own server, or what was found of the model that writes the drafts where that one compares them."""
    await check_reachable(settings, "judge")
    async with open_judge(settings) as judge:
        if judge is None:
            if not writer.ok:
                raise AntiphonError("the language model compares the drafts, and does not work.", remedy=writer.remedy)
            return f"the language model compares the drafts, in {settings.judge.format}"
        if settings.judge.format is JudgeFormat.LETTERS:
            await _ask(judge)
        else:
            await judge.generate(_QUESTION, Generation(max_tokens=1), _SECONDS)
    return f"{settings.judge.base_url} answers, in {settings.judge.format}"


async def _kept(settings: Settings) -> Finding:
    """Whether a process keeps the models loaded for the next draft."""
    name = "models kept loaded"
    if not settings.llm.warm_minutes:
        return Finding(name, True, "no: llm.warm_minutes is 0")
    kept = await standing(settings)
    if kept is None:
        return Finding(name, True, "not now; the next antiphon draft loads them")
    told = f"by process {kept.process} since {kept.since:%H:%M:%S} UTC, {kept.bytes_held / 1e9:.1f} GB"
    if not kept.is_loaded:
        told += ", still loading"
    if not kept.fits:
        told += ", for other settings or another version; the next antiphon draft ends it"
    return Finding(name, True, f"{told}; it ends after {kept.idle_minutes:g} idle minutes")


async def examine_platforms(settings: Settings) -> list[Finding]:
    """The state of each platform in the processes that serve it, and what is wrong with those that are configured."""
    try:
        configured = [platform.name for platform in configured_platforms(settings)]
        standings, aside = await _standings(settings)
    except AntiphonError as err:
        return [Finding("platforms", False, err.message, err.remedy)]
    found = [_standing(each) for each in standings] + aside
    idle = [name for name in configured if name not in {each.platform for each in standings}]
    if idle:
        found.append(Finding("platforms", True, f"{', '.join(idle)} configured; antiphon serve does not run"))
    return found or [Finding("platforms", True, "none is configured; antiphon run shows a sample community")]


async def _standings(settings: Settings) -> tuple[list[SeenPlatform], list[Finding]]:
    """How the platforms stand, and what is to be said of updates that nobody could deal with."""
    place = settings.database_place
    if isinstance(place, Path) and not place.exists():
        return [], []
    database = await Database.open(place, secret=load_secret(settings.secret_file))
    try:
        aside = await database.run("count updates put aside", inbox.put_aside)
        return await database.run("look at platforms", seen), [_aside(*each) for each in aside.items()]
    finally:
        await database.close()


def _aside(of: tuple[str, UpdateState], count: int) -> Finding:
    """Updates that nobody could deal with, of one platform and for one reason."""
    platform, state = of
    days = inbox.KEPT.days
    if state is UpdateState.UNKNOWN:
        told = f"{count} of kinds that this version does not know, in the last {counted(days, 'day')}"
        return Finding(f"updates of {platform}", True, told)
    return Finding(
        f"updates of {platform}",
        False,
        f"{count} could not be handled in the last {counted(days, 'day')}.",
        "Look for them in the log of antiphon serve, and report what it says.",
    )


def _standing(seen: SeenPlatform) -> Finding:
    """One platform in one process."""
    name, since = f"platform {seen.platform}", f"since {seen.since:%Y-%m-%d %H:%M:%S} UTC"
    if seen.is_gone:
        return Finding(name, False, f"the process that served it {since} is gone.", "Run: antiphon serve.")
    if seen.state is PlatformState.CONNECTED:
        return Finding(name, True, f"connected {since}")
    if seen.state is PlatformState.CONNECTING and not seen.message:
        return Finding(name, False, f"it is being connected {since}.", "Look again in a minute.")
    at = f"{seen.again_at:%H:%M:%S} UTC" if seen.again_at else ""
    again = f" Attempts that failed: {seen.failures}; the next is at {at}." if at else ""
    return Finding(name, False, f"not connected {since}: {seen.message}{again}", seen.remedy)


async def _ask(model: LanguageModel) -> None:
    shares, _ = await model.choose(_QUESTION, ("yes", "no"), _SECONDS)
    if shares is None:
        raise AntiphonError(
            "The model gives no log-probabilities for Yes and No.", remedy="Use a server that supports logprobs."
        )
