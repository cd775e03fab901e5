"""``antiphon community``, on a real database file: what the person at the terminal sees, and what is on record."""

import asyncio
import getpass
import json
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from bot.cli.check import app as checking
from bot.cli.command import EXIT_NO_DRAFT
from bot.cli.communities import app as communities
from bot.compose import platforms
from bot.compose.application import open_database
from bot.compose.platforms import PlatformKind
from bot.settings import load_settings
from core.desk.communities.decisions import CommunityDesk
from tests.fakes.desk.people import COMMUNITY_ID, KEEPER, SECRET
from tests.fakes.machine.installation import flag_in


class Terminal:
    """The commands, over a database of their own in which one post was flagged."""

    def __init__(self, folder: Path) -> None:
        self._config = folder / "config.toml"
        database, secret = folder / "antiphon.db", folder / "secret"
        self._config.write_text(f'[desk]\ndatabase = "{database}"\nsecret_file = "{secret}"\n', encoding="utf-8")
        secret.write_text(SECRET.hex(), encoding="utf-8")
        secret.chmod(0o600)
        asyncio.run(flag_in(folder))

    def run(self, *words: str, app: Typer = communities) -> Result:
        """What a command says and how it ends."""
        return CliRunner().invoke(app, [*words, "--config", str(self._config)])

    def forbid(self, word: str) -> None:

        async def work() -> None:
            async with open_database(load_settings(self._config)) as database:
                await CommunityDesk(database).configure(COMMUNITY_ID, lambda _: {"forbidden": [word]}, KEEPER)

        asyncio.run(work())

    def document(self, *words: str) -> Any:
        """The document that a command prints."""
        return json.loads(self.run(*words, "--json").stdout)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def test_from_shadow_mode_to_posting_and_back(terminal: Terminal) -> None:
    """What an operator does on the first day, each step on record with their account and their reason."""
    assert "off (shadow mode)" in terminal.run("list").stdout
    steps = [
        ("role", "grant", COMMUNITY_ID, "17", "moderator", "--name", "Mill Pond"),
        ("role", "grant", COMMUNITY_ID, "17", "auditor"),
        ("role", "revoke", COMMUNITY_ID, "17", "auditor", "--reason", "a mistake"),
        ("posting", COMMUNITY_ID, "--on", "--reason", "we practised"),
        ("pause", COMMUNITY_ID, "--reason", "a raid"),
    ]
    for step in steps:
        result = terminal.run(*step)
        assert (result.exit_code, result.stderr) == (0, ""), step
    shown = terminal.document("show", COMMUNITY_ID)
    assert (shown["is_posting"], shown["discloses"], shown["paused"]) == (True, True, [COMMUNITY_ID])
    assert shown["people"] == [{"user": "17", "name": "Mill Pond", "roles": ["moderator"]}]
    mine = [line for line in shown["history"] if line["actor"] == f"terminal:{getpass.getuser()}"]
    assert [line["note"] for line in mine] == ["", "", "a mistake", "we practised", "a raid"]
    assert "stopped" in terminal.run("list").stdout
    assert "allowed again" in terminal.run("resume", COMMUNITY_ID).stdout
    plain = terminal.run("show", COMMUNITY_ID).stdout
    assert "17  Mill Pond  moderator" in plain
    assert "posting stopped (a raid)" in plain
    assert terminal.document("list")["communities"][0]["people"][0]["user"] == "17"


def test_what_is_set_is_shown_without_a_switch(terminal: Terminal) -> None:
    """To look changes nothing."""
    before = terminal.document("show", COMMUNITY_ID)["history"]
    found = terminal.run("posting", COMMUNITY_ID)
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout == f"{COMMUNITY_ID}: posting off (shadow mode), disclosure on.\n"
    assert terminal.document("show", COMMUNITY_ID)["history"] == before
    assert "posting on, disclosure on." in terminal.run("posting", COMMUNITY_ID, "--on").stdout


def test_a_reply_is_checked_against_what_its_community_forbids(terminal: Terminal) -> None:
    reply = ("check", "They live off us.", "My street is better without the darkness of such words.")
    terminal.forbid("darkness")
    assert "forbids" not in CliRunner().invoke(checking, list(reply)).stdout
    refused = terminal.run(*reply, "--community", COMMUNITY_ID, app=checking)
    assert "The reply may not be shown: it holds “darkness”, which this community forbids." in refused.stdout
    assert refused.exit_code == EXIT_NO_DRAFT
    assert terminal.run(*reply, "--community", "sample/nowhere", app=checking).exit_code == 2


def test_everything_is_stopped_and_started_again(terminal: Terminal) -> None:
    """With a word of its own, so that nobody does it by leaving one out."""
    assert "anywhere." in terminal.run("pause", "--everywhere").stdout
    assert "stopped already" in terminal.run("pause", "--everywhere").stdout
    assert "stopped everywhere" in terminal.run("list").stdout
    assert "again anywhere" in terminal.run("resume", "--everywhere").stdout
    assert "was not stopped" in terminal.run("resume", "--everywhere").stdout
    assert terminal.run("role", "grant", "*", "sample/17", "admin").exit_code == 0
    assert terminal.document("show", "*")["people"][0]["roles"] == ["admin"]


def test_a_wrong_call_is_said_so(terminal: Terminal) -> None:
    """The exit code of a wrong call, and a sentence on standard error."""
    for words, said in (
        ("pause", "--everywhere"),
        (f"pause {COMMUNITY_ID} --everywhere", "--everywhere"),
        ("show sample/nowhere", "no community sample/nowhere"),
        ("role grant * 17 admin", "PLATFORM/ID"),
        ("role grant * sample/17 manager", "admins only"),
    ):
        result = terminal.run(*words.split())
        assert result.exit_code == 2, words
        assert said in result.stderr, words
    assert result.stdout == ""


def test_cases_are_reviewed_in_a_channel_of_a_platform_that_is_configured(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its people get roles by their accounts there; where the platform is not connected, that is said."""
    assert "reviewed there" in terminal.run("review", COMMUNITY_ID, "discord/12").stderr
    without = PlatformKind("Sample", lambda _: [], "it is built in", has_review=False)
    monkeypatch.setattr(platforms, "KINDS", (*platforms.KINDS, without))
    for channel, why in (("discord/12", "is not connected"), ("#mods", "no review channel")):
        refused = terminal.run("review", COMMUNITY_ID, channel)
        assert refused.exit_code == 2 and why in refused.stderr
    assert "of discord" in terminal.run("role", "grant", COMMUNITY_ID, "discord/17", "moderator").stderr
    monkeypatch.setenv("ANTIPHON__DISCORD__TOKEN", "not-a-token")
    for words in (("discord/12",), ()):
        said = terminal.run("review", COMMUNITY_ID, *words).stdout
        assert said == f"{COMMUNITY_ID}: cases are reviewed on the dashboard and discord/12.\n"
    assert terminal.run("role", "grant", COMMUNITY_ID, "discord/17", "moderator", "--name", "Ana").exit_code == 0
    assert terminal.document("show", COMMUNITY_ID)["people"] == [
        {"user": "discord/17", "name": "Ana", "roles": ["moderator"]}
    ]
    assert "reviewed on the dashboard.\n" in terminal.run("review", COMMUNITY_ID, "--off").stdout


def test_a_name_is_stored_with_a_role_that_they_have(terminal: Terminal) -> None:
    """Who is granted a role again under a name is called by it from then on."""
    for name in ((), ("--name", "Ana")):
        result = terminal.run("role", "grant", COMMUNITY_ID, "17", "auditor", *name)
        assert (result.exit_code, result.stderr) == (0, ""), result.output
    people = terminal.document("show", COMMUNITY_ID)["people"]
    assert {"user": "17", "name": "Ana", "roles": ["auditor"]} in people
