"""Logging in over real HTTP: at the fake instance, and at one that binds the code to whoever asked for it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web

from adapters.common.pkce import challenge_of
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.manage import MODERATOR_SCOPES, SCOPES, LogIn, begin, finish, instance_address
from core.errors import BadInput, PlatformUnavailable
from tests.fakes.machine.loopback import in_the_loop
from tests.fakes.mastodon.server.server import MastodonServer


@dataclass
class StrictInstance:
    """Gives a token only for the code's own verifier, and only the scopes that it is told to grant."""

    grants: str = " ".join(SCOPES)
    elsewhere: bool = False
    url: str = ""
    tokens_asked: list[dict[str, str]] = field(default_factory=list)
    challenge: str = ""
    gives: str = "the-token"

    async def well_known(self, request: web.Request) -> web.Response:
        host = "https://other.example" if self.elsewhere else self.url
        return web.json_response(
            {
                "authorization_endpoint": f"{host}/oauth/authorize",
                "token_endpoint": f"{host}/oauth/token",
                "code_challenge_methods_supported": ["S256"],
            }
        )

    async def apps(self, request: web.Request) -> web.Response:
        return web.json_response({"client_id": "app", "client_secret": "s"})

    async def token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.tokens_asked.append(form)
        if form.get("code") != "right" or challenge_of(form.get("code_verifier", "")) != self.challenge:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response({"access_token": self.gives, "scope": self.grants})

    def open(self, begun: LogIn) -> None:
        """A person opens the address and allows what is asked."""
        asked = parse_qs(urlsplit(begun.address).query)
        assert asked["code_challenge_method"] == ["S256"]
        (self.challenge,) = asked["code_challenge"]


@pytest.fixture
async def strict() -> AsyncIterator[StrictInstance]:
    """An instance that offers PKCE."""
    made = StrictInstance()
    app = web.Application()
    app.router.add_get("/.well-known/oauth-authorization-server", made.well_known)
    app.router.add_post("/api/v1/apps", made.apps)
    app.router.add_post("/oauth/token", made.token)
    async with in_the_loop(app) as made.url:
        yield made


async def test_a_code_becomes_a_token_that_works(server: MastodonServer) -> None:
    """From the address to a client that is logged in as the account."""
    begun = await begin(server.url)
    asked = parse_qs(urlsplit(begun.address).query)
    assert begun.address.startswith(f"{server.url}/oauth/authorize?")
    assert asked["scope"] == [" ".join(SCOPES)]
    granted = await finish(begun, f" {server.town.approve(server.bot, begun.address)}\n")
    client = MastodonClient(MastodonOptions(server.url, granted.token))
    await client.open()
    assert client.own_id == server.bot.id
    await client.close()


async def test_a_moderator_is_asked_for_reports_only(strict: StrictInstance) -> None:
    """The token of a person with rights can do as little as possible."""
    begun = await begin(strict.url, is_moderator=True)
    assert parse_qs(urlsplit(begun.address).query)["scope"] == [" ".join(MODERATOR_SCOPES)]


async def test_the_code_is_bound_to_us_where_the_instance_offers_it(strict: StrictInstance) -> None:
    """A code that somebody else saw is worth nothing without the verifier."""
    begun = await begin(strict.url)
    strict.open(begun)
    assert (await finish(begun, "right")).token == "the-token"
    other = await begin(strict.url)
    with pytest.raises(BadInput, match="does not accept this code"):
        await finish(other, "right")


@pytest.mark.parametrize("code", ["", "  ", "wrong"])
async def test_a_wrong_code_is_said_to_be_one(strict: StrictInstance, code: str) -> None:
    """An empty one asks nobody."""
    begun = await begin(strict.url)
    strict.open(begun)
    with pytest.raises(BadInput) as caught:
        await finish(begun, code)
    assert caught.value.remedy
    assert len(strict.tokens_asked) == (1 if code.strip() else 0)


async def test_less_than_was_asked_for_is_refused(strict: StrictInstance) -> None:
    """A token that can read and not post would fail at the first reply; a broader scope holds the narrow one."""
    strict.grants = "read"
    begun = await begin(strict.url)
    strict.open(begun)
    with pytest.raises(BadInput, match="did not grant write:statuses"):
        await finish(begun, "right")
    strict.grants = "read write"
    assert (await finish(begun, "right")).scopes == ("read", "write")


async def test_a_log_in_is_not_sent_to_another_host(strict: StrictInstance) -> None:
    """The code and the secret go to the instance whose address was typed, and nowhere else."""
    strict.elsewhere = True
    with pytest.raises(PlatformUnavailable, match="another host"):
        await begin(strict.url)


async def test_what_is_no_instance_is_said_to_be_none(server: MastodonServer) -> None:
    """A refusal, and an address where nobody listens."""
    server.fault("/api/v1/apps", "404")
    with pytest.raises(PlatformUnavailable, match="status 404"):
        await begin(server.url)
    with pytest.raises(PlatformUnavailable, match="could not be reached"):
        await begin("http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("social.example", "https://social.example"),
        (" https://social.example/@ana ", "https://social.example"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
    ],
)
def test_an_address_is_understood_as_it_is_typed(typed: str, address: str) -> None:
    """People copy the address of a profile."""
    assert instance_address(typed) == address


@pytest.mark.parametrize("typed", ["", "http://social.example", "ftp://social.example", "ana@social.example"])
def test_an_address_that_would_show_the_code_to_others_is_refused(typed: str) -> None:
    """Plain http only to this machine; an account's name is not an address."""
    with pytest.raises(BadInput):
        instance_address(typed)


@pytest.mark.parametrize(
    "gives",
    [
        "tok\fANTIPHON__LLM__BASE_URL=http://elsewhere.example/v1",
        "tok\x85ANTIPHON__VLLM__PROGRAM=theirs",
        "tok\u2028ANTIPHON__DESK__DATABASE_URL=x",
        "tok; rm -r .",
        "tok\x1b[2J",
        "",
        "t" * 513,
    ],
)
async def test_what_is_no_token_is_not_kept(strict: StrictInstance, gives: str) -> None:
    """An instance of somebody else cannot write a line of our settings, nor a command of whoever pastes it."""
    strict.gives = gives
    begun = await begin(strict.url)
    strict.open(begun)
    with pytest.raises(PlatformUnavailable, match="no token"):
        await finish(begun, "right")
