"""Where the dashboard listens, by which names it answers, and where it says that a post is."""

from typing import Any, Final

import pytest
from pydantic import ValidationError

from adapters.web.server import listening
from bot.compose.platforms import address_of
from bot.compose.web import origins_of, providers_of
from bot.settings import Settings, WebSettings
from core.errors import BadSettings
from core.models import PostRef


@pytest.mark.parametrize("host", ["localhost", "[::1]", "127.8.8.8"])
def test_it_listens_on_this_machine(host: str) -> None:
    """Without more ado."""
    assert WebSettings(host=host, port=8470).public_url == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "desk.example.org"])
def test_it_listens_elsewhere_only_behind_tls(host: str) -> None:
    """The refusal says what a reverse proxy must do."""
    for url in ("", "http://desk.example.org"):
        with pytest.raises(ValidationError, match="end TLS, keep the Host header, buffer no answer"):
            WebSettings(host=host, port=8470, public_url=url)
    settings = WebSettings(host=host, port=8470, public_url="https://Desk.example.org")
    assert origins_of(settings, 8470) == ("https://desk.example.org",)


def test_it_has_no_place_below_a_path() -> None:
    """Its addresses begin at the root."""
    with pytest.raises(ValidationError, match="a host alone"):
        WebSettings(public_url="https://example.org/antiphon")


def test_without_a_public_address_it_answers_to_this_machines_names() -> None:
    """And to the port that it got."""
    assert "http://127.0.0.1:1234" in origins_of(WebSettings(), 1234)


def test_a_port_that_is_taken_is_told() -> None:
    """With the settings to change."""
    with listening("127.0.0.1", 0) as first, pytest.raises(BadSettings, match="it is taken") as caught:
        listening("127.0.0.1", first.getsockname()[1])
    assert "web.port" in caught.value.remedy


def test_posts_are_found_on_their_platforms() -> None:
    """By the platform's own address; of what is not its own, nothing."""
    assert address_of("", PostRef("discord", "1", "2", "3")) == "https://discord.com/channels/1/2/3"
    assert address_of("", PostRef("telegram", "-1001", "-1001", "3")).startswith("https://t.me/c/1/")
    instance = "https://home.example/"
    assert address_of(instance, PostRef("mastodon", "home.example", "x", "77")) == "https://home.example/statuses/77"
    assert address_of(instance, PostRef("mastodon", "other.example", "x", "77")) == ""
    assert address_of(instance, PostRef("sample", "a", "b", "c")) == ""


_LOGIN: Final[dict[str, dict[str, Any]]] = {
    "web": {
        "public_url": "https://desk.example.org",
        "discord_client_id": "80351110224678912",
        "discord_client_secret": "canary",
        "mastodon_client_id": "abc-1_2",
        "mastodon_client_secret": "canary",
    },
    "mastodon": {"url": "https://home.example/"},
}


def test_people_log_in_through_platforms_only_where_that_is_set() -> None:
    """Through Mastodon at the bot's own instance, whose ids the accounts name."""
    assert providers_of(Settings()) == {}
    found = providers_of(Settings.model_validate(_LOGIN))
    assert list(found) == ["discord", "mastodon"]
    assert found["discord"].token == "https://discord.com/api/v10/oauth2/token"
    assert found["mastodon"].token == "https://home.example/oauth/token"
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    ("left_out", "named"),
    [
        ("web.public_url", "web.public_url"),
        ("web.discord_client_id", "web.discord_client_id"),
        ("web.discord_client_secret", "ANTIPHON__WEB__DISCORD_CLIENT_SECRET"),
        ("web.mastodon_client_id", "web.mastodon_client_id"),
        ("web.mastodon_client_secret", "ANTIPHON__WEB__MASTODON_CLIENT_SECRET"),
        ("mastodon.url", "mastodon.url"),
    ],
)
def test_a_login_by_half_is_refused(left_out: str, named: str) -> None:
    """The remedy names what is missing."""
    table, _, key = left_out.partition(".")
    some = _LOGIN | {table: {name: value for name, value in _LOGIN[table].items() if name != key}}
    with pytest.raises(BadSettings, match="configured by half") as caught:
        providers_of(Settings.model_validate(some))
    assert f"Set {named}" in caught.value.remedy
