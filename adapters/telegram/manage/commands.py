"""The commands, panels and reports of managers: answered in their private chat. In a group they only lead there.

In a group a person is answered only ephemerally. Telegram is told of the commands where what it shows is not what is
wanted. Each report asks for the person's rights itself. What a choice in a panel does is decided by
``adapters.common.manage.choices``.
"""

import asyncio
import logging
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import telegram
from telegram import BotCommand, BotCommandScope, MessageEntity
from telegram.constants import ChatType

from adapters.common.manage import reports, setup, targets
from adapters.common.manage.choices import PanelAnswer, Panels
from adapters.common.manage.managers import require
from adapters.common.manage.panels import FormField, Panel, PanelChoice
from adapters.common.words.markup import Reader
from adapters.telegram import speech
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS
from adapters.telegram.connection.refs import NAME, carried_to, channel_of, topic_of
from adapters.telegram.manage import messages
from adapters.telegram.manage.groups import Group, GroupManager, group_of, manager_of
from adapters.telegram.manage.messages import PanelMessage, PrivateChat, buttons, press_data
from adapters.telegram.review.layout import card_message
from core.desk.rules.case_cards import beginning_of_id
from core.desk.rules.roles import OnCommunity, may_on_community
from core.engine.ports import HateDetector
from core.errors import AntiphonError, BadInput, NotAllowed, PlatformUnavailable, StoreUnavailable
from core.i18n.catalogs import LANGUAGES, gettext

REPORTS: Final = frozenset({"status", "stats", "cases", "case", "pause", "resume", "export", "lately"})
_DAYS: Final = ("7", "28")
_SUFFIXES: Final = {"csv": "CSV", "jsonl": "JSON Lines"}
_MOST_BYTES: Final = 50_000_000
"""The largest file that Telegram takes from a bot."""
_EMPTY: Final = "-"
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


class Reports:
    """What each command does.

    Args:
        left_out: how many posts capture could not look at since the start.
        detector: the filter of watched groups; ``None`` where there is none.
    """

    def __init__(self, client: TelegramClient, left_out: Callable[[], int], detector: HateDetector | None) -> None:
        self._client = client
        self._left_out = left_out
        self._detector = detector

    async def show(self, chat: PrivateChat, manager: GroupManager, name: str, field: str = "") -> None:
        """Do what a command, or a button below its answer, asks for.

        Raises:
            NotAllowed: they may not.
        """
        made = {
            "status": self._status,
            "stats": self._statistics,
            "cases": self._cases,
            "case": self._case,
            "pause": self._pause,
            "resume": self._resume,
            "export": self._export,
            "lately": self._lately,
        }
        await chat.put(await made[name](chat, manager, field))

    async def _status(self, _chat: PrivateChat, manager: GroupManager, _field: str) -> PanelMessage:
        await require(self._client.desk, manager, OnCommunity.READ_STATISTICS)
        governance = self._client.desk.governance
        status = await governance.status(NAME, manager.community, manager.person)
        policy = await governance.policy(NAME, manager.community)
        group = await group_of(self._client, manager, policy.review_channel)
        watched = self._detector if policy.watched_channels else None
        unread = group.unread(manager.locale) if policy.watched_channels or policy.reaction else ""
        watch = reports.Watch(unread, self._left_out(), frozenset() if watched is None else watched.languages)
        return PanelMessage(reports.status_text(status, watch, group.lacking(policy, manager.locale), manager.reader))

    async def _statistics(self, _chat: PrivateChat, manager: GroupManager, field: str) -> PanelMessage:
        days = int(field if field in _DAYS else _DAYS[0])
        since = timedelta(days=days)
        statistics = await self._client.desk.governance.statistics(NAME, manager.community, manager.person, since)
        others = [
            (
                gettext("The last {days} days", manager.locale, days=number),
                press_data(manager.community, "stats", number),
            )
            for number in _DAYS
            if number != str(days)
        ]
        return PanelMessage(reports.statistics_text(statistics, days, manager.reader), buttons(others))

    async def _cases(self, _chat: PrivateChat, manager: GroupManager, field: str) -> PanelMessage:
        cases = await self._client.desk.casework.open_cases(
            NAME, manager.community, manager.person, reports.page_of(field)
        )
        panel = reports.cases_panel(cases, manager.reader)
        others = [(button.label, press_data(manager.community, "cases", button.field)) for button in panel.buttons]
        return PanelMessage("\n".join(part for part in panel.parts if isinstance(part, str)), buttons(others))

    async def _case(self, _chat: PrivateChat, manager: GroupManager, field: str) -> PanelMessage:
        """The card of a case, which answers presses here, too; where an open one has lost its card, that comes back."""
        number = beginning_of_id(field)
        if not number:
            raise BadInput(
                gettext("Which case?", manager.locale),
                remedy=gettext("Type its number behind the command, as /cases shows it.", manager.locale),
            )
        card = await self._client.desk.casework.numbered(NAME, manager.community, number, manager.person)
        written = card_message(card, manager.locale)
        return PanelMessage(written.text, written.keyboard)

    async def _pause(self, _chat: PrivateChat, manager: GroupManager, _field: str) -> PanelMessage:
        is_new = await self._client.desk.governance.pause(NAME, manager.community, manager.person)
        if is_new:
            text = gettext("Paused: nothing is posted in this group until a manager resumes.", manager.locale)
        else:
            text = gettext("Posting was paused already.", manager.locale)
        label = gettext("Resume", manager.locale)
        return PanelMessage(text, buttons([(label, press_data(manager.community, "resume", "again"))]))

    async def _resume(self, _chat: PrivateChat, manager: GroupManager, _field: str) -> PanelMessage:
        is_new = await self._client.desk.governance.resume(NAME, manager.community, manager.person)
        if is_new:
            return PanelMessage(gettext("Posting goes on: what moderators approve is sent.", manager.locale))
        return PanelMessage(gettext("Posting was not paused here.", manager.locale))

    async def _lately(self, _chat: PrivateChat, manager: GroupManager, _field: str) -> PanelMessage:
        decisions = await self._client.desk.governance.lately(NAME, manager.community, manager.person)
        return PanelMessage(reports.lately_text(decisions, manager.reader, speech.MAX_CHARACTERS))

    async def _export(self, chat: PrivateChat, manager: GroupManager, field: str) -> PanelMessage:
        locale = manager.locale
        await require(self._client.desk, manager, OnCommunity.EXPORT)
        offered = [(words, press_data(manager.community, "export", suffix)) for suffix, words in _SUFFIXES.items()]
        if field in _SUFFIXES:
            rows, data = await reports.exported(
                self._client.desk.governance, NAME, manager.community, manager.person, field
            )
            if len(data) > _MOST_BYTES:
                raise BadInput(
                    gettext("The file is larger than Telegram takes.", locale),
                    remedy=gettext("Ask the person who runs Antiphon for it: antiphon export.", locale),
                )
            text = gettext("{rows} cases, with a pseudonym in place of every name.", locale, rows=rows)
            await chat.send(data, f"antiphon-cases.{field}", text)
        return PanelMessage(gettext("The cases as a file, without names", locale), buttons(offered))


class PanelActions:
    """Hears the buttons and the answers of all panels; ``detector`` is the filter of watched groups."""

    def __init__(self, client: TelegramClient, detector: HateDetector | None, reports: Reports) -> None:
        self._client = client
        self._choosing = Panels(client.desk, detector)
        self._reports = reports

    async def hear_press(self, heard: UpdateEvent) -> bool:
        """Answer a press on one of our buttons; any other is left alone."""
        query = heard.update.callback_query
        press = messages.pressed(query.data or "") if query is not None else None
        if query is None or press is None:
            return False
        await self._client.settle(query)
        message = query.message
        if message is None or message.chat.type != ChatType.PRIVATE or message.chat.id != query.from_user.id:
            return True
        chat = PrivateChat(self._client, query.from_user, message.message_id)
        try:
            await self._press(chat, press)
        except Exception as err:
            await chat.refuse(err)
        return True

    async def hear_answer(self, heard: UpdateEvent) -> bool:
        """Take what a person typed as the answer to a question of ours; any other message is left alone."""
        message = heard.update.message
        press = None if message is None else messages.pressed(carried_to(message, int(self._client.own_id())))
        if message is None or message.from_user is None or press is None or message.chat.type != ChatType.PRIVATE:
            return False
        chat = PrivateChat(self._client, message.from_user)
        try:
            await self._typed(chat, press, message.text or "")
        except Exception as err:
            await chat.refuse(err)
        return True

    async def show(self, chat: PrivateChat, manager: GroupManager, name: str) -> None:
        """Put a panel with the present settings into a private chat.

        Raises:
            NotAllowed: they may not configure this community.
        """
        await require(self._client.desk, manager, OnCommunity.CONFIGURE)
        group = await self._group(manager)
        await self._put(chat, manager, await self._choosing.panel(manager, name, group), group)

    async def choose_review(self, chat: PrivateChat, manager: GroupManager, channel: str) -> None:
        """Let cards be shown in a place, and show the panel that says so, or why not."""
        await self._choose(chat, manager, PanelAnswer(setup.PANEL, "review_channel", (channel,)), channel)

    async def _press(self, chat: PrivateChat, press: messages.PanelPress) -> None:
        manager = await manager_of(self._client, chat.user, press.community)
        if press.panel in REPORTS:
            await self._reports.show(chat, manager, press.panel, press.field)
            return
        await require(self._client.desk, manager, OnCommunity.CONFIGURE)
        if press.field == messages.REVIEW_HERE:
            await self.choose_review(chat, manager, str(chat.user.id))
        elif press.field.startswith(messages.OPENING):
            await self._open(chat, manager, press)
        elif PanelAnswer(press.panel, press.field).opens_form:
            await self._ask(chat, manager, press)
        elif press.token:
            await self._value(chat, manager, press)
        else:
            await self._choose(chat, manager, PanelAnswer(press.panel, press.field))

    async def _open(self, chat: PrivateChat, manager: GroupManager, press: messages.PanelPress) -> None:
        group = await self._group(manager)
        panel = await self._choosing.panel(manager, press.panel, group)
        await self._put(chat, manager, panel, group, press.field.removeprefix(messages.OPENING))

    async def _value(self, chat: PrivateChat, manager: GroupManager, press: messages.PanelPress) -> None:
        """One value of a choice was pressed: set it, or set it no more, by what is chosen now."""
        group = await self._group(manager)
        now = await self._choosing.panel(manager, press.panel, group)
        choice = _choice(now, press.field)
        value = None if choice is None else messages.value_by(press.token, choice, group, manager.locale)
        if choice is None or value is None:
            await self._put(chat, manager, now, group)
            return
        chosen = PanelAnswer(press.panel, press.field, messages.toggled(choice, value))
        panel = await self._choosing.answer(manager, chosen, group)
        await self._put(chat, manager, panel, group, press.field)

    async def _choose(self, chat: PrivateChat, manager: GroupManager, chosen: PanelAnswer, *places: str) -> None:
        group = await self._group(manager, *places)
        panel = await self._choosing.answer(manager, chosen, group)
        await self._put(chat, manager, panel, await self._group(manager))

    async def _ask(self, chat: PrivateChat, manager: GroupManager, press: messages.PanelPress) -> None:
        """Ask for the only field of a form, or for the one that was chosen; else offer its fields."""
        form = await self._choosing.form(manager, PanelAnswer(press.panel, press.field), await self._group(manager))
        field = form.fields[0] if len(form.fields) == 1 else _field(form.fields, press.token)
        if field is None:
            await chat.put(messages.form_message(form, press.field, manager.community, manager.reader))
            return
        data = messages.press_data(manager.community, press.panel, press.field, field.name)
        await chat.ask(messages.question(field, data, manager.reader, self._client.bot.username))

    async def _typed(self, chat: PrivateChat, press: messages.PanelPress, text: str) -> None:
        """Set the field that was asked for; the form's others keep what they have."""
        manager = await manager_of(self._client, chat.user, press.community)
        group = await self._group(manager)
        form = await self._choosing.form(manager, PanelAnswer(press.panel, press.field), group)
        field = _field(form.fields, press.token)
        if field is None:
            await self.show(chat, manager, press.panel)
            return
        words = "" if text.strip() == _EMPTY and not field.is_needed else text
        if len(words) > field.limit:
            raise BadInput(
                gettext("This is too long.", manager.locale),
                remedy=gettext("Use at most {most} characters.", manager.locale, most=field.limit),
            )
        typed = {each.name: each.value for each in form.fields} | {field.name: words}
        await self._choose(chat, manager, PanelAnswer(form.panel, form.field, (), typed))

    async def _group(self, manager: GroupManager, *places: str) -> Group:
        policy = await self._client.desk.governance.policy(NAME, manager.community)
        return await group_of(self._client, manager, policy.review_channel, *places)

    async def _put(self, chat: PrivateChat, manager: GroupManager, panel: Panel, group: Group, field: str = "") -> None:
        choice = _choice(panel, field)
        if choice is None:
            message = messages.panel_message(panel, group, manager.community, manager.reader)
        else:
            bot = self._client.bot.username
            message = messages.choice_message(panel, choice, group, manager.community, manager.reader, bot)
        await chat.put(message)


def _choice(panel: Panel, field: str) -> PanelChoice | None:
    return next((part for part in panel.parts if isinstance(part, PanelChoice) and part.field == field), None)


def _field(fields: tuple[FormField, ...], token: str) -> FormField | None:
    return next((field for field in fields if messages.token_of(field.name) == token), None)


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
                await chat.put(PanelMessage(help_text(speech.reader_of(chat.locale))))
            else:
                await self._pick(chat, name, beginning_of_id(words))
        except Exception as err:
            await chat.refuse(err)

    async def _in_group(self, heard: UpdateEvent, message: telegram.Message, name: str, words: str) -> None:
        """Take the command out of the group's sight, and lead to the private chat, or show the panel there."""
        user = None if message.sender_chat is not None else message.from_user
        payload = _PAYLOAD.fullmatch(words) if name == "start" else None
        if payload is None and not speech.is_ephemeral(message):
            await self._client.put_away(message)
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
        locale = speech.reader_language(user.language_code, None)
        command = speech.ephemeral_command_of(message, heard.raw["message"])
        answer = speech.TelegramAnswer(self._client, user.id, locale, message.date, command=command)
        url = f"https://t.me/{self._client.bot.username}?start=setup_{message.chat.id}"
        link = answer.reader.markup.link(gettext("the private chat with Antiphon", locale), url)
        await answer.give(gettext("This is done in {chat}.", locale, chat=link))

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


def install(
    client: TelegramClient, *, detector: HateDetector | None = None, left_out: Callable[[], int] = lambda: 0
) -> None:
    """Add the commands and the panels to a client.

    Args:
        detector: the filter of watched groups; ``None`` where there is none.
        left_out: how many posts were not looked at (``Capture.left_out``).
    """
    reports = Reports(client, left_out, detector)
    panels = PanelActions(client, detector, reports)
    client.listen("message", ManagerCommands(client, panels, reports).hear)
    client.listen("message", panels.hear_answer)
    client.listen("callback_query", panels.hear_press)
