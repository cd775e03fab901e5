"""The chats of the fake Telegram and who is what in them."""

import itertools
from collections.abc import Iterable, Mapping

from tests.fakes.telegram.server.state import BOT_ID, EVERY_RIGHT, JSON, KnownChat, TelegramState

Admins = Mapping[int, Iterable[str]] | Iterable[int]
_ADMIN_RIGHTS = ("can_manage_chat", "can_delete_messages", "can_restrict_members", "can_invite_users")
_FREEDOMS = (
    "can_send_messages", "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos",
    "can_send_video_notes", "can_send_voice_notes", "can_send_polls", "can_send_other_messages",
    "can_add_web_page_previews", "can_react_to_messages", "can_edit_tag", "can_change_info", "can_invite_users",
    "can_pin_messages", "can_manage_topics",
)  # fmt: skip


class Places:
    """Users and chats; a user and a chat are named by their numbers."""

    def __init__(self, state: TelegramState) -> None:
        self.state = state
        self._users = itertools.count(5001)
        self._groups = itertools.count(1)

    def add_user(self, name: str = "Ada", *, username: str | None = None, language: str | None = "en") -> int:
        """Somebody who has Telegram; their number, which is their private chat's too."""
        number = next(self._users)
        user: JSON = {"id": number, "is_bot": False, "first_name": name}
        user |= {} if username is None else {"username": username}
        self.state.users[number] = user | ({} if language is None else {"language_code": language})
        shown = {key: value for key, value in user.items() if key != "is_bot"} | {"type": "private"}
        chat = KnownChat(shown)
        for each in (number, BOT_ID):
            chat.members[each] = self._member(each, "member")
        self.state.chats[number] = chat
        return number

    def add_group(
        self,
        title: str = "Brenmoor",
        *,
        owner: int | None = None,
        admins: Admins = (),
        members: Iterable[int] = (),
        kind: str = "supergroup",
        username: str | None = None,
        forum: bool = False,
        bot: str | None = "member",
        bot_rights: Iterable[str] = EVERY_RIGHT,
    ) -> int:
        """A group, a supergroup or a channel; its number.

        Args:
            admins: they may delete messages and restrict members, or what the mapping says.
            bot: what the bot is there: ``member``, ``administrator``, ``None`` for nothing.
            bot_rights: of the bot as an administrator.
        """
        number = next(self._groups)
        shown: JSON = {"id": -(1000 + number) if kind == "group" else -(1001000000000 + number), "type": kind}
        shown |= {"title": title} | ({} if username is None else {"username": username})
        chat = KnownChat(shown | ({"is_forum": True} if forum else {}))
        self.state.chats[chat.id] = chat
        rights = admins if isinstance(admins, Mapping) else dict.fromkeys(admins, _ADMIN_RIGHTS)
        for user in members:
            chat.members[user] = self._member(user, "member")
        for user, given in rights.items():
            chat.members[user] = self._member(user, "administrator", given)
        if owner is not None:
            chat.members[owner] = self._member(owner, "creator")
        if bot is not None:
            chat.members[BOT_ID] = self._member(BOT_ID, bot, bot_rights)
        return chat.id

    def link(self, channel: int, group: int) -> None:
        self.state.chats[channel].linked, self.state.chats[group].linked = group, channel

    def set_member(
        self, chat: int, user: int, status: str = "member", rights: Iterable[str] = (), *, by: int | None = None
    ) -> None:
        """Let somebody, or the bot, be something else in a chat; the bot hears of it.

        Args:
            status: ``creator``, ``administrator``, ``member``, ``restricted``, ``left`` or ``kicked``.
            rights: of an administrator, or what a restricted member may still do.
            by: who did it; the user, if not given.
        """
        place = self.state.chats[chat]
        before = place.members.get(user, self._member(user, "left"))
        place.members[user] = self._member(user, status, rights)
        change = {
            "chat": place.shown,
            "from": self.state.users[by if by is not None else user],
            "date": self.state.seconds(),
            "old_chat_member": before,
            "new_chat_member": place.members[user],
        }
        if user == BOT_ID:
            self.state.updates.add("my_chat_member", change)
        elif place.status(BOT_ID) == "administrator":
            self.state.updates.add("chat_member", change)

    def join(self, chat: int, user: int) -> JSON:
        """Somebody comes into a group, which a service message tells; that message."""
        self.set_member(chat, user)
        place = self.state.chats[chat]
        user_shown = self.state.users[user]
        told = self.state.keep(place, {"from": user_shown, "new_chat_members": [user_shown]})
        self.state.updates.add("message", told)
        return told

    def block(self, user: int) -> None:
        """Let somebody block the bot."""
        self.state.blocked.add(user)
        self.set_member(user, BOT_ID, "kicked", by=user)

    def migrate(self, group: int) -> int:
        """Turn a group into a supergroup; its new number. The messages stay behind."""
        before = self.state.chats[group]
        after = KnownChat(
            before.shown | {"id": -(1001000000000 + next(self._groups)), "type": "supergroup"}, dict(before.members)
        )
        self.state.chats[after.id] = after
        told = self.state.keep(before, {"migrate_to_chat_id": after.id} | self._from_somebody(before))
        self.state.updates.add("message", told)
        came = self.state.keep(after, {"migrate_from_chat_id": before.id} | self._from_somebody(before))
        self.state.updates.add("message", came)
        before.moved_to = after.id
        return after.id

    def add_topic(self, chat: int, name: str = "News") -> int:
        """A topic in a forum; its number."""
        place = self.state.chats[chat]
        note = self.state.keep(place, {"forum_topic_created": {"name": name, "icon_color": 7322096}})
        note |= {"message_thread_id": note["message_id"], "is_topic_message": True} | self._from_somebody(place)
        place.topics[note["message_id"]] = name
        self.state.updates.add("message", note)
        return int(note["message_id"])

    def close_topic(self, chat: int, topic: int) -> None:
        """Let a topic take no more messages."""
        self.state.chats[chat].closed.add(topic)

    def _from_somebody(self, chat: KnownChat) -> JSON:
        """The sender of a service message: an administrator of the chat, if there is one but the bot."""
        people = [user for user in chat.members if user != BOT_ID]
        people.sort(key=lambda user: chat.status(user) not in ("creator", "administrator"))
        return {"from": self.state.users[people[0]]} if people else {}

    def _member(self, user: int, status: str, rights: Iterable[str] = ()) -> JSON:
        member: JSON = {"status": status, "user": self.state.users[user]}
        given = set(rights)
        if status == "creator":
            return member | {"is_anonymous": False}
        if status == "administrator":
            held = {right: right in given for right in EVERY_RIGHT}
            held |= dict.fromkeys(given - set(EVERY_RIGHT), True)
            return member | {"can_be_edited": False, "is_anonymous": False} | held
        if status == "restricted":
            return member | {"is_member": True, "until_date": 0} | {each: each in given for each in _FREEDOMS}
        return member | ({"until_date": 0} if status == "kicked" else {})
