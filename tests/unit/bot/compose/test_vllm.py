"""The command line and the environment of a vLLM server keep the promises that are made about them."""

import json
from pathlib import Path

import pytest

from bot.compose.vllm import command_line, environment, served_as
from bot.settings import VllmSettings
from core.errors import BadSettings


def line(**more: object) -> list[str]:
    return command_line(VllmSettings.model_validate({"model": "org/Model-7B"} | more))


def value(words: list[str], option: str) -> str:
    assert words.count(option) == 1
    return words[words.index(option) + 1]


def test_the_server_listens_on_this_machine_alone_and_tells_its_log_no_prompt() -> None:
    words = line()
    assert words[:3] == ["vllm", "serve", "org/Model-7B"]
    assert value(words, "--host") == "127.0.0.1"
    assert {"--disable-fastapi-docs", "--no-enable-log-requests", "--enable-prefix-caching"} <= set(words)
    assert not [word for word in words if "trust" in word or "sleep" in word or "api-key" in word]
    assert "--revision" not in words
    assert "--enable-lora" not in words


def test_an_answer_in_json_holds_no_runs_of_blanks() -> None:
    """The small model filled 300 tokens with them."""
    structured = json.loads(value(line(), "--structured-outputs-config"))
    assert structured == {"backend": "xgrammar", "disable_any_whitespace": True}


def test_a_revision_holds_for_the_tokenizer_too() -> None:
    words = line(revision="abc123")
    assert value(words, "--revision") == value(words, "--tokenizer-revision") == "abc123"


def test_what_a_person_adds_comes_before_what_must_hold() -> None:
    words = line(arguments=("--quantization", "awq", "-tp", "2"))
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
def test_no_argument_opens_the_server_runs_code_or_logs_posts(argument: str) -> None:
    """Also where only the beginning of its name is written, which vLLM takes."""
    with pytest.raises(BadSettings) as caught:
        line(arguments=(argument, "x"))
    assert argument.split("=")[0] in caught.value.message


def test_an_adapter_is_served_by_the_name_of_its_folder(tmp_path: Path) -> None:
    """Beside the model; its rank may be told in arguments. One that is no safetensors file is refused."""
    (folder := tmp_path / "writer").mkdir()
    (folder / "adapter_model.bin").touch()
    with pytest.raises(BadSettings, match="There is no adapter in") as caught:
        line(adapter=str(folder))
    assert "can run code" in caught.value.remedy
    (folder / "adapter_model.safetensors").touch()
    words = line(adapter=str(folder), arguments=("--max-lora-rank", "64"))
    assert value(words, "--lora-modules") == f"writer={folder}"
    assert value(words, "--served-model-name") == "model-7b"
    assert "--enable-lora" in words


def test_no_model_is_no_server() -> None:
    with pytest.raises(BadSettings, match="no model to serve") as caught:
        command_line(VllmSettings())
    assert "vllm.model" in caught.value.remedy


def test_the_server_gets_its_key_and_none_of_antiphons_secrets() -> None:
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


def test_a_model_is_called_by_the_last_part_of_its_name() -> None:
    assert served_as(VllmSettings(model="Qwen/Qwen2.5-7B-Instruct")) == "qwen2.5-7b-instruct"
    assert served_as(VllmSettings(model="/models/Own/")) == "own"
    assert served_as(VllmSettings(model="/models/Own/", served_name="x")) == "x"
