"""Which process searches for ``antiphon kb search``: the one that keeps the models loaded, or this one."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from bot.cli.command import err
from bot.cli.drafting.warm.asking import NoneWarmError
from bot.cli.drafting.warm.asking import search as ask_warm
from bot.compose.settings.settings import Settings
from core.ports import EvidenceQuery, Found


async def search_by_models(settings: Settings, config: Path | None, query: EvidenceQuery, *, is_warm: bool) -> Found:
    """The passages that a query finds, by the models that are kept loaded, or by those of this process.

    Args:
        config: the settings file that the command was given.
        is_warm: models may be kept loaded, unless the settings switch that off.

    Raises:
        IndexUnavailable: the knowledge base or its embedding model cannot be used.
    """
    if is_warm and settings.llm.warm_minutes:
        try:
            return await ask_warm(settings, config, query, on_start=_tell_start)
        except NoneWarmError as why:
            err().print(Text(f"{why} The knowledge base is searched without them."), soft_wrap=True)
    from bot.compose.engine import open_embedder, open_knowledge  # takes seconds to load, and who asks needs none of it

    return await open_knowledge(settings, open_embedder(settings)).search(query)


def _tell_start() -> None:
    if err().is_terminal:
        said = "  Loading the models. They stay loaded for the next search or draft (--no-warm: not)."
        err().print(Text(said, style="dim"), soft_wrap=True)
