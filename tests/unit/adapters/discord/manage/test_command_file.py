"""What Discord was told of commands outlasts the process, in a small file."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.discord.manage.commands import CommandFile
from core.errors import StoreUnavailable


def test_what_is_kept_is_there_for_the_next_process(tmp_path: Path) -> None:
    """By its key, beside the others."""
    file = tmp_path / "discord-commands.json"
    memory = CommandFile(file)
    assert memory.get("1:everywhere") is None
    memory.set("1:everywhere", "a")
    memory.set("2:everywhere", "b")
    again = CommandFile(file)
    assert (again.get("1:everywhere"), again.get("2:everywhere")) == ("a", "b")


@pytest.mark.parametrize("broken", ["", "[1]", "{", '{"1:77": 5}'])
def test_a_broken_file_is_as_an_empty_one(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "discord-commands.json"
    file.write_text(broken)
    assert CommandFile(file).get("1:77") is None


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        CommandFile(tmp_path / "gone" / "discord-commands.json").set("1:77", "a")
