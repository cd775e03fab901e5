"""What a single request needs beside an engine: how the community speaks, and a model server that can be reached.

Owns nothing that takes long to load, so that a command can say what is wrong before any model is.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pydantic import SecretStr

from bot.compose.settings.settings import Settings
from core.cards.beside import project_notices
from core.llm.backends.servers.faults import ServerFault, ServerFaults, Trouble
from core.moderation.community.disclosure import longest_footer
from core.request import Voice


def voice_of(settings: Settings, max_characters: int = 2000) -> Voice:
    """How the configured community speaks, within a platform's limit."""
    community, room = settings.community, max_characters - longest_footer()
    return Voice(community.language, community.style, community.intents, room, project_notices())


@dataclass(frozen=True, slots=True)
class ServerState:
    """What one configured model server answered: nothing is wrong where there is no ``fault``."""

    section: str
    address: str
    fault: ServerFault | None

    @property
    def is_away(self) -> bool:
        """Whether it may come back as it is: there is no connection, or nothing is said over it."""
        return self.fault is not None and self.fault.trouble is Trouble.ABSENT


async def server_states(settings: Settings, *sections: str) -> list[ServerState]:
    """Ask each configured server, those of the language model and those of the judge, which models it has.

    Args:
        sections: "llm", "judge"; both if none is given.
    """
    llm, judge = settings.llm, settings.judge
    servers = [("llm", url, llm.api_key, llm.model) for url in llm.base_url] if llm.backend == "server" else []
    servers += [("judge", url, judge.api_key, judge.model) for url in judge.base_url]
    wanted = [server for server in servers if not sections or server[0] in sections]
    if not wanted:
        return []
    from core.llm.backends.servers.reaching import check_there  # takes a moment to load

    async def state(section: str, url: str, key: SecretStr, model: str) -> ServerState:
        try:
            await check_there(ServerFaults(url, model, section), key.get_secret_value())
        except ServerFault as fault:
            return ServerState(section, url, fault)
        return ServerState(section, url, None)

    return await asyncio.gather(*(state(*server) for server in wanted))


async def check_reachable(settings: Settings, *sections: str) -> None:
    """Ask the configured servers as ``server_states`` does, for a command that somebody waits for.

    What runs on its own asks again later instead. Of several servers of one section, one that is away is no reason to
    stop while another one answers; one that is wrong is, as it is when the models are opened.

    Raises:
        ModelUnavailable: one refuses the key or is no model server, or none of a section can be reached and answers.
    """
    states = await server_states(settings, *sections)
    answering = {state.section for state in states if state.fault is None}
    for state in states:
        if state.fault is not None and not (state.is_away and state.section in answering):
            raise state.fault
