"""What is found of an account and its instance, over real HTTP."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.instance import instance_of
from adapters.mastodon.manage import AccountFinding, _instance, look
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import Person


@asynccontextmanager
async def _client(server: MastodonServer, person: Person, moderator: str = "") -> AsyncIterator[MastodonClient]:
    client = MastodonClient(MastodonOptions(server.url, person.token, moderator))
    await client.open()
    try:
        yield client
    finally:
        await client.close()


def _by_name(found: Sequence[AccountFinding]) -> dict[str, AccountFinding]:
    assert all(each.remedy for each in found if each.ok is False)
    return {each.name: each for each in found}


async def test_an_account_as_it_should_be(server: MastodonServer) -> None:
    """Marked as automated, with somebody who answers for it, and a token that can read what it must."""
    own = server.town.add_account("helper", bot=True, note="<p>Run by @ana@home.example. Write #nobot to opt out.</p>")
    async with _client(server, own) as client:
        found = _by_name(await look(client))
    assert [name for name, each in found.items() if each.ok is False] == []
    assert found["account"].said == f"@helper@{server.domain}"


async def test_bad_manners_are_told_with_what_to_do(server: MastodonServer) -> None:
    """An account that hides that it is automated, and who runs it."""
    own = server.town.add_account("sneaky", bot=False, note="<p>Just a person.</p>")
    async with _client(server, own) as client:
        found = _by_name(await look(client))
    assert (found["bot flag"].ok, found["owner named"].ok) == (False, False)


async def test_reports_are_looked_at_with_the_moderators_token(server: MastodonServer) -> None:
    """A person without the right is told so; without a token nothing is asked."""
    moderator = server.town.add_account("mod", role="moderator")
    token = server.town.token(moderator, ("admin:read:reports", "admin:write:reports"))
    async with _client(server, server.bot, token) as client:
        assert _by_name(await look(client))["reports"].ok is True
    async with _client(server, server.bot) as client:
        assert _by_name(await look(client))["reports"].ok is None
    assert len(server.asked("GET", "/api/v1/admin/reports")) == 1


async def test_a_missing_scope_is_told_apart_from_an_instance_that_is_away(server: MastodonServer) -> None:
    """One needs a new log-in, the other patience."""
    async with _client(server, server.bot) as client:
        server.fault("/api/v1/notifications", "403")
        refused = _by_name(await look(client))["mentions"]
        server.fault("/api/v1/notifications", "503")
        away = _by_name(await look(client))["mentions"]
    assert "antiphon mastodon login" in refused.remedy
    assert "later" in away.remedy


def test_rules_limits_and_closed_feeds_are_shown() -> None:
    """As the instance says them; a closed feed is explained."""
    said = {
        "domain": "Social.Example",
        "version": "4.5.0",
        "configuration": {
            "statuses": {"max_characters": 1000, "characters_reserved_per_url": 30},
            "timelines_access": {"hashtag_feeds": {"local": "public", "remote": "disabled"}},
        },
        "rules": [{"id": "1", "text": "No unmarked bots."}],
    }
    found = _by_name(list(_instance(instance_of(said))))
    assert found["instance"].said == "social.example, Mastodon 4.5.0"
    assert "1000 characters" in found["length"].said
    assert "hashtag_feeds.remote" in found["feeds"].said
    assert found["feeds"].remedy
    assert (found["rules"].ok, found["rules"].said) == (None, "No unmarked bots.")
