"""The composition root of the model servers that a worker starts: settings in, running servers out, stopped at the end.

Owns which servers ``[vllm]`` describes, their ports and key, and what the engine is told of them.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from bot.compose.application import worker_name
from bot.compose.settings.drafting import VllmSettings
from bot.compose.settings.settings import Settings
from bot.drafting.queue import Backoff
from bot.serving.vllm.adapters import Adapter, read_adapter
from bot.serving.vllm.keeping import Keeper
from bot.serving.vllm.options import ServerOptions, check_arguments, default_name
from bot.serving.vllm.server import OnMeasured, Rhythm, Tell, VllmServer
from bot.serving.vllm.versions import vllm_version
from core.errors import BadSettings

_FIRST_PAUSE_SECONDS: Final = 5.0
_LONGEST_PAUSE_SECONDS: Final = 300.0
_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Served:
    """A model on one of the servers: its address, and its name there."""

    base_url: str
    name: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is started, and who asks whom.

    Attributes:
        servers: in the order in which they are started.
        writer: what writes.
        judge: what judges; ``None`` where the writer does, or a server of ``[judge]``.
    """

    servers: tuple[ServerOptions, ...]
    writer: Served
    judge: Served | None


def plan_of(settings: Settings) -> Plan:
    """The servers that ``[vllm]`` describes. Reads the adapters, and starts nothing.

    Raises:
        BadSettings: there is no model, an adapter cannot be read, an argument is refused, two models have one name, or
            two places of the settings name a judge.
    """
    wanted = settings.vllm
    if not wanted.model:
        raise BadSettings(
            "There is no model to serve.",
            remedy="Set vllm.model: a name on the hub, such as Qwen/Qwen2.5-7B-Instruct, or a folder. "
            "docs/running/gpu.md helps to choose.",
        )
    if settings.judge.base_url and (wanted.judge_model or wanted.judge_adapter):
        raise BadSettings(
            "Two judges are named: judge.base_url is set, and so is vllm.judge_model or vllm.judge_adapter.",
            remedy="Take one of them away.",
        )
    check_arguments(wanted.arguments)
    writes, judges = _adapters(wanted.adapter), _adapters(wanted.judge_adapter)
    if wanted.judge_model:
        first, second = _writing(wanted, writes), _judging(wanted, judges)
        if first.name == second.name:
            raise BadSettings(
                f"The model that writes and the one that judges would both be called {first.name}.",
                remedy="Set vllm.served_name; one model for both needs no vllm.judge_model.",
            )
        return Plan((first, second), _served(first, writes), _served(second, judges))
    only = _writing(wanted, tuple(dict.fromkeys(writes + judges)))
    writer, judge = _served(only, writes), _served(only, judges)
    return Plan((only,), writer, judge if judge != writer and not settings.judge.base_url else None)


def _writing(wanted: VllmSettings, adapters: tuple[Adapter, ...]) -> ServerOptions:
    return ServerOptions(
        model=_model(wanted.model),
        revision=wanted.revision,
        name=wanted.served_name or default_name(wanted.model),
        port=wanted.port,
        gpu_memory=wanted.gpu_memory,
        max_model_len=wanted.max_model_len,
        max_logprobs=wanted.max_logprobs,
        adapters=adapters,
        arguments=wanted.arguments,
        program=_program(wanted.program),
    )


def _judging(wanted: VllmSettings, adapters: tuple[Adapter, ...]) -> ServerOptions:
    return ServerOptions(
        model=_model(wanted.judge_model),
        revision=wanted.judge_revision,
        name=default_name(wanted.judge_model),
        port=wanted.port + 1,
        gpu_memory=wanted.judge_gpu_memory,
        max_model_len=wanted.max_model_len,
        max_logprobs=wanted.max_logprobs,
        adapters=adapters,
        arguments=wanted.arguments,
        program=_program(wanted.program),
    )


def _served(options: ServerOptions, adapters: tuple[Adapter, ...]) -> Served:
    """The model with its adapter, where it has one."""
    return Served(options.base_url, adapters[0].name if adapters else options.name)


def _adapters(*folders: str) -> tuple[Adapter, ...]:
    return tuple(read_adapter(Path(folder).expanduser()) for folder in folders if folder)


def _model(model: str) -> str:
    """A folder as an absolute path, or a name on the hub as it is."""
    folder = Path(model).expanduser()
    return str(folder.resolve()) if folder.is_dir() else model


def _program(program: str) -> str:
    return str(Path(program).expanduser()) if "/" in program else program


@asynccontextmanager
async def open_servers(
    settings: Settings, tell: Tell, rhythm: Rhythm | None = None, on_measured: OnMeasured | None = None
) -> AsyncIterator[tuple[Settings, Keeper]]:
    """The servers, started and well, and the settings with which the engine asks them; all are stopped at the end.

    Args:
        tell: is told what happens to a server.
        rhythm: how long they are waited for, and how often looked at.
        on_measured: is told what a server does.

    Raises:
        BadSettings: as of ``plan_of``.
        ServerFailed: a server does not start.
    """
    plan = plan_of(settings)
    key = settings.llm.api_key.get_secret_value() or secrets.token_urlsafe(_KEY_BYTES)
    times = rhythm or Rhythm(start=settings.vllm.start_minutes * 60)
    folder = settings.cache_folder / "vllm"
    servers = [VllmServer(each, key, folder, tell, times, on_measured) for each in plan.servers]
    keeper = Keeper(servers, Backoff(worker_name(), _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS), tell)
    try:
        await keeper.start()
        yield asking(settings, plan, key), keeper
    finally:
        await keeper.stop()


def asking(settings: Settings, plan: Plan, key: str) -> Settings:
    """The settings in which the engine's models are those of the servers."""
    llm = {
        "backend": "server",
        "base_url": plan.writer.base_url,
        "model": plan.writer.name,
        "api_key": SecretStr(key),
    }
    changed: dict[str, object] = {"llm": settings.llm.model_copy(update=llm)}
    if plan.judge is not None:
        judge = {"base_url": plan.judge.base_url, "model": plan.judge.name, "api_key": SecretStr(key)}
        changed["judge"] = settings.judge.model_copy(update=judge)
    return settings.model_copy(update=changed)


async def check_versions(settings: Settings) -> dict[str, str]:
    """The versions of the servers of the settings that are vLLM, by their addresses.

    Raises:
        ModelUnavailable: one of them is too old. One that does not answer is for others to tell.
    """
    llm, judge = settings.llm, settings.judge
    asked = [(llm.base_url, llm.api_key)] if llm.backend == "server" else []
    asked += [(judge.base_url, judge.api_key)] if judge.base_url else []
    found = {url: await vllm_version(url, key.get_secret_value()) for url, key in asked}
    return {url: version for url, version in found.items() if version is not None}
