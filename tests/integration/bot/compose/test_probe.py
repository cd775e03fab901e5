"""The probe is there beside the weights that it was fitted for, and left out without ending the start."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bot.compose import engine
from bot.compose.engine import open_engine, open_model
from bot.compose.settings.loading import load_settings
from bot.compose.settings.settings import Settings
from core.errors import IndexUnavailable
from core.ports import Generation, Message


@pytest.fixture
def settings(weights: Path, tmp_path: Path) -> Settings:
    """The embedded model, small."""
    file = tmp_path / "config.toml"
    file.write_text(
        f"[llm]\nmodel_path = '{weights}'\ncontext_tokens = 2048\nparallel = 2\nthreads = 1\n"
        f"[kb]\ncache_folder = '{tmp_path / 'cache'}'\n"
    )
    return load_settings(file, {})


@pytest.fixture
def unprepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """No prompt is read beforehand: it takes longest, and the next call would only be slower without it."""
    monkeypatch.setattr(engine, "warm", lambda *of, **told: None)


async def test_the_engine_reads_with_it_where_the_model_that_ships_runs(settings: Settings) -> None:
    async with open_engine(settings) as opened:
        assert opened.probe is not None
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
            assert model.hidden is None
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
            assert model.hidden is None
            assert (await model.generate([Message("user", "Say yes.")], Generation(max_tokens=2), 120)).texts
    assert "Hidden states are left out" in caplog.text
