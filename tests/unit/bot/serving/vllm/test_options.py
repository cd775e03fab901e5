"""The command line and the environment of a vLLM server keep the promises that are made about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.serving.vllm.adapters import read_adapter
from bot.serving.vllm.options import ServerOptions, command_line, default_name, environment
from core.errors import BadSettings
from tests.fakes.vllm.standing_in import adapter_in


def options(**more: object) -> ServerOptions:
    return ServerOptions(**{"model": "org/Model-7B", "name": "model-7b", "port": 8000} | more)  # type: ignore[arg-type]


def value(words: list[str], option: str) -> str:
    assert words.count(option) == 1
    return words[words.index(option) + 1]


def test_the_server_listens_on_this_machine_alone_and_tells_its_log_no_prompt():
    words = command_line(options())
    assert words[:3] == ["vllm", "serve", "org/Model-7B"]
    assert value(words, "--host") == "127.0.0.1"
    assert {"--disable-fastapi-docs", "--no-enable-log-requests", "--enable-prefix-caching"} <= set(words)
    assert not [word for word in words if "trust" in word or "sleep" in word or "api-key" in word]
    assert "--revision" not in words


def test_an_answer_in_json_holds_no_runs_of_blanks():
    """The small model filled 300 tokens with them."""
    structured = json.loads(value(command_line(options()), "--structured-outputs-config"))
    assert structured == {"backend": "xgrammar", "disable_any_whitespace": True}


def test_a_revision_holds_for_the_tokenizer_too():
    words = command_line(options(revision="abc123"))
    assert value(words, "--revision") == value(words, "--tokenizer-revision") == "abc123"


def test_what_a_person_adds_comes_before_what_must_hold():
    words = command_line(options(arguments=("--quantization", "awq", "-tp", "2")))
    assert words[3:7] == ["--quantization", "awq", "-tp", "2"]
    assert words.index("--host") > words.index("-tp")


@pytest.mark.parametrize(
    "argument",
    [
        "--host", "--host=0.0.0.0", "--hos", "--trust-remote-code", "--trust_remote_code", "--trust", "--api-key",
        "--enable-sleep-mode", "--enable-log-requests", "--enable-log-outputs", "--logging-config.log_level",
        "--config", "--lora-modules", "--no-enable-prefix-caching", "--middleware", "--uds",
    ],
)  # fmt: skip
def test_no_argument_opens_the_server_runs_code_or_logs_posts(argument: str):
    """Also where only the beginning of its name is written, which vLLM takes."""
    with pytest.raises(BadSettings) as caught:
        command_line(options(arguments=(argument, "x")))
    assert argument.split("=")[0] in caught.value.message


def test_adapters_are_loaded_by_names_that_hold_their_hash(tmp_path: Path):
    first = read_adapter(adapter_in(tmp_path / "Writer one", rank=9))
    second = read_adapter(adapter_in(tmp_path / "judge", rank=4, content=b"others"))
    words = command_line(options(adapters=(first, second)))
    assert value(words, "--max-lora-rank") == "16"
    assert value(words, "--max-loras") == "2"
    at = words.index("--lora-modules")
    assert words[at + 1 : at + 3] == [f"{one.name}={one.folder}" for one in (first, second)]
    assert first.name.startswith("writer-one-")


def test_another_content_is_another_name_and_the_same_one_the_same(tmp_path: Path):
    """A name that is used again can be answered from another adapter's cache (vLLM issue 42125)."""
    folder = adapter_in(tmp_path / "writer")
    name = read_adapter(folder).name
    assert read_adapter(adapter_in(tmp_path / "copy" / "writer")).name == name
    adapter_in(folder, content=b"weightz")
    assert read_adapter(folder).name != name
    adapter_in(folder, rank=5)
    assert read_adapter(folder).name != name


def test_an_adapter_that_cannot_be_used_says_why(tmp_path: Path):
    with pytest.raises(BadSettings, match="no adapter in"):
        read_adapter(tmp_path / "nowhere")
    with pytest.raises(BadSettings, match="rank 4096"):
        read_adapter(adapter_in(tmp_path / "large", rank=4096))
    (broken := adapter_in(tmp_path / "broken") / "adapter_config.json").write_text("{}")
    with pytest.raises(BadSettings, match="lacks a rank"):
        read_adapter(broken.parent)
    pickled = adapter_in(tmp_path / "pickled")
    (pickled / "adapter_model.safetensors").rename(pickled / "adapter_model.bin")
    with pytest.raises(BadSettings, match="can run code"):
        read_adapter(pickled)


def test_the_server_gets_its_key_and_none_of_antiphons_secrets():
    found = environment(
        {
            "PATH": "/bin",
            "HF_TOKEN": "hub",
            "ANTIPHON__DISCORD__TOKEN": "discord",
            "antiphon__desk__database_url": "database",
            "ANTIPHON_CONFIG": "file",
            "VLLM_SERVER_DEV_MODE": "1",
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
            "VLLM_LOGGING_LEVEL": "DEBUG",
            "VLLM_API_KEY": "another",
        },
        "secret",
        1800.5,
    )
    assert found["VLLM_ENGINE_READY_TIMEOUT_S"] == "1801"
    assert found["VLLM_COMPUTE_NANS_IN_LOGITS"] == "1", "otherwise the alert on corrupted answers is silent"
    assert (found["VLLM_API_KEY"], found["VLLM_NO_USAGE_STATS"], found["VLLM_LOGGING_LEVEL"]) == ("secret", "1", "INFO")
    assert (found["PATH"], found["HF_TOKEN"]) == ("/bin", "hub")
    assert not [name for name in found if name.upper().startswith("ANTIPHON")]
    assert not {"VLLM_SERVER_DEV_MODE", "VLLM_ALLOW_RUNTIME_LORA_UPDATING"} & found.keys()


def test_a_model_is_called_by_the_last_part_of_its_name():
    assert default_name("Qwen/Qwen2.5-7B-Instruct") == "qwen2.5-7b-instruct"
    assert default_name("/models/Own/") == "own"
