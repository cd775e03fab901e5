"""From [vllm] to servers, and to the settings that the engine then has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.compose.settings.loading import load_settings
from bot.compose.settings.settings import Settings
from bot.compose.vllm import Served, asking, check_versions, open_servers, plan_of
from core.errors import BadSettings, ModelUnavailable
from tests.fakes.vllm.standing_in import StandIn, adapter_in, free_port
from tests.integration.bot.serving.vllm.conftest import OFTEN

Load = Callable[..., Settings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Settings with these keys of [vllm], and more TOML."""

    def load(more: str = "", **keys: object) -> Settings:
        file = tmp_path / "config.toml"
        lines = [f"{name} = {value!r}".replace("True", "true") for name, value in keys.items()]
        cache = f"[kb]\ncache_folder = '{tmp_path / 'cache'}'\n"
        file.write_text("\n".join(["[vllm]", *lines, more if "[kb]" in more else f"{cache}{more}"]))
        return load_settings(file, {})

    return load


def test_one_model_writes_and_judges(load: Load) -> None:
    plan = plan_of(load(model="Org/Model-7B", revision="abc"))
    (server,) = plan.servers
    assert (server.name, server.revision, server.gpu_memory) == ("model-7b", "abc", 0.9)
    assert plan.writer == Served("http://127.0.0.1:8000/v1", "model-7b")
    assert plan.judge is None


def test_two_models_share_the_memory_on_two_ports(load: Load) -> None:
    plan = plan_of(load(model="a/w", gpu_memory=0.5, judge_model="b/j", judge_revision="r", judge_gpu_memory=0.4))
    writer, judge = plan.servers
    assert (writer.gpu_memory, judge.gpu_memory, writer.port, judge.port) == (0.5, 0.4, 8000, 8001)
    assert plan.judge == Served("http://127.0.0.1:8001/v1", "j")
    assert judge.revision == "r"


def test_each_adapter_has_its_task(load: Load, tmp_path: Path) -> None:
    """On one server the model without an adapter judges, unless the judge has one of its own."""
    writes, judges = adapter_in(tmp_path / "writes"), adapter_in(tmp_path / "judges", content=b"j")
    alone = plan_of(load(model="a/m", adapter=str(writes)))
    assert alone.writer.name == alone.servers[0].adapters[0].name
    assert alone.judge == Served(alone.writer.base_url, "m")
    both = plan_of(load(model="a/m", adapter=str(writes), judge_adapter=str(judges)))
    assert both.judge is not None
    assert [one.name for one in both.servers[0].adapters] == [both.writer.name, both.judge.name]
    same = plan_of(load(model="a/m", adapter=str(writes), judge_adapter=str(writes)))
    assert (len(same.servers[0].adapters), same.judge) == (1, None)
    apart = plan_of(load(model="a/m", gpu_memory=0.5, judge_model="b/j", judge_adapter=str(judges)))
    assert [len(one.adapters) for one in apart.servers] == [0, 1]


def test_an_adapter_is_asked_by_its_name(load: Load, tmp_path: Path) -> None:
    """It writes, and the model alone is asked nothing."""
    settings = load(model="a/m", adapter=str(adapter_in(tmp_path / "writes")))
    plan = plan_of(settings)
    assert plan.writer.name.startswith("writes-")
    assert asking(settings, plan, "k").llm.model == plan.writer.name


@pytest.mark.parametrize(
    ("keys", "more", "says"),
    [
        ({}, "", "no model to serve"),
        ({"model": "a/m", "judge_model": "b/m", "gpu_memory": 0.5}, "", "both be called m"),
        ({"model": "a/m", "arguments": ["--host", "0.0.0.0"]}, "", "must not hold --host"),
        ({"model": "a/m", "adapter": "nowhere"}, "", "no adapter in nowhere"),
        (
            {"model": "a/m", "judge_model": "b/j", "gpu_memory": 0.5},
            "[judge]\nbase_url = 'http://x/v1'\nmodel = 'j'",
            "Two judges",
        ),
    ],
)
def test_what_cannot_be_started_is_told_first(load: Load, keys: dict[str, object], more: str, says: str) -> None:
    with pytest.raises(BadSettings, match=says):
        plan_of(load(more, **keys))


def test_two_servers_that_do_not_fit_are_refused_with_the_settings(load: Load) -> None:
    with pytest.raises(BadSettings, match="gpu_memory"):
        load(model="a/m", judge_model="b/j")


async def test_the_engine_asks_what_was_started(load: Load, tmp_path: Path) -> None:
    """With a key that was made for this start, and in the environment of the server alone."""
    stand_in, told = StandIn(tmp_path / "program"), list[str]()
    settings = load(model="a/m", port=free_port(), program=str(stand_in.path))
    async with open_servers(settings, told.append, OFTEN) as (asking, _):
        assert asking.llm.backend == "server"
        assert asking.llm.base_url == f"http://127.0.0.1:{settings.vllm.port}/v1"
        assert asking.llm.model == "m"
        key = asking.llm.api_key.get_secret_value()
        assert (key == stand_in.starts[0]["environment"]["VLLM_API_KEY"], len(key) > 40) == (True, True)
        assert key not in " ".join([*told, *stand_in.starts[0]["arguments"]])
        assert await check_versions(asking) == {asking.llm.base_url: "0.32.0"}
        stand_in.does(version="0.11.2")
        with pytest.raises(ModelUnavailable, match=r"too old: version 0\.11\.2") as caught:
            await check_versions(asking)
        assert "Install vLLM" in caught.value.remedy
        stand_in.does(version="")
        assert await check_versions(asking) == {}
    assert not stand_in.is_left()
    assert await check_versions(asking) == {}


async def test_a_second_server_that_does_not_start_takes_the_first_one_down(load: Load, tmp_path: Path) -> None:
    stand_in = StandIn(tmp_path / "program")
    port = free_port()
    settings = load(model="a/m", judge_model="b/j", gpu_memory=0.5, port=port, program=str(stand_in.path))
    judge = StandIn(tmp_path / "judge")
    judge.does(prints="Repository Not Found\n", exits=1)
    stand_in.path.write_text(
        f'#!/bin/sh\ncase "$*" in *"b/j"*) exec "{judge.path}" "$@";; esac\n'
        + stand_in.path.read_text().partition("\n")[2]
    )
    with pytest.raises(ModelUnavailable, match="b/j does not run: the model was not found"):
        async with open_servers(settings, lambda _: None, OFTEN):
            pytest.fail("it was opened")
    assert not stand_in.is_left()
