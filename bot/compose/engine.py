"""The composition root of the engine: settings in, an engine out, and everything closed at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bot.compose.models import open_pooling, writer_of
from bot.settings import Settings
from core.engine.backends.classifiers import DetoxifyScorer, NliCrossEncoder, QualityCrossEncoder, RelevanceCrossEncoder
from core.engine.backends.embedded import EmbeddedModel
from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.backends.llamacpp import EmbeddedServer
from core.engine.backends.weights import WeightsWanted, find_weights
from core.engine.cards.router import shipped_router
from core.engine.llm.prompts import load_prompt
from core.engine.pipeline import Engine
from core.engine.ports import Message
from core.engine.readers.networks import Readers
from core.engine.readers.probe import Probe, adapter_for
from core.engine.scoring.rewards import Scorers
from core.engine.servers.protocol import ChatProtocol, NoModel, OnCall, tell_nobody
from core.engine.wording.language import detect, name_of
from core.errors import IndexUnavailable, ModelUnavailable, ScorerUnavailable, StoreUnavailable
from core.i18n.sentences import Sentence, sentence
from kb.library.library import Library
from kb.library.store import FILE as LIBRARY_FILE
from kb.ranking.fusion import Collection
from kb.ranking.queries import LanguageOf
from kb.search import HybridSearch, LeftOut, open_starter
from kb.shelf.local import LocalShelf
from kb.shelf.search import LibrarySearch

if TYPE_CHECKING:
    from core.engine.servers.chat import ChatModel
    from kb.shelf.qdrant import QdrantShelf

logger = logging.getLogger(__name__)

OnPreparing = Callable[[str, int, int], None]
"""Called with "weights" and bytes, or with "prompts" and their number: how much is done, and of how much."""
EMBEDDED_AT_ONCE = 2
"""How many calls the embedded model gets at once. On two cores, two at once take a sixth less time than one after the
other. More would not fit its context where posts are long."""
Loadable = TypeVar("Loadable", DetoxifyScorer, QualityCrossEncoder, NliCrossEncoder)
_WARMED = (
    "reading", "claims", "vote", "draft", "rewrite", "judge", "quality", "entailment", "hateful", "queries", "violent",
    "summary", "personal", "triplets",
)  # fmt: skip


def open_embedder(settings: Settings) -> SentenceEmbedder:
    """The embedding model; nothing is loaded yet."""
    return SentenceEmbedder(settings.kb.embedding_model or None, languages=settings.kb.embedding_languages)


def open_knowledge(
    settings: Settings, embedder: SentenceEmbedder, language_of: LanguageOf | None = None
) -> HybridSearch:
    """The search over the starter facts and, where there is one, the library. Raises ``IndexUnavailable``.

    The facts' index is built at the first search. ``language_of`` is the thorough detector where none is given.
    """
    return open_starter(
        settings.cache_folder,
        embedder,
        more=_open_library_part(settings, embedder),
        reranker=RelevanceCrossEncoder(settings.kb.reranker) if settings.kb.reranker else None,
        language_of=language_of or partial(detect, expected=settings.community.language),
    )


def _open_library_part(settings: Settings, embedder: SentenceEmbedder) -> list[Collection]:
    """The library's part of a search; none if nothing is served yet. If it cannot be opened, each search says so."""
    try:
        if settings.kb.index == "qdrant":
            return [LibrarySearch(open_qdrant(settings, embedder), embedder)]
        if not (settings.library_folder / LIBRARY_FILE).exists():
            return []
        library = Library(settings.library_folder)
        return [LibrarySearch(LocalShelf(library, embedder), embedder)] if library.serves_anything() else []
    except IndexUnavailable as err:
        return [LeftOut(err)]


def open_qdrant(settings: Settings, embedder: SentenceEmbedder) -> QdrantShelf:
    """The collection on the Qdrant server of the settings; nothing is asked of it yet."""
    try:
        from qdrant_client import QdrantClient  # takes most of a second to load, and few need it

        from kb.shelf.qdrant import QdrantShelf
    except ModuleNotFoundError as err:
        raise IndexUnavailable(
            sentence("The client of Qdrant is not installed."),
            remedy=sentence("Run: {command}", command="pip install 'antiphon[qdrant]'"),
        ) from err

    key = settings.kb.qdrant_api_key.get_secret_value() or None
    client = QdrantClient(url=settings.kb.qdrant_url, api_key=key, check_compatibility=False)
    return QdrantShelf(client, settings.kb.qdrant_collection, embedder)


def wanted_weights(settings: Settings) -> WeightsWanted:
    llm = settings.llm
    return WeightsWanted(settings.model_path, llm.hub_repo, llm.hub_file, llm.sha256, llm.hub_revision)


async def open_scorers(settings: Settings) -> Scorers:
    """The configured classifiers, loaded; one that cannot be loaded is left out and named in ``notes``."""
    wanted, notes = settings.scorers, list[str]()
    toxicity = DetoxifyScorer(wanted.toxicity, settings.cache_folder) if wanted.toxicity else None
    quality = QualityCrossEncoder(wanted.argument_quality, wanted.languages) if wanted.argument_quality else None
    nli = NliCrossEncoder(wanted.nli, wanted.languages) if wanted.nli else None
    return Scorers(
        await _loaded(
            toxicity,
            sentence("rewards: the model of toxicity could not be loaded ({why}); the built-in head is used"),
            notes,
        ),
        await _loaded(
            quality,
            sentence("rewards: the model of argument quality could not be loaded ({why}); the language model is used"),
            notes,
        ),
        await _loaded(
            nli,
            sentence(
                "rewards: the model of inference could not be loaded ({why}); the built-in head and the language model "
                "are used"
            ),
            notes,
        ),
        tuple(notes),
    )


async def _loaded(part: Loadable | None, otherwise: Sentence, notes: list[str]) -> Loadable | None:
    """The part, loaded; if that fails, ``None``, with the note ``otherwise``, which says what is used instead."""
    if part is None:
        return None
    try:
        await asyncio.to_thread(part.load)
    except ScorerUnavailable as err:
        logger.info("%s %s", err, err.__cause__ or "")
        notes.append(Sentence(otherwise.template, {"why": err.message}))
        return None
    return part


def has_no_model(settings: Settings) -> bool:
    """Whether Antiphon runs as a library of prepared replies: no language model is wanted, or none is installed."""
    backend = settings.llm.backend
    return backend == "none" or (backend == "embedded" and find_spec("xllamacpp") is None)


@asynccontextmanager
async def open_model(
    settings: Settings, on_preparing: OnPreparing | None = None, on_call: OnCall = tell_nobody
) -> AsyncIterator[ChatProtocol]:
    """The configured language model: that of a server, or the embedded one; or one that never answers.

    The embedded one is loaded when it is first needed (``ready``).

    Args:
        on_call: hears of each call and what it cost.

    Raises:
        ModelUnavailable: the configured file of weights is not there, or a server does not know the model.
    """
    if has_no_model(settings):
        yield NoModel()
        return
    llm, tell = settings.llm, on_preparing or _tell_nobody
    async with AsyncExitStack() as stack:
        if llm.backend == "embedded":
            yield await stack.enter_async_context(_embedded(settings, tell, on_call))
            return
        chat = _client()(
            llm.base_url,
            llm.api_key.get_secret_value(),
            llm.model,
            concurrency=llm.parallel,
            timeout_seconds=llm.timeout_seconds,
            thinking=llm.thinking,
            on_call=on_call,
        )
        stack.push_async_callback(chat.close)
        await chat.check_model()
        yield chat


def _client() -> type[ChatModel]:
    """The client of model servers, which takes half a second to load, and few commands need it.

    Raises:
        ModelUnavailable: it is not installed.
    """
    try:
        from core.engine.servers.chat import ChatModel
    except ModuleNotFoundError as err:
        raise ModelUnavailable(
            sentence("The package {package} is not installed.", package=err.name),
            remedy=sentence("Run: {command}", command="pip install 'antiphon[server]'"),
        ) from err
    return ChatModel


def _embedded(settings: Settings, tell: OnPreparing, on_call: OnCall) -> EmbeddedModel:
    """The embedded model, not loaded yet; that a file of the operator's own is not there is told at once."""
    llm, prompts, wanted = settings.llm, settings.cache_folder / "prompts", wanted_weights(settings)
    if wanted.path is not None:
        find_weights(wanted, settings.cache_folder)
    make_folder(prompts, "kb.cache_folder")

    def client(server: EmbeddedServer) -> ChatModel:
        return _client()(
            server.base_url,
            server.api_key,
            server.model,
            timeout_seconds=llm.timeout_seconds,
            thinking=llm.thinking,
            concurrency=min(EMBEDDED_AT_ONCE, llm.parallel),
            is_one_of_a_kind=True,
            on_call=on_call,
        )

    return EmbeddedModel(
        partial(find_weights, wanted, settings.cache_folder, progress=partial(tell, "weights")),
        lambda weights: adapter_for(weights, settings.cache_folder),
        prompts,
        _beginnings(settings),
        client,
        context_tokens=llm.context_tokens,
        parallel=llm.parallel,
        threads=llm.threads,
        on_prompt=partial(tell, "prompts"),
    )


@asynccontextmanager
async def open_judge(settings: Settings, on_call: OnCall = tell_nobody) -> AsyncIterator[ChatProtocol | None]:
    """The judge's own server, or ``None`` where the model that writes the drafts compares them too."""
    judge, llm = settings.judge, settings.llm
    if not judge.base_url:
        yield None
        return
    chat = _client()(
        judge.base_url,
        judge.api_key.get_secret_value(),
        judge.model,
        concurrency=llm.parallel,
        timeout_seconds=llm.timeout_seconds,
        thinking=llm.thinking,
        section="judge",
        on_call=on_call,
    )
    try:
        await chat.check_model()
        yield chat
    finally:
        await chat.close()


def _beginnings(settings: Settings) -> list[list[Message]]:
    """The beginnings that prompts have in this community before any post is known, the most used first."""
    community = settings.community
    values = {"language": name_of(community.language), "style": community.style, "exemplars": ""}
    return [load_prompt(name).beginning(**values) for name in _WARMED]


def _tell_nobody(what: str, done: int, total: int) -> None:
    """Ignore the progress."""


@asynccontextmanager
async def open_engine(
    settings: Settings, on_preparing: OnPreparing | None = None, on_call: OnCall = tell_nobody
) -> AsyncIterator[Engine]:
    """The engine over the configured model and the knowledge base.

    Args:
        on_call: hears of each call of the model and the judge, and what it cost.

    The embedded model is loaded at its first use (``Engine.ready``).

    Raises:
        ModelUnavailable: as ``open_model`` raises.
        IndexUnavailable: the embedding model, the readers or the facts cannot be read.
    """
    embedder = open_embedder(settings)
    knowledge, readers = open_knowledge(settings, embedder), Readers.load(embedder)
    # Two cores load in half the time; a missing model must be noticed before anything is asked.
    await asyncio.gather(asyncio.to_thread(knowledge.warm), asyncio.to_thread(_warm, readers))
    scorers = await open_scorers(settings)
    async with open_model(settings, on_preparing, on_call) as model, open_judge(settings, on_call) as judge:
        yield Engine(
            model,
            knowledge,
            readers,
            scorers=scorers,
            judge=judge,
            judge_format=settings.judge.format,
            pooling=open_pooling(settings),
            writer=writer_of(settings),
            probe=Probe(model.hidden) if model.hidden else None,
            ready=model.ready,
        )


def _warm(readers: Readers) -> None:
    """Load what the first post would wait for. Blocking. Raises ``IndexUnavailable``."""
    readers.posts.read(["."])
    shipped_router().groups(".", "en")
    readers.drafts.read(".", ["."])


def make_folder(folder: Path, setting: str) -> None:
    """Make a folder, for its owner alone, and its parents; ``setting`` is the key that sets its place.

    Raises:
        StoreUnavailable: the disk is full, or there is no right to make the folder.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as err:
        raise StoreUnavailable(
            f"The folder {folder} cannot be made: {err.strerror}.",
            remedy=f"Make room or give the rights, or set {setting} to another place.",
        ) from err
