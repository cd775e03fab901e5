"""``antiphon setup`` as a person answers it: to a community in shadow mode, and again without losing anything."""

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Antiphon, InThisProcess, Result, beside
from tests.fakes.discord.server import DiscordServer, DiscordState
from tests.fakes.discord.server.server import TOKEN as DISCORD_TOKEN
from tests.fakes.engine.servers.chat import ChatServer
from tests.fakes.machine.clock import FakeClock
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.telegram.places import Places
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.state import BOT_ID

GROUP = "-1001234567890"
TWO_PROCESSES = Path(__file__).parents[3] / "docs" / "running" / "two-processes.md"


@dataclass
class Wizard:
    """The command in this process, and what it wrote."""

    antiphon: Antiphon

    def __call__(self, *lines: str, config: Path | None = None) -> Result:
        words = ["setup", *(["--config", str(config)] if config else [])]
        return self.antiphon(*words, stdin="".join(f"{line}\n" for line in lines).encode())

    def document(self, *arguments: str) -> Any:
        return self.antiphon(*arguments, "--json").document

    @property
    def files(self) -> dict[str, str]:
        """What stands in the settings and the secrets."""
        return {file.name: file.read_text() for file in sorted((self.antiphon.home / "config").rglob("*.*"))}


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    """A Bot API server."""
    server = TelegramServer()
    with beside(server.running()):
        yield server
    assert server.errors == []


@pytest.fixture
def wizard(here: InThisProcess, telegram: TelegramServer) -> Wizard:
    """The command, led to that server."""
    return Wizard(here.having(ANTIPHON__TELEGRAM__API_URL=telegram.url))


def test_from_nothing_to_a_community_in_shadow_mode(wizard: Wizard, telegram: TelegramServer) -> None:
    """Each bad answer is asked again with its reason; the token is shown nowhere, and only its owner can read it."""
    wrong_token = "7:wrong-canary"
    done = wizard(
        "settings.yaml", "",  # where settings live: no settings file, then as proposed
        "9", "embedded",  # the model
        "telegram", "two words", wrong_token, telegram.token,
        "brenmoor", GROUP, "de", "es", "warm " * 30, "warm and short",
        "", "ana 12345", "12345, 67890",  # the review group, later; who decides
        "",
    )  # fmt: skip
    assert done.code == 0, done.err
    for reason in (
        "settings.yaml is no settings file",
        "That is none of them.",
        "This is no token.",
        "Telegram does not accept the token.",
        "That is not what is asked for. Type a number that begins with -.",
        "Antiphon does not write the language 'de'.",
        "The tone is too long.",
        "ana is no id of a person.",
    ):
        assert reason in done.out
    assert "canary" not in done.out + done.err
    assert telegram.token not in done.out + done.err
    home = wizard.antiphon.home / "config" / "antiphon"
    assert "Next: antiphon serve\nAdd the bot: https://t.me/antiphon_bot?startgroup=1" in done.out
    secrets = home / "secrets.env"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    assert secrets.read_text() == f"ANTIPHON__TELEGRAM__TOKEN={telegram.token}\n"
    (row,) = (wizard.document("community", "list"))["communities"]
    assert (row["community"], row["is_posting"]) == (f"telegram/{GROUP}", False)
    assert {one["user"]: one["roles"] for one in row["people"]} == {"12345": ["moderator"], "67890": ["moderator"]}
    checks = {one["key"]: one for one in (wizard.document("config", "show"))["settings"]}
    assert checks["telegram.token"] == {
        "key": "telegram.token", "value": "set", "origin": f"{secrets}, ANTIPHON__TELEGRAM__TOKEN",
    }  # fmt: skip

    before = wizard.files
    again = wizard(*[""] * 12)
    assert again.code == 0, again.out + again.err
    assert wizard.files == before
    (same,) = (wizard.document("community", "list"))["communities"]
    assert same == row


def test_the_page_on_two_machines_answers_each_question(wizard: Wizard, telegram: TelegramServer) -> None:
    """In their order, and no other one is asked."""
    table = re.findall(r"^\| (.+?) \| (.+?) \|$", TWO_PROCESSES.read_text("utf-8"), re.MULTILINE)
    rows = table[table.index(("question", "answer")) + 1 :]
    asked = [question.removesuffix(" ...") for question, _ in rows if question != "---"]
    given = [answer for question, answer in rows if question != "---"]
    typed = ["" if answer.startswith("Enter") else answer for answer in given]
    typed = [telegram.token if answer.startswith("paste it") else answer for answer in typed]
    done = wizard(*(found[1] if (found := re.search("`(.+?)`", answer)) else answer for answer in typed))
    assert done.code == 0, done.out + done.err
    places = [done.out.find(question) for question in asked]
    assert places == sorted(places)
    assert min(places) >= 0
    assert "in shadow mode: nothing is posted" in done.out


def test_enter_finds_the_group_that_the_bot_was_added_to(wizard: Wizard, telegram: TelegramServer) -> None:
    """Telegram's apps show no id; what the bot is told of stays for ``serve``."""
    places = Places(telegram.state)
    owner = places.add_user()
    asked = ("", "", "telegram", telegram.token)
    nowhere = wizard(*asked, "")
    assert "The bot was told of no group yet. Open https://t.me/antiphon_bot?startgroup=1" in nowhere.out
    old, group = (places.add_group(title, owner=owner, bot=None) for title in ("Harbour", "Brenmoor"))
    for each in (old, group):
        places.set_member(each, BOT_ID, by=owner)
    several = wizard(*asked, "")
    assert f"{old}  Harbour\n  {group}  Brenmoor\nThe bot was told of several groups. Type the id" in several.out
    telegram.webhook = {"url": "https://bot.example/hook"}
    assert "Type the id of your group." in wizard(*asked, "").out
    telegram.webhook = {}
    told = telegram.state.updates.waiting()
    telegram.state.updates.confirm(told[-1]["update_id"])
    done = wizard(*asked, *[""] * 6)
    assert f"  {group}  Brenmoor\n" in done.out
    assert f"Community: telegram/{group}, in shadow mode" in done.out
    assert telegram.state.updates.waiting() == told[-1:]


def test_a_posting_community_goes_on_and_what_is_set_stays(wizard: Wizard, telegram: TelegramServer) -> None:
    """Comments and other keys, too; a file that is named is named in what comes next."""
    own = wizard.antiphon.home / "own.toml"
    own.write_text("# mine\n[llm]\nthreads = 3\n")
    answers = ("", "", "telegram", telegram.token, GROUP, "", "", "", "", "")
    first = wizard(*answers, config=own)
    assert f"Next: antiphon serve --config {own}" in first.out
    posting = ("community", "posting", f"telegram/{GROUP}", "--on", "--config", str(own))
    assert (wizard.antiphon(*posting)).code == 0
    second = wizard(*[""] * 12, config=own)
    assert f"Community: telegram/{GROUP}, posts approved replies already" in second.out
    assert own.read_text().startswith("# mine\n[llm]\nthreads = 3\n")


def test_answers_that_end_early_change_nothing(wizard: Wizard, telegram: TelegramServer) -> None:
    done = wizard("", "", "telegram", telegram.token, GROUP)
    assert done.code == 2
    assert "The answers ended before the questions did. Nothing was changed." in done.err
    assert wizard.files == {}
    assert not (wizard.antiphon.home / "data").exists()


def test_a_no_at_the_end_changes_nothing(wizard: Wizard) -> None:
    done = wizard("", "", "none", "eu", "", "n")
    assert (done.code, "Nothing was changed." in done.err) == (0, True)
    assert wizard.files == {}


def test_settings_that_cannot_be_read_are_not_replaced(wizard: Wizard) -> None:
    own = wizard.antiphon.home / "own.toml"
    own.write_text("[llm\n")
    done = wizard("", config=own)
    assert (done.code, own.read_text()) == (2, "[llm\n")
    assert "is not valid TOML" in done.err


def test_a_model_server_is_asked(wizard: Wizard, server: ChatServer) -> None:
    """One that is away is used only where somebody says so."""
    away = "http://127.0.0.1:9/v1"
    done = wizard("", "server", "nonsense", away, "", "n", "key", "y", "other", "n", "m", "y", "none", "", "", "")
    assert done.code == 0, done.out + done.err
    assert "This is no address." in done.out
    assert f"The language model at {away} cannot be reached." in done.out
    assert "antiphon run" in done.out
    assert 'base_url = "http://127.0.0.1:9/v1"' in wizard.files["config.toml"]
    assert wizard.files["secrets.env"] == "ANTIPHON__LLM__API_KEY=key\n"
    there = wizard("", "server", server.url, "", "fake", "none", "", "", "")
    assert there.code == 0, there.out + there.err
    assert "Use it all the same" not in there.out
    assert f'base_url = "{server.url}"' in wizard.files["config.toml"]


def test_discord_is_asked(here: InThisProcess) -> None:
    """A bot that may not read messages is told so, when it is to."""
    state = DiscordState(FakeClock())
    discord = DiscordServer(state)
    with beside(discord.running()):
        state.shows_content = False
        refused = Wizard(here)("", "", "discord", "y", DISCORD_TOKEN)
        assert "Discord does not let this bot read messages." in refused.out
        done = Wizard(here)(
            "",
            "",
            "discord",
            "n",
            "wrong",
            DISCORD_TOKEN,
            "12",
            "123456789012345678",
            "",
            "",
            "",
            "4567890123456789",
            "",
        )
    assert done.code == 0, done.out + done.err
    assert "Discord does not accept the token." in done.out
    assert "Add the bot: https://discord.com/oauth2/authorize?client_id=" in done.out
    (row,) = (Wizard(here).document("community", "list"))["communities"]
    assert (row["community"], row["is_posting"]) == ("discord/123456789012345678", False)
    assert discord.complaints == []


@pytest.fixture
def instance() -> Iterator[MastodonServer]:
    """An instance of Mastodon."""
    server = MastodonServer()
    with beside(server.running()):
        yield server
    assert server.errors == []


def test_mastodon_is_logged_in_to_at_a_terminal(antiphon: Antiphon, instance: MastodonServer) -> None:
    """With the code that the instance shows; the team is found by its names."""
    server = instance
    server.town.add_account("ana")
    with antiphon.at_terminal("setup") as terminal:
        for question, answer in (
            ("Where settings live", ""),
            ("Which one", "embedded"),
            ("Which one", "mastodon"),
            ("The instance of the bot's account", server.url),
        ):
            terminal.read_to(question)
            terminal.read_to(": ")
            terminal.types(answer)
        terminal.read_to("allow what is asked:")
        shown = terminal.read_to("The code that is shown then")
        address = next(line for line in shown.splitlines() if line.startswith("http"))
        terminal.types(server.town.approve(server.bot, address))
        for question, answer in (
            ("The language of the community", "it"),
            ("How replies sound", "calm"),
            ("Who decides", "@nobody"),
            ("Who decides", "@ana"),
            ("Write ", "y"),
        ):
            terminal.read_to(question)
            terminal.types(answer)
        code, rest = terminal.read_to_end()
    assert code == 0, rest
    assert "Community: mastodon/home.example, in shadow mode: nothing is posted" in rest
    assert "knows no account @nobody" in terminal.shown
    here = InThisProcess(antiphon.home)
    assert "@ana@home.example  moderator" in here("mastodon", "team").out
    (row,) = here("community", "list", "--json").document["communities"]
    assert (row["community"], row["is_posting"]) == ("mastodon/home.example", False)
    assert [one["roles"] for one in row["people"]] == [["moderator"]]


def test_ctrl_c_leaves_everything_as_it_was(antiphon: Antiphon) -> None:
    """In the middle, with a secret typed already."""
    with antiphon.at_terminal("setup") as terminal:
        terminal.read_to("Where settings live")
        terminal.types("")
        terminal.read_to("Which one")
        terminal.types("server")
        terminal.read_to("Its address")
        terminal.types("http://127.0.0.1:9/v1")
        terminal.read_to("Its key")
        terminal.interrupt()
        code, rest = terminal.read_to_end()
    assert code == 130
    assert "Nothing was changed." in rest
    assert "Traceback" not in rest
    assert list(antiphon.home.rglob("*.*")) == []
