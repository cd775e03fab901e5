"""Why a server did not start is told apart by the end of its log, with a remedy for each cause."""

from __future__ import annotations

import pytest

from bot.serving.vllm.failures import start_failure
from bot.serving.vllm.options import ServerOptions

OPTIONS = ServerOptions(model="org/model", name="model", port=8000)


@pytest.mark.parametrize(
    ("prints", "says", "remedy", "is_final"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "little memory", "gpu_memory", False),
        (
            "ValueError: Free memory on device cuda:0 (3.1/24 GiB) on startup is less than desired",
            "little memory",
            "smaller model",
            False,
        ),
        (
            "To serve at least one request with the models's max seq len (8192), 4 GiB KV cache is needed, which is "
            "larger than the available KV cache memory",
            "longest length",
            "max_model_len",
            True,
        ),
        (
            "Value error, User-specified max_model_len (9000000) is greater than the derived max_model_len",
            "made for",
            "max_model_len",
            True,
        ),
        (
            "OSError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/nowhere/model'.",
            "was not found",
            "vllm.model",
            True,
        ),
        ("OSError: We couldn't connect to the hub to load the files", "was not found", "reaches", True),
        (
            "OSError: m/Small is not a local folder and is not a valid model identifier listed on the hub",
            "was not found",
            "vllm.model",
            True,
        ),
        ("RepositoryNotFoundError: 404 Client Error. Repository Not Found", "was not found", "vllm.model", True),
        ("RevisionNotFoundError: 404 Client Error. Revision Not Found", "this revision", "vllm.revision", True),
        ("GatedRepoError: 401 Client Error. Access to model is restricted", "does not give", "HF_TOKEN", True),
        ("vllm: error: unrecognized arguments: --disable-fastapi-docs", "its options", "antiphon[gpu]", True),
        ("OSError: [Errno 98] Address already in use", "port is taken", "vllm.port", False),
        ("RuntimeError: Failed to infer device type", "no GPU", "nvidia-smi", True),
        ("ValueError: Please pass the argument `trust_remote_code=True`", "code of its own", "by itself", True),
        ("ValueError: LoRA rank 64 is greater than max_lora_rank 16.", "the adapter", "trained on", True),
        ("ModuleNotFoundError: No module named 'vllm'", "not installed", "vllm.program", True),
        ("something else", "ended with the code 3", "See its log", False),
    ],
)
def test_each_cause_is_told_with_its_remedy(prints: str, says: str, remedy: str, is_final: bool):
    found = start_failure(OPTIONS, 3, ["INFO loading", prints, "INFO the end"], "/cache/vllm/server-8000.log")
    assert says in found.message
    assert prints in found.message
    assert remedy in found.remedy
    assert "/cache/vllm/server-8000.log" in found.remedy
    assert found.is_final is is_final


def test_the_options_that_vllm_lists_at_its_start_are_no_cause():
    """A line of a real log, shortened: it has words of several signs."""
    line = (
        "(EngineCore pid=7) INFO 11-26 06:50:07 [core.py:133] Initializing a V1 LLM engine (v0.32.0) with config: "
        "model='m', trust_remote_code=False, max_seq_len=4096, lora_config=LoRAConfig(max_lora_rank=16, "
        "target_modules=None), out of memory, Errno 98"
    )
    found = start_failure(OPTIONS, 137, [line], "log")
    assert "it ended with the code 137" in found.message
    assert not found.is_final


def test_a_long_log_is_shown_by_its_end():
    found = start_failure(OPTIONS, 1, [f"line {number}" for number in range(100)], "log")
    assert "line 99" in found.message
    assert "line 80" not in found.message
