"""What drafts rest on: the embedding model, the scorers, the facts that ship, and the library."""

from __future__ import annotations

import asyncio
from functools import partial

from bot.compose.engine import open_embedder, open_knowledge, open_scorers
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding, finding_of
from core.errors import AntiphonError, IndexUnavailable, ScorerUnavailable
from core.llm.backends.cross_encoders import RelevanceCrossEncoder
from core.ports import EvidenceQuery
from core.scoring.readers.readers import Readers
from core.wording.counting import counted
from kb.library.library import Library
from kb.library.schema import FILE as LIBRARY_FILE
from kb.shelf.local import LocalShelf


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
    alone = settings.model_copy(update={"kb": settings.kb.model_copy(update={"reranker": ""})})
    search = open_knowledge(alone, open_embedder(settings))
    found = await search.search(EvidenceQuery(("equal rights and dignity",), "Everyone is born equal."))
    if found.notes:
        is_local = settings.kb.index == "local"
        server = "Start the Qdrant server, or correct kb.qdrant_url; antiphon kb push fills it."
        raise AntiphonError(
            f"{'; '.join(found.notes)}.", remedy="Run: antiphon kb verify --repair." if is_local else server
        )
    return f"a search finds {counted(len(found.passages), 'passage')}"


async def _library(settings: Settings) -> str:
    """Whether the library opens, and whether its index holds what is accepted; `kb verify` reads every byte."""

    def look() -> tuple[int, int]:
        library = Library(settings.library_folder)
        try:
            shelf = LocalShelf(library, open_embedder(settings))
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
