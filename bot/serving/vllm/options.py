"""What one vLLM server is started with: its command line and its environment.

Owns every option that Antiphon depends on. Must never let the server listen beyond this machine, run code of a model,
log a prompt, sleep, or see a secret of Antiphon's. vLLM's own guide on security says what its key does not guard.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.serving.vllm.adapters import Adapter, rank_option
from core.errors import BadSettings

HOST: Final = "127.0.0.1"
_OURS: Final = tuple(
    """
    --allow-credentials --allowed-headers --allowed-methods --allowed-origins --api-key --config
    --disable-fastapi-docs --enable-log-outputs --enable-log-requests --enable-lora --enable-prefix-caching
    --enable-sleep-mode --generation-config --gpu-memory-utilization --grpc --headless --host --log-config-file
    --log-error-stack --log-level --logging-config --lora-modules --max-log-len --max-logprobs --max-lora-rank
    --max-loras --max-model-len --middleware --model --no-enable-prefix-caching --port --revision --root-path
    --served-model-name --ssl-certfile --ssl-keyfile --structured-outputs-config --tokenizer-revision
    --trust-remote-code --uds
    """.split()
)
"""Options that a person must not set: they have a key of their own in [vllm], or would break a promise of this room."""
_STRUCTURED: Final = json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})
"""Without this a small model fills its answer with blanks, which any JSON may hold, up to the limit of its tokens."""
_REFUSED_VARIABLES: Final = frozenset(
    {
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING", "VLLM_DEBUG_LOG_API_SERVER_RESPONSE", "VLLM_LOGGING_CONFIG_PATH",
        "VLLM_SERVER_DEV_MODE",
    }
)  # fmt: skip
_OWN_PREFIX: Final = "ANTIPHON_"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """One server.

    Attributes:
        model: a name on the hub, or a folder.
        revision: the commit on the hub; "" takes the newest.
        name: what the server calls the model.
        gpu_memory: the share of the GPU's memory that it may take, in (0, 1].
        max_model_len: tokens of the longest prompt with its answer.
        max_logprobs: the most log-probabilities that a call may ask for.
        port: on the loopback interface.
        adapters: LoRA adapters that it loads beside the model.
        arguments: more arguments of ``vllm serve``.
        program: the program to start.
    """

    model: str
    name: str
    port: int
    revision: str = ""
    gpu_memory: float = 0.9
    max_model_len: int = 8192
    max_logprobs: int = 20
    adapters: tuple[Adapter, ...] = ()
    arguments: tuple[str, ...] = ()
    program: str = "vllm"

    @property
    def root(self) -> str:
        """The address without ``/v1``."""
        return f"http://{HOST}:{self.port}"

    @property
    def base_url(self) -> str:
        """The address of the OpenAI routes."""
        return f"{self.root}/v1"

    @property
    def names(self) -> tuple[str, ...]:
        """What the server knows the model by, alone and with each adapter."""
        return (self.name, *(adapter.name for adapter in self.adapters))


def command_line(options: ServerOptions) -> list[str]:
    """``vllm serve`` with every option. The key is not among them: other users can read a command line.

    Raises:
        BadSettings: an additional argument is one that Antiphon sets itself, or must not be set.
    """
    check_arguments(options.arguments)
    words = [
        options.program, "serve", options.model, *options.arguments,
        "--host", HOST,
        "--port", str(options.port),
        "--served-model-name", options.name,
        "--max-model-len", str(options.max_model_len),
        "--max-logprobs", str(options.max_logprobs),
        "--gpu-memory-utilization", f"{options.gpu_memory:g}",
        "--generation-config", "vllm",
        "--enable-prefix-caching",
        "--structured-outputs-config", _STRUCTURED,
        "--disable-fastapi-docs",
        "--disable-uvicorn-access-log",
        "--no-enable-log-requests",
    ]  # fmt: skip
    if options.revision:
        words += ["--revision", options.revision, "--tokenizer-revision", options.revision]
    if options.adapters:
        words += ["--enable-lora", "--max-loras", str(len(options.adapters))]
        words += ["--max-lora-rank", str(rank_option(options.adapters))]
        words += ["--lora-modules", *(f"{one.name}={one.folder}" for one in options.adapters)]
    return words


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse arguments that are not a person's to set; vLLM also takes an option by the beginning of its name.

    Raises:
        BadSettings: it names the argument.
    """
    for word in arguments:
        option = "--" + word.split("=")[0].lstrip("-").replace("_", "-").split(".")[0]
        if word.startswith("--") and any(ours.startswith(option) for ours in _OURS):
            raise BadSettings(
                f"vllm.arguments must not hold {word.split('=')[0]}.",
                remedy="Take it away. [vllm] has keys of its own for model, memory, lengths, port and adapters; the "
                "other options of this kind would open the server to others, run a model's code or log posts.",
            )


def environment(variables: Mapping[str, str], key: str, start_seconds: float) -> dict[str, str]:
    """The server's environment: the worker's own, without Antiphon's secrets and without what would open the server.

    Args:
        variables: the worker's environment.
        key: the secret that the server asks for on its ``/v1`` routes.
        start_seconds: how long the server may wait for its own engine; by itself it waits for ten minutes.
    """
    kept = {
        name: value
        for name, value in variables.items()
        if not name.upper().startswith(_OWN_PREFIX) and name not in _REFUSED_VARIABLES
    }
    kept.setdefault("VLLM_COMPUTE_NANS_IN_LOGITS", "1")  # otherwise it counts no corrupted answers
    return kept | {
        "VLLM_API_KEY": key,
        "VLLM_ENGINE_READY_TIMEOUT_S": str(math.ceil(start_seconds)),
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_LOGGING_LEVEL": "INFO",  # at DEBUG it logs prompts
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }


def default_name(model: str) -> str:
    """A name for a model: the last part of its name on the hub or of its folder, in lower case."""
    return Path(model).name.lower()
