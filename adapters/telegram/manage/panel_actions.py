"""Handles what a person presses in a panel in their private chat, or answers to a question of ours.

``adapters.common.manage.choices`` decides what a choice does.
"""

from __future__ import annotations

import logging
from typing import Final

import telegram
from telegram.constants import ChatType

from adapters.common.manage import setup
from adapters.common.manage.choices import PanelAnswer, Panels
from adapters.common.manage.managers import require
from adapters.common.manage.panels import FormField, Panel, PanelChoice
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS
from adapters.telegram.connection.refs import NAME, carried_to
from adapters.telegram.manage import messages
from adapters.telegram.manage.groups import Group, GroupManager, group_of, manager_of
from adapters.telegram.manage.private_chat import PrivateChat
from adapters.telegram.manage.reports import REPORTS, Reports
from core.desk.rules.roles import OnCommunity
from core.engine.ports import HateDetector
from core.errors import BadInput
from core.i18n.catalogs import gettext

_LOG = logging.getLogger(__name__)
_EMPTY: Final = "-"


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
        await self._settle(query)
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

    async def _settle(self, query: telegram.CallbackQuery) -> None:
        """Let the button wait no longer; Telegram takes no answer to an old press, which is dealt with all the same."""
        try:
            await self._client.bot.answer_callback_query(query.id)
        except FAULTS as err:
            _LOG.info("A press could not be answered: %s.", type(err).__name__)

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
