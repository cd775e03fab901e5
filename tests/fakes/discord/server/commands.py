"""The fake Discord's commands, and the interactions that people have with them.

Owns what is registered, the tokens of interactions, and what was answered to each.
"""

from typing import Any, Final

from tests.fakes.discord.server.state import (
    BOT_ID,
    CHANNEL_ID,
    GUILD_ID,
    JSON,
    OWNER_ID,
    DiscordState,
    Handler,
    Refused,
    numbered,
)

_EVERYWHERE: Final = ""
_TOKEN: Final = r"/([^/]+)"


def invoke(state: DiscordState, data: JSON, *, user: int = OWNER_ID, kind: int = 2) -> JSON:
    """Let somebody use a command or a component: the event that the gateway then tells of.

    Args:
        data: Discord's ``data`` of the interaction.
        kind: Discord's type of it: 2 a command, 3 a component, 5 a modal.
    """
    number = state.number()
    token = f"token-{number}"
    state.interactions[token] = {"answers": [], "original": None}
    return {
        "id": str(number),
        "application_id": str(BOT_ID),
        "type": kind,
        "data": data,
        "guild_id": str(GUILD_ID),
        "channel_id": str(CHANNEL_ID),
        "channel": state.channels[CHANNEL_ID] | {"permissions": "0"},
        "member": state.members[user] | {"permissions": "8"},
        "token": token,
        "version": 1,
        "locale": "en-US",
        "guild_locale": "en-US",
        "app_permissions": "0",
        "entitlements": [],
        "authorizing_integration_owners": {"0": str(GUILD_ID)},
        "context": 0,
        "attachment_size_limit": 10485760,
    }


def _known(state: DiscordState, guild: str) -> tuple[int, Any]:
    return 200, state.commands.get(guild, [])


def _register(state: DiscordState, guild: str, body: Any) -> tuple[int, Any]:
    more = {"application_id": str(BOT_ID), "dm_permission": None, "nsfw": False} | (
        {"guild_id": guild} if guild else {}
    )
    made = [{"type": 1, "description": "", "options": []} | each | more for each in body]
    state.commands[guild] = [each | {"id": str(state.number()), "version": str(state.number())} for each in made]
    return 200, state.commands[guild]


def _list_all(state: DiscordState, _ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    return _known(state, _EVERYWHERE)


def _list(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    return _known(state, ids[1])


def _replace_all(state: DiscordState, _ids: tuple[str, ...], _query: dict[str, str], body: Any) -> tuple[int, Any]:
    return _register(state, _EVERYWHERE, body)


def _replace(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], body: Any) -> tuple[int, Any]:
    return _register(state, ids[1], body)


def _respond(state: DiscordState, ids: tuple[str, ...], query: dict[str, str], body: Any) -> tuple[int, Any]:
    kept = _interaction(state, ids[1])
    if kept["answers"]:
        raise Refused(400, 40060, "Interaction has already been acknowledged.")
    kept["answers"].append(body)
    data = body.get("data") or {}
    is_hidden = bool((data.get("flags") or 0) & 64)
    kept["original"] = _message(state, data)
    shown: JSON = {"id": ids[0], "type": 2, "response_message_id": kept["original"]["id"]}
    shown |= {"response_message_loading": body["type"] == 5, "response_message_ephemeral": is_hidden}
    resource = {"type": body["type"], "message": kept["original"]} if body["type"] == 4 else {"type": body["type"]}
    return (200, {"interaction": shown, "resource": resource}) if "with_response" in query else (204, None)


def _follow_up(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], body: Any) -> tuple[int, Any]:
    _interaction(state, ids[1])["answers"].append(body)
    return 200, _message(state, body)


def _original(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    return 200, _interaction(state, ids[1])["original"]


def _edit_original(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], body: Any) -> tuple[int, Any]:
    kept = _interaction(state, ids[1])
    kept["answers"].append(body)
    flags = kept["original"]["flags"] | (body.get("flags") or 0)
    components = numbered(body.get("components") or ())
    kept["original"] |= {"content": body.get("content") or "", "components": components, "flags": flags}
    return 200, kept["original"]


def _interaction(state: DiscordState, token: str) -> JSON:
    if token not in state.interactions:
        raise Refused(404, 10062, "Unknown interaction")
    return state.interactions[token]


def _message(state: DiscordState, data: JSON) -> JSON:
    """A message that only an interaction knows."""
    message = state.write(
        BOT_ID,
        CHANNEL_ID,
        data.get("content") or "",
        flags=data.get("flags") or 0,
        components=data.get("components") or (),
    )
    state.delete(int(message["id"]))
    return message | {"webhook_id": str(BOT_ID), "application_id": str(BOT_ID)}


INTERACTIONS: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", r"/applications/(\d+)/commands", _list_all),
    ("PUT", r"/applications/(\d+)/commands", _replace_all),
    ("GET", r"/applications/(\d+)/guilds/(\d+)/commands", _list),
    ("PUT", r"/applications/(\d+)/guilds/(\d+)/commands", _replace),
    ("POST", r"/interactions/(\d+)" + _TOKEN + "/callback", _respond),
    ("POST", r"/webhooks/(\d+)" + _TOKEN, _follow_up),
    ("GET", r"/webhooks/(\d+)" + _TOKEN + "/messages/@original", _original),
    ("PATCH", r"/webhooks/(\d+)" + _TOKEN + "/messages/@original", _edit_original),
)
"""The operations on commands and interactions."""
