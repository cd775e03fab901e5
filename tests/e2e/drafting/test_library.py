"""Antiphon without a language model: a library of prepared replies, where no model library is installed at all."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

POST = "Immigrants are parasites who steal our jobs."
WITHOUT = """
import runpy, sys
from importlib.machinery import PathFinder

AWAY = {"detoxify", "openai", "sentence_transformers", "sklearn", "scipy", "torch", "transformers", "xllamacpp"}
real = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.partition(".")[0] in AWAY else real(name, *rest)
runpy.run_module("antiphon", run_name="__main__", alter_sys=True)
"""


def called(home: Path, *words: str, text: str = POST) -> subprocess.CompletedProcess[str]:
    """A command's run in an installation without any extra, and with its defaults."""
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "c"), "XDG_DATA_HOME": str(home / "d")}
    command = [sys.executable, "-c", WITHOUT, *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def test_a_post_gets_prepared_replies_with_evidence(home: Path) -> None:
    """The notes say what is missing, and that nothing was written by a model."""
    done = called(home, "draft", "-", "--json", "--force")
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["reading"]["target_group"] == "migrants"
    assert said["drafts"]
    assert said["evidence"]
    assert "There is no language model." in str(said["degraded"])
    assert (said["cost"]["model_calls"], said["cost"]["completion_tokens"]) == (0, 0)


def test_a_post_is_read(home: Path) -> None:
    """By the small readers, in the time of a command."""
    done = called(home, "read", "-", "--json")
    assert done.returncode == 0, done.stderr
    assert "migrants" in done.stdout
