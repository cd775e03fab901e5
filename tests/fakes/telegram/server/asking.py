"""What the bot asks and settles in the fake Telegram: itself, chats and their members, commands, buttons, reactions."""

import json
from collections.abc import Callable
from typing import Any, Final

from tests.fakes.telegram.server.refusals import refused
from tests.fakes.telegram.server.state import BOT_ID, JSON, KnownChat, TelegramState

_SECONDS_OF_A_QUERY: Final = 60
_MOST_COMMANDS: Final = 100
_GIFTS: Final = (
    "unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels",
)  # fmt: skip


def get_me(state: TelegramState, _asked: JSON) -> JSON:
    return state.users[BOT_ID] | {
        "can_join_groups": True,
        "can_read_all_group_messages": not state.privacy,
        "supports_guest_queries": state.guest_mode,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


def get_chat(state: TelegramState, asked: JSON) -> JSON:
    chat = _entered(state, asked["chat_id"])
    full = chat.shown | {"accent_color_id": 0, "max_reaction_count": 11}
    full["accepted_gift_types"] = dict.fromkeys(_GIFTS, False)
    return full if chat.linked is None else full | {"linked_chat_id": chat.linked}


def get_chat_member(state: TelegramState, asked: JSON) -> JSON:
    chat, user = _entered(state, asked["chat_id"]), asked["user_id"]
    if chat.hides_members and user != BOT_ID and chat.status(BOT_ID) != "administrator":
        raise refused(400, "member list is inaccessible")
    if user not in state.users:
        raise refused(400, "user not found")
    return chat.members.get(user, {"status": "left", "user": state.users[user]})


def get_chat_administrators(state: TelegramState, asked: JSON) -> list[JSON]:
    """The owner and the administrators; other bots are left out."""
    chat = _entered(state, asked["chat_id"])
    if not chat.is_group and chat.kind != "channel":
        raise refused(400, "there are no administrators in the private chat")
    members = [each for each in chat.members.values() if each["status"] in ("creator", "administrator")]
    return [each for each in members if not each["user"]["is_bot"] or each["user"]["id"] == BOT_ID]


def _entered(state: TelegramState, number: int | str) -> KnownChat:
    chat = state.chat(number)
    status = chat.status(BOT_ID)
    if chat.kind == "private" or status not in ("left", "kicked"):
        return chat
    how = "was kicked from" if status == "kicked" else "is not a member of"
    raise refused(403, f"bot {how} the {chat.kind} chat")


def _scope(asked: JSON) -> tuple[str, str]:
    return json.dumps(asked.get("scope") or {"type": "default"}, sort_keys=True), asked.get("language_code") or ""


def set_my_commands(state: TelegramState, asked: JSON) -> bool:
    """Keep a list of commands for a scope and a language."""
    if len(asked["commands"]) > _MOST_COMMANDS:
        raise refused(400, "too many commands specified")
    for command in asked["commands"]:
        if not command["command"].replace("_", "a").isalnum() or command["command"] != command["command"].lower():
            raise refused(400, "BOT_COMMAND_INVALID")
    scope = asked.get("scope") or {}
    if "chat_id" in scope:
        _entered(state, scope["chat_id"])
    state.commands[_scope(asked)] = asked["commands"]
    return True


def get_my_commands(state: TelegramState, asked: JSON) -> list[JSON]:
    return state.commands.get(_scope(asked), [])


def answer_callback_query(state: TelegramState, asked: JSON) -> bool:
    """Stop the waiting of who pressed a button; once for each press."""
    query = state.queries.get(asked["callback_query_id"])
    is_late = query is None or state.seconds() - query["at"] > _SECONDS_OF_A_QUERY
    if is_late or asked["callback_query_id"] in state.answers:
        raise refused(400, "query is too old and response timeout expired or query ID is invalid")
    state.answers[asked["callback_query_id"]] = asked
    return True


def set_message_reaction(state: TelegramState, asked: JSON) -> bool:
    _reactions(state, asked)[BOT_ID] = asked.get("reaction") or []
    return True


def delete_message_reaction(state: TelegramState, asked: JSON) -> bool:
    chat = _entered(state, asked["chat_id"])
    if not chat.is_group or not chat.may(BOT_ID, "can_delete_messages"):
        raise refused(400, "not enough rights to delete the reaction")
    _reactions(state, asked).pop(asked["user_id"] if "user_id" in asked else asked["actor_chat_id"], None)
    return True


def _reactions(state: TelegramState, asked: JSON) -> dict[int, list[JSON]]:
    chat = _entered(state, asked["chat_id"])
    if asked["message_id"] not in chat.messages:
        raise refused(400, "message to react not found")
    return state.reactions.setdefault((chat.id, asked["message_id"]), {})


ASKING: Final[dict[str, Callable[[TelegramState, JSON], Any]]] = {
    "getMe": get_me,
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "getChatAdministrators": get_chat_administrators,
    "setMyCommands": set_my_commands,
    "getMyCommands": get_my_commands,
    "answerCallbackQuery": answer_callback_query,
    "setMessageReaction": set_message_reaction,
    "deleteMessageReaction": delete_message_reaction,
}
