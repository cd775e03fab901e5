"""The fake Discord's HTTP API, as far as Antiphon uses it.

Owns what each operation does with the state and answers, in Discord's form. Does not use the network.
"""

import re
from typing import Any, Final

from tests.fakes.discord.server.commands import INTERACTIONS
from tests.fakes.discord.server.state import BOT_ID, GUILD_ID, JSON, OWNER_ID, DiscordState, Handler, Refused

MAX_CONTENT: Final = 2000


def gateway_user(state: DiscordState) -> JSON:
    return state.users[BOT_ID] | {"mfa_enabled": False, "locale": "en-US", "verified": True, "email": None}


def application(state: DiscordState) -> JSON:
    return {
        "id": str(BOT_ID),
        "name": "antiphon",
        "icon": None,
        "description": "",
        "bot_public": False,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": 1 << 19 if state.shows_content else 0,
        "owner": state.users[OWNER_ID],
        "team": None,
    }


def guild(state: DiscordState) -> JSON:
    """The server, as HTTP and the gateway show it."""
    return {
        "id": str(GUILD_ID),
        "name": "Brenmoor",
        "owner_id": str(OWNER_ID),
        "roles": list(state.roles.values()),
        "emojis": [],
        "stickers": [],
        "features": [],
        "preferred_locale": "en-US",
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "afk_timeout": 300,
        "premium_tier": 0,
        "premium_progress_bar_enabled": False,
        "system_channel_flags": 0,
        "nsfw_level": 0,
        "nsfw": False,
    }


def _me(state: DiscordState, _ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    return 200, gateway_user(state)


def _application(state: DiscordState, _ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    return 200, application(state)


def _guild(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    if int(ids[0]) != GUILD_ID:
        raise Refused(404, 10004, "Unknown Guild")
    return 200, guild(state)


def _member(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    if int(ids[1]) not in state.members:
        raise Refused(404, 10007, "Unknown Member")
    return 200, state.members[int(ids[1])]


def _history(state: DiscordState, ids: tuple[str, ...], query: dict[str, str], _body: Any) -> tuple[int, Any]:
    channel = _channel(state, ids[0])
    found = [message for message in state.messages.values() if message["channel_id"] == str(channel)]
    found = [message for message in found if state.is_in_history(message)]
    if "before" in query:
        found = [message for message in found if int(message["id"]) < int(query["before"])]
    if "after" in query:
        found = [message for message in found if int(message["id"]) > int(query["after"])]
    newest_first = sorted(found, key=lambda message: -int(message["id"]))
    return 200, [state.seen_by_bot(message) for message in newest_first[: int(query.get("limit", "50"))]]


def _create(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], body: Any) -> tuple[int, Any]:
    channel = _channel(state, ids[0])
    content = (body.get("content") or "").strip()
    if len(content) > MAX_CONTENT:
        raise _bad_form("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
    if not content and not body.get("embeds") and not body.get("components"):
        raise Refused(400, 50006, "Cannot send an empty message")
    key = body.get("nonce")
    if key is not None and body.get("enforce_nonce"):
        earlier = state.of_key(BOT_ID, str(key))
        if earlier is not None:
            return 200, earlier | {"nonce": key}
    answers = _answered(state, body.get("message_reference"))
    message = state.write(
        BOT_ID,
        channel,
        content,
        answers=answers,
        flags=body.get("flags") or 0,
        components=body.get("components") or (),
    )
    if key is not None:
        state.keep_key(BOT_ID, str(key), message)
    return 200, message | ({} if key is None else {"nonce": key})


def _answered(state: DiscordState, reference: JSON | None) -> int | None:
    """The message that a new one answers; one that is gone is refused, or forgotten where the request says so."""
    if reference is None:
        return None
    number = int(reference["message_id"])
    if number in state.messages:
        return number
    if reference.get("fail_if_not_exists", True):
        raise _bad_form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    return None


def _read(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    return 200, state.seen_by_bot(_message(state, ids))


def _change(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], body: Any) -> tuple[int, Any]:
    message = _message(state, ids)
    if message["author"]["id"] != str(BOT_ID):
        raise Refused(403, 50005, "Cannot edit a message authored by another user")
    return 200, state.edit(int(message["id"]), body.get("content") or message["content"], body.get("components"))


def _delete(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    state.delete(int(_message(state, ids)["id"]))
    return 204, None


def _roles(state: DiscordState, _ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    return 200, list(state.roles.values())


def _channel_itself(state: DiscordState, ids: tuple[str, ...], _query: dict[str, str], _body: Any) -> tuple[int, Any]:
    return 200, state.channels[_channel(state, ids[0])]


def _channel(state: DiscordState, number: str) -> int:
    if int(number) in state.forbidden:
        raise Refused(403, 50001, "Missing Access")
    if int(number) not in state.channels:
        raise Refused(404, 10003, "Unknown Channel")
    return int(number)


def _message(state: DiscordState, ids: tuple[str, ...]) -> JSON:
    channel = _channel(state, ids[0])
    message = state.messages.get(int(ids[1]))
    if message is None or message["channel_id"] != str(channel):
        raise Refused(404, 10008, "Unknown Message")
    return message


def _bad_form(field: str, code: str, message: str) -> Refused:
    errors = {field: {"_errors": [{"code": code, "message": message}]}}
    return Refused(400, 50035, "Invalid Form Body", errors)


ROUTES: Final[tuple[tuple[str, re.Pattern[str], Handler], ...]] = tuple(
    (method, re.compile(pattern), handler)
    for method, pattern, handler in (
        ("GET", r"/users/@me", _me),
        ("GET", r"/oauth2/applications/@me", _application),
        ("GET", r"/guilds/(\d+)", _guild),
        ("GET", r"/guilds/(\d+)/members/(\d+)", _member),
        ("GET", r"/guilds/(\d+)/roles", _roles),
        ("GET", r"/channels/(\d+)", _channel_itself),
        ("GET", r"/channels/(\d+)/messages", _history),
        ("POST", r"/channels/(\d+)/messages", _create),
        ("GET", r"/channels/(\d+)/messages/(\d+)", _read),
        ("PATCH", r"/channels/(\d+)/messages/(\d+)", _change),
        ("DELETE", r"/channels/(\d+)/messages/(\d+)", _delete),
        *INTERACTIONS,
    )
)


def carry_out(state: DiscordState, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
    """Do what a request asks: the status and the body of the answer.

    Raises:
        Refused: Discord would refuse it.
    """
    for known, pattern, handler in ROUTES:
        match = pattern.fullmatch(path)
        if known == method and match is not None:
            return handler(state, match.groups(), query, body)
    raise Refused(404, 0, "404: Not Found")
