"""What people do in the fake Telegram: talk, answer, press, react, edit; and what they see of the bot."""

import itertools
from typing import Any

from tests.fakes.telegram.places import Places
from tests.fakes.telegram.server.sending import in_thread
from tests.fakes.telegram.server.state import (
    ANONYMOUS_ADMIN,
    BOT_ID,
    BOT_NAME,
    JSON,
    TELEGRAM_ITSELF,
    KnownChat,
    TelegramState,
)
from tests.fakes.telegram.server.texts import cut, parsed, units


class TelegramTown(Places):
    """People and their chats. A message is the one that the server keeps: it changes when it is edited."""

    def __init__(self, state: TelegramState) -> None:
        super().__init__(state)
        self._queries = itertools.count(1)

    def wait(self, seconds: float) -> None:
        """Let time pass at the server; nobody waits for it."""
        self.state.pass_seconds(seconds)

    def say(
        self,
        user: int,
        chat: int | None,
        text: str,
        *,
        reply_to: JSON | None = None,
        quote: str | None = None,
        topic: int | None = None,
        as_chat: int | None = None,
        **more: Any,
    ) -> JSON:
        """Somebody writes into a chat, or into their private chat with the bot; the message.

        Args:
            reply_to: the message that it answers.
            quote: words of that message.
            as_chat: the chat in whose name it is written; the group itself for an anonymous administrator.
            more: other fields of the message.
        """
        place = self.state.chat(user if chat is None else chat)
        message = self._sender(user, place, as_chat) | parsed(text, None) | more
        if reply_to is not None and reply_to.get("is_topic_message"):
            topic = reply_to["message_thread_id"]
        message |= in_thread(place, reply_to, topic)
        if reply_to is not None and quote is not None:
            message["quote"] = _quote(reply_to, quote)
        kept = self.state.keep(place, message)
        self._tell("message", place, kept)
        return kept

    def send(self, user: int, chat: int, **said: Any) -> JSON:
        """Somebody sends what is not text alone: the fields of the message as Telegram names them."""
        place = self.state.chat(chat)
        kept = self.state.keep(place, self._sender(user, place, None) | said)
        self._tell("message", place, kept)
        return kept

    def command(
        self, user: int, chat: int | None, name: str, *, reply_to: JSON | None = None, topic: int | None = None
    ) -> JSON:
        """Somebody gives a command with its words, such as ``counter``; seen by the bot alone where it is ephemeral."""
        word, _, rest = name.removeprefix("/").partition(" ")
        place = self.state.chat(user if chat is None else chat)
        addressed = f"/{word}@{BOT_NAME}" if place.is_group and "@" not in word else f"/{word}"
        text = f"{addressed} {rest}".strip()
        if place.is_group and self.state.offers_ephemeral and self._is_ephemeral(word):
            return self.whisper(user, place.id, text, reply_to=reply_to, topic=topic)
        return self.say(user, chat, text, reply_to=reply_to, topic=topic)

    def whisper(
        self, user: int, chat: int, text: str, *, reply_to: JSON | None = None, topic: int | None = None
    ) -> JSON:
        """Somebody writes what only the bot sees: an ephemeral command, or an answer to an ephemeral message."""
        place = self.state.chat(chat)
        message = self._sender(user, place, None) | parsed(text, None) | {"receiver_user": self.state.users[BOT_ID]}
        kept = self.state.whisper(place, user, message | in_thread(place, reply_to, topic))
        self.state.updates.add("message", kept)
        return kept

    def start(self, user: int, payload: str = "") -> JSON:
        """Somebody opens their private chat with the bot, maybe by a link; who blocked the bot lets it write again."""
        if user in self.state.blocked:
            self.state.blocked.remove(user)
            self.set_member(user, BOT_ID, by=user)
        return self.say(user, None, f"/start {payload}")

    def press(self, user: int, message: JSON, data: str | None = None, *, label: str = "", stale: bool = False) -> str:
        """Somebody presses a button of a message, found by its data or its label; the query's id.

        Args:
            stale: they still see an earlier state of the message, so the button need not be there any more.
        """
        place, kept = self.state.chat(message["chat"]["id"]), self._kept(user, message)
        markup = (message if stale else kept or message).get("reply_markup", {})
        buttons = [button for row in markup.get("inline_keyboard", []) for button in row]
        found = [each for each in buttons if each.get("callback_data") == data or (label and label in each["text"])]
        if not stale and not found:
            raise LookupError(f"the buttons are {buttons}")
        query = f"{user}{next(self._queries):010}"
        shown = kept or {"chat": place.shown, "message_id": message["message_id"], "date": 0}
        pressed = {
            "id": query,
            "from": self.state.users[user],
            "message": shown,
            "chat_instance": str(place.id),
            "data": found[0]["callback_data"] if found else data,
        }
        self.state.queries[query] = pressed | {"at": self.state.seconds()}
        self.state.updates.add("callback_query", pressed)
        return query

    def answer_to(self, query: str) -> JSON | None:
        """What the bot answered to a press, or ``None`` if it did not yet."""
        return self.state.answers.get(query)

    def react(self, user: int, message: JSON, emoji: str | None = "👎", *, as_chat: int | None = None) -> None:
        """Somebody reacts to a message, or takes their reaction back; told to administrators only."""
        place = self.state.chat(message["chat"]["id"])
        reactions = self.state.reactions.setdefault((place.id, message["message_id"]), {})
        before = reactions.get(as_chat or user, [])
        after = [] if emoji is None else [{"type": "emoji", "emoji": emoji}]
        reactions[as_chat or user] = after
        change: JSON = {"chat": place.shown, "message_id": message["message_id"], "date": self.state.seconds()}
        change |= {"old_reaction": before, "new_reaction": after}
        change |= {"user": self.state.users[user]} if as_chat is None else {"actor_chat": self._shown(as_chat)}
        if not place.is_group or place.status(BOT_ID) == "administrator":
            self.state.updates.add("message_reaction", change)

    def edit(self, message: JSON, text: str) -> JSON:
        message = self._kept(message["from"]["id"], message) or message
        message.pop("entities", None)
        message.update(parsed(text, None) | {"edit_date": self.state.seconds()})
        self._tell("edited_message", self.state.chat(message["chat"]["id"]), message)
        return message

    def delete(self, message: JSON) -> None:
        """Somebody takes a message away; no bot is told."""
        del self.state.chats[message["chat"]["id"]].messages[message["message_id"]]

    def forward(self, user: int, message: JSON, chat: int | None = None, *, hidden: bool = False) -> JSON:
        """Somebody forwards a message, into their private chat with the bot if no chat is given.

        Args:
            hidden: its author lets nobody see by a forward who they are.
        """
        origin: JSON = {"date": message["date"]}
        sender = message.get("sender_chat")
        if sender is not None and sender["type"] == "channel":
            number = message.get("forward_origin", {}).get("message_id", message["message_id"])
            origin |= {"type": "channel", "chat": sender, "message_id": number}
        elif sender is not None:
            origin |= {"type": "chat", "sender_chat": sender}
        elif hidden:
            origin |= {"type": "hidden_user", "sender_user_name": message["from"]["first_name"]}
        else:
            origin |= {"type": "user", "sender_user": message["from"]}
        return self.say(user, chat, message["text"], forward_origin=origin)

    def post(self, channel: int, text: str) -> JSON:
        """A channel posts, and its group, if it has one, gets the post as a message; that message, or the post."""
        place = self.state.chat(channel)
        post = self.state.keep(place, {"sender_chat": place.shown} | parsed(text, None))
        if place.status(BOT_ID) == "administrator":
            self.state.updates.add("channel_post", post)
        if place.linked is None:
            return post
        origin = {"type": "channel", "chat": place.shown, "message_id": post["message_id"], "date": post["date"]}
        return self.say(
            TELEGRAM_ITSELF, place.linked, text, as_chat=channel, forward_origin=origin, is_automatic_forward=True
        )

    def public(self, chat: int) -> list[JSON]:
        """What everybody in a chat sees, oldest first."""
        return list(self.state.chats[chat].messages.values())

    def seen_by(self, user: int, chat: int) -> list[JSON]:
        """What one person sees in a chat: what all see, and the ephemeral messages for them."""
        whispers = self.state.chats[chat].whispers
        return [*self.public(chat), *(message for (receiver, _), message in whispers.items() if receiver == user)]

    def of_bot(self, chat: int) -> list[JSON]:
        """What the bot wrote for all in a chat, oldest first."""
        return [message for message in self.public(chat) if message.get("from", {}).get("id") == BOT_ID]

    def whispers_to(self, user: int, chat: int) -> list[JSON]:
        """What the bot wrote for one person in a group, oldest first."""
        return [each for each in self.seen_by(user, chat) if each["message_id"] == 0 and each["from"]["id"] == BOT_ID]

    def _kept(self, user: int, message: JSON) -> JSON | None:
        """A message as it stands now, whoever holds a copy of it; ``None`` if it is gone."""
        place = self.state.chats[message["chat"]["id"]]
        if message["message_id"] == 0:
            return place.whispers.get((user, message["ephemeral_message_id"]))
        return place.messages.get(message["message_id"])

    def _sender(self, user: int, place: KnownChat, as_chat: int | None) -> JSON:
        if as_chat is None:
            return {"from": self.state.users[user]}
        number = ANONYMOUS_ADMIN if as_chat == place.id else user
        return {"from": self.state.users[number], "sender_chat": self._shown(as_chat)}

    def _shown(self, chat: int) -> JSON:
        return self.state.chats[chat].shown

    def _is_ephemeral(self, word: str) -> bool:
        lists = self.state.commands.values()
        name = word.partition("@")[0]
        return any(each["command"] == name and each.get("is_ephemeral") for commands in lists for each in commands)

    def _tell(self, kind: str, place: KnownChat, message: JSON) -> None:
        if self._hears(place, message):
            self.state.updates.add(kind, message)

    def _hears(self, place: KnownChat, message: JSON) -> bool:
        """Whether the bot gets a message: in a group with privacy mode on, commands and answers to it only."""
        status = place.status(BOT_ID)
        if status in ("left", "kicked"):
            return False
        if not place.is_group or not self.state.privacy or status == "administrator":
            return True
        answered = message.get("reply_to_message", {}).get("from", {})
        return answered.get("id") == BOT_ID or any(
            entity["type"] == "bot_command" and _is_for_us(cut(message["text"], entity["offset"], entity["length"]))
            for entity in message.get("entities", [])
        )


def _is_for_us(command: str) -> bool:
    return command.partition("@")[2].casefold() in ("", BOT_NAME)


def _quote(answered: JSON, words: str) -> JSON:
    position = units(answered["text"][: answered["text"].index(words)])
    return {"text": words, "position": position, "is_manual": True}
