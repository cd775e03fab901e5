"""``antiphon cards``, on a real database file: from a file to an accepted card, and what is on record."""

from __future__ import annotations

import asyncio
import getpass
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import app
from tests.fakes.desk.people import COMMUNITY_ID, SECRET
from tests.fakes.machine.installation import flag_in

EXAMPLE = Path(__file__).parents[4] / "docs" / "samples" / "own-cards.toml"
JOBS, WATER = "jobs-at-the-mill", "water-from-the-hill"
ANE, BEÑAT = ("--by", "17", "--name", "Ane"), ("--by", "18", "--name", "Beñat")


class Terminal:
    """The commands, over a database of their own in which one post was flagged and two people may manage."""

    def __init__(self, folder: Path) -> None:
        self._config = folder / "config.toml"
        database, secret = folder / "antiphon.db", folder / "secret"
        self._config.write_text(f'[desk]\ndatabase = "{database}"\nsecret_file = "{secret}"\n', encoding="utf-8")
        secret.write_text(SECRET.hex(), encoding="utf-8")
        secret.chmod(0o600)
        asyncio.run(flag_in(folder))
        for user in ("17", "18"):
            self.run("role", "grant", COMMUNITY_ID, user, "manager", group="community")

    def run(self, command: str, *words: str, group: str = "cards") -> Result:
        """What a command says and how it ends."""
        return CliRunner().invoke(app, [group, command, *words, "--config", str(self._config)])

    def listed(self, *words: str) -> list[dict[str, Any]]:
        """The cards of the document that ``list`` prints."""
        found: list[dict[str, Any]] = json.loads(self.run("list", COMMUNITY_ID, *words, "--json").stdout)["cards"]
        return found


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal with a database of its own."""
    return Terminal(tmp_path)


def test_cards_are_proposed_reviewed_and_removed(terminal: Terminal) -> None:
    """The example of the docs, by two people; each step is on record with the account of who sat there."""
    added = terminal.run("add", COMMUNITY_ID, str(EXAMPLE), *ANE, "--reason", "we say it so")
    assert (added.exit_code, added.stderr) == (0, "")
    assert added.stdout.splitlines() == [
        f"{one} is proposed, reviewed by nobody yet, in {COMMUNITY_ID}." for one in (JOBS, WATER)
    ]
    assert "own, migrants/jobs; reviewed by nobody yet" in terminal.run("list", COMMUNITY_ID, "--own").stdout
    shown = terminal.run("show", COMMUNITY_ID, WATER).stdout
    assert "own, migrants: the families on the hill take the water of the town; reviewed by nobody yet" in shown
    version = next(one["version"] for one in terminal.listed("--own") if one["id"] == WATER)
    assert f"version {version}, proposed by Ane on " in shown
    assert "wording: They up there on the hill drink our wells dry." in shown
    assert "positive: The families on the hill are our neighbours" in shown
    again = terminal.run("review", COMMUNITY_ID, WATER, "--accept", *ANE)
    assert (again.exit_code, "Ane proposed the card" in again.stderr, "--by" in again.stderr) == (2, True, True)
    done = terminal.run("review", COMMUNITY_ID, WATER, "--accept", "--version", version, *BEÑAT)
    assert f"{WATER} ({version}) in {COMMUNITY_ID}: accepted by Beñat on " in done.stdout
    assert "declined by Beñat on" in terminal.run("review", COMMUNITY_ID, JOBS, "--decline", *BEÑAT).stdout
    assert [(one["verdict"], one["reviewed_by"]) for one in terminal.listed("--own")] == [
        ("declined", "Beñat"),
        ("accepted", "Beñat"),
    ]
    assert terminal.run("remove", COMMUNITY_ID, JOBS).exit_code == 0
    assert [one["id"] for one in terminal.listed("--own")] == [WATER]
    history = json.loads(terminal.run("show", COMMUNITY_ID, "--json", group="community").stdout)["history"]
    mine = [line for line in history if line["what"].startswith("card ")]
    assert [line["actor"] for line in mine] == [f"terminal:{getpass.getuser()}"] * 5
    assert [line["what"].split()[3] for line in mine] == ["proposed", "proposed", "accepted", "declined", "removed"]
    assert not any(name in line["what"] for line in mine for name in ("Ane", "Beñat"))


def test_a_changed_file_waits_for_a_new_review(terminal: Terminal, tmp_path: Path) -> None:
    """Only of the cards that changed; and whoever sits there may propose in their own name."""
    terminal.run("add", COMMUNITY_ID, str(EXAMPLE))
    for card in (JOBS, WATER):
        assert terminal.run("review", COMMUNITY_ID, card, "--accept", *ANE).exit_code == 0
    file = tmp_path / "changed.toml"
    file.write_text(EXAMPLE.read_text(encoding="utf-8").replace("drink our wells dry", "empty our wells"), "utf-8")
    said = terminal.run("add", COMMUNITY_ID, str(file)).stdout.splitlines()
    assert said == [
        f"{JOBS} is as it was in {COMMUNITY_ID}.",
        f"{WATER} is changed, reviewed by nobody yet, in {COMMUNITY_ID}.",
    ]
    assert [one["verdict"] for one in terminal.listed("--own")] == ["accepted", None]
    assert terminal.listed("--own")[1]["proposed_by"] == getpass.getuser()


def test_the_projects_cards_are_listed_after_the_communitys(terminal: Terminal) -> None:
    """A person who writes one sees what is there on the same stereotype."""
    terminal.run("add", COMMUNITY_ID, str(EXAMPLE))
    own, *ours = terminal.listed("--language", "en", "--stereotype", "migrants/jobs")
    assert (own["id"], own["is_own"], own["caution"] is not None) == (JOBS, True, True)
    assert ours
    assert not any(one["is_own"] or one["version"] for one in ours)
    shown = terminal.run("show", COMMUNITY_ID, ours[0]["id"])
    assert f"project, migrants/jobs\n    {ours[0]['argument']}" in shown.stdout
    assert json.loads(terminal.run("show", COMMUNITY_ID, ours[0]["id"], "--json").stdout) == ours[0]
    assert terminal.run("list", COMMUNITY_ID, "--stereotype", "no/such").stdout == "No card fits.\n"


@pytest.mark.parametrize(
    ("words", "why", "remedy"),
    [
        (("add", COMMUNITY_ID, "none.toml"), "none.toml cannot be read", "Name a file that is there"),
        (("add", COMMUNITY_ID, str(EXAMPLE), "--by", "99"), "99 may not manage", "antiphon community role grant"),
        (("add", COMMUNITY_ID, str(EXAMPLE), "--name", "Ane"), "needs the person's id", "--by"),
        (("add", "sample/nowhere", str(EXAMPLE)), "no community sample/nowhere", "correct the name"),
        (("show", COMMUNITY_ID, "nothing"), "There is no card nothing", "antiphon cards list"),
        (("review", COMMUNITY_ID, "nothing", "--accept"), "has no card nothing", "antiphon cards list"),
        (("review", COMMUNITY_ID, "nothing"), "needs a verdict", "--accept or --decline"),
        (("remove", COMMUNITY_ID, "nothing"), "has no card nothing", "antiphon cards list"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(terminal: Terminal, words: tuple[str, ...], why: str, remedy: str) -> None:
    """In a sentence, with the exit code of a wrong call."""
    done = terminal.run(*words)
    assert done.exit_code == 2
    assert why in done.stderr
    assert remedy in done.stderr


@pytest.mark.parametrize(
    ("data", "why", "remedy"),
    [
        (b"cards = [", "is not TOML", "Correct that line"),
        (b"\xff", "is not UTF-8", "Save it as UTF-8"),
        (b"", "no list of cards", "[[cards]]"),
        (b'[[cards]]\nid = "one"\nlanguage = "en"\n', "Card one: argument is not allowed", "It must be given"),
        (b"#" * 1_000_001, "larger than 1,000,000 bytes", "fewer cards"),
    ],
)
def test_a_file_that_cannot_be_used_adds_nothing(
    terminal: Terminal, tmp_path: Path, data: bytes, why: str, remedy: str
) -> None:
    """A person who wrote it learns where to look."""
    file = tmp_path / "cards.toml"
    file.write_bytes(data)
    done = terminal.run("add", COMMUNITY_ID, str(file))
    assert done.exit_code == 2
    assert why in done.stderr
    assert remedy in done.stderr
    assert terminal.listed("--own") == []
