"""Ephemeral messages of Bot API 10.2 and 10.3: what one person in a group and the bot alone see.

Owns their rules: a number of their own and 0 among messages, an answer within 15 seconds that is ephemeral too, and
refusal of everything else. There is no fallback to what everybody reads.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.fakes.telegram.server.refusals import refused
from tests.fakes.telegram.server.state import BOT_ID, JSON, KnownChat, TelegramState, quoted
from tests.fakes.telegram.server.texts import parsed

SECONDS_TO_ANSWER: Final = 15


def send(state: TelegramState, chat: KnownChat, asked: JSON, message: JSON) -> JSON:
    """Write to one person in a group.

    Raises:
        Refused: nothing of theirs is there to be answered, or its time is over.
    """
    given, reply = asked.get("ephemeral_message_parameters"), asked.get("reply_parameters") or {}
    if given is None:
        raise refused(400, "a reply to an ephemeral message must be an ephemeral message")
    if not chat.is_group:
        raise refused(400, "ephemeral messages can be sent to groups and supergroups only")
    receiver = given["receiver_user_id"]
    if chat.status(receiver) in ("left", "kicked"):
        raise refused(400, "receiver of the ephemeral message is not a member of the chat")
    added = _answering(state, chat, reply, receiver) | _pressed(state, chat, given, receiver)
    if not reply and "callback_query_id" not in given:
        raise refused(400, "the ephemeral message answers nothing")
    shown: JSON = {"receiver_user": state.users[receiver]}
    if asked.get("message_thread_id") is not None:
        shown |= {"message_thread_id": asked["message_thread_id"], "is_topic_message": True}
    return state.whisper(chat, receiver, message | added | shown)


def _answering(state: TelegramState, chat: KnownChat, reply: JSON, receiver: int) -> JSON:
    if not reply:
        return {}
    answered = chat.whispers.get((receiver, reply.get("ephemeral_message_id", 0)))
    if answered is None or answered["from"]["id"] != receiver:
        raise refused(400, "message to be replied not found")
    if state.age(answered) > SECONDS_TO_ANSWER:
        raise refused(400, "the ephemeral message is too old to be replied")
    return {"reply_to_message": quoted(answered)}


def _pressed(state: TelegramState, chat: KnownChat, given: JSON, receiver: int) -> JSON:
    """Check the callback query that is answered; what is shown in place of its message hides that message for them."""
    if "callback_query_id" not in given:
        return {}
    query = state.queries.get(given["callback_query_id"])
    if query is None or query["from"]["id"] != receiver or query["message"]["chat"]["id"] != chat.id:
        raise refused(400, "query is too old and response timeout expired or query ID is invalid")
    if state.seconds() - query["at"] > SECONDS_TO_ANSWER:
        raise refused(400, "query is too old and response timeout expired or query ID is invalid")
    if given.get("replace_callback_query_message") and query["message"]["message_id"] == 0:
        raise refused(400, "ephemeral messages must be edited")
    return {}


def edit_text(state: TelegramState, asked: JSON) -> bool:
    """Change the text of an ephemeral message of the bot's own; buttons that are not named again go."""
    message = _own(state, asked)
    message.pop("entities", None)
    message.update(parsed(asked["text"], asked.get("parse_mode"), asked.get("entities")))
    return edit_markup(state, asked)


def edit_markup(state: TelegramState, asked: JSON) -> bool:
    """Change the buttons of an ephemeral message of the bot's own."""
    message = _own(state, asked)
    message.pop("reply_markup", None)
    if (asked.get("reply_markup") or {}).get("inline_keyboard"):
        message["reply_markup"] = asked["reply_markup"]
    return True


def delete(state: TelegramState, asked: JSON) -> bool:
    chat = state.chat(asked["chat_id"])
    if chat.whispers.pop((asked["receiver_user_id"], asked["ephemeral_message_id"]), None) is None:
        raise refused(400, "message to delete not found")
    return True


def _own(state: TelegramState, asked: JSON) -> JSON:
    chat = state.chat(asked["chat_id"])
    message = chat.whispers.get((asked["receiver_user_id"], asked["ephemeral_message_id"]))
    if message is None:
        raise refused(400, "message to edit not found")
    if message["from"]["id"] != BOT_ID:
        raise refused(400, "message can't be edited")
    return message


EPHEMERAL: Final[dict[str, Callable[[TelegramState, JSON], Any]]] = {
    "editEphemeralMessageText": edit_text,
    "editEphemeralMessageReplyMarkup": edit_markup,
    "deleteEphemeralMessage": delete,
}
