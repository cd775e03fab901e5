"""Whatever is wrong with a call, a person reads what it is and what to do, and a program reads the exit code."""

import json
import socket
from pathlib import Path

import pytest

from tests.e2e.conftest import HATEFUL, Antiphon, InThisProcess

SHORT = ("draft", "--json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ("The post is empty.", "Pass the text")),
        (" \n\t\u200b\u202e ", ("The post is empty.", "Pass the text")),
        ("word " * 1001, ("5,004 characters", "5,000 at most", "Pass the part that is hateful.")),
        (b"\xff\xfe welfare", ("not UTF-8", "send it as UTF-8")),
    ],
    ids=["empty", "blank", "long", "bytes"],
)
def test_text_that_is_none(here: InThisProcess, text: str | bytes, said: tuple[str, ...]):
    """Nothing is loaded for a text that cannot be read; a pipe brings the same errors as an argument."""
    given = text.encode() if isinstance(text, str) else text
    for result in (here(*SHORT, text), here(*SHORT, "-", stdin=given)):
        assert (result.code, result.out) == (2, "")
        assert all(part in result.err for part in said), result.err


@pytest.mark.parametrize(
    ("option", "choices"),
    [
        ("--profile", ("live", "paper")),
        ("--intent", ("informative", "empathetic", "questioning", "denouncing", "positive")),
        ("--language", ("en", "es", "it", "eu")),
    ],
)
def test_choice_that_is_none(here: InThisProcess, option: str, choices: tuple[str, ...]):
    """An unknown choice is answered with all there are."""
    result = here(*SHORT, HATEFUL, option, "gentle")
    assert (result.code, result.out) == (2, "")
    assert "'gentle'" in result.err
    assert all(choice in result.err for choice in choices), result.err


def test_nothing_to_look_for(here: InThisProcess):
    """A search without words is told what to pass."""
    result = here("kb", "search", " \u200b", "--json")
    assert (result.code, result.out) == (2, "")
    assert "There is nothing to look for. Pass a few words" in result.err


def test_settings_file_that_is_wrong(here: InThisProcess, tmp_path: Path):
    """File, key and what to do are named, and no secret is shown."""
    file = tmp_path / "own.toml"
    file.write_text("[llm]\napi_key = 'canary'\n", "utf-8")
    result = here(*SHORT, HATEFUL, "--config", str(file))
    assert (result.code, result.out) == (2, "")
    assert f"{file}" in result.err
    assert "set ANTIPHON__LLM__API_KEY in the environment" in result.err
    assert "canary" not in result.err


def test_model_that_is_missing(here: InThisProcess, tmp_path: Path):
    """Weights that are not there are named with the key that names them."""
    model, file = tmp_path / "own.gguf", tmp_path / "own.toml"
    file.write_text(f"[llm]\nmodel_path = '{model}'\n", "utf-8")
    result = here(*SHORT, HATEFUL, "--config", str(file))
    assert (result.code, result.out) == (4, "")
    assert f"There is no file {model}. Correct llm.model_path" in result.err


def test_server_that_does_not_answer(here: InThisProcess):
    """Prepared replies and evidence are shown all the same; the address is named, and what is missing."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        server = {"BACKEND": "server", "MODEL": "fake", "BASE_URL": url}
        away = here.having(**{f"ANTIPHON__LLM__{key}": value for key, value in server.items()})
        result = away(*SHORT, HATEFUL)
    assert result.code == 0, result.err
    assert f"The language model at {url} cannot be reached. Start the server, or correct llm.base_url." in result.err
    assert "What follows was prepared by people." in result.err
    found = json.loads(result.out)
    assert found["drafts"]
    assert found["cost"]["prompt_tokens"] == 0


def test_weights_on_a_full_disk(antiphon: Antiphon, full_disk: tuple[Path, list[str]]):
    """A gigabyte is not begun where it cannot end; what needs no model is shown, with what to do."""
    folder, through = full_disk
    antiphon = antiphon.having(ANTIPHON__KB__CACHE_FOLDER=str(folder), ANTIPHON__LLM__HUB_REPO="")
    result = antiphon(*SHORT, HATEFUL, through=through)
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert found["drafts"]
    (note,) = (each["message"] for each in found["degraded"] if each["code"] == "model_not_loaded")
    assert str(folder) in note
    assert "Free some space" in note


def test_database_on_a_full_disk(drafter: Antiphon, full_disk: tuple[Path, list[str]]):
    """A case that cannot be kept is not shown as if it were."""
    folder, through = full_disk
    result = drafter.having(ANTIPHON__DESK__DATABASE=str(folder / "antiphon.db"))("run", through=through)
    assert result.code == 4
    assert "The database does not answer: " in result.err
    assert "disk" in result.err
    assert "Draft 1" not in result.out


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_output_on_a_full_disk(antiphon: Antiphon, option: str):
    """Output that is lost is no success."""
    result = antiphon(option, through=["sh", "-c", '"$0" "$@" > /dev/full'])
    assert result.code == 4
    assert "Free some space" in result.err
