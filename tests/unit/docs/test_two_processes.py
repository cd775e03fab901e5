"""docs/running/two-processes.md can be followed by copying its blocks: its settings exist, its unit is right.

``test_pages`` looks for its commands and options, ``tests/e2e/serving/test_setup_command`` for its questions.
"""

import configparser
import re
import tomllib

from bot.cli import command
from bot.settings import SECRETS, DeskSettings, OperationsSettings
from tests.unit.docs.test_pages import ROOT, blocks

PAGE = ROOT / "docs" / "running" / "two-processes.md"


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
