"""What the dashboard's steps of setup find: ``core.desk.rules.dashboard_ports.SetupChecks`` by the doctor's checks.

A page waits for these checks: none of them loads a model or writes anything. No secret is told.
"""

from __future__ import annotations

import asyncio
from typing import Final

from bot.cli.doctor.checks import examine_accounts, examine_trial
from bot.compose.engine import has_no_model
from bot.compose.platforms import configured_platforms
from bot.compose.voices import check_reachable
from bot.compose.writers import languages_alone, server_of, writer_of
from bot.settings import Settings
from bot.trial.verdicts import Trial, kept_trials
from core.desk.database.connection import Database, Session
from core.desk.rules.dashboard_ports import PlatformSetup, SetupState, WritingModel
from core.desk.rules.roles import OnCase, OnCommunity, Person, may_on_case, may_on_community
from core.desk.runtime.findings import Finding, finding_of
from core.desk.schema import PlatformState
from core.desk.store import accounts, people
from core.desk.store.communities import id_of
from core.desk.views.platforms import SeenPlatform, seen
from core.engine.wording.language import NAMES
from core.errors import AntiphonError
from core.i18n.sentences import sentence

_SAMPLE: Final = "sample"
_ADD: Final = "pip install 'antiphon[embedded]'"


class DoctorSetupChecks:
    """The checks behind the steps, over the settings and the database of this process.

    A platform that is served is not asked anything: its process says in the database how it stands. One that has a
    token and is not served is asked who the account is, by one look at a time.
    """

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._turn = asyncio.Lock()

    async def look(self, platform: str, community: str, by: Person) -> SetupState:
        """How far it is set up for a community."""
        settings = self._settings

        async def work(session: Session) -> tuple[int, int, int, list[SeenPlatform]]:
            identity = await id_of(session, platform, community)
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
        if has_no_model(settings):
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
