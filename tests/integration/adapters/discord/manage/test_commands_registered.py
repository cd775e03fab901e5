"""Telling Discord of our commands, in SimCord: only when they changed, and in its languages."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.discord.manage.commands import payload_hash, sync_commands
from core.errors import PlatformUnavailable
from tests.fakes.discord.town import FakeApplication, Town


def upserts(env: Any) -> list[str]:
    """The requests that told Discord of commands."""
    return [str(entry) for entry in env.http_requests if "commands" in str(entry) and "PUT" in str(entry)]


async def test_discord_is_told_of_the_commands_once_and_again_when_they_change(application: FakeApplication) -> None:
    """A restart alone tells nothing; another command does."""
    client = application.client()
    async with application.run(client) as env:
        assert len(upserts(env)) == 1
        await env.restart_bot(application.client())
        assert len(upserts(env)) == 1
        key = f"{client.application_id}:everywhere"
        application.memory.set(key, payload_hash([]))
        await env.restart_bot(application.client())
        assert len(upserts(env)) == 2 and application.memory.get(key) != payload_hash([])


async def test_a_refused_command_is_told_again_at_the_next_start(application: FakeApplication) -> None:
    """What Discord did not take is not remembered as told; the remedy names the invitation's scope."""
    client = application.client()
    async with application.run(client) as env:
        key = f"{client.application_id}:everywhere"
        application.memory.set(key, "")
        env.inject_error("PUT", "/applications/*/commands", status=403, code=50001)
        with pytest.raises(PlatformUnavailable) as refused:
            await sync_commands(client, application.memory)
        assert "applications.commands" in refused.value.remedy and not application.memory.get(key)
        assert await sync_commands(client, application.memory)
        assert not await sync_commands(client, application.memory)


def test_the_hash_of_commands_tells_changes_and_not_their_order() -> None:
    """Discord lists commands in whatever order; a description changed is a change."""
    one, other = {"name": "a", "description": "x"}, {"description": "y", "name": "b"}
    assert payload_hash([one, other]) == payload_hash([dict(reversed(other.items())), one])
    assert payload_hash([one]) != payload_hash([{**one, "description": "z"}])
    assert payload_hash([one, other]) != payload_hash([one])


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
