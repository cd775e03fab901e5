"""Calls of models are counted by their servers, whose names hold no secret and do not change from start to start."""

import pytest
from pydantic import SecretStr

from bot.compose.operations import counted
from bot.settings import JudgeSettings, LlmSettings, Settings
from core.desk.runtime import metrics
from core.engine.servers.errors import Trouble
from core.engine.servers.protocol import Call

WRITER, JUDGE = "https://gpu.example:8000/v1", "http://judge.example/v1"
SETTINGS = Settings(
    llm=LlmSettings(backend="server", base_url=WRITER, model="m", api_key=SecretStr("hidden-word")),
    judge=JudgeSettings(base_url=JUDGE, model="j"),
)


def value(metric: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(f"antiphon_{metric}", labels) or 0.0


@pytest.mark.parametrize(
    ("settings", "address", "server"),
    [
        (SETTINGS, WRITER, "gpu.example:8000"),
        (SETTINGS, JUDGE, "judge.example"),
        (Settings(), "http://127.0.0.1:41234/v1", "embedded"),
    ],
    ids=["writer", "judge", "embedded"],
)
def test_a_call_is_counted_with_its_tokens_by_its_server(settings: Settings, address: str, server: str) -> None:
    def state() -> list[float]:
        return [
            value("model_calls_total", server=server, outcome="answered"),
            value("model_call_seconds_sum", server=server),
            value("model_tokens_total", server=server, kind="prompt"),
            value("model_tokens_total", server=server, kind="completion"),
        ]

    before = state()
    counted(settings)(Call(address, 2.5, prompt_tokens=100, answer_tokens=7))
    assert [now - then for now, then in zip(state(), before, strict=True)] == [1, 2.5, 100, 7]


@pytest.mark.parametrize("trouble", Trouble)
def test_a_failed_call_says_whether_the_server_is_away(trouble: Trouble) -> None:
    """One that is away is the operator's matter; and a call that failed is in no histogram of answers."""
    outcome = "away" if trouble in (Trouble.ABSENT, Trouble.BUSY, Trouble.REFUSED) else "failed"
    before = value("model_calls_total", server="gpu.example:8000", outcome=outcome)
    answers = value("model_call_seconds_count", server="gpu.example:8000")
    counted(SETTINGS)(Call(WRITER, 1.0, failed=trouble))
    assert value("model_calls_total", server="gpu.example:8000", outcome=outcome) == before + 1
    assert value("model_call_seconds_count", server="gpu.example:8000") == answers
