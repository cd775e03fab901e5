"""``antiphon prepared``, on a real database file: what the person at the terminal sees, and what is on record."""

from __future__ import annotations

import asyncio
import getpass
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import app
from core.models import Intent
from tests.fakes.desk.people import COMMUNITY_ID, SECRET
from tests.fakes.machine.installation import flag_in

TEXT = "We are glad of our neighbours, wherever they were born."
ADD = ("add", COMMUNITY_ID, TEXT, "--language", "en", "--group", "migrants", "--intent", "positive")


class Terminal:
    """The commands, over a database of their own in which one post was flagged."""

    def __init__(self, folder: Path) -> None:
        self._config = folder / "config.toml"
        database, secret = folder / "antiphon.db", folder / "secret"
        self._config.write_text(f'[desk]\ndatabase = "{database}"\nsecret_file = "{secret}"\n', encoding="utf-8")
        secret.write_text(SECRET.hex(), encoding="utf-8")
        secret.chmod(0o600)
        asyncio.run(flag_in(folder))

    def run(self, *words: str, group: str = "prepared") -> Result:
        """What a command says and how it ends."""
        return CliRunner().invoke(app, [group, *words, "--config", str(self._config)])

    def listed(self, *words: str) -> list[dict[str, Any]]:
        """The replies of the document that ``list`` prints."""
        found: list[dict[str, Any]] = json.loads(self.run("list", COMMUNITY_ID, *words, "--json").stdout)["prepared"]
        return found


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal with a database of its own."""
    return Terminal(tmp_path)


def test_a_reply_is_added_reviewed_and_removed(terminal: Terminal) -> None:
    """Each step is on record, with the account of who sat there; the reviewer by pseudonym alone."""
    added = terminal.run(*ADD, "--reason", "we say it so")
    assert (added.exit_code, added.stderr) == (0, "")
    [reply] = terminal.listed("--own")
    assert (reply["text"], reply["is_own"], reply["reviewed_by"], reply["stereotype"]) == (TEXT, True, None, None)
    assert added.stdout == f"{reply['id']} is added in {COMMUNITY_ID}, not reviewed.\n"
    assert "own, migrants, positive; prepared reply, not reviewed" in terminal.run("list", COMMUNITY_ID).stdout
    assert terminal.run("role", "grant", COMMUNITY_ID, "17", "moderator", group="community").exit_code == 0
    done = terminal.run("review", COMMUNITY_ID, reply["id"], "--by", "17", "--name", "Ane")
    assert "reviewed by Ane on " in done.stdout
    assert terminal.listed("--own")[0]["reviewed_by"] == "Ane"
    assert terminal.run("remove", COMMUNITY_ID, reply["id"]).exit_code == 0
    assert terminal.listed("--own") == []
    assert terminal.run("list", COMMUNITY_ID, "--own").stdout == "No prepared reply fits.\n"
    shown = json.loads(terminal.run("show", COMMUNITY_ID, "--json", group="community").stdout)
    mine = [line for line in shown["history"] if line["what"].startswith("prepared reply")]
    assert [line["actor"] for line in mine] == [f"terminal:{getpass.getuser()}"] * 3
    assert mine[0]["note"] == "we say it so"
    assert [line["what"].split()[3] for line in mine] == ["added", "reviewed", "removed"]


def test_the_projects_replies_are_taken_out_and_in_again(terminal: Terminal) -> None:
    """They stay in the list, so that nobody must remember the id."""
    general = ("--language", "eu", "--stereotype", "women/any")
    first, *others = terminal.listed(*general)
    assert (first["is_own"], first["is_removed"], first["intent"]) == (False, False, None)
    assert {one["intent"] for one in others} == {intent.value for intent in Intent}
    assert terminal.run("remove", COMMUNITY_ID, first["id"]).exit_code == 0
    assert [one["is_removed"] for one in terminal.listed(*general)].count(True) == 1
    again = terminal.run("remove", COMMUNITY_ID, first["id"])
    assert (again.exit_code, "--undo" in again.stderr) == (2, True)
    assert terminal.run("remove", COMMUNITY_ID, first["id"], "--undo").exit_code == 0
    assert not any(one["is_removed"] for one in terminal.listed())


def test_a_reply_to_one_stereotype_is_listed_under_it(terminal: Terminal) -> None:
    """A person who looks after a stereotype finds their own replies beside the project's."""
    assert terminal.run(*ADD, "--stereotype", "migrants/jobs").exit_code == 0
    own, *project = terminal.listed("--language", "en", "--stereotype", "migrants/jobs")
    assert (own["text"], own["stereotype"], own["is_own"]) == (TEXT, "migrants/jobs", True)
    assert project
    assert not any(one["is_own"] for one in project)
    assert "own, migrants/jobs, positive" in terminal.run("list", COMMUNITY_ID, "--own").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "sample/elsewhere"), "There is no community sample/elsewhere."),
        (("list", "*"), "This is set for one community at a time."),
        (("review", COMMUNITY_ID, "en-nothing", "--by", "17"), "has no prepared reply en-nothing"),
        (("remove", COMMUNITY_ID, "en-nothing"), "`antiphon prepared list`"),
        ((*ADD[:2], "Nine in ten work.", *ADD[3:]), "needs a source"),
        ((*ADD, "--stereotype", "no/such"), "no stereotype no/such"),
    ],
)
def test_what_cannot_be_done_names_a_remedy(terminal: Terminal, words: tuple[str, ...], said: str) -> None:
    """And nothing is changed."""
    result = terminal.run(*words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert terminal.listed("--own") == []
