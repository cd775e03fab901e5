"""Telling Discord of our commands, in SimCord, in its languages."""

from typing import Any

import discord
import pytest

from adapters.discord.manage.commands import tell_commands
from core.errors import PlatformUnavailable
from tests.fakes.discord.town import FakeApplication, Town


async def test_commands_that_discord_refuses_are_told_with_what_to_do(town: Town) -> None:
    """The remedy names the invitation's scope; the next start tells them again."""
    town.env.inject_error("PUT", "/applications/*/commands", status=403, code=50001)
    with pytest.raises(PlatformUnavailable) as refused:
        await tell_commands(town.env.bot)
    assert "applications.commands" in refused.value.remedy
    await tell_commands(town.env.bot)


async def test_a_long_wait_for_the_commands_keeps_nothing_else_back(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait that the client does not sit out is told as Discord's refusal is, and the start goes on."""

    async def limited() -> list[Any]:
        raise discord.RateLimited(600)

    monkeypatch.setattr(town.env.bot.tree, "sync", limited)
    with pytest.raises(PlatformUnavailable) as refused:
        await tell_commands(town.env.bot)
    assert "again later" in refused.value.remedy


async def test_names_and_descriptions_are_translated_where_the_catalog_has_them(
    application: FakeApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only for languages of Discord and ours; a translation that is no name for a command is left out."""
    catalog = {"counter": "responder", "setup": "Poner en Marcha", "What happened lately": "Lo último"}
    monkeypatch.setattr(
        "adapters.discord.speech.gettext",
        lambda text, locale: catalog.get(text, text) if str(locale).startswith("es") else text,
    )
    client = application.client()
    async with application.run(client) as env:
        town = Town(env, application)
        commands = env.backend.visible_commands(user_id=town.admin.id, channel_id=town.square.id)
        counter = next(command for command in commands if command["name"] == "counter")
        assert counter["name_localizations"] == {"es-ES": "responder", "es-419": "responder"}
        group = next(command for command in commands if command["name"] == "antiphon")
        by_name = {option["name"]: option for option in group["options"]}
        assert not by_name["setup"].get("name_localizations")
        assert by_name["stats"]["description_localizations"]["es-ES"] == "Lo último"
