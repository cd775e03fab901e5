"""``antiphon community``, on a real database file: what the person at the terminal sees, and what is on record."""

from __future__ import annotations

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
from bot.cli.communities import community
from bot.compose import platforms
from bot.compose.platforms import PlatformKind
from tests.fakes.desk.people import COMMUNITY_ID, SECRET
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

    def run(self, *words: str, app: Typer = community) -> Result:
        """What a command says and how it ends."""
        return CliRunner().invoke(app, [*words, "--config", str(self._config)])

    def document(self, *words: str) -> Any:
        """The document that a command prints."""
        return json.loads(self.run(*words, "--json").stdout)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal with a database of its own."""
    return Terminal(tmp_path)


def test_from_shadow_mode_to_posting_and_back(terminal: Terminal) -> None:
    """What an operator does on the first day, each step on record with their account and their reason."""
    assert "off (shadow mode)" in terminal.run("list").stdout
    steps = [
        ("role", "grant", COMMUNITY_ID, "17", "moderator", "--name", "Mill Pond"),
        ("role", "grant", COMMUNITY_ID, "17", "auditor"),
        ("role", "revoke", COMMUNITY_ID, "17", "auditor", "--reason", "a mistake"),
        ("posting", COMMUNITY_ID, "--on", "--reason", "we practised"),
        ("disclosure", COMMUNITY_ID, "--off", "--reason", "the channel says it"),
        ("pause", COMMUNITY_ID, "--reason", "a raid"),
    ]
    for step in steps:
        result = terminal.run(*step)
        assert (result.exit_code, result.stderr) == (0, ""), step
    shown = terminal.document("show", COMMUNITY_ID)
    assert (shown["is_posting"], shown["discloses"], shown["paused"]) == (True, False, [COMMUNITY_ID])
    assert shown["people"] == [{"user": "17", "name": "Mill Pond", "roles": ["moderator"]}]
    mine = [line for line in shown["history"] if line["actor"] == f"terminal:{getpass.getuser()}"]
    assert [line["note"] for line in mine] == ["", "", "a mistake", "we practised", "the channel says it", "a raid"]
    assert "stopped" in terminal.run("list").stdout
    assert "allowed again" in terminal.run("resume", COMMUNITY_ID).stdout
    plain = terminal.run("show", COMMUNITY_ID).stdout
    assert "17  Mill Pond  moderator" in plain
    assert "posting stopped (a raid)" in plain
    assert terminal.document("list")["communities"][0]["people"][0]["user"] == "17"


def test_what_is_set_is_shown_without_a_switch(terminal: Terminal) -> None:
    """To look changes nothing."""
    before = terminal.document("show", COMMUNITY_ID)["history"]
    for name in ("posting", "disclosure"):
        found = terminal.run(name, COMMUNITY_ID)
        assert (found.exit_code, found.stderr) == (0, "")
        assert found.stdout == f"{COMMUNITY_ID}: posting off (shadow mode), disclosure on.\n"
    assert terminal.document("show", COMMUNITY_ID)["history"] == before
    assert "posting on, disclosure on." in terminal.run("posting", COMMUNITY_ID, "--on").stdout


def test_the_notice_on_the_rules_is_worded_switched_off_and_left_to_the_project(terminal: Terminal) -> None:
    """What is set is shown by language; the record says which languages, and not a word of the notice."""
    projects = terminal.run("notice", COMMUNITY_ID)
    assert [line.split("  ")[0] for line in projects.stdout.splitlines()] == ["en", "es", "it", "eu"]
    assert "en  Antiphon's: Attacks on people" in projects.stdout
    worded = terminal.run("notice", COMMUNITY_ID, " Here nobody is  judged by birth. ", "--language", "en")
    assert (worded.exit_code, worded.stderr) == (0, "")
    assert "en  own: Here nobody is judged by birth.\n" in worded.stdout
    assert "es  Antiphon's: " in worded.stdout
    off = terminal.run("notice", COMMUNITY_ID, "--off", "--reason", "we say it ourselves")
    assert off.stdout == "en  none\nes  none\nit  none\neu  none\n"
    back = terminal.run("notice", COMMUNITY_ID, "--default", "--language", "eu")
    assert back.stdout.startswith("en  none\nes  none\nit  none\neu  Antiphon's: ")
    assert terminal.run("notice", COMMUNITY_ID).stdout == back.stdout
    history = terminal.document("show", COMMUNITY_ID)["history"]
    mine = [(line["what"], line["note"]) for line in history if line["actor"] == f"terminal:{getpass.getuser()}"]
    assert mine == [
        ("settings changed: norm_notice (en)", ""),
        ("settings changed: norm_notice (en none, es none, it none, eu none)", "we say it ourselves"),
        ("settings changed: norm_notice (en none, es none, it none)", ""),
    ]


def test_who_is_called_to_which_cases(terminal: Terminal) -> None:
    """Each option changes one thing; without options the command only says how it is."""
    first = terminal.run("calls", COMMUNITY_ID, "--threat", "911", "--waiting", "33", "--waiting-minutes", "45")
    assert (first.exit_code, first.stderr) == (0, "")
    assert "threat: role 911, waiting: role 33; waiting is 45 minutes; quiet hours none." in first.stdout
    terminal.run("calls", COMMUNITY_ID, "--quiet", "22:00-07:00", "--time-zone", "Europe/Madrid", "--threats-always")
    terminal.run("calls", COMMUNITY_ID, "--waiting", "-")
    shown = terminal.run("calls", COMMUNITY_ID).stdout
    assert "called threat: role 911;" in shown
    assert "quiet hours 22:00-07:00 Europe/Madrid, threats excepted." in shown
    assert "none" in terminal.run("calls", COMMUNITY_ID, "--quiet", "-").stdout
    lines = [line["what"] for line in terminal.document("show", COMMUNITY_ID)["history"]]
    assert "settings changed: calls (threat 911, waiting 33), waiting_minutes" in lines


def test_who_may_flag_and_hears_of_it(terminal: Terminal) -> None:
    """Off at first; each option changes one thing."""
    assert "flags by members off, 1 needed; telling them off." in terminal.run("flags", COMMUNITY_ID).stdout
    terminal.run("flags", COMMUNITY_ID, "--members", "--needed", "3")
    assert "members on, 3 needed; telling them on." in terminal.run("flags", COMMUNITY_ID, "--tell").stdout
    assert terminal.run("flags", COMMUNITY_ID, "--needed", "0").exit_code == 2


def test_quotes_are_set_where_the_platform_compares_them(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shown without a switch; elsewhere they stay off."""
    assert terminal.run("quotes", COMMUNITY_ID).stdout == f"{COMMUNITY_ID}: quotes off.\n"
    refused = terminal.run("quotes", COMMUNITY_ID, "--on")
    assert (refused.exit_code, "quotes off" in terminal.run("quotes", COMMUNITY_ID).stdout) == (2, True)
    assert terminal.run("quotes", COMMUNITY_ID, "--off").exit_code == 0
    comparing = PlatformKind("Sample", lambda _: [], "it is built in", quotes=True)
    monkeypatch.setattr(platforms, "KINDS", (*platforms.KINDS, comparing))
    assert terminal.run("quotes", COMMUNITY_ID, "--on").stdout == f"{COMMUNITY_ID}: quotes on.\n"
    assert "settings changed: quotes" in [line["what"] for line in terminal.document("show", COMMUNITY_ID)["history"]]


def test_words_are_forbidden_and_allowed_again(terminal: Terminal) -> None:
    """Each once; the log has their number, and a word that is not on the list cannot be taken off it."""
    said = f"{COMMUNITY_ID}: forbidden words:"
    assert terminal.run("forbid", COMMUNITY_ID).stdout == f"{said} none.\n"
    assert terminal.run("forbid", COMMUNITY_ID, "darkness", "snow  flake").stdout == f"{said} darkness, snow flake.\n"
    assert terminal.run("forbid", COMMUNITY_ID, "darkness", "gloom").stdout == f"{said} darkness, snow flake, gloom.\n"
    assert terminal.run("forbid", COMMUNITY_ID, "snow flake", "--off").stdout == f"{said} darkness, gloom.\n"
    assert terminal.run("forbid", COMMUNITY_ID, "light", "--off").exit_code == 2
    assert terminal.run("forbid", COMMUNITY_ID).stdout == f"{said} darkness, gloom.\n"
    history = terminal.document("show", COMMUNITY_ID)["history"]
    assert [line["what"] for line in history if "forbidden" in line["what"]] == [
        f"settings changed: forbidden ({count})" for count in (2, 3, 2)
    ]


def test_a_reply_is_checked_against_what_its_community_forbids(terminal: Terminal) -> None:
    """Only where one is named."""
    reply = ("check", "They live off us.", "My street is better without the darkness of such words.")
    terminal.run("forbid", COMMUNITY_ID, "darkness")
    assert "forbids" not in CliRunner().invoke(checking, list(reply)).stdout
    refused = terminal.run(*reply, "--community", COMMUNITY_ID, app=checking)
    assert "The reply may not be shown: it holds “darkness”, which this community forbids." in refused.stdout
    assert refused.exit_code == EXIT_NO_DRAFT
    assert terminal.run(*reply, "--community", "sample/nowhere", app=checking).exit_code == 2


@pytest.mark.parametrize(("platform", "compares"), [("telegram", True), ("discord", False), ("sample", False)])
def test_telegram_alone_compares_a_quote(platform: str, compares: bool) -> None:
    """By the name that its posts have."""
    assert platforms.quotes_posts(platform) is compares


def test_everything_is_stopped_and_started_again(terminal: Terminal) -> None:
    """With a word of its own, so that nobody does it by leaving one out."""
    assert "anywhere." in terminal.run("pause", "--everywhere").stdout
    assert "stopped already" in terminal.run("pause", "--everywhere").stdout
    assert "stopped everywhere" in terminal.run("list").stdout
    assert "again anywhere" in terminal.run("resume", "--everywhere").stdout
    assert "was not stopped" in terminal.run("resume", "--everywhere").stdout
    assert terminal.run("role", "grant", "*", "sample/17", "admin").exit_code == 0
    assert terminal.document("show", "*")["people"][0]["roles"] == ["admin"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pause",), "--everywhere"),
        (("pause", COMMUNITY_ID, "--everywhere"), "--everywhere"),
        (("show", "sample/nowhere"), "no community sample/nowhere"),
        (("disclosure", COMMUNITY_ID, "--off"), "A reason is missing"),
        (("role", "grant", "*", "17", "admin"), "PLATFORM/ID"),
        (("notice", COMMUNITY_ID, "Be kind."), "--language"),
        (("notice", COMMUNITY_ID, "Be kind.", "--off"), "--default"),
        (("notice", COMMUNITY_ID, "Nobody is a retard here.", "--language", "en"), "no draft may hold it"),
        (("notice", COMMUNITY_ID, "Ole kiltti.", "--language", "fi"), "does not write"),
        (("role", "grant", "*", "sample/17", "manager"), "admins only"),
    ],
)
def test_a_wrong_call_is_said_so(terminal: Terminal, words: tuple[str, ...], said: str) -> None:
    """The exit code of a wrong call, and a sentence on standard error."""
    result = terminal.run(*words)
    assert result.exit_code == 2
    assert said in result.stderr
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
