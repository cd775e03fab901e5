"""What a single request needs beside an engine: how the community speaks, and a model server that can be reached.

Owns nothing that takes long to load, so that a command can say what is wrong before any model is.
"""

from __future__ import annotations

import asyncio

from bot.compose.settings import Settings
from core.cards.beside import project_notices
from core.moderation.community.disclosure import longest_footer
from core.request import Voice


def voice_of(settings: Settings, max_characters: int = 2000) -> Voice:
    """How the configured community speaks, within a platform's limit."""
    community, room = settings.community, max_characters - longest_footer()
    return Voice(community.language, community.style, community.intents, room, project_notices())


async def check_reachable(settings: Settings, *sections: str) -> None:
    """Ask the configured servers, that of the language model and that of the judge, which models they have.

    For a command that somebody waits for. What runs on its own asks again later instead.

    Args:
        sections: "llm", "judge"; both if none is given.

    Raises:
        ModelUnavailable: one cannot be reached, does not answer, refuses the key, or is no model server.
    """
    llm, judge = settings.llm, settings.judge
    servers = [("llm", llm.base_url, llm.api_key, llm.model)] if llm.backend == "server" else []
    servers += [("judge", judge.base_url, judge.api_key, judge.model)] if judge.base_url else []
    wanted = [server for server in servers if not sections or server[0] in sections]
    if not wanted:
        return
    from core.llm.backends.servers.faults import ServerFaults
    from core.llm.backends.servers.reaching import check_there  # takes a moment to load

    found = await asyncio.gather(
        *(check_there(ServerFaults(url, model, name), key.get_secret_value()) for name, url, key, model in wanted),
        return_exceptions=True,
    )
    for fault in found:
        if fault is not None:
            raise fault
