"""No model's own code is ever run, and whoever may change a model on the hub does not change it here."""

import ast
import logging
from functools import cache
from pathlib import Path

import pytest

from bot.settings import LlmSettings
from core.engine.backends.pretrained import on_hub

ROOT = Path(__file__).parents[5]
FOLDERS = ("adapters", "bench", "bot", "core", "kb", "tools", "training")
LOADERS = {
    "CrossEncoder", "SentenceTransformer", "from_pretrained", "get_hf_file_metadata", "hf_hub_download", "hf_hub_url",
    "load_state_dict_from_url", "snapshot_download", "try_to_load_from_cache",
}  # fmt: skip
TAKES_ADDRESS = {"get_hf_file_metadata"}
COMMIT = "5617a9f61b028005a4858fdac845db406aefb181"


@cache
def calls() -> list[tuple[str, ast.Call, str]]:
    """Each call in our code: where, the call, and the last part of what is called."""
    found = []
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    found.append((f"{file.relative_to(ROOT)}:{node.lineno}", node, called))
    return found


def _given(call: ast.Call, name: str) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == name), None)


def test_no_call_trusts_remote_code() -> None:
    """Not by a keyword, and not in a dictionary of options."""
    assert [where for where, call, _ in calls() if _given(call, "trust_remote_code")] == []
    told = [
        where
        for where, call, _ in calls()
        for word in ast.walk(call)
        if isinstance(word, ast.Constant) and word.value == "trust_remote_code"
    ]
    assert told == []


def test_each_load_is_from_this_machine_or_of_a_certain_revision() -> None:
    """Each call that may fetch says one of the two."""
    loads = [(where, call) for where, call, called in calls() if called in LOADERS - TAKES_ADDRESS]
    assert len(loads) > 8
    local = {where for where, call in loads if _is_true(_given(call, "local_files_only"))}
    pinned = {where for where, call in loads if _given(call, "revision")}
    files = {where for where, call in loads if _given(call, "gguf_file") or any(w.arg is None for w in call.keywords)}
    files -= local | pinned
    assert {where for where, _ in loads} - local - pinned == files
    assert {where.partition(":")[0] for where in files} <= {"tools/vllm/dequantize.py"}


def _is_true(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def test_a_checkpoint_is_read_without_running_it() -> None:
    """A pickle runs code unless torch is told to read tensors and plain values only."""
    loads = [
        (where, call)
        for where, call, called in calls()
        if called == "load" and isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "torch"
    ]
    assert loads
    assert [where for where, call in loads if not _is_true(_given(call, "weights_only"))] == []


def test_a_hub_name_may_hold_its_commit(caplog: pytest.LogCaptureFixture) -> None:
    """Without one the newest is taken, and the log says so."""
    with caplog.at_level(logging.WARNING):
        assert on_hub(f"BAAI/bge-m3@{COMMIT}") == ("BAAI/bge-m3", COMMIT)
        assert caplog.text == ""
        assert on_hub("BAAI/bge-m3") == ("BAAI/bge-m3", None)
        assert on_hub("BAAI/bge-m3@main") == ("BAAI/bge-m3@main", None)
    assert caplog.text.count("is not pinned") == 2


def test_another_repository_needs_a_revision_of_its_own() -> None:
    """That of the model that ships names nothing there."""
    assert len(LlmSettings().hub_revision) == 40
    assert LlmSettings(hub_repo="").hub_repo == ""
    assert LlmSettings(hub_repo="an/other", hub_revision="").hub_revision == ""
    with pytest.raises(ValueError, match=r"Set llm\.hub_revision"):
        LlmSettings(hub_repo="an/other")
