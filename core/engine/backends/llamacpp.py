"""The embedded language model: llama.cpp in this process, as an OpenAI-compatible server on the loopback interface.

The server listens on this machine alone, answers only who has its key, keeps no conversation and prints nothing.
``weights`` finds the file that it loads.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import secrets
import socket
import urllib.error
import urllib.request
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import psutil

from core.errors import ModelUnavailable

logger = logging.getLogger(__name__)

MODEL_NAME: Final = "embedded"
BATCH_TOKENS: Final = 2048
MICRO_BATCH_TOKENS: Final = 512
_STARTING_SECONDS: Final = 60.0
READING_TOKENS: Final = 256
"""The context of a server that only reads, and what it computes at once."""
# Holds every server until it is closed: a server that is garbage-collected while it runs hangs its process.
_RUNNING: Final[set[EmbeddedServer]] = set()


class EmbeddedServer:
    """A running llama.cpp server. Loading takes some seconds, in which no other Python code of the process runs.

    Args:
        weights: a GGUF file.
        context_tokens: shared by all requests in flight, prompt and answer together.
        parallel: requests, or choices of one request, that are decoded at the same time.
        threads: CPU threads; 0 takes every core that this process may use.
        adapter: a LoRA adapter as GGUF, which takes part in every request. llama.cpp offers to switch it for each, but
            then answered some requests with half of it (seen with xllamacpp 2026.10): what shall be answered without
            it needs a server of its own.
        reads_only: it gives the hidden states of short texts (``states``), one at a time, and writes nothing. It takes
            the weights as they stand in the file, so that it shares their memory with other servers over the same
            file: 0.15 GiB more, where a server that writes takes 0.8. Context and slots are its own.
        slots_folder: where ``prompt_cache`` keeps the beginnings of prompts; it must exist. ``None`` keeps nothing.

    It runs until ``close``, or until the process ends.

    Raises:
        ModelUnavailable: llama.cpp is not installed, or it cannot load the weights.
    """

    def __init__(
        self,
        weights: Path,
        *,
        context_tokens: int = 8192,
        parallel: int = 4,
        threads: int = 0,
        slots_folder: Path | None = None,
        adapter: Path | None = None,
        reads_only: bool = False,
    ) -> None:
        self.api_key: Final = secrets.token_urlsafe(32)
        self.parallel: Final = 1 if reads_only else parallel
        self.slots_folder: Final = slots_folder
        self._is_closing = False
        params = _params(READING_TOKENS if reads_only else context_tokens, self.parallel, threads or _usable_cores())
        if reads_only:
            _set_reading(params)
        if adapter is not None:
            _load_beside(params, adapter)
        _serve_this_process_only(params, self.api_key, slots_folder)
        self._server: Any = _start(params, weights)
        _RUNNING.add(self)
        try:
            _wait_until_running(self._server.listening_address, self.api_key)
        except ModelUnavailable:
            self.close()
            raise
        self.base_url: Final = f"{self._server.listening_address}/v1"
        self.model: Final = MODEL_NAME
        logger.info("The embedded language model %s listens on %s.", weights.name, self.base_url)

    def close(self) -> None:
        """Stop within about 0.2 seconds and free the memory; a second call does nothing.

        Requests in flight are cut off first. Otherwise llama.cpp would stop its model and then wait for ever for the
        HTTP answers that the model should have written, while it holds the interpreter lock.
        """
        if self._server is None:
            return
        self._is_closing = True  # a call that began now would be waited for
        _cut_connections(int(self._server.listening_address.rpartition(":")[2]))
        self._server = None
        _RUNNING.discard(self)

    def call(self, path: str, timeout_seconds: float, **body: Any) -> Any:
        """What the server answers beside its conversations, or ``None`` if it refuses; blocking.

        Raises:
            OSError, HTTPException, ValueError: it does not answer, or not in time, or not in JSON; or it is closed.
        """
        if self._is_closing:
            raise OSError("the embedded model is closed")
        request = urllib.request.Request(  # noqa: S310 - this process's own server, on the loopback interface
            self.base_url.removesuffix("/v1") + path,
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout_seconds) as answer:  # nosec B310 # noqa: S310 - as above
                return json.load(answer)
        except urllib.error.HTTPError as err:
            logger.debug("The embedded model refused %s: %s", path, err)
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@atexit.register
def _close_all() -> None:
    """Close the servers that are left at Ctrl-C, so that the interpreter does not wait for their answers."""
    for server in list(_RUNNING):
        server.close()


def _params(context_tokens: int, parallel: int, threads: int) -> Any:
    try:
        import xllamacpp  # loaded only where the embedded model is used
    except ImportError as err:
        raise ModelUnavailable(
            "The embedded language model needs the package xllamacpp.",
            remedy="Run: pip install 'antiphon[embedded]', or set llm.backend to 'server'.",
        ) from err
    params = xllamacpp.CommonParams()
    params.n_ctx, params.n_parallel, params.kv_unified = context_tokens, parallel, True
    params.n_batch, params.n_ubatch = BATCH_TOKENS, MICRO_BATCH_TOKENS
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    params.cpuparams.n_threads = threads
    params.verbosity = 0
    return params


def _set_reading(params: Any) -> None:
    """Give the last layer's vector of each token, as it is, by the weights as they stand in the file."""
    import xllamacpp

    params.embedding, params.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_NONE
    params.embd_normalize = -1
    params.n_batch = params.n_ubatch = READING_TOKENS
    params.no_extra_bufts = True


def _load_beside(params: Any, adapter: Path) -> None:
    import xllamacpp

    params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(adapter), 1.0)]


def _start(params: Any, weights: Path) -> Any:
    import xllamacpp

    params.model.path = str(weights)
    try:
        return xllamacpp.Server(params)
    except RuntimeError as err:
        raise ModelUnavailable(
            f"llama.cpp cannot load {weights}.",
            remedy="The file may be damaged, or a format that it does not know, or memory is short. Remove the file "
            "to have it fetched again, or name another with llm.model_path.",
        ) from err


def _wait_until_running(address: str, key: str) -> None:
    """Ask it once what its loop answers, not its listener alone.

    A server that is stopped before both run is not stopped, and hangs its process for ever.
    """
    place = urlsplit(address)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=_STARTING_SECONDS)
    try:
        connection.request("GET", "/lora-adapters", headers={"Authorization": f"Bearer {key}"})
        connection.getresponse().read()
    except (OSError, HTTPException) as err:
        raise ModelUnavailable(
            "The embedded language model does not answer.", remedy="Try again; more memory or fewer threads may help."
        ) from err
    finally:
        connection.close()


def _serve_this_process_only(params: Any, api_key: str, slots_folder: Path | None) -> None:
    """A free port of the loopback interface, a key that no other process knows, and no memory between requests."""
    params.slot_save_path = f"{slots_folder}{os.sep}" if slots_folder else ""
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [api_key]
    params.model_alias = {MODEL_NAME}  # the list of models needs no key, and would show the path of the file
    params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    params.offline = True
    # Both are on by default and can restore one conversation into another one's slot (llama.cpp issue 27148).
    params.cache_ram_mib = 0
    params.cache_idle_slots = False


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cut_connections(port: int) -> None:
    """Shut every connection between this process and its own server; nobody else has the key."""
    for connection in psutil.Process().net_connections(kind="tcp4"):
        if connection.raddr and connection.raddr.port == port and connection.fd >= 0:
            try:
                # A duplicate: the descriptor itself belongs to the HTTP client, which closes it.
                with socket.socket(fileno=os.dup(connection.fd)) as client:
                    client.shutdown(socket.SHUT_RDWR)
            except OSError as err:
                logger.debug("A connection to the embedded model was already closed: %s", err)
