"""Is everything there that Antiphon needs, and if not, what to do about it?

``antiphon doctor`` checks the accounts, the chat platforms as the processes that serve them say in the database, the
cases that wait, what drafts rest on (the embedding model, the scorers, the facts, the library), and the language
models. The dashboard's pages of setup ask ``DoctorSetupChecks``, which loads no model and writes nothing.
"""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from adapters.web.setup_state import PlatformSetup, SetupState, WritingModel
from bot.cli.doctor.database import examine_backups, examine_database, is_there, opened
from bot.compose import engine
from bot.compose.models import check_reachable, languages_alone, server_of, writer_of
from bot.compose.platforms import configured_platforms
from bot.settings import IS_CLONE, SHIPPED, Settings, own_file
from bot.trial.trial import QUESTION, SECONDS, ask_letter, try_server
from bot.trial.verdicts import Trial, kept_trials
from core.desk.database.connection import Database, Session
from core.desk.rules.case_cards import CardTrouble
from core.desk.rules.policy import elsewhere
from core.desk.rules.roles import OnCase, OnCommunity, Person, may_on_case, may_on_community
from core.desk.runtime.findings import Finding, finding_of
from core.desk.schema import PlatformState, UpdateState
from core.desk.store import accounts, communities, inbox, people
from core.desk.upkeep.schedule import OFFICE
from core.desk.views.census import Overdue, overdue
from core.desk.views.platforms import SeenPlatform, seen
from core.desk.views.review_cards import review_channel, trouble_in
from core.engine.backends.classifiers import RelevanceCrossEncoder
from core.engine.cards.abroad import chances_in
from core.engine.ports import EvidenceQuery, Generation
from core.engine.readers.networks import Readers
from core.engine.review.judge import JudgeFormat
from core.engine.wording.language import NAMES
from core.engine.wording.text import counted
from core.errors import AntiphonError, IndexUnavailable, PlatformUnavailable, ScorerUnavailable
from core.i18n.sentences import sentence
from kb.library.library import Library
from kb.library.store import FILE as LIBRARY_FILE
from kb.shelf.local import LocalShelf

PATIENCE: Final = timedelta(minutes=10)
"""How long work may wait before somebody is told that nobody does it."""
_QUEUE: Final = timedelta(hours=1)
_STOPPED: Final = timedelta(minutes=2)
"""Twice the lease of the schedule's leader."""
_ADD: Final = "pip install 'antiphon[embedded]'"
LEAST_FREE_BYTES: Final = 500_000_000
_SAMPLE: Final = "sample"


async def examine_accounts(settings: Settings) -> list[Finding]:
    """One finding or more for each platform that has a token."""
    findings = []
    if settings.discord.token.get_secret_value().strip():
        findings.append(await finding_of("account on discord", partial(_discord, settings)))
    if settings.telegram.token.get_secret_value().strip():
        findings.append(await finding_of("account on telegram", partial(_telegram, settings)))
    if settings.mastodon.token.get_secret_value().strip() and settings.mastodon.url:
        findings += await _mastodon(settings)
    return findings


async def _discord(settings: Settings) -> str:
    """What the account is called. Raises ``BadSettings`` or ``PlatformUnavailable``."""
    from adapters.discord.connection.client import look  # discord.py takes half a second to load

    with _told_to_somebody():
        account = await look(settings.discord.token.get_secret_value(), reads_messages=settings.discord.reads_messages)
    reads = "messages can be read" if settings.discord.reads_messages else "reads_messages is off"
    return f"{account.name} may log in; {reads}"


async def _telegram(settings: Settings) -> str:
    """What the account is called. Raises ``BadSettings`` or ``PlatformUnavailable``."""
    from adapters.telegram.connection.client import look  # as of Discord

    wanted = settings.telegram
    with _told_to_somebody():
        account = await look(wanted.token.get_secret_value(), wanted.api_url.rstrip("/"))
    if account.webhook:
        raise PlatformUnavailable(
            sentence(
                "Telegram sends the updates of {account} to {host}.",
                account=account.name,
                host=urlsplit(account.webhook).hostname,
            ),
            remedy=sentence(
                "Stop the other program, or make a new token at {bot} ({command}). antiphon serve takes the updates "
                "over when it starts.",
                bot="@BotFather",
                command="/revoke",
            ),
        )
    return f"{account.name} may log in"


async def _mastodon(settings: Settings) -> list[Finding]:
    from adapters.mastodon.connection.client import MastodonOptions  # as of Discord
    from adapters.mastodon.manage import AccountFinding, look
    from bot.cli.mastodon import with_account

    wanted, name, looks = settings.mastodon, "account on mastodon", list[AccountFinding]()

    async def ask() -> str:
        tokens = (wanted.token.get_secret_value(), wanted.moderator_token.get_secret_value())
        with _told_to_somebody():
            looks.extend(await with_account(MastodonOptions(wanted.url.rstrip("/"), *tokens), look))
        return f"{looks[0].said} may do what it needs to"

    found = await finding_of(name, ask)
    wrong = [Finding(f"{name}: {each.name}", False, each.said, each.remedy) for each in looks if each.ok is False]
    return wrong or [found]


@contextmanager
def _told_to_somebody() -> Iterator[None]:
    """Give who is at the terminal something to do: only a process that serves a platform tries again by itself."""
    try:
        yield
    except PlatformUnavailable as err:
        raise PlatformUnavailable(
            err.message,
            remedy=sentence(
                "Look whether this machine reaches it: its network, its proxy, and the address in the settings."
            ),
        ) from err


async def examine_platforms(settings: Settings) -> list[Finding]:
    """The state of each platform in the processes that serve it, and what is wrong with those that are configured."""
    try:
        configured = [platform.name for platform in configured_platforms(settings)]
        standings, aside = await _standings(settings)
        reviews = await _reviews(settings, configured)
    except AntiphonError as err:
        return [Finding("platforms", False, err.message, err.remedy)]
    findings = [_standing(each) for each in standings] + aside + reviews
    served = {each.platform for each in standings}
    if idle := [name for name in configured if name not in served]:
        findings.append(Finding("platforms", True, f"{', '.join(idle)} configured; antiphon serve does not run"))
    return findings or [Finding("platforms", True, "none is configured; antiphon run shows a sample community")]


async def _standings(settings: Settings) -> tuple[list[SeenPlatform], list[Finding]]:
    """How the platforms stand, and what is to be said of updates that nobody could deal with."""
    if not await is_there(settings):
        return [], []
    async with opened(settings) as database:
        aside = await database.run("count updates put aside", inbox.put_aside)
        return await database.run("look at platforms", seen), [_aside(*each) for each in aside.items()]


async def _reviews(settings: Settings, configured: Sequence[str]) -> list[Finding]:
    """Of each community whose cases are reviewed on another platform, whether they can be."""

    async def look(session: Session) -> list[Finding]:
        rows = await communities.all_communities(session)
        chosen = [(row.id, channel, at) for row in rows if (at := elsewhere(channel := review_channel(row.policy)))]
        return [
            _hosted_review(own, channel, at[0] in configured, await trouble_in(session, own, channel))
            for own, channel, at in chosen
        ]

    if not await is_there(settings):
        return []
    async with opened(settings) as database:
        return await database.run("look at review channels", look)


def _hosted_review(community: str, channel: str, is_configured: bool, trouble: CardTrouble | None) -> Finding:
    name = f"review of {community}"
    if not is_configured:
        return Finding(
            name,
            False,
            f"Its cases are to be shown in {channel}, and that platform is not configured.",
            f"Configure it, or choose another channel: antiphon community review {community}. The dashboard has the "
            "cases.",
        )
    if trouble is not None:
        return Finding(name, False, f"Its cases are not shown in {channel}: {trouble.message}", trouble.remedy)
    return Finding(name, True, f"cases are shown in {channel}")


def _aside(of: tuple[str, UpdateState], count: int) -> Finding:
    """Updates that nobody could deal with, of one platform and for one reason."""
    platform, state = of
    days = inbox.KEPT.days
    if state is UpdateState.UNKNOWN:
        detail = f"{count} of kinds that this version does not know, in the last {counted(days, 'day')}"
        return Finding(f"updates of {platform}", True, detail)
    return Finding(
        f"updates of {platform}",
        False,
        f"{count} could not be handled in the last {counted(days, 'day')}.",
        "Look for them in the log of antiphon serve, and report what it says.",
    )


def _standing(seen: SeenPlatform) -> Finding:
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


async def examine_cases(settings: Settings) -> list[Finding]:
    """Nothing before the first run."""

    async def look(session: Session) -> tuple[Overdue, list[SeenPlatform]]:
        return await overdue(session, OFFICE), await seen(session)

    try:
        if not await is_there(settings):
            return []
        async with opened(settings) as database:
            facts, platforms = await database.run("look at what waits", look)
    except AntiphonError as err:
        return [Finding("cases", False, err.message, err.remedy)]
    is_served = any(standing.state is PlatformState.CONNECTED and not standing.is_gone for standing in platforms)
    kept = timedelta(hours=settings.desk.draft_hours)
    alone = [_drafting(facts), _review(facts, kept), _sending(facts)]
    return [*alone, *_posting(facts), *_schedule(facts, is_served=is_served)]


def _drafting(overdue: Overdue) -> Finding:
    name, waiting = "drafting", overdue.undrafted
    cases, workers = counted(waiting.count, "case"), counted(overdue.workers, "worker")
    if waiting.since is None or overdue.now - waiting.since < (_QUEUE if overdue.workers else PATIENCE):
        return Finding(name, True, f"{cases} to draft, {workers} busy")
    first = f"{cases} to draft, the first since {_at(waiting.since)}"
    if overdue.workers:
        remedy = "Run more workers (antiphon worker), use a faster model, or raise desk.drafts_at_once."
        return Finding(name, False, f"{first}, with {workers} at work.", remedy)
    remedy = "Run: antiphon serve, or: antiphon worker. If one runs, read its log: the model may be away."
    return Finding(name, False, f"{first}, and no worker drafts.", remedy)


def _review(overdue: Overdue, kept: timedelta) -> Finding:
    waiting = overdue.undecided
    if waiting.since is None or overdue.now - waiting.since < kept / 2:
        return Finding("review", True, f"{counted(waiting.count, 'case')} before moderators")
    return Finding(
        "review",
        False,
        f"{counted(waiting.count, 'case')} before moderators, the first since {_at(waiting.since)}.",
        "Ask moderators to decide, or find more of them: antiphon community show names them. What waits too long "
        "expires (desk.draft_hours).",
    )


def _sending(overdue: Overdue) -> Finding:
    unknown = overdue.unknown
    if unknown.since is None or overdue.now - unknown.since < PATIENCE:
        return Finding("sending", True, "no reply waits for a person to look for it")
    return Finding(
        "sending",
        False,
        f"Nobody knows whether {counted(unknown.count, 'reply', 'replies')} arrived, the first sent at "
        f"{_at(unknown.since)}.",
        "A moderator looks in the chat, and says on the card of the case whether it is there.",
    )


def _posting(overdue: Overdue) -> Iterator[Finding]:
    if not overdue.paused:
        yield Finding("posting", True, "stopped nowhere")
    for scope, since in overdue.paused:
        where, how = ("everywhere", "--everywhere") if scope == communities.EVERYWHERE else (f"in {scope}", scope)
        yield Finding(
            "posting",
            False,
            f"Posting is stopped {where} since {_at(since)}.",
            f"When all is well again: antiphon community resume {how}",
        )


def _schedule(overdue: Overdue, *, is_served: bool) -> Iterator[Finding]:
    if is_served and (overdue.led_until is None or overdue.now - overdue.led_until > _STOPPED):
        yield Finding(
            "schedule",
            False,
            "Platforms are served, but no process leads the schedule: nothing expires, is erased or is backed up.",
            "Start antiphon serve again. If that does not help, run the chores by hand: antiphon schedule run-once.",
        )
    elif not overdue.given_up:
        is_led = overdue.led_until is not None and overdue.led_until >= overdue.now
        yield Finding("schedule", True, "led" if is_led else "not led: nothing is served")
    for chore, why in overdue.given_up:
        yield Finding(
            "schedule",
            False,
            f"The chore {chore} was given up: {why or 'it never ended.'}",
            "Remove the cause, then run: antiphon schedule run-once.",
        )


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


async def examine_knowledge(settings: Settings, *names: str) -> list[Finding]:
    """The models that read and search, and what they search; the library and the reranker where there are any.

    Args:
        names: the checks that are wanted; all if none is given.
    """
    checks = {"embedding model": _heads, "scorers": _scorers, "knowledge base": _knowledge}
    if settings.kb.index == "local" and (settings.library_folder / LIBRARY_FILE).exists():
        checks["library"] = _library
    if settings.kb.reranker:
        checks["reranker"] = _reranker
    return [
        await finding_of(name, partial(check, settings)) for name, check in checks.items() if not names or name in names
    ]


async def _heads(settings: Settings) -> str:
    embedder = engine.open_embedder(settings)
    readers = Readers.load(embedder)
    await asyncio.to_thread(readers.posts.hateful, ["Good morning."])
    await asyncio.to_thread(readers.drafts.read, "Good morning.", ["Good morning."])
    return f"{embedder.name} for {', '.join(sorted(embedder.languages))}"


async def _scorers(settings: Settings) -> str:
    scorers = await engine.open_scorers(settings)
    if scorers.notes:
        raise AntiphonError(
            f"{'; '.join(scorers.notes)}.",
            remedy="Correct [scorers]: name a folder, connect to the network, or run: pip install 'antiphon[scorers]'.",
        )
    wanted = settings.scorers
    named = {"toxicity": wanted.toxicity, "inference": wanted.nli, "argument quality": wanted.argument_quality}
    return "; ".join(f"{what}: {model or 'built-in'}" for what, model in named.items())


async def _knowledge(settings: Settings) -> str:
    alone = settings.model_copy(update={"kb": settings.kb.model_copy(update={"reranker": ""})})
    search = engine.open_knowledge(alone, engine.open_embedder(settings))
    evidence = await search.search(EvidenceQuery(("equal rights and dignity",), "Everyone is born equal."))
    if evidence.notes:
        is_local = settings.kb.index == "local"
        server = "Start the Qdrant server, or correct kb.qdrant_url; antiphon kb push fills it."
        raise AntiphonError(
            f"{'; '.join(evidence.notes)}.", remedy="Run: antiphon kb verify --repair." if is_local else server
        )
    return f"a search finds {counted(len(evidence.passages), 'passage')}"


async def _library(settings: Settings) -> str:
    """Whether the library opens, and whether its index holds what is accepted; `kb verify` reads every byte."""

    def look() -> tuple[int, int]:
        library = Library(settings.library_folder)
        try:
            shelf = LocalShelf(library, engine.open_embedder(settings))
            if damage := shelf.damage_of_words():
                raise IndexUnavailable(
                    f"The library's index is damaged: {damage}.", remedy="Run: antiphon kb verify --repair."
                )
            return len(library.served()), shelf.behind()
        finally:
            library.close()

    served, behind = await asyncio.to_thread(look)
    if behind:
        raise IndexUnavailable(
            f"The index of the library is older than the library, by {counted(behind, 'document')}.",
            remedy="Run: antiphon kb verify --repair.",
        )
    return f"{counted(served, 'document')} served"


async def _reranker(settings: Settings) -> str:
    try:
        await asyncio.to_thread(RelevanceCrossEncoder(settings.kb.reranker).load)
    except ScorerUnavailable as err:
        raise AntiphonError(
            f"The reranker cannot be loaded: {err.message}.",
            remedy="Correct kb.reranker: name a folder, connect to the network, or leave it empty.",
        ) from err
    return settings.kb.reranker


async def examine_models(settings: Settings, on_preparing: engine.OnPreparing | None = None) -> list[Finding]:
    """Whether the model that writes the drafts answers, and the one that compares them."""
    writer = await finding_of("language model", partial(_model, settings, on_preparing))
    return [writer, await finding_of("judge", partial(_judge, settings, writer))]


async def examine_trial(settings: Settings) -> Finding:
    """What the last trial of the model that writes found."""
    return await finding_of("model tried", partial(_trial, settings))


async def _trial(settings: Settings) -> str:
    writer = writer_of(settings)
    tried = kept_trials(settings.trials_file).get((server_of(settings), writer.model))
    fit = tried.alone if tried and writer.is_larger else frozenset()
    if unfit := [language for language in settings.community.languages if language not in {*NAMES, *fit}]:
        raise AntiphonError(
            sentence(
                "The model was not found fit to read and write {languages}: posts in it are not answered.",
                languages=", ".join(unfit),
            ),
            remedy=sentence(
                "Run: {command}. Or take it out of {key}.",
                command="antiphon model try --readings FILE",
                key="community.languages",
            ),
        )
    return f"on {tried.day}: {' '.join(tried.verdict())}" if tried else "not yet; antiphon model try does it"


async def examine_prepared(settings: Settings) -> Finding:
    """How many posts have a draft under the limit for prepared replies."""
    return await finding_of("prepared replies", partial(_prepared, settings))


async def _prepared(settings: Settings) -> str:
    limit = chances_in(settings.community.language).limit(settings.community.sure)
    if limit is None:
        return "none is held back; some seldom fit"
    beside = "; the larger model writes all the same" if writer_of(settings).is_larger else ""
    share, sure = f"{limit.posts:.0%}", settings.community.sure
    return (
        f"about {share} of posts get one, of which readers would publish {limit.publishable:.0%}; "
        f"others are held back until somebody asks (community.sure = {sure:g}){beside}"
    )


async def _model(settings: Settings, on_preparing: engine.OnPreparing | None) -> str:
    if engine.has_no_model(settings):
        return f"none: replies are those that people prepared; {_ADD} adds one"
    await check_reachable(settings, "llm")
    async with engine.open_model(settings, on_preparing) as model:
        if settings.llm.backend == "embedded":
            await ask_letter(model)
            return "embedded model answers with log-probabilities"
        lacking = await try_server(model)
        abilities = "with log-probabilities" if model.abilities.reads_letters else "without log-probabilities"
    return "; ".join([f"server model answers {abilities}", *lacking])


async def _judge(settings: Settings, writer: Finding) -> str:
    """The judge's own server, or what was found of the model that writes the drafts where that one compares them."""
    await check_reachable(settings, "judge")
    async with engine.open_judge(settings) as judge:
        if judge is None:
            if not writer.ok:
                raise AntiphonError("the language model compares the drafts, and does not work.", remedy=writer.remedy)
            if engine.has_no_model(settings):
                return "none: there are no drafts of a language model to compare"
            return f"the language model compares the drafts, in {settings.judge.format}"
        if settings.judge.format is JudgeFormat.LETTERS:
            await try_server(judge)
        else:
            await judge.generate(QUESTION, Generation(max_tokens=1), SECONDS)
    return f"{settings.judge.model} answers, in {settings.judge.format}"


async def examine_machine(settings: Settings) -> list[Finding]:
    """The settings, and the disks that are written to."""
    return [
        await finding_of("settings", partial(_settings, settings)),
        await finding_of("disk", partial(_disk, settings)),
    ]


async def _settings(settings: Settings) -> str:
    is_replaced = settings.origin.endswith(str(SHIPPED)) and not IS_CLONE
    place = f", which an update replaces: your own go into {own_file({})}" if is_replaced else ""
    return f"read from {settings.origin}{place}; profile {settings.profile}; language {settings.community.language}"


async def _disk(settings: Settings) -> str:
    engine.make_folder(settings.cache_folder, "kb.cache_folder")
    folders = {"the cache": settings.cache_folder, "backups": settings.backup_folder}
    if isinstance(settings.database_place, Path):
        folders["the database"] = settings.database_path.parent
    for what, folder in folders.items():
        free = shutil.disk_usage(_existing(folder)).free
        if free < LEAST_FREE_BYTES:
            raise AntiphonError(f"Only {free / 1e6:.0f} MB are free for {what}.", remedy=f"Make room beside {folder}.")
    free = shutil.disk_usage(settings.cache_folder).free
    return f"{free / 1e9:.1f} GB free for the cache in {settings.cache_folder}"


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


async def examine(settings: Settings, on_preparing: engine.OnPreparing | None = None) -> AsyncIterator[Finding]:
    """Every check, in the order in which things are needed, each as soon as it is made: to load models takes minutes.

    Args:
        on_preparing: hears how far the embedded model's weights and prompts are.
    """
    for finding in await examine_machine(settings):
        yield finding
    database = await examine_database(settings)
    for finding in database:
        yield finding
    if all(each.ok for each in database):  # otherwise each of these would say the same again
        for finding in [*await examine_backups(settings), *await examine_cases(settings)]:
            yield finding
    for finding in await examine_knowledge(settings):
        yield finding
    for finding in await examine_models(settings, on_preparing):
        yield finding
    yield await examine_trial(settings)
    yield await examine_prepared(settings)
    for finding in [*await examine_platforms(settings), *await examine_accounts(settings)]:
        yield finding


def as_document(checks: list[Finding]) -> dict[str, Any]:
    versions = {"antiphon": metadata.version("antiphon"), "python": sys.version.split()[0]}
    return {
        "ok": all(check.ok for check in checks),
        "versions": versions,
        "checks": [asdict(check) for check in checks],
    }


class DoctorSetupChecks:
    """What the dashboard's steps of setup find, by the doctor's checks.

    A page waits for them: none loads a model or writes anything. No secret is told. A platform that is served is not
    asked anything: its process says in the database how it stands. One that has a token and is not served is asked who
    the account is, by one look at a time.
    """

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._turn = asyncio.Lock()

    async def look(self, platform: str, community: str, by: Person) -> SetupState:
        """How far it is set up for a community."""
        settings = self._settings

        async def work(session: Session) -> tuple[int, int, int, list[SeenPlatform]]:
            identity = await communities.id_of(session, platform, community)
            await people.require_on_community(session, identity, by, OnCommunity.CONFIGURE)
            members = await people.members(session, identity, platform)
            deciders = {_named(member.person) for member in members if may_on_case(member.roles, OnCase.APPROVE)}
            managers = [member for member in members if may_on_community(member.roles, OnCommunity.CONFIGURE)]
            all_accounts = await accounts.every(session)
            entering = {_named(who) for account in all_accounts for who in account.people if who.platform == platform}
            return len(managers), len(deciders), len(deciders & entering), await seen(session)

        managers, deciders, with_account, standings = await self._database.run("look how far setup is", work)
        async with self._turn:
            connections = await self._connections(platform, standings)
            model = await self._model()
        replies_in = *NAMES, *sorted(frozenset(settings.community.languages) & languages_alone(settings))
        return SetupState(connections, model, settings.community.language, replies_in, managers, deciders, with_account)

    async def _connections(self, platform: str, standings: list[SeenPlatform]) -> tuple[PlatformSetup, ...]:
        try:
            configured = [each.name for each in configured_platforms(self._settings)]
        except AntiphonError as err:
            return (PlatformSetup(platform, False, None, err.message, err.remedy),)
        wanted = configured if platform == _SAMPLE else [platform]
        served = {
            name: _served(name, [standing for standing in standings if standing.platform == name]) for name in wanted
        }
        idle = [name for name in wanted if served[name] is None and name in configured]
        findings = await examine_accounts(self._settings) if idle else []
        return tuple(served[name] or _idle(name, name in configured, findings) for name in wanted)

    async def _model(self) -> WritingModel:
        settings = self._settings
        if engine.has_no_model(settings):
            if settings.llm.backend == "none":
                return WritingModel("")
            problem, remedy = sentence("No language model is installed."), sentence("Run: {command}", command=_ADD)
            return WritingModel("", problem, remedy)
        name, tried = writer_of(settings).model, None
        trial = await examine_trial(settings)
        if trial.ok:
            tried = kept_trials(settings.trials_file).get((server_of(settings), name))

        async def reached() -> str:
            await check_reachable(settings, "llm")
            return ""

        server = await finding_of("language model", reached)
        return _tried(WritingModel(name, *_wrong([server, trial])), tried)


def _named(person: Person) -> tuple[str, str]:
    return person.platform, person.user


def _tried(model: WritingModel, trial: Trial | None) -> WritingModel:
    if trial is None:
        return model
    fitness = tuple(trial.writes), tuple(trial.reads), trial.judges
    return WritingModel(model.name, model.problem, model.remedy, trial.day, *fitness)


def _served(name: str, standings: list[SeenPlatform]) -> PlatformSetup | None:
    """The platform in the processes that serve it; ``None`` where none does."""
    there = [each for each in standings if not each.is_gone]
    if not there:
        return None
    best = next((each for each in there if each.state is PlatformState.CONNECTED), there[0])
    if best.state is PlatformState.CONNECTED:
        return PlatformSetup(name, True, best.since)
    problem, remedy = best.message, best.remedy
    if not problem:
        problem, remedy = sentence("It is being connected."), sentence("Look again in a minute.")
    return PlatformSetup(name, True, None, problem, remedy)


def _idle(name: str, has_token: bool, findings: list[Finding]) -> PlatformSetup:
    """A platform that nothing serves, with what is wrong with its account."""
    about = [finding for finding in findings if finding.name.startswith(f"account on {name}")]
    return PlatformSetup(name, has_token, None, *_wrong(about))


def _wrong(findings: list[Finding]) -> tuple[str, str]:
    """What is wrong by the first finding that is not in order, and its remedy; "" where all are."""
    return next(((finding.detail, finding.remedy) for finding in findings if not finding.ok), ("", ""))
