"""What a single request needs beside an engine: how the community speaks, and a model server that can be reached.

Owns nothing that takes long to load, so that a command can say what is wrong before any model is.
"""

from __future__ import annotations

from bot.compose.settings import Settings
from core.cards.beside import project_notices
from core.moderation.community.disclosure import longest_footer
from core.request import Voice


def voice_of(settings: Settings, max_characters: int = 2000) -> Voice:
    """How the configured community speaks, within a platform's limit."""
    community, room = settings.community, max_characters - longest_footer()
    return Voice(community.language, community.style, community.intents, room, project_notices())


async def check_reachable(settings: Settings) -> None:
    """Look whether the configured servers, that of the language model and that of the judge, can be reached at all.

    For a command that somebody waits for. What runs on its own asks again later instead.

    Raises:
        ModelUnavailable: nothing listens there, the name is not known, or no connection is made within four seconds.
    """
    llm, judge = settings.llm, settings.judge
    servers = [("llm", llm.base_url)] if llm.backend == "server" else []
    servers += [("judge", judge.base_url)] if judge.base_url else []
    if servers:
        from core.llm.backends.reaching import connect  # takes a moment to load

        for section, address in servers:
            await connect(address, section)
