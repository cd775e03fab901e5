"""The embedded model is loaded when it is needed. The probe is there beside its weights, or left out."""

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from bot.compose import engine
from bot.compose.engine import open_engine, open_model
from bot.settings import Settings, load_settings
from core.engine.backends import embedded
from core.engine.backends.embedded import EmbeddedModel
from core.engine.ports import Generation, Message
from core.engine.servers.chat import ChatModel
from core.errors import IndexUnavailable, ModelUnavailable, NoLanguageModel


@pytest.fixture
def settings(small_weights: Path, tmp_path: Path) -> Settings:
    return _over(small_weights, tmp_path)


def _over(weights: Path, tmp_path: Path) -> Settings:
    file = tmp_path / "config.toml"
    file.write_text(
        f"[llm]\nmodel_path = '{weights}'\ncontext_tokens = 2048\nparallel = 2\nthreads = 1\n"
        f"[kb]\ncache_folder = '{tmp_path / 'cache'}'\n"
    )
    return load_settings(file, {})


@pytest.fixture
def unprepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """No prompt is read beforehand: it takes longest, and the next call would only be slower without it."""
    monkeypatch.setattr(embedded, "warm", lambda *of, **told: None)


@pytest.mark.usefixtures("unprepared")
async def test_the_engine_reads_with_it_where_the_model_that_ships_runs(weights: Path, tmp_path: Path) -> None:
    async with open_engine(_over(weights, tmp_path)) as opened:
        assert opened.probe is not None
        assert await opened.probe.read("They never work.", "en", 60) is None  # nothing is loaded yet
        await opened.ready()
        assert await opened.probe.read("They never work.", "en", 60) is not None


@pytest.mark.usefixtures("unprepared")
@pytest.mark.parametrize("fault", [None, IndexUnavailable("The weights of a reader cannot be read."), OSError("full")])
async def test_other_weights_or_a_damaged_file_leave_it_out(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception | None
) -> None:
    """Nothing else is lost: the small readers read alone."""

    def adapter(weights: Path, folder: Path) -> None:
        if fault is not None:
            raise fault

    monkeypatch.setattr(engine, "adapter_for", adapter)
    with caplog.at_level(logging.WARNING):
        async with open_model(settings) as model:
            await model.ready()
            assert model.hidden is not None
            assert model.hidden.of("They never work.") is None
    assert ("Hidden states are left out" in caplog.text) is (fault is not None)


@pytest.mark.usefixtures("unprepared")
async def test_an_adapter_that_cannot_be_loaded_leaves_it_out(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """The model that writes is there all the same."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF, or what is left of it")
    monkeypatch.setattr(engine, "adapter_for", lambda weights, folder: broken)
    with caplog.at_level(logging.WARNING):
        async with open_model(settings) as model:
            assert (await model.generate([Message("user", "Say yes.")], Generation(max_tokens=2), 120)).texts
            assert model.hidden is not None
            assert model.hidden.of("They never work.") is None
    assert "Hidden states are left out" in caplog.text


def test_a_file_of_weights_that_is_not_there_is_told_at_once(settings: Settings, tmp_path: Path) -> None:
    """The operator's own; nobody need wait for a first draft to learn of it."""
    gone = settings.llm.model_copy(update={"model_path": str(tmp_path / "gone.gguf")})

    async def opened() -> None:
        async with open_model(settings.model_copy(update={"llm": gone})):
            pass

    with pytest.raises(ModelUnavailable, match=r"There is no file .*gone.gguf"):
        asyncio.run(opened())


async def test_it_is_loaded_once_whoever_stops_waiting(tmp_path: Path) -> None:
    """Ctrl-C of one call ends no loading that others wait for; a fault is told to each, and not looked for again."""
    asked, go_on, begun = list[str](), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def find() -> Path:
        asked.append("weights")
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(30)
        raise ModelUnavailable("There are none.")

    def client(_: object) -> ChatModel:
        raise AssertionError("There is no server to ask.")

    async with EmbeddedModel(
        find, lambda _: None, tmp_path, [], client, context_tokens=512, parallel=1, threads=1, on_prompt=lambda *_: None
    ) as model:
        first = asyncio.create_task(model.ready())
        await begun.wait()
        first.cancel()
        await asyncio.wait([first])
        assert first.cancelled()
        second = asyncio.create_task(model.generate([Message("user", "Say yes.")], Generation(max_tokens=2), 120))
        go_on.set()
        with pytest.raises(NoLanguageModel, match="There are none"):  # which counts as no call
            await second
        with pytest.raises(ModelUnavailable, match="There are none"):
            await model.ready()
    assert asked == ["weights"]
