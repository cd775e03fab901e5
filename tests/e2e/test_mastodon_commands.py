"""``antiphon mastodon`` as a person calls it, against an instance on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.conftest import Antiphon, Result
from tests.fakes.mastodon.server.server import MastodonServer

YES = "Ilargi, who runs it, by e-mail on 3 March 2026"


@dataclass
class Terminal:
    """The command, with the account of an instance; it runs beside the instance's own loop."""

    server: MastodonServer
    antiphon: Antiphon

    async def __call__(self, *arguments: str, stdin: str = "") -> Result:
        return await asyncio.to_thread(self.antiphon, *arguments, stdin=stdin.encode())

    async def document(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((await self(*arguments)).out)
        return found


@pytest.fixture
async def terminal(antiphon: Antiphon) -> AsyncIterator[Terminal]:
    """An account that was logged in."""
    server = MastodonServer()
    async with server.running():
        url, token = server.url, server.bot.token
        made = Terminal(server, antiphon.having(ANTIPHON__MASTODON__URL=url, ANTIPHON__MASTODON__TOKEN=token))
        await made("db", "upgrade")
        yield made
    assert server.errors == []


async def test_a_team_is_named_and_told_of_cases(terminal: Terminal):
    """By the names that people know; who decides gets the cases, who leaves gets none."""
    town = terminal.server.town
    for name, domain in (("ana", None), ("bert", "far.example"), ("carla", None)):
        town.add_account(name, domain)
    named = await terminal("mastodon", "team", "@ana", "bert@far.example")
    assert (named.code, named.err) == (0, "")
    assert "Cases are told to: @ana@home.example @bert@far.example." in named.out
    volunteer = await terminal("mastodon", "team", "@carla", "--role", "volunteer")
    assert "@carla@home.example  volunteer" in volunteer.out
    left = await terminal("mastodon", "team", "@ana", "--leaves")
    assert "Cases are told to: @bert@far.example." in left.out
    unknown = await terminal("mastodon", "team", "@nobody")
    assert unknown.code == 2
    assert "knows no account @nobody" in unknown.err


async def test_an_instance_agrees_and_takes_it_back(terminal: Terminal):
    """The words of the consent are kept; without them nothing is posted there."""
    empty = await terminal("mastodon", "place")
    assert empty.out == "No instance agreed to replies yet: nothing is posted.\n"
    agreed = await terminal("mastodon", "place", "Far.Example", "--consent", YES, "--hashtag", "#bot", "--no-mention")
    said = f"far.example: agreed ({YES}); at most 5 replies a day, with #bot; their author is not told.\n"
    assert (agreed.code, agreed.out) == (0, said)
    fewer = await terminal("mastodon", "place", "far.example", "--replies-a-day", "1")
    assert f"agreed ({YES}); at most 1 reply a day, with #bot" in fewer.out
    gone = await terminal("mastodon", "place", "far.example", "--consent", "-")
    assert "has not agreed: nothing is posted" in gone.out
    refused = await terminal("mastodon", "place", "far.example", "--hashtag", "bot")
    assert (refused.code, refused.out) == (2, "")
    assert "Write # and one word" in refused.err


async def test_feeds_are_watched(terminal: Terminal):
    """A hashtag or the whole instance; what is neither is refused, and nothing changes."""
    refused = await terminal("mastodon", "watch", "football")
    assert refused.code == 2
    watched = await terminal("mastodon", "watch", "#football", "local", "--keyword", "go home", "--one-in", "500")
    assert "#football is watched.\nlocal is watched.\n" in watched.out
    assert "Keywords: go home; one false alarm in 500 harmless posts" in watched.out
    assert (await terminal("mastodon", "watch", "--off")).out == "Nothing is watched.\n"


async def test_what_is_wrong_with_an_account_is_told(terminal: Terminal):
    """With exit code 4, in words and as JSON; a token that is not accepted is told as such."""
    document = await terminal.document("mastodon", "check", "--json")
    found = {each["name"]: each for each in document["checks"]}
    assert document["ok"] is False
    assert (found["bot flag"]["ok"], found["owner named"]["ok"], found["mentions"]["ok"]) == (True, False, True)
    said = await terminal("mastodon", "check")
    assert (said.code, said.err) == (4, "")
    assert "BAD  owner named" in said.out
    other = Terminal(terminal.server, terminal.antiphon.having(ANTIPHON__MASTODON__TOKEN="wrong"))
    refused = await other("mastodon", "check")
    assert refused.code == 2
    assert "does not accept the token" in refused.err


async def test_nothing_is_asked_without_an_account(antiphon: Antiphon):
    """The command says how to get one."""
    result = await asyncio.to_thread(antiphon, "mastodon", "check")
    assert result.code == 2
    assert "antiphon mastodon login" in result.err


async def test_a_log_in_that_goes_nowhere_is_told(terminal: Terminal):
    """An address that others could listen to, a code that is wrong, and one that was not given."""
    refused = await terminal("mastodon", "login", "http://social.example")
    assert refused.code == 2
    wrong = await terminal("mastodon", "login", terminal.server.url, stdin="wrong\n")
    assert wrong.code == 2
    assert "does not accept this code" in wrong.err
    assert "export ANTIPHON__MASTODON__TOKEN" not in wrong.out
