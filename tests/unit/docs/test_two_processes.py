"""docs/running/two-processes.md can be followed by copying its blocks: each says where it runs, and its settings exist.

``test_pages`` looks for its commands and options, ``tests/e2e/serving/test_setup_command`` for its questions.
"""

from __future__ import annotations

import configparser
import re
import tomllib

from bot.cli import command
from bot.compose.settings.loading import SECRETS
from bot.compose.settings.settings import DeskSettings, OperationsSettings
from tests.unit.docs.test_pages import ROOT, blocks

PAGE = ROOT / "docs" / "running" / "two-processes.md"
WHERE = re.compile(r"# on the (bot's|worker's) machine, as (root|antiphon-bot|antiphon-worker)")


def test_each_block_says_where_and_as_whom_it_is_run() -> None:
    """A bot's user is made on the bot's machine, a worker's on the worker's."""
    found = [WHERE.fullmatch(block.splitlines()[0]) for block in blocks(PAGE, "sh")]
    assert {match and match.groups() for match in found} == {
        ("bot's", "root"), ("bot's", "antiphon-bot"), ("worker's", "root"), ("worker's", "antiphon-worker"),
    }  # fmt: skip


def test_what_waits_for_somebody_is_last_in_its_block() -> None:
    """Lines below it would be typed into it: into a file, or as the answers of setup."""
    for block in blocks(PAGE, "sh"):
        for line in block.splitlines()[:-1]:
            assert not re.match(r"cat > |antiphon (setup|serve|worker)", line), line


def test_its_settings_exist() -> None:
    """In what is written to config.toml, and in what is written to secrets.env or exported."""
    commands = "\n".join(blocks(PAGE, "sh"))
    written = [text.encode().decode("unicode_escape") for text in re.findall(r"printf '(.*?)' >>? \.config", commands)]
    ports = [OperationsSettings(**tomllib.loads(text)["operations"]).listen for text in written]
    assert len(set(ports)) == len(ports) == 2
    named = {name.lower().replace("__", ".") for name in re.findall(r"\bANTIPHON__(\w+)=", commands)}
    assert named == {"desk.database_url"}
    assert named <= SECRETS


def test_it_names_the_ports_and_the_time_of_today() -> None:
    page = PAGE.read_text(encoding="utf-8")
    listening = set(re.findall(r'listen = "127\.0\.0\.1:(\d+)"', page))
    assert set(re.findall(r"http://127\.0\.0\.1:(\d+)/ready", page)) == listening
    assert (DeskSettings().drain_seconds, DeskSettings().lease_seconds) == (20, 60)
    assert "has 20 seconds" in page
    assert "after a minute (`lease_seconds`)" in page


def test_its_unit_serves_with_what_the_page_installed() -> None:
    (text,) = blocks(PAGE, "ini")
    unit = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    service = unit["Service"]
    home = f"/home/{service['User']}"
    assert service["WorkingDirectory"] == service["ReadWritePaths"] == home
    assert service["ExecStart"] == f"{home}/venv/bin/antiphon serve"
    assert int(service["RestartPreventExitStatus"]) == command.EXIT_WRONG_CALL
