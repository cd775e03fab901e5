"""The process that keeps the models loaded, over a real socket: whom it answers, and when it ends."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.cli.drafting.warm import asking
from bot.cli.drafting.warm.asking import NoneWarmError, search, standing, suggest
from bot.cli.drafting.warm.place import Alive, Ask, Done, key_of, own_folder, put, socket_of, take
from bot.cli.drafting.warm.process import OnKnowledge, WarmModels
from bot.cli.kb.searching import search_by_models
from bot.compose.settings.settings import KbSettings, LlmSettings, Settings
from core.errors import IndexUnavailable, ModelUnavailable
from core.i18n.sentences import Sentence, sentence
from core.llm.profiles import QUICK
from core.models import FlaggedPost, PostRef, Progress, Suggestion
from core.ports import EvidenceQuery, Found
from core.request import Request
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.patience import GUARD_SECONDS

POST = FlaggedPost(PostRef("terminal", "", "", ""), "They all lie.", author="", flagged_by="t", flagged_how="t")
REQUEST = Request(POST, QUICK)
QUERY = EvidenceQuery(("harbour",), "harbour")
FOUND = Found((passage(),))


@dataclass
class FakeEngine:
    """Answers at once, or never."""

    is_slow: bool = False
    fault: Exception | None = None
    asked: list[Request] = field(default_factory=list)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def suggest(self, request: Request, on_progress: Callable[[Progress], None]) -> Suggestion:
        """A suggestion for the post."""
        self.asked.append(request)
        self.begun.set()
        on_progress(Progress("reading", "It was read.", 0.1))
        try:
            if self.is_slow:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.fault:
            raise self.fault
        return suggestion_for(request.post)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose folders are the test's own."""
    return Settings(kb=KbSettings(cache_folder=str(tmp_path / "cache"), folder=str(tmp_path / "kb")))


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of the test's own; its name is short, since that of a socket must be."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture(autouse=True)
def starts(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The processes that would have been started; none is."""
    started: list[Path] = []

    async def start(arguments: list[str], path: Path) -> None:
        del arguments
        started.append(path)
        raise NoneWarmError("none")

    monkeypatch.setattr(asking, "_start", start)
    return started


@asynccontextmanager
async def kept(
    settings: Settings,
    engine: FakeEngine,
    idle_seconds: float = 600,
    fault: Exception | None = None,
    *,
    evidence: FakeEvidence | None = None,
    is_loading: bool = False,
) -> AsyncIterator[asyncio.Task[None]]:
    """The process, as a task of this one; ended at the end.

    Args:
        fault: what the language model's loading ends with.
        evidence: the knowledge base, which is there before; ``None`` if nothing is.
        is_loading: the language model is never ready.
    """

    @asynccontextmanager
    async def opening(tell: Callable[[str, int, int], None], know: OnKnowledge) -> AsyncIterator[Any]:
        if evidence:
            await know(evidence)
        tell("weights", 1, 2)
        if fault:
            raise fault
        if is_loading:
            await asyncio.Event().wait()
        yield engine

    models = WarmModels(key_of(settings), idle_seconds, opening)
    task = asyncio.create_task(models.serve(socket_of(own_folder())))
    while not task.done() and await standing(settings) is None:  # noqa: ASYNC110 - its socket is the only sign
        await asyncio.sleep(0)
    try:
        yield task
    finally:
        models.stop()
        with suppress(asyncio.CancelledError):
            await asyncio.wait_for(task, GUARD_SECONDS)


async def ask(settings: Settings, steps: list[Progress] | None = None) -> Suggestion:
    """What a command does."""
    heard = [] if steps is None else steps
    return await suggest(
        settings, None, REQUEST, on_start=lambda: None, on_preparing=lambda *_: None, on_progress=heard.append
    )


async def test_it_answers_again_and_again_as_the_engine_does(settings: Settings, starts: list[Path]) -> None:
    """The drafts, and the steps on the way, come as they would in the command's own process."""
    engine, steps = FakeEngine(), list[Progress]()
    async with kept(settings, engine):
        assert [await ask(settings, steps) for _ in range(3)] == [suggestion_for(POST)] * 3
        told = await standing(settings)
    assert engine.asked == [REQUEST] * 3
    assert [step.detail for step in steps] == ["It was read."] * 3
    assert told is not None
    assert (told.process, told.drafted, told.fits, told.is_loaded) == (os.getpid(), 3, True, True)
    assert not starts


async def test_a_search_does_not_wait_for_the_language_model(settings: Settings, starts: list[Path]) -> None:
    """It takes half a minute to load, and a search needs none of it; nothing was drafted."""
    evidence = FakeEvidence(FOUND.passages)
    async with kept(settings, FakeEngine(), evidence=evidence, is_loading=True):
        assert await search_by_models(settings, None, QUERY, is_warm=True) == FOUND
        told = await standing(settings)
    assert evidence.asked == [QUERY]
    assert told is not None
    assert (told.drafted, told.is_loaded) == (0, False)
    assert not starts


@pytest.mark.parametrize("fault", [None, ModelUnavailable("No weights.", remedy="Get some.")])
async def test_a_search_is_answered_before_the_language_model_is_loaded(
    settings: Settings, fault: ModelUnavailable | None
) -> None:
    """While it loads, the process can do nothing else; if it cannot be loaded, the knowledge base is there even so."""
    ready, evidence, asked_before = asyncio.Event(), FakeEvidence(FOUND.passages), list[int]()

    @asynccontextmanager
    async def opening(tell: Callable[[str, int, int], None], know: OnKnowledge) -> AsyncIterator[Any]:
        tell("prompts", 0, 1)
        await ready.wait()
        await know(evidence)
        asked_before.append(len(evidence.asked))
        if fault:
            raise fault
        yield FakeEngine()

    models, path = WarmModels(key_of(settings), 600, opening), socket_of(own_folder())
    task = asyncio.create_task(models.serve(path))
    while await standing(settings) is None:  # noqa: ASYNC110 - its socket is the only sign
        await asyncio.sleep(0)
    reader, writer = await asyncio.open_unix_connection(path)
    put(writer, Ask(key_of(settings), QUERY))
    said = await take(reader)
    ready.set()
    while isinstance(said, Alive):
        said = await asyncio.wait_for(take(reader), GUARD_SECONDS)
    assert said == Done(FOUND)
    assert asked_before == [1]
    writer.close()
    models.stop()
    await asyncio.wait_for(task, GUARD_SECONDS)


async def test_a_fault_of_the_knowledge_base_reaches_the_person(settings: Settings) -> None:
    """Another process would meet it, too."""
    async with kept(settings, FakeEngine(), evidence=FakeEvidence(is_down=True), is_loading=True):
        with pytest.raises(IndexUnavailable, match="The fake index is down"):
            await search(settings, None, QUERY, on_start=lambda: None)


@pytest.mark.parametrize(
    ("is_warm", "minutes", "started", "said"),
    [(False, 5, 0, ""), (True, 0, 0, ""), (True, 5, 1, "The knowledge base is searched without them.")],
    ids=["not wanted", "switched off", "cannot be started"],
)
async def test_a_search_may_be_this_process_alone(
    settings: Settings, starts: list[Path], capsys: pytest.CaptureFixture[str], is_warm: bool, minutes: float,
    started: int, said: str,
) -> None:  # fmt: skip
    """It loads the embedding model itself; here there is none, which shows that it tried."""
    kb = settings.kb.model_copy(update={"embedding_model": str(own_folder() / "none")})
    alone = settings.model_copy(update={"llm": LlmSettings(warm_minutes=minutes), "kb": kb})
    with pytest.raises(IndexUnavailable, match="embedding model"):
        await search_by_models(alone, None, QUERY, is_warm=is_warm)
    assert starts == [socket_of(own_folder())] * started
    assert said in capsys.readouterr().err


async def test_other_settings_get_no_answer_and_end_it(settings: Settings, starts: list[Path]) -> None:
    """A draft by stale settings is worse than a slow one."""
    engine = FakeEngine()
    async with kept(settings, engine) as task:
        with pytest.raises(NoneWarmError):
            await ask(settings.model_copy(update={"llm": LlmSettings(context_tokens=4096)}))
        await asyncio.wait_for(task, GUARD_SECONDS)
    assert not engine.asked
    assert starts == [socket_of(own_folder())]
    assert not starts[0].exists()


async def test_what_the_engine_raises_reaches_the_person(settings: Settings) -> None:
    """With its remedy, and with what a translator needs."""
    fault = ModelUnavailable(sentence("It is {how}.", how="gone"), remedy=sentence("Start it."))
    async with kept(settings, FakeEngine(fault=fault)):
        with pytest.raises(ModelUnavailable) as caught:
            await ask(settings)
    assert (str(caught.value), caught.value.remedy) == ("It is gone. Start it.", "Start it.")
    assert isinstance(caught.value.message, Sentence)
    assert (caught.value.message.template, caught.value.message.values) == ("It is {how}.", {"how": "gone"})


async def test_models_that_cannot_be_loaded_end_it(settings: Settings) -> None:
    """Who waits hears why; the next command tries anew."""
    async with kept(settings, FakeEngine(), fault=ModelUnavailable("No weights.", remedy="Get some.")) as task:
        with pytest.raises((ModelUnavailable, NoneWarmError)):
            await ask(settings)
        await asyncio.wait_for(task, GUARD_SECONDS)


async def test_a_command_that_ends_takes_its_work_with_it(settings: Settings) -> None:
    """Ctrl-C must not leave a draft behind that nobody reads."""
    engine = FakeEngine(is_slow=True)
    async with kept(settings, engine):
        command = asyncio.create_task(ask(settings))
        await asyncio.wait_for(engine.begun.wait(), GUARD_SECONDS)
        command.cancel()
        await asyncio.wait_for(engine.cancelled.wait(), GUARD_SECONDS)


async def test_it_ends_by_itself(settings: Settings) -> None:
    """Memory is given back, and nothing is left in the folder that could be asked."""
    async with kept(settings, FakeEngine(), idle_seconds=0.01) as task:
        await asyncio.wait_for(task, GUARD_SECONDS)
    assert not socket_of(own_folder()).exists()


async def test_a_crash_in_the_middle_is_told(settings: Settings) -> None:
    """The command loads the models itself then."""
    engine = FakeEngine(fault=RuntimeError("a bug"))
    async with kept(settings, engine):
        with pytest.raises(NoneWarmError, match="stopped answering"):
            await ask(settings)


async def test_a_socket_that_a_killed_process_left(settings: Settings, starts: list[Path]) -> None:
    """Nobody listens there: a new process is started, and takes the place."""
    path = socket_of(own_folder())
    server = await asyncio.start_unix_server(lambda *_: None, path)
    server.close()
    assert path.is_socket()
    with pytest.raises(NoneWarmError):
        await ask(settings)
    assert starts == [path]
    async with kept(settings, FakeEngine()):
        assert await ask(settings) == suggestion_for(POST)


async def test_only_this_user_may_enter(settings: Settings, runtime: Path) -> None:
    """Folder and socket are closed to others; a folder that is open to them is not used."""
    async with kept(settings, FakeEngine()):
        assert socket_of(own_folder()).stat().st_mode & 0o077 == 0
        assert own_folder().stat().st_mode & 0o077 == 0
    (runtime / "antiphon").chmod(0o755)
    with pytest.raises(NoneWarmError, match="not this user's alone"):
        await ask(settings)


def test_the_key_changes_with_what_drafts_depend_on(settings: Settings, tmp_path: Path) -> None:
    """A setting, a secret, a document, the weights; a second look at the same things changes nothing."""
    keys = [key_of(settings)]
    assert key_of(settings) == keys[0]
    keys.append(key_of(settings.model_copy(update={"llm": LlmSettings(api_key="other")})))
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "library.sqlite").write_bytes(b"one")
    keys.append(key_of(settings))
    (tmp_path / "cache" / "models").mkdir(parents=True)
    (tmp_path / "cache" / "models" / "weights.gguf").write_bytes(b"two")
    keys.append(key_of(settings))
    assert len(set(keys)) == len(keys)
    assert not any("other" in key for key in keys)


def test_weights_that_come_change_nothing_for_a_model_behind_a_server(settings: Settings, tmp_path: Path) -> None:
    """Another command may fetch them just now; each look would find them grown, and nobody would be answered."""
    behind = LlmSettings(backend="server", base_url="http://127.0.0.1:1/v1", model="m")
    settings = settings.model_copy(update={"llm": behind})
    key = key_of(settings)
    (tmp_path / "cache" / "models").mkdir(parents=True)
    (tmp_path / "cache" / "models" / "weights.gguf").write_bytes(b"two")
    assert key_of(settings) == key


def test_nothing_is_said_without_a_login_session(tmp_path: Path) -> None:
    """As root and in a service nobody sets the runtime folder: the temporary one will do, without a warning."""
    call = "from bot.cli.drafting.warm.place import own_folder; print(own_folder())"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", call], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith("antiphon")
    assert run.stderr == ""
