"""Is a model server there? Real servers on loopback: a good one, a busy one, a wrong one, a silent one."""

import json
from collections.abc import Iterator, Mapping

import pytest

from core.engine.servers import health
from core.engine.servers.errors import ServerFaults
from core.engine.servers.health import check_there
from core.errors import ModelUnavailable
from tests.fakes.engine.servers.loopback import Given, Loopback, answering
from tests.fakes.machine.clock import outlasting

LIST = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]})
UNKNOWN_MODEL = json.dumps({"error": {"message": "The model `m` does not exist.", "code": 404}})
NO_MESSAGES = json.dumps({"error": {"message": "messages: field required", "code": 400}})
LOOK, TRY = "GET /v1/models", "POST /v1/chat/completions"


async def _check(server: Loopback) -> None:
    await check_there(ServerFaults(server.url, "m", "llm"), "sk-canary")


@pytest.mark.parametrize(
    ("routes", "asked"),
    [
        ({"GET /models": (200, LIST)}, [LOOK]),
        ({"GET /models": (200, "[]")}, [LOOK]),  # a list of another form
        ({"GET /models": (429, "busy")}, [LOOK]),
        ({"GET /models": (503, "busy")}, [LOOK]),
        ({"GET /models": (500, "a fault")}, [LOOK]),
        ({"POST /chat/completions": (400, NO_MESSAGES)}, [LOOK, TRY]),
        ({"POST /chat/completions": (422, "{}")}, [LOOK, TRY]),
        ({"POST /chat/completions": (503, "busy")}, [LOOK, TRY]),
        ({"POST /chat/completions": (500, "a fault")}, [LOOK, TRY]),
        ({"GET /models": (405, ""), "POST /chat/completions": (400, NO_MESSAGES)}, [LOOK, TRY]),
    ],
    ids=["good", "another list", "429", "503", "500", "no list", "no list, 422", "busy", "no list, 500", "405"],
)
async def test_a_server_that_is_there(routes: Mapping[str, Given], asked: list[str]) -> None:
    """It passes, a busy one too; one without a list is asked once more, and no model is."""
    with answering(routes) as server:
        await _check(server)
    assert server.asked == asked


@pytest.mark.parametrize(
    ("routes", "asked", "said", "remedy"),
    [
        ({}, [LOOK, TRY], "not an OpenAI-compatible server", "llm.base_url"),
        ({"POST /chat/completions": (405, "")}, [LOOK, TRY], "not an OpenAI-compatible server", "ends with /v1"),
        ({"POST /chat/completions": (501, "")}, [LOOK, TRY], "not an OpenAI-compatible server", "ends with /v1"),
        ({"GET /models": (200, "<html>")}, [LOOK], "not an OpenAI-compatible server", "ends with /v1"),
        ({"POST /chat/completions": (404, "<p>m is not here")}, [LOOK, TRY], "not an OpenAI-compatible", "ends with"),
        ({"POST /chat/completions": (404, '{"detail": "no"}')}, [LOOK, TRY], "not an OpenAI-compatible", "ends with"),
        ({"GET /models": (401, "{}")}, [LOOK], "refuses the API key", "ANTIPHON__LLM__API_KEY"),
        ({"GET /models": (403, "{}")}, [LOOK], "refuses the API key", "ANTIPHON__LLM__API_KEY"),
        ({"POST /chat/completions": (401, "{}")}, [LOOK, TRY], "refuses the API key", "ANTIPHON__LLM__API_KEY"),
        ({"POST /chat/completions": (404, UNKNOWN_MODEL)}, [LOOK, TRY], "does not know the model 'm'", "llm.model"),
    ],
    ids=[
        "404",
        "404 and 405",
        "404 and 501",
        "a web page",
        "a 404 page",
        "a 404 in JSON",
        "401",
        "403",
        "no list, 401",
        "no such model",
    ],
)
async def test_a_server_that_is_of_no_use(
    routes: Mapping[str, Given], asked: list[str], said: str, remedy: str
) -> None:
    """A wrong address, a wrong key and a wrong model are told apart."""
    with answering(routes) as server, pytest.raises(ModelUnavailable, match=said) as caught:
        await _check(server)
    assert server.asked == asked
    assert remedy in caught.value.remedy
    assert "canary" not in str(caught.value)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A limit that no busy machine reaches; the tests put the clock forward."""
    monkeypatch.setattr(health, "SECONDS", 60)
    yield


async def test_a_silent_server() -> None:
    """It takes the connection and never answers: that is neither away nor a wrong address."""
    with answering({}, otherwise=None) as server, pytest.raises(ModelUnavailable) as caught:
        await outlasting(_check(server), 61, lambda: server.asked)
    assert server.asked == [LOOK]
    assert "takes a connection, but does not answer within 60 seconds" in caught.value.message
    assert "log" in caught.value.remedy


async def test_a_server_without_a_list_that_works_on_the_question() -> None:
    """It has the route, and has answered once: it is slow, not silent."""
    with answering({"POST /chat/completions": None}) as server:
        await outlasting(_check(server), 61, lambda: TRY in server.asked)
    assert server.asked == [LOOK, TRY]


async def test_a_server_that_nobody_started() -> None:
    """The address is named, and what to do."""
    with pytest.raises(ModelUnavailable, match=r"http://127.0.0.1:9/v1 cannot be reached") as caught:
        await check_there(ServerFaults("http://127.0.0.1:9/v1", "m", "judge"), "")
    assert "judge.base_url" in caught.value.remedy
