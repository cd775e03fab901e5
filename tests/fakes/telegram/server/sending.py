"""What the bot writes, changes and takes back in the fake Telegram.

Owns who may write where, and what makes a message fail. Ephemeral messages are in ``ephemeral``.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.fakes.telegram.server import ephemeral
from tests.fakes.telegram.server.refusals import refused
from tests.fakes.telegram.server.state import BOT_ID, JSON, KnownChat, TelegramState, quoted
from tests.fakes.telegram.server.texts import MAX_CAPTION, cut, parsed, units

_MINUTE: Final = 60
_OLDEST_TO_DELETE: Final = 48 * 3600
_QUOTED_WITH: Final = ("bold", "italic", "underline", "strikethrough", "spoiler", "custom_emoji")


def send_message(state: TelegramState, asked: JSON) -> JSON:
    """Write a text."""
    chat = open_chat(state, asked["chat_id"])
    content = parsed(asked["text"], asked.get("parse_mode"), asked.get("entities"))
    if asked.get("link_preview_options"):
        content["link_preview_options"] = asked["link_preview_options"]
    return _send(state, chat, asked, content)


def send_document(state: TelegramState, asked: JSON) -> JSON:
    chat = open_chat(state, asked["chat_id"])
    file = asked["document"]
    if not isinstance(file, dict) or not file["content"]:
        raise refused(400, "file must be non-empty")
    document = {"file_id": f"file{len(chat.messages)}", "file_unique_id": f"u{len(chat.messages)}"}
    content: JSON = {"document": document | {"file_name": file["filename"], "file_size": len(file["content"])}}
    if asked.get("caption"):
        caption = parsed(asked["caption"], asked.get("parse_mode"), asked.get("caption_entities"), MAX_CAPTION)
        content["caption"] = caption["text"]
        if "entities" in caption:
            content["caption_entities"] = caption["entities"]
    message = _send(state, chat, asked, content)
    state.files[document["file_id"]] = file["content"]
    return message


def _send(state: TelegramState, chat: KnownChat, asked: JSON, content: JSON) -> JSON:
    _slow_down(state, chat)
    reply = asked.get("reply_parameters") or {}
    message = {"from": state.users[BOT_ID]} | content
    markup = asked.get("reply_markup") or {}
    if "inline_keyboard" in markup:
        message["reply_markup"] = markup
    if state.offers_ephemeral and ("ephemeral_message_parameters" in asked or "ephemeral_message_id" in reply):
        return ephemeral.send(state, chat, asked, message)
    message |= _replying(state, chat, reply, asked.get("message_thread_id"))
    kept = state.keep(chat, message)
    if markup.get("force_reply"):
        state.prompts.add((chat.id, kept["message_id"]))
    return kept


def _slow_down(state: TelegramState, chat: KnownChat) -> None:
    """Refuse what is too much for a group, and say when there is room again."""
    if state.group_limit is None or not chat.is_group:
        return
    own = [state.age(each) for each in chat.messages.values() if each.get("from", {}).get("id") == BOT_ID]
    recent = [age for age in own if age < _MINUTE]
    if len(recent) >= state.group_limit:
        wait = _MINUTE - recent[-state.group_limit]
        raise refused(429, f"retry after {wait}", retry_after=wait)


def _replying(state: TelegramState, chat: KnownChat, reply: JSON, topic: int | None) -> JSON:
    """What a message has because of the message that it answers, and of the topic that it stands in."""
    if topic is not None and topic not in chat.topics:
        raise refused(400, "message thread not found")
    elsewhere = str(reply.get("chat_id", chat.id)) != str(chat.id)
    answered = None if elsewhere else chat.messages.get(reply.get("message_id", 0))
    if reply and answered is None and (elsewhere or not reply.get("allow_sending_without_reply")):
        raise refused(400, "message to be replied not found")
    if answered is not None and answered.get("is_topic_message"):
        topic = topic if topic is not None else answered["message_thread_id"]
        if topic != answered["message_thread_id"]:
            raise refused(400, "message to be replied not found")
    if topic in chat.closed and not chat.may(BOT_ID, "can_manage_topics"):
        raise refused(400, "TOPIC_CLOSED")
    added = in_thread(chat, answered, topic)
    if answered is not None and reply.get("quote"):
        quote = parsed(reply["quote"], reply.get("quote_parse_mode"), reply.get("quote_entities"))
        added["quote"] = _quoted(answered, quote)
    return added


def _quoted(answered: JSON, quote: JSON) -> JSON:
    """The first part of a message that has these words in these formats.

    Raises:
        Refused: none has.
    """
    whole = str(answered.get("text") or answered.get("caption") or "")
    length = units(quote["text"])
    for start in range(len(whole)):
        position = units(whole[:start])
        is_there = whole.startswith(quote["text"], start)
        if is_there and _formats(answered, position, length) == _formats(quote, 0, length):
            return {"text": cut(whole, position, length), "position": position, "is_manual": True}
    raise refused(400, "QUOTE_TEXT_INVALID")


def _formats(message: JSON, position: int, length: int) -> list[tuple[str, int, int]]:
    """The formats of a part of a message that a quote of it must have, too, each with its place in the part."""
    found = [
        (each["type"], max(each["offset"] - position, 0), min(each["offset"] + each["length"] - position, length))
        for each in message.get("entities") or message.get("caption_entities") or []
        if each["type"] in _QUOTED_WITH
    ]
    return sorted((kind, start, end) for kind, start, end in found if start < end)


def in_thread(chat: KnownChat, answered: JSON | None, topic: int | None) -> JSON:
    """The fields of a message that tell what it answers and in which topic, or thread of a supergroup, it is.

    In a topic a message that answers nothing is shown as an answer to the note that the topic was made.
    """
    added: JSON = {}
    if topic is not None:
        added = {"message_thread_id": topic, "is_topic_message": True}
        answered = answered or chat.messages.get(topic)
    elif answered is not None and chat.kind == "supergroup":
        added = {"message_thread_id": answered.get("message_thread_id", answered["message_id"])}
    return added if answered is None else added | {"reply_to_message": quoted(answered)}


def open_chat(state: TelegramState, number: int | str) -> KnownChat:
    """A chat that the bot may write in.

    Raises:
        Refused: it may not.
    """
    chat = state.chat(number)
    if chat.kind == "private":
        if chat.id in state.blocked:
            raise refused(403, "bot was blocked by the user")
        if not chat.opened:
            raise refused(403, "bot can't initiate conversation with a user")
        return chat
    status = chat.status(BOT_ID)
    if status == "kicked":
        raise refused(403, f"bot was kicked from the {chat.kind} chat")
    if status == "left":
        raise refused(403, f"bot is not a member of the {chat.kind} chat")
    if chat.kind == "channel" and not chat.may(BOT_ID, "can_post_messages"):
        raise refused(400, "need administrator rights in the channel chat")
    if status == "restricted" and not chat.members[BOT_ID]["can_send_messages"]:
        raise refused(400, "not enough rights to send text messages to the chat")
    return chat


def edit_message_text(state: TelegramState, asked: JSON) -> JSON:
    """Change the text of a message of the bot's own; buttons that are not named again go."""
    content = parsed(asked["text"], asked.get("parse_mode"), asked.get("entities"))
    if asked.get("link_preview_options"):
        content["link_preview_options"] = asked["link_preview_options"]
    return _change(state, asked, content)


def edit_message_reply_markup(state: TelegramState, asked: JSON) -> JSON:
    """Change the buttons of a message of the bot's own, or take them away."""
    return _change(state, asked, {})


def _change(state: TelegramState, asked: JSON, content: JSON) -> JSON:
    chat = state.chat(asked["chat_id"])
    message = chat.messages.get(asked["message_id"])
    if message is None:
        raise refused(400, "message to edit not found")
    if message.get("from", {}).get("id") != BOT_ID or (content and "text" not in message):
        raise refused(400, "message can't be edited")
    before = dict(message)
    if content:
        message.pop("entities", None)
        message.update(content)
    message.pop("reply_markup", None)
    if (asked.get("reply_markup") or {}).get("inline_keyboard"):
        message["reply_markup"] = asked["reply_markup"]
    if message == before:
        raise refused(
            400,
            "message is not modified: specified new message content and reply markup are exactly the same as a "
            "current content and reply markup of the message",
        )
    message["edit_date"] = state.seconds()
    return message


def delete_message(state: TelegramState, asked: JSON) -> bool:
    chat = state.chat(asked["chat_id"])
    message = chat.messages.get(asked["message_id"])
    if message is None:
        raise refused(400, "message to delete not found")
    if not _may_delete(state, chat, message):
        raise refused(400, "message can't be deleted")
    del chat.messages[asked["message_id"]]
    return True


def _may_delete(state: TelegramState, chat: KnownChat, message: JSON) -> bool:
    if chat.is_group and chat.may(BOT_ID, "can_delete_messages"):
        return True
    is_own = message.get("from", {}).get("id") == BOT_ID
    return (is_own or chat.kind == "private") and state.age(message) < _OLDEST_TO_DELETE


Method = Callable[[TelegramState, JSON], Any]
SENDING: Final[dict[str, Method]] = {
    "sendMessage": send_message,
    "sendDocument": send_document,
    "editMessageText": edit_message_text,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "deleteMessage": delete_message,
}
