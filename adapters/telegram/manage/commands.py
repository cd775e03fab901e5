"""The commands of managers: answered in their private chat. In a group they only lead there.

In a group a person is answered only ephemerally. Telegram is told of the commands where what it shows is not what is
wanted.
"""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Final

import telegram
from telegram import BotCommand, BotCommandScope, MessageEntity
from telegram.constants import ChatType

from adapters.common.manage import setup, targets
from adapters.common.words.markup import Reader
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS
from adapters.telegram.connection.refs import NAME, channel_of, topic_of
from adapters.telegram.manage.groups import GroupManager, manager_of
from adapters.telegram.manage.messages import PanelMessage, buttons, press_data
from adapters.telegram.manage.panel_actions import PanelActions
from adapters.telegram.manage.private_chat import PrivateChat
from adapters.telegram.manage.reports import REPORTS, Reports
from adapters.telegram.speech.markup import reader_language, reader_of
from adapters.telegram.speech.private_answers import TelegramAnswer, ephemeral_command_of, is_ephemeral
from core.desk.rules.case_cards import beginning_of_id
from core.desk.rules.roles import OnCommunity, may_on_community
from core.errors import AntiphonError, NotAllowed, PlatformUnavailable, StoreUnavailable
from core.i18n.catalogs import LANGUAGES, gettext

_LOG = logging.getLogger(__name__)
_DEFAULT: Final = "en"
"""The language of the list without a language, which all others see."""
_REVIEW, _MANAGE = ("cases", "case", "status", "pause", "resume"), ("stats", "lately", "setup", "targets", "export")
_PRIVATE: Final = (*_REVIEW, *_MANAGE, "help")
_LISTS: Final = {
    BotCommandScope.ALL_GROUP_CHATS: ("counter",),
    BotCommandScope.ALL_CHAT_ADMINISTRATORS: ("counter", "setup", "targets", "status", "pause", "resume", "help"),
    BotCommandScope.ALL_PRIVATE_CHATS: _PRIVATE,
}
PANELS: Final = frozenset({setup.PANEL, targets.PANEL})
_COMMANDS: Final = PANELS | REPORTS | {"help", "start"}
_FORM: Final = re.compile(r"/(?P<name>[a-z]+)(?:@(?P<bot>\w+))?(?:\s+(?P<words>.*))?", re.IGNORECASE | re.DOTALL)
_PAYLOAD: Final = re.compile(r"(?P<what>setup|review)_(?P<community>-[0-9]{1,19})")
_GROUPS: Final = (ChatType.GROUP, ChatType.SUPERGROUP)
_MOST_ASKED: Final = 30
"""How many groups Telegram is asked about for one command."""


def commands_for(scope: BotCommandScope, language: str) -> list[BotCommand]:
    """A list as Telegram takes it; in groups all commands are seen by their sender alone.

    ``/counter`` stands there by its name in the language, which is heard beside the English one.
    """
    more = None if scope.type == BotCommandScope.ALL_PRIVATE_CHATS else {"is_ephemeral": True}
    words = _words(language)
    names = {"counter": gettext("counter", language)}
    return [BotCommand(names.get(name, name), words[name], api_kwargs=more) for name in _LISTS[scope.type]]


async def tell_commands(client: TelegramClient) -> int:
    """Set the lists that are not as they should be; call it after the login. Returns how many were set.

    Raises:
        PlatformUnavailable: Telegram refused them, or cannot be reached.
    """
    lists = 0
    try:
        for kind in _LISTS:
            for language in LANGUAGES:
                lists += await _tell(client, BotCommandScope(kind), language)
    except FAULTS as err:
        raise PlatformUnavailable(
            f"Telegram did not take the commands ({type(err).__name__}).",
            remedy="Start Antiphon again later; until then the commands stay as they were.",
        ) from err
    if lists:
        _LOG.info("Telegram was told of the commands.")
    return lists


async def _tell(client: TelegramClient, scope: BotCommandScope, language: str) -> bool:
    code = None if language == _DEFAULT else language
    wanted = commands_for(scope, language)
    standing = await client.bot.get_my_commands(scope, code)
    if [command.to_dict() for command in standing] == [command.to_dict() for command in wanted]:
        return False
    await client.bot.set_my_commands(wanted, scope, code)
    return True


def _words(language: str) -> dict[str, str]:
    return {
        "counter": gettext("As an answer to a post: draft a reply to it", language),
        "setup": gettext("Moderators' chat, roles, what is watched, posting", language),
        "targets": gettext("Groups, keywords, forbidden words, kinds of reply, tone, evidence", language),
        "cases": gettext("The open cases", language),
        "case": gettext("One case, by its number", language),
        "status": gettext("Queue, model, time to expect, missing rights", language),
        "pause": gettext("Stop all posting in a group at once", language),
        "resume": gettext("Allow posting again", language),
        "stats": gettext("What happened lately", language),
        "export": gettext("The cases as a file, without names", language),
        "lately": gettext("Who decided what lately", language),
        "help": gettext("What Antiphon does, and how", language),
    }


def help_text(reader: Reader) -> str:
    """Who can do what, and what never happens."""
    locale, ours = reader.locale, reader.markup.ours
    lines = [
        gettext("It drafts replies to hateful posts. People review them; nothing is posted by itself.", locale),
        gettext(
            "**To flag a post**: answer it with /counter in the group. Volunteers and moderators can also forward it "
            "to this chat.",
            locale,
        ),
        gettext("**/setup**: the moderators' chat, roles, what is watched, shadow mode.", locale),
        gettext("**/targets**: groups, keywords, forbidden words, kinds of reply, tone, evidence.", locale),
        gettext("**/status** and **/stats**: how things are now, and what happened.", locale),
        gettext("**/cases**: the open cases; **/case** with a number shows one.", locale),
        gettext("**/pause** and **/resume**: stop all posting at once, and go on.", locale),
        gettext("**/export**: the cases as a file, without names.", locale),
        gettext("What others write is read only in the groups that their administrators chose.", locale),
    ]
    return "\n".join([reader.markup.heading(gettext("Antiphon", locale)), *(ours(line) for line in lines)])


class ManagerCommands:
    def __init__(self, client: TelegramClient, panels: PanelActions, reports: Reports) -> None:
        self._client = client
        self._panels = panels
        self._reports = reports

    async def hear(self, heard: UpdateEvent) -> bool:
        """Answer one of our commands; any other message is left alone."""
        message = heard.update.message
        if message is None or (command := _command(message, self._client.bot.username)) is None:
            return False
        name, words = command
        if message.chat.type == ChatType.PRIVATE and message.from_user is not None:
            await self._in_private(message.from_user, name, words)
        elif message.chat.type in _GROUPS:
            await self._in_group(heard, message, name, words)
        return True

    async def _in_private(self, user: telegram.User, name: str, words: str) -> None:
        chat = PrivateChat(self._client, user)
        try:
            payload = _PAYLOAD.fullmatch(words) if name == "start" else None
            if payload is not None:
                await self._show(chat, setup.PANEL, payload["community"])
            elif name in ("help", "start"):
                await chat.put(PanelMessage(help_text(reader_of(chat.locale))))
            else:
                await self._pick(chat, name, beginning_of_id(words))
        except Exception as err:
            await chat.refuse(err)

    async def _in_group(self, heard: UpdateEvent, message: telegram.Message, name: str, words: str) -> None:
        """Take the command out of the group's sight, and lead to the private chat, or show the panel there."""
        user = None if message.sender_chat is not None else message.from_user
        payload = _PAYLOAD.fullmatch(words) if name == "start" else None
        if payload is None and not is_ephemeral(message):
            await self._delete(message)
        if user is None or user.is_bot:
            return
        if payload is not None and payload["what"] == "review":
            await self._review(PrivateChat(self._client, user), message, payload["community"])
        elif name != "start":
            await self._lead(heard, message, user)

    async def _review(self, chat: PrivateChat, message: telegram.Message, community: str) -> None:
        """Somebody followed the link that makes the group that they chose the place of a community's cards."""
        try:
            manager = await manager_of(self._client, chat.user, community)
            await self._panels.choose_review(chat, manager, channel_of(message.chat.id, topic_of(message)))
        except Exception as err:
            await chat.refuse(err)

    async def _lead(self, heard: UpdateEvent, message: telegram.Message, user: telegram.User) -> None:
        locale = reader_language(user.language_code, None)
        command = ephemeral_command_of(message, heard.raw["message"])
        answer = TelegramAnswer(self._client, user.id, locale, message.date, command=command)
        url = f"https://t.me/{self._client.bot.username}?start=setup_{message.chat.id}"
        link = answer.reader.markup.link(gettext("the private chat with Antiphon", locale), url)
        await answer.give(gettext("This is done in {chat}.", locale, chat=link))

    async def _delete(self, message: telegram.Message) -> None:
        try:
            await self._client.bot.delete_message(message.chat.id, message.message_id)
        except FAULTS:
            return  # Antiphon may not; the command tells nothing that the group must not see

    async def _pick(self, chat: PrivateChat, name: str, number: str) -> None:
        """Do what was asked in the only group that the person manages, or let them pick one; ``number`` of a case."""
        managers = await self._managed_groups(chat)
        if len(managers) == 1:
            await self._show(chat, name, managers[0].community, number)
            return
        locale = chat.locale
        if not managers:
            raise NotAllowed(
                gettext("Antiphon knows no group that you manage.", locale),
                remedy=gettext("Add it to your group, and write /setup there.", locale),
            )
        rows = [
            (manager.chat.title or manager.community, press_data(manager.community, name, number or "again"))
            for manager in managers
        ]
        await chat.put(PanelMessage(gettext("Which group?", locale), buttons(rows)))

    async def _show(self, chat: PrivateChat, name: str, community: str, number: str = "") -> None:
        manager = await manager_of(self._client, chat.user, community)
        if name in REPORTS:
            await self._reports.show(chat, manager, name, number)
        else:
            await self._panels.show(chat, manager, name)

    async def _managed_groups(self, chat: PrivateChat) -> list[GroupManager]:
        """The groups in which Telegram says now that the person manages, or has a role by the community's choice."""
        communities = (await self._client.desk.governance.communities(NAME))[-_MOST_ASKED:]
        managers = await asyncio.gather(*(self._if_manages(chat.user, community) for community in communities))
        return [manager for manager in managers if manager is not None]

    async def _if_manages(self, user: telegram.User, community: str) -> GroupManager | None:
        try:
            manager = await manager_of(self._client, user, community)
            if manager.is_owner:
                return manager
            roles = await self._client.desk.governance.roles_of(NAME, community, manager.person)
        except StoreUnavailable:
            raise
        except AntiphonError:
            return None
        return manager if may_on_community(roles, OnCommunity.READ_STATISTICS) else None


def _command(message: telegram.Message, own_name: str) -> tuple[str, str] | None:
    """A command's name and the words behind it; ``None`` where it is not one of ours."""
    is_command = any(entity.type == MessageEntity.BOT_COMMAND and entity.offset == 0 for entity in message.entities)
    match = _FORM.fullmatch(message.text or "") if is_command else None
    if match is None or (match["bot"] or own_name).lower() != own_name.lower():
        return None
    name = match["name"].lower()
    return (name, (match["words"] or "").strip()) if name in _COMMANDS else None
