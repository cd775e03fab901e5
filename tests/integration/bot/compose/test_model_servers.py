"""What the model servers of the settings become: what is said of each, and the model that is opened over them."""

import socket
from collections.abc import Iterator

import pytest

from bot.compose.engine import open_judge, open_model
from bot.compose.models import server_states
from bot.settings import JudgeSettings, LlmSettings, Settings
from core.engine.ports import Generation, Message
from core.engine.servers import health
from core.engine.servers.errors import Trouble
from core.engine.servers.protocol import Call
from tests.fakes.machine.model_server import MODEL, Silence, StandIn

ASK = [Message("system", "Answer briefly."), Message("user", "A or B?")]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A short limit: the tests wait for it."""
    monkeypatch.setattr(health, "SECONDS", 0.7)
    yield


def _settings(address: str, judge: str = "") -> Settings:
    llm = LlmSettings(backend="server", base_url=address, model=MODEL, parallel=4)
    return Settings(llm=llm, judge=JudgeSettings(base_url=judge, model=MODEL))


async def test_the_state_of_each_server_is_told() -> None:
    """By section and address, that of the writer first: good, silent, refusing, and not there."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        async with (
            StandIn().running() as good,
            StandIn(trouble=Silence.ALL).running() as silent,
            StandIn(trouble=401).running() as refusing,
        ):
            states = [
                *await server_states(_settings(good.url, judge=refusing.url)),
                *await server_states(_settings(nobody, judge=silent.url)),
            ]
            of_judge = await server_states(_settings(good.url, judge=refusing.url), "judge")
    assert [(state.section, state.address) for state in states] == [
        ("llm", good.url), ("judge", refusing.url), ("llm", nobody), ("judge", silent.url),
    ]  # fmt: skip
    assert [state.is_away for state in states] == [False, False, True, True]
    assert [state.fault and state.fault.trouble for state in states] == [
        None, Trouble.REFUSED, Trouble.ABSENT, Trouble.ABSENT,
    ]  # fmt: skip
    assert [state.address for state in of_judge] == [refusing.url]


async def test_the_embedded_model_has_no_server() -> None:
    """Nothing is asked."""
    assert await server_states(Settings()) == []


async def test_model_and_judge_each_have_their_server() -> None:
    """Both are used, and each call is told once."""
    told = list[Call]()
    async with StandIn().running() as one, StandIn().running() as judging:
        settings = _settings(one.url, judge=judging.url)
        async with open_model(settings, on_call=told.append) as model, open_judge(settings, told.append) as judge:
            for number in range(4):
                await model.generate([Message("system", f"Task {number}."), ASK[1]], Generation(4), 30)
            assert judge is not None
            shares, _ = await judge.choose(ASK, ["A", "B"], 30)
    assert shares == {"A": 1.0, "B": 0.0}
    assert [call.server for call in told] == [*[one.url] * 4, judging.url]
    assert all(call.failed is None for call in told)
