"""Which platforms the settings configure, and what is said where they configure none, or one by half."""

import pytest

from adapters.discord import speech as discord
from adapters.mastodon import speech as mastodon
from adapters.telegram import speech as telegram
from bot.compose.application import SHORTEST_POST
from bot.compose.platforms import configured_platforms, platforms_to_serve
from bot.settings import load_settings
from core.errors import BadSettings


def _variables(**discord: str) -> dict[str, str]:
    return {f"ANTIPHON__DISCORD__{name.upper()}": value for name, value in discord.items()}


def test_none_is_configured_by_default() -> None:
    """To serve none is an error that names a way for each platform."""
    settings = load_settings(environment={})
    assert configured_platforms(settings) == []
    with pytest.raises(BadSettings, match="No chat platform is configured") as caught:
        platforms_to_serve(settings)
    assert "Discord: set ANTIPHON__DISCORD__TOKEN" in caught.value.remedy
    assert "antiphon run" in caught.value.remedy


def test_a_token_is_enough_for_discord() -> None:
    """Nothing is connected, and nothing written, by looking."""
    (discord,) = platforms_to_serve(load_settings(environment=_variables(token="a token")))
    assert (discord.name, discord.max_characters, discord.has_roles) == ("discord", 2000, True)


@pytest.mark.parametrize("half", [{"reads_messages": "true"}, {"token": "  "}])
def test_discord_by_half_is_refused(half: dict[str, str]) -> None:
    """A person who set the rest meant to serve it; the remedy names what is missing, and the way back."""
    with pytest.raises(BadSettings, match="configured by half") as caught:
        configured_platforms(load_settings(environment=_variables(**half)))
    assert "ANTIPHON__DISCORD__TOKEN" in caught.value.remedy
    assert "[discord]" in caught.value.remedy


_MASTODON = {"ANTIPHON__MASTODON__URL": "https://social.example", "ANTIPHON__MASTODON__TOKEN": "a token"}


def test_a_token_and_an_address_are_enough_for_mastodon() -> None:
    """Only roles that are given in Antiphon count there."""
    (mastodon,) = platforms_to_serve(load_settings(environment=_MASTODON))
    assert (mastodon.name, mastodon.max_characters, mastodon.has_roles) == ("mastodon", 430, False)


@pytest.mark.parametrize("missing", sorted(_MASTODON))
def test_mastodon_by_half_is_refused(missing: str) -> None:
    with pytest.raises(BadSettings, match="Mastodon is configured by half") as caught:
        configured_platforms(load_settings(environment=_MASTODON | {missing: ""}))
    assert "antiphon mastodon login" in caught.value.remedy


def test_what_a_process_drafts_for_all_platforms_each_of_them_takes() -> None:
    """Also with what stands around a reply there, so that no draft is refused when a person approves it."""
    taken = [mastodon.MAX_CHARACTERS, telegram.MAX_CHARACTERS, discord.MAX_CHARACTERS]
    assert min(taken) >= SHORTEST_POST
