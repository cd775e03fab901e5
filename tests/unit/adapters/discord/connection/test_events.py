"""Several listeners to one event of Discord."""

import discord
import pytest

from adapters.discord.connection.client import listen


async def test_every_listener_hears_an_event_though_another_fails() -> None:
    """Parts of the adapter do not replace each other's listeners; an error is raised when all have heard."""
    client = discord.Client(intents=discord.Intents.none())
    heard: list[tuple[str, str]] = []

    async def first(message: str) -> None:
        heard.append(("first", message))
        raise ValueError

    async def second(message: str) -> None:
        heard.append(("second", message))

    listen(client, "message", first)
    listen(client, "message", second)
    with pytest.raises(ValueError):
        await client.on_message("hello")  # type: ignore[attr-defined]  # set by listen
    assert sorted(heard) == [("first", "hello"), ("second", "hello")]


async def test_of_several_that_fail_each_error_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """One is raised, for the client to log; the others are in the log, without what the event held."""
    client = discord.Client(intents=discord.Intents.none())
    for error in (ValueError("hello"), KeyError("hello"), OSError("hello")):

        async def fail(_: str, error: Exception = error) -> None:
            raise error

        listen(client, "message", fail)
    with pytest.raises((ValueError, KeyError, OSError)) as raised:
        await client.on_message("hello")  # type: ignore[attr-defined]  # set by listen
    for kind in {"ValueError", "KeyError", "OSError"} - {raised.typename}:
        assert kind in caplog.text
    assert "hello" not in caplog.text
