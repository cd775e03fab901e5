"""A model server is asked before any model is loaded, so that a wrong one is told of at once."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.main import app
from bot.compose import engine
from core.engine.servers import health
from core.errors import ModelUnavailable
from tests.fakes.engine.servers.loopback import Given, Loopback, answering

POST = "Migrants only come here to live off our welfare."
LIST = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]})
LOOK, TRY, LOADED = "GET /v1/models", "POST /v1/chat/completions", "models loaded"


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What happens, in order; where models would be loaded, the command ends."""
    happened: list[str] = []

    @asynccontextmanager
    async def opened(*_: Any) -> AsyncIterator[None]:
        happened.append(LOADED)
        raise ModelUnavailable("This test loads none.", remedy="")
        yield

    monkeypatch.setattr(engine, "open_engine", opened)
    monkeypatch.setattr(health, "SECONDS", 1.0)
    yield happened


def _draft(server: Loopback, events: list[str], *words: str) -> Any:
    server.asked = events  # one order for both
    where = {"ANTIPHON__LLM__BACKEND": "server", "ANTIPHON__LLM__BASE_URL": server.url, "ANTIPHON__LLM__MODEL": "m"}
    return CliRunner().invoke(app, ["draft", *words, POST], env=where)


@pytest.mark.parametrize(
    ("routes", "otherwise", "asked", "said"),
    [
        ({}, None, [LOOK], "does not answer within"),
        ({}, (404, "no"), [LOOK, TRY], "is not an OpenAI-compatible server. Correct llm.base_url"),
        ({}, (401, "no"), [LOOK], "refuses the API key. Set ANTIPHON__LLM__API_KEY"),
    ],
    ids=["silent", "404 everywhere", "401"],
)
def test_a_server_of_no_use_is_told_before_anything_is_loaded(
    events: list[str], routes: Mapping[str, Given], otherwise: Given | None, asked: list[str], said: str
) -> None:
    """Exit code 4, one sentence, no drafts made without a model."""
    with answering(routes, otherwise) as server:
        done = _draft(server, events)
    assert (done.exit_code, done.stdout) == (4, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert events == asked


@pytest.mark.parametrize("given", [(200, LIST), (503, "busy"), (429, "busy")], ids=["good", "503", "429"])
def test_a_good_or_busy_server_is_gone_on_with(events: list[str], given: Given) -> None:
    """It is asked once, then the models are loaded."""
    with answering({"GET /models": given}) as server:
        done = _draft(server, events)
    assert events == [LOOK, LOADED]
    assert "This test loads none." in done.stderr


def test_what_no_model_is_needed_for_asks_no_server(events: list[str]) -> None:
    """A wrong call is told first."""
    with answering({}, None) as server:
        done = _draft(server, events, "--language", "de")
    assert done.exit_code == 2
    assert events == []
