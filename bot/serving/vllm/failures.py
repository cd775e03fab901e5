"""Why a server did not start or no longer serves, and what to do about it.

Owns the signs in vLLM's log that tell one cause from another, and what is said then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.serving.vllm.guard import CANNOT_START
from bot.serving.vllm.options import ServerOptions
from core.errors import ModelUnavailable

SHOWN_LINES: Final = 8
READ_LINES: Final = 400


class ServerFailed(ModelUnavailable):
    """A server does not serve.

    ``is_final`` says that another attempt with the same settings would fail alike; ``is_wrong`` that the server
    answers, but not as it should, so that what it drafts now may end, and nothing new is begun.
    """

    def __init__(self, message: str, *, remedy: str = "", is_final: bool = False, is_wrong: bool = False) -> None:
        super().__init__(message, remedy=remedy)
        self.is_final = is_final
        self.is_wrong = is_wrong


@dataclass(frozen=True, slots=True)
class _Cause:
    signs: re.Pattern[str]
    says: str
    remedy: str
    is_final: bool = True


def _cause(signs: str, says: str, remedy: str, *, is_final: bool = True) -> _Cause:
    return _Cause(re.compile(signs, re.IGNORECASE), says, remedy, is_final)


_CAUSES: Final = (
    _cause(
        r"unrecognized arguments|invalid choice: |error: argument ",
        "this vLLM does not take one of its options",
        "Correct vllm.arguments, or install a vLLM that knows the option: pip install 'antiphon[gpu]'.",
    ),
    _cause(
        r"trust_remote_code=True|--trust-remote-code",
        "the model wants to run code of its own, which Antiphon never allows",
        "Name a model in vllm.model that vLLM knows by itself.",
    ),
    _cause(
        r"gated repo|401 Client Error|403 Client Error|awaiting a review from the repo authors",
        "the hub does not give the model to this user",
        "Accept the model's terms on the hub, and set HF_TOKEN in the worker's environment.",
    ),
    _cause(
        r"Revision Not Found|RevisionNotFoundError|is not a valid git identifier",
        "the hub does not have this revision of the model",
        "Correct vllm.revision: a commit of the model's page on the hub.",
    ),
    _cause(
        r"is not a local folder and is not a valid model|Repository Not Found|RepositoryNotFoundError|Repo id must"
        r"|does not appear to have a file named|Invalid repository ID|Cannot find any model weights"
        r"|no config\.json|LocalEntryNotFoundError|couldn't connect to|OfflineModeIsEnabled"
        r"|We couldn't connect|cannot find the requested files",
        "the model was not found",
        "Correct vllm.model: a folder with config.json and weights, or a name on the hub that this machine reaches.",
    ),
    _cause(
        r"greater than the derived max_model_len",
        "the longest prompt is more than the model was made for",
        "Lower vllm.max_model_len to what its config.json says.",
    ),
    _cause(
        r"max seq len|is larger than the maximum number of tokens|larger than the available KV cache",
        "the memory does not hold one prompt of the longest length",
        "Lower vllm.max_model_len, or raise vllm.gpu_memory.",
    ),
    _cause(
        r"out of memory|OutOfMemoryError|No available memory for the cache blocks|Free memory on device"
        r"|less than desired GPU memory|not enough memory|Cannot allocate memory|Insufficient memory",
        "there is too little memory",
        "End what else uses the GPU, lower vllm.gpu_memory and vllm.max_model_len, or take a smaller model.",
        is_final=False,
    ),
    _cause(
        r"address already in use|Errno 98",
        "its port is taken",
        "Stop what listens there, or set vllm.port to a free port.",
        is_final=False,
    ),
    _cause(
        r"No CUDA GPUs are available|Failed to infer device type|Found no NVIDIA driver|libcuda\.so|no HIP GPUs",
        "vLLM finds no GPU that it can use",
        "See with nvidia-smi whether the driver works, and whether this build of vLLM is one for your GPU.",
    ),
    _cause(
        r"adapter_config|lora_rank|lora.*(not supported|unsupported)|target.modules",
        "it does not take the adapter",
        "Check that the adapter was trained on this very model and has a form that vLLM takes (docs/running/gpu.md).",
    ),
    _cause(
        r"No module named|ImportError|undefined symbol",
        "vLLM is not installed as it should be",
        "Install it anew in an environment of its own, and name its program with vllm.program.",
    ),
)
"""The first sign that is found counts: more special ones come first."""
_NO_ERROR: Final = re.compile(r"\b(DEBUG|INFO|WARNING) \d\d-\d\d ")
"""A line of vLLM's log that tells of no error; at its start it lists all its options, with every word of the signs."""


def start_failure(options: ServerOptions, code: int, lines: Sequence[str], log: str) -> ServerFailed:
    """The reason why a server ended.

    Args:
        code: its exit code.
        lines: the last lines of its log.
        log: where the whole log is.
    """
    if code == CANNOT_START and any(line.startswith("cannot start") for line in lines):
        return ServerFailed(
            f"The program {options.program} cannot be started: {lines[-1].rpartition(': ')[2]}.",
            remedy="Install vLLM (pip install 'antiphon[gpu]'), or name its program with vllm.program.",
            is_final=True,
        )
    text = "\n".join(line for line in lines if not _NO_ERROR.search(line))
    cause = next((cause for cause in _CAUSES if cause.signs.search(text)), None)
    why = cause.says if cause else f"it ended with the code {code}"
    remedy = cause.remedy if cause else "See its log for the reason."
    return ServerFailed(
        f"The model server for {options.model} does not run: {why}.\n{_shown(lines)}",
        remedy=f"{remedy} The whole log: {log}",
        is_final=bool(cause and cause.is_final),
    )


def port_taken(options: ServerOptions) -> ServerFailed:
    """Another program listens where the server should."""
    return ServerFailed(
        f"The model server cannot listen on {options.root}: the port is taken.",
        remedy="Stop what listens there, or set vllm.port to a free port.",
    )


def too_slow(options: ServerOptions, seconds: float, lines: Sequence[str]) -> ServerFailed:
    """It runs, and is not ready in time."""
    return ServerFailed(
        f"The model server for {options.model} was not ready within {seconds / 60:.3g} minutes.\n{_shown(lines)}",
        remedy="Raise vllm.start_minutes where the model is still being fetched; otherwise see its log.",
    )


def not_well(options: ServerOptions, why: str) -> ServerFailed:
    """It ran, and no longer answers as a server does."""
    return ServerFailed(
        f"The model server at {options.root} is not well: {why}.", remedy="It is started again by itself."
    )


def _shown(lines: Sequence[str]) -> str:
    """The last lines, indented, without those that only underline, and the end of the line after them."""
    told = [line for line in lines if line.strip(" ^~")]
    return "".join(f"    {line[:300]}\n" for line in told[-SHOWN_LINES:])
