"""What a request needs beside an engine: which models write and read, whether they answer, how the community speaks.

Nothing here takes long to load, so that a command can say what is wrong before any model is loaded.
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from bot.settings import Settings
from bot.trial.verdicts import EMBEDDED, Trial, kept_trials
from core.desk.rules.policy import longest_footer
from core.engine.cards.bank import project_notices
from core.engine.readers.pooling import PoolingWeights, pooling_of
from core.engine.request import Voice
from core.engine.review.judge import JudgeFormat
from core.engine.servers.errors import ServerFault, ServerFaults, Trouble
from core.errors import StoreUnavailable

logger = logging.getLogger(__name__)


def open_pooling(settings: Settings) -> PoolingWeights:
    """How far the word of the model counts that reads beside the small readers: the judge's, or the writer's.

    It does not count at all in the languages that a trial found it unfit to read.
    """
    judge = settings.judge
    if judge.base_url and judge.format is JudgeFormat.LETTERS:
        server, pooling = judge.base_url, pooling_of(judge.model)
    else:
        server, pooling = server_of(settings), writer_of(settings)
    tried = _tried(settings, server, pooling.model)
    return replace(pooling, unread=tried.unread) if tried else pooling


def languages_alone(settings: Settings) -> frozenset[str]:
    """The languages that Antiphon does not write, and the model that writes was found fit to read and to write.

    Only a larger model than the one that ships is let alone.
    """
    writer = writer_of(settings)
    tried = _tried(settings, server_of(settings), writer.model) if writer.is_larger else None
    return tried.alone if tried else frozenset()


def _tried(settings: Settings, server: str, model: str) -> Trial | None:
    try:
        return kept_trials(settings.trials_file).get((server, model))
    except StoreUnavailable as err:
        logger.warning("%s", err)
        return None


def server_of(settings: Settings) -> str:
    """The server of the model that writes, as trials name it."""
    return settings.llm.base_url if settings.llm.backend == "server" else EMBEDDED


def writer_of(settings: Settings) -> PoolingWeights:
    """Which model writes, and whether it is larger than the one that ships."""
    llm = settings.llm
    if llm.backend == "server":
        return pooling_of(llm.model)
    return pooling_of((settings.model_path or Path(llm.hub_file)).stem)


def voice_of(settings: Settings, max_characters: int = 2000) -> Voice:
    """How the configured community speaks, within a platform's limit."""
    community, room = settings.community, max_characters - longest_footer()
    also = frozenset(community.languages) & languages_alone(settings)
    return Voice(community.language, community.style, community.intents, room, project_notices(), also, community.sure)


@dataclass(frozen=True, slots=True)
class ServerState:
    """What one configured model server answered: nothing is wrong where there is no ``fault``."""

    section: str
    address: str
    fault: ServerFault | None

    @property
    def is_unreachable(self) -> bool:
        """Whether no connection is made, so that what does without it need not wait for it."""
        return self.is_away and self.fault is not None and type(self.fault.__cause__) is not TimeoutError

    @property
    def is_away(self) -> bool:
        """Whether it may come back as it is: there is no connection, or nothing is said over it."""
        return self.fault is not None and self.fault.trouble is Trouble.ABSENT


async def server_states(settings: Settings, *sections: str) -> list[ServerState]:
    """Ask the configured servers, that of the language model and that of the judge, which models they have.

    Args:
        sections: "llm", "judge"; both if none is given.
    """
    llm, judge = settings.llm, settings.judge
    servers = [("llm", llm.base_url, llm.api_key, llm.model)] if llm.backend == "server" else []
    servers += [("judge", judge.base_url, judge.api_key, judge.model)] if judge.base_url else []
    wanted = [server for server in servers if not sections or server[0] in sections]
    if not wanted:
        return []
    from core.engine.servers.health import check_there  # takes a moment to load

    async def state(section: str, url: str, key: SecretStr, model: str) -> ServerState:
        try:
            await check_there(ServerFaults(url, model, section), key.get_secret_value())
        except ServerFault as fault:
            return ServerState(section, url, fault)
        return ServerState(section, url, None)

    return await asyncio.gather(*(state(*server) for server in wanted))


async def check_reachable(settings: Settings, *sections: str) -> None:
    """Ask the configured servers as ``server_states`` does, for a command that somebody waits for.

    What runs on its own asks again later instead.

    Raises:
        ModelUnavailable: one refuses the key, is no model server, or cannot be reached.
    """
    for state in await server_states(settings, *sections):
        if state.fault is not None:
            raise state.fault
