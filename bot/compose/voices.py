"""What a single request needs beside an engine: how the community speaks, and a model server that can be reached.

Nothing here takes long to load, so that a command can say what is wrong before any model is loaded.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pydantic import SecretStr

from bot.compose.writers import languages_alone
from bot.settings import Settings
from core.desk.rules.policy import longest_footer
from core.engine.cards.bank import project_notices
from core.engine.request import Voice
from core.engine.servers.errors import ServerFault, ServerFaults, Trouble


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
