"""Messages as Discord sends them, read by the library, in a server with one channel and one thread."""

from typing import Any, Final

import discord

GUILD, SQUARE, BO, ANE = 1, 2, 5, 6
BEGUN: Final = 1_400_000_000_000_000_000
"""The number of the thread, which says when it was begun."""
WHEN: Final = "2026-01-01T00:00:00+00:00"


def town(title: str = "a thread") -> tuple[discord.TextChannel, discord.Thread]:
    """The channel, and a thread that Bo began below it."""
    state = discord.Client(intents=discord.Intents(guilds=True))._connection
    channels = [{"id": str(SQUARE), "type": 0, "name": "square", "position": 0, "permission_overwrites": []}]
    guild = discord.Guild(data=_guild(channels), state=state)
    square = guild.get_channel(SQUARE)
    assert isinstance(square, discord.TextChannel)
    return square, discord.Thread(guild=guild, state=state, data=_thread(title))


def message(place: discord.TextChannel | discord.Thread, number: int = BEGUN + 1, **said: Any) -> discord.Message:
    """A message of Bo's, with the fields that are named as Discord sends them."""
    data: dict[str, Any] = {
        "id": str(number),
        "channel_id": str(place.id),
        "author": {"id": str(BO), "username": "bo", "global_name": "Bo Lund", "discriminator": "0", "avatar": None},
        "content": "",
        "timestamp": WHEN,
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "type": 0,
    }
    data |= said | {"attachments": [file(**each) for each in said.get("attachments", ())]}
    if "message_snapshots" in said:
        data["message_snapshots"] = [{"message": _snapshot(**each["message"])} for each in said["message_snapshots"]]
    if "poll" in said:
        data["poll"] = {"expiry": WHEN, "allow_multiselect": False, "layout_type": 1} | said["poll"]
    return discord.Message(state=place._state, channel=place, data=data)  # type: ignore[arg-type]


def file(**said: Any) -> dict[str, Any]:
    return {"id": "9", "filename": "a.png", "size": 10, "url": "https://cdn.example/a", "proxy_url": ""} | said


def _snapshot(**said: Any) -> dict[str, Any]:
    files = [file(**each) for each in said.get("attachments", ())]
    base = {"type": 0, "timestamp": WHEN, "edited_timestamp": None, "flags": 0, "mentions": [], "embeds": []}
    return base | {"content": ""} | said | {"attachments": files}


def _guild(channels: list[dict[str, Any]]) -> Any:
    everybody = {"id": str(GUILD), "name": "@everyone", "permissions": "66560", "position": 0, "color": 0}
    return {"id": str(GUILD), "name": "Brenmoor", "owner_id": str(ANE), "channels": channels, "roles": [everybody]}


def _thread(title: str) -> Any:
    kept = {"archived": False, "auto_archive_duration": 60, "archive_timestamp": WHEN, "locked": False}
    return {
        "id": str(BEGUN),
        "guild_id": str(GUILD),
        "parent_id": str(SQUARE),
        "owner_id": str(BO),
        "name": title,
        "type": 11,
        "message_count": 0,
        "member_count": 1,
        "thread_metadata": kept,
    }
