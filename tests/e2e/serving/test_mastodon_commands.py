"""``antiphon mastodon`` as a person calls it, against an instance on loopback."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.conftest import Antiphon, InThisProcess, Result, beside
from tests.fakes.mastodon.server.server import MastodonServer

YES = "Ilargi, who runs it, by e-mail on 3 March 2026"


@dataclass
class Terminal:
    """The command, with the account of an instance."""

    server: MastodonServer
    antiphon: Antiphon

    def __call__(self, *arguments: str, stdin: str = "") -> Result:
        return self.antiphon("mastodon", *arguments, stdin=stdin.encode())


@pytest.fixture(scope="module")
def instance() -> Iterator[MastodonServer]:
    """An instance of Mastodon."""
    server = MastodonServer()
    with beside(server.running()):
        yield server
    assert server.errors == []


@pytest.fixture
def terminal(instance: MastodonServer, here: InThisProcess) -> Terminal:
    """An account that was logged in, in an installation of its own; no command needs a process for itself."""
    url, token = instance.url, instance.bot.token
    made = Terminal(instance, here.having(ANTIPHON__MASTODON__URL=url, ANTIPHON__MASTODON__TOKEN=token))
    assert made.antiphon("db", "upgrade").code == 0
    return made


def test_a_team_is_named(terminal: Terminal):
    """By the names that people know; each has the id that an account of the dashboard is made with."""
    town = terminal.server.town
    ana, bert = town.add_account("ana"), town.add_account("bert", "far.example")
    town.add_account("carla")
    named = terminal("team", "@ana@home.example", "bert@far.example")
    assert (named.code, named.err) == (0, "")
    for person, name in ((ana, "@ana@home.example"), (bert, "@bert@far.example")):
        assert f"{name}  moderator  mastodon/{person.id}\n" in named.out
    volunteer = terminal("team", "@carla", "--role", "volunteer")
    assert "@carla@home.example  volunteer" in volunteer.out
    left = terminal("team", "@ana", "--leaves")
    assert "@bert" in left.out and "@ana" not in left.out
    unknown = terminal("team", "@nobody")
    assert unknown.code == 2
    assert "knows no account @nobody" in unknown.err


def test_an_instance_agrees_and_takes_it_back(terminal: Terminal):
    """The words of the consent are kept; without them nothing is posted there."""
    empty = terminal("place")
    assert empty.out == "No instance agreed to replies yet: nothing is posted.\n"
    agreed = terminal("place", "Far.Example", "--consent", YES, "--hashtag", "#bot", "--no-mention")
    said = f"far.example: agreed ({YES}); at most 5 replies a day, with #bot; their author is not told.\n"
    assert (agreed.code, agreed.out) == (0, said)
    fewer = terminal("place", "far.example", "--replies-a-day", "1")
    assert f"agreed ({YES}); at most 1 reply a day, with #bot" in fewer.out
    gone = terminal("place", "far.example", "--consent", "-")
    assert "has not agreed: nothing is posted" in gone.out
    refused = terminal("place", "far.example", "--hashtag", "bot")
    assert (refused.code, refused.out) == (2, "")
    assert "Write # and one word" in refused.err


def test_feeds_are_watched(terminal: Terminal):
    """A hashtag or the whole instance; what is neither is refused, and nothing changes."""
    refused = terminal("watch", "football")
    assert refused.code == 2
    watched = terminal("watch", "#football", "local", "--keyword", "go home", "--one-in", "500")
    assert "#football is watched.\nlocal is watched.\n" in watched.out
    assert "Keywords: go home; one false alarm in 500 harmless posts" in watched.out
    assert (terminal("watch", "--off")).out == "Nothing is watched.\n"


def test_what_is_wrong_with_an_account_is_told(terminal: Terminal):
    """With exit code 4, in words and as JSON; a token that is not accepted is told as such."""
    document = terminal("check", "--json").document
    found = {each["name"]: each for each in document["checks"]}
    assert document["ok"] is False
    assert (found["bot flag"]["ok"], found["owner named"]["ok"], found["mentions"]["ok"]) == (True, False, True)
    said = terminal("check")
    assert (said.code, said.err) == (4, "")
    assert "BAD  owner named" in said.out
    other = Terminal(terminal.server, terminal.antiphon.having(ANTIPHON__MASTODON__TOKEN="wrong"))
    refused = other("check")
    assert refused.code == 2
    assert "does not accept the token" in refused.err


def test_nothing_is_asked_without_an_account(antiphon: Antiphon):
    """The installed command says how to get one."""
    result = antiphon("mastodon", "check")
    assert result.code == 2
    assert "antiphon mastodon login" in result.err


def test_a_log_in_that_goes_nowhere_is_told(terminal: Terminal):
    """An address that others could listen to, a code that is wrong, and one that was not given."""
    refused = terminal("login", "http://social.example")
    assert refused.code == 2
    wrong = terminal("login", terminal.server.url, stdin="wrong\n")
    assert wrong.code == 2
    assert "does not accept this code" in wrong.err
    assert "export ANTIPHON__MASTODON__TOKEN" not in wrong.out


def test_the_address_of_a_log_in_can_be_copied_from_a_narrow_terminal(terminal: Terminal):
    """It is not broken into lines."""
    narrow = Terminal(terminal.server, terminal.antiphon.having(COLUMNS="40"))
    shown = narrow("login", terminal.server.url, stdin="wrong\n").out
    (address,) = [line for line in shown.splitlines() if "/oauth/authorize" in line]
    assert terminal.server.town.approve(terminal.server.bot, address)
