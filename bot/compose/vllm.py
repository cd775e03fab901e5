"""The vLLM server of ``antiphon worker --serve``: started, waited for, started again where it ends, and stopped.

vLLM is a program that is started, and is never imported. It may not listen beyond this machine, run code of a model,
log a prompt, or see a secret of Antiphon's. ``antiphon doctor`` says whether it answers as it should; its own log says
why it does not start.
"""

import asyncio
import contextlib
import json
import math
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
from pydantic import SecretStr

from bot.settings import Settings, VllmSettings
from core.errors import BadSettings, ModelUnavailable, StoreUnavailable, Unavailable

HOST: Final = "127.0.0.1"
STEADY_SECONDS: Final = 300.0  # after so long a time without a fault the pauses begin with the shortest again
_OURS: Final = tuple(
    """
    --allow-credentials --allowed-headers --allowed-methods --allowed-origins --api-key --config
    --disable-fastapi-docs --enable-log-outputs --enable-log-requests --enable-lora --enable-sleep-mode
    --generation-config --gpu-memory-utilization --grpc --headless --host --log-config-file --log-error-stack
    --log-level --logging-config --lora-modules --max-log-len --max-logprobs --max-model-len --middleware --model
    --no-enable-prefix-caching --port --revision --root-path --served-model-name --ssl-certfile --ssl-keyfile
    --structured-outputs-config --tokenizer-revision --trust-remote-code --uds
    """.split()
)
"""What a person must not set: it has a key of its own in [vllm], or would break a promise of this module."""
_STRUCTURED: Final = json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})
"""Without this a small model fills its answer with blanks, which any JSON may hold, up to the limit of its tokens."""
_REFUSED: Final = ("ANTIPHON_", "VLLM_ALLOW_RUNTIME_LORA", "VLLM_DEBUG_", "VLLM_LOGGING_CONFIG_", "VLLM_SERVER_DEV_")

Tell = Callable[[str], None]  # what happens to the server, in sentences for the person who runs the worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """Seconds between two questions for its health, for its end, and before each new start; ``misses`` in a row."""

    health: float = 5.0
    misses: int = 3
    stop: float = 6.0
    pauses: tuple[float, ...] = (5.0, 15.0, 60.0, 300.0)


@asynccontextmanager
async def open_server(settings: Settings, tell: Tell, rhythm: Rhythm | None = None) -> AsyncIterator[Settings]:
    """The server of ``[vllm]``, kept up, as the settings with which the engine asks it; it is stopped at the end.

    Raises:
        BadSettings: as of ``command_line``.
        ModelUnavailable: it does not start.
        StoreUnavailable: its log cannot be written.
    """
    key = settings.llm.api_key.get_secret_value() or secrets.token_urlsafe(32)
    log = settings.cache_folder / "vllm" / f"server-{settings.vllm.port}.log"
    server = VllmServer(settings.vllm, key, log, tell, rhythm or Rhythm())
    changes = {"backend": "server", "base_url": f"{server.root}/v1", "model": server.asked, "api_key": SecretStr(key)}
    await server.start()
    keeping = asyncio.create_task(server.keep_up())
    try:
        yield settings.model_copy(update={"llm": settings.llm.model_copy(update=changes)})
    finally:
        keeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeping
        await server.stop()


def served_as(vllm: VllmSettings) -> str:
    """What the server calls the model; an adapter is called as its folder is."""
    return vllm.served_name or Path(vllm.model).name.lower()


def command_line(vllm: VllmSettings) -> list[str]:
    """``vllm serve`` with every option. The key is not among them: other users can read a command line.

    Raises:
        BadSettings: there is no model, no adapter in safetensors, or an argument is refused; vLLM takes an option by
            the beginning of its name, too.
    """
    if not vllm.model:
        what = "a name on the hub, such as Qwen/Qwen2.5-7B-Instruct, or a folder. docs/running/gpu.md helps to choose."
        raise BadSettings("There is no model to serve.", remedy=f"Set vllm.model: {what}")
    for word in vllm.arguments:
        option = "--" + word.split("=")[0].lstrip("-").replace("_", "-").split(".")[0]
        if word.startswith("--") and any(ours.startswith(option) for ours in _OURS):
            raise BadSettings(
                f"vllm.arguments must not hold {word.split('=')[0]}.",
                remedy="Take it away. [vllm] has keys of its own for model, memory, length, port and adapter; the "
                "other options of this kind would open the server to others, run a model's code or log posts.",
            )
    folder, adapter = Path(vllm.model).expanduser(), Path(vllm.adapter).expanduser().resolve()
    words = [
        str(Path(vllm.program).expanduser()) if "/" in vllm.program else vllm.program,
        "serve", str(folder.resolve()) if folder.is_dir() else vllm.model, *vllm.arguments,
        "--host", HOST,
        "--port", str(vllm.port),
        "--served-model-name", served_as(vllm),
        "--max-model-len", str(vllm.max_model_len),
        "--max-logprobs", "20",
        "--gpu-memory-utilization", f"{vllm.gpu_memory:g}",
        "--generation-config", "vllm",
        "--enable-prefix-caching",
        "--structured-outputs-config", _STRUCTURED,
        "--disable-fastapi-docs",
        "--disable-uvicorn-access-log",
        "--no-enable-log-requests",
    ]  # fmt: skip
    if vllm.revision:
        words += ["--revision", vllm.revision, "--tokenizer-revision", vllm.revision]
    if vllm.adapter and not (adapter / "adapter_model.safetensors").is_file():
        what = "A pickled file can run code, and is not taken: PEFT's save_pretrained writes adapter_model.safetensors."
        raise BadSettings(f"There is no adapter in {adapter}.", remedy=what)
    return [*words, "--enable-lora", "--lora-modules", f"{adapter.name}={adapter}"] if vllm.adapter else words


def environment(variables: Mapping[str, str], key: str, start_seconds: float) -> dict[str, str]:
    """The server's environment: the worker's own, without Antiphon's secrets and without what would open the server.

    ``start_seconds``: how long it may wait for its own engine; by itself it waits for ten minutes.
    """
    kept = {name: value for name, value in variables.items() if not name.upper().startswith(_REFUSED)}
    kept.setdefault("VLLM_COMPUTE_NANS_IN_LOGITS", "1")  # otherwise it counts no corrupted answers
    own = {"VLLM_API_KEY": key, "VLLM_ENGINE_READY_TIMEOUT_S": str(math.ceil(start_seconds))}
    hushed = {"VLLM_LOGGING_LEVEL": "INFO"}  # at DEBUG it logs prompts
    return kept | own | hushed | {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


class VllmServer:
    """A server in a group of processes of its own. ``log`` is what it prints; that of the start before is kept."""

    def __init__(self, vllm: VllmSettings, key: str, log: Path, tell: Tell, rhythm: Rhythm) -> None:
        self.root: Final = f"http://{HOST}:{vllm.port}"
        self.asked: Final = Path(vllm.adapter).expanduser().resolve().name if vllm.adapter else served_as(vllm)
        self._vllm, self._key, self._log, self._tell, self._rhythm = vllm, key, log, tell, rhythm
        self._command, self._seconds = command_line(vllm), vllm.start_minutes * 60
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it is healthy. Whatever fails, or is cancelled, leaves no process.

        Raises:
            ModelUnavailable: it does not start.
            StoreUnavailable: its log cannot be written.
        """
        with socket.socket() as place:  # otherwise whoever listens there would be taken for it
            if place.connect_ex((HOST, self._vllm.port)) == 0:
                remedy = "Stop what listens there, or set vllm.port to a free port."
                raise ModelUnavailable(f"vLLM cannot listen on {self.root}: the port is taken.", remedy=remedy)
        self._tell(f"Starting vLLM with {self._vllm.model} on {self.root}; its log is {self._log}.")
        process = self._process = await self._begun()
        what, remedy = "", f"Its log says why: {self._log}"
        try:
            async with asyncio.timeout(self._seconds):
                while not what and not await self._is_healthy():
                    await asyncio.sleep(min(1.0, self._rhythm.health))
                    what = "" if process.returncode is None else f"ended with the code {process.returncode}"
        except TimeoutError:
            what = f"was not ready within {self._vllm.start_minutes:g} minutes (vllm.start_minutes)"
        except BaseException:
            await self.stop()
            raise
        if what:
            await self.stop()
            raise ModelUnavailable(f"The model server for {self._vllm.model} {what}.", remedy=remedy)
        self._tell(f"{served_as(self._vllm)} is ready.")

    async def keep_up(self) -> None:
        """Start it again, after pauses that grow, whenever it has ended or is not healthy; until this is cancelled."""
        now, faults = asyncio.get_running_loop().time, 0
        while True:
            began = now()
            self._tell(f"The model server {await self._until_unwell()}.")
            faults = 0 if now() - began >= STEADY_SECONDS else faults
            await self.stop()
            while self._process is None:
                seconds = self._rhythm.pauses[min(faults, len(self._rhythm.pauses) - 1)]
                faults += 1
                self._tell(f"It is started again in {seconds:.0f} s.")
                await asyncio.sleep(seconds)
                try:
                    await self.start()
                except Unavailable as err:
                    self._tell(str(err))

    async def stop(self) -> None:
        """End it, with all its processes; a second call does nothing."""
        process, self._process = self._process, None
        for sent, seconds in ((signal.SIGTERM, self._rhythm.stop), (signal.SIGKILL, None)):  # the engine may outlive it
            with contextlib.suppress(ProcessLookupError, TimeoutError):
                if process is not None:
                    os.killpg(process.pid, sent)
                    async with asyncio.timeout(seconds):
                        await process.wait()

    async def _begun(self) -> asyncio.subprocess.Process:
        try:
            self._log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._log.exists():
                self._log.replace(self._log.with_suffix(".before.log"))
            log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as err:
            remedy = "Make room or give the rights, or set kb.cache_folder to another place."
            raise StoreUnavailable(f"The log {self._log} cannot be written: {err.strerror}.", remedy=remedy) from err
        try:
            return await asyncio.create_subprocess_exec(
                *self._command, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment(os.environ, self._key, self._seconds),
                start_new_session=True,  # Ctrl-C in the terminal is for the worker, which stops the server in order
            )  # fmt: skip
        except OSError as err:
            remedy = "Install vLLM (docs/running/gpu.md), or name its program with vllm.program."
            raise ModelUnavailable(f"{self._command[0]} cannot be started: {err.strerror}.", remedy=remedy) from err
        finally:
            os.close(log)

    async def _is_healthy(self) -> bool:
        limit = aiohttp.ClientTimeout(total=2 * self._rhythm.health)
        with contextlib.suppress(aiohttp.ClientError, OSError):
            async with aiohttp.ClientSession(timeout=limit) as asking, asking.get(f"{self.root}/health") as answer:
                return answer.status == 200
        return False

    async def _until_unwell(self) -> str:
        """Watch it until it has ended or was not healthy several times in a row; which of both."""
        process, misses = self._process, 0
        while process is not None and process.returncode is None and misses < self._rhythm.misses:
            misses = 0 if await self._is_healthy() else misses + 1
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._rhythm.health):
                    await process.wait()
        code = process.returncode if process else None
        return "is not healthy" if code is None else f"ended with the code {code}"
