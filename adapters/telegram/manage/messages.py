"""The panels as messages of Telegram, a text and a keyboard below it, and the private chat where alone they stand.

A choice has its own page, with a button for each value and a tick on those that are set. A button and a question say
whose panel they belong to in the 64 bytes that Telegram keeps.
"""

from __future__ import annotations

import hashlib
import html
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, User
from telegram.constants import ParseMode
from telegram.error import TelegramError

from adapters.common.manage.panels import ChoiceOf, Form, FormField, Panel, PanelChoice
from adapters.common.words.errors import explain, log_failure, unforeseen
from adapters.common.words.markup import Reader
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS, is_message_gone, is_unchanged, of_question
from adapters.telegram.connection.refs import base36
from adapters.telegram.manage.groups import IN_REVIEW, Group
from adapters.telegram.speech import MARKUP, NO_PREVIEW, reader_language
from core.errors import AntiphonError
from core.i18n.catalogs import gettext

_LOG = logging.getLogger(__name__)
_ERROR: Final = 2000
_FORM: Final = re.compile(r"mg-([0-9a-z]+)-([a-z]+)-([0-9a-z_]+)-([0-9a-f]*)")
_TOKEN: Final = 8
OPENING: Final = "o_"
"""Before the name of a field whose page is opened."""
REVIEW_HERE: Final = "review_here"
_NOT_HERE: Final = frozenset({"everybody_role"})
"""Fields for what Telegram does not have."""
_STRONG: Final = re.compile(r"<b>(.+?)(?:</b>|\Z)")
_TAG: Final = re.compile(r"<[^<>]*>")
_LABEL: Final = 40
_SHOWN_VALUE: Final = 1500


@dataclass(frozen=True, slots=True)
class PrivateChat:
    """The chat; ``shown`` is the message whose button was pressed, ``None`` where a new one is written."""

    client: TelegramClient
    user: User
    shown: int | None = None

    @property
    def locale(self) -> str:
        """The language of the person's app, before a community is known."""
        return reader_language(self.user.language_code, None)

    async def put(self, message: PanelMessage) -> None:
        """Show a message in place of the one whose button was pressed, or as a new one."""
        if self.shown is not None and await self._changed(message):
            return
        await self.client.bot.send_message(
            self.user.id,
            message.text,
            ParseMode.HTML,
            link_preview_options=NO_PREVIEW,
            reply_markup=message.keyboard,
        )

    async def ask(self, message: PanelMessage) -> None:
        """Ask a question that the person's app answers."""
        await self.client.bot.send_message(
            self.user.id, message.text, ParseMode.HTML, link_preview_options=NO_PREVIEW, reply_markup=ForceReply()
        )

    async def send(self, data: bytes, name: str, words: str) -> None:
        await self.client.bot.send_document(self.user.id, data, filename=name, caption=words)

    async def refuse(self, err: BaseException) -> None:
        """Say what went wrong, in a message of its own; a person who closed the chat is told nothing."""
        if isinstance(err, TelegramError):
            err = of_question(err)
        if isinstance(err, AntiphonError):
            text = MARKUP.inert(explain(err, self.locale, _ERROR))
        else:
            log_failure("a panel on Telegram", err)
            text = unforeseen(self.locale)
        try:
            await PrivateChat(self.client, self.user).put(PanelMessage(text))
        except FAULTS as fault:
            _LOG.info("A person could not be told in private: %s.", type(fault).__name__)

    async def _changed(self, message: PanelMessage) -> bool:
        """Change the message; ``False`` if it is gone."""
        try:
            await self.client.bot.edit_message_text(
                message.text,
                self.user.id,
                self.shown,
                parse_mode=ParseMode.HTML,
                link_preview_options=NO_PREVIEW,
                reply_markup=message.keyboard,
            )
        except FAULTS as err:
            if is_message_gone(err):
                return False
            if not is_unchanged(err):
                raise
        return True


@dataclass(frozen=True, slots=True)
class PanelPress:
    """What was pressed: in which community, panel and field, and the token of the value, "" for none."""

    community: str
    panel: str
    field: str
    token: str = ""


def token_of(value: str) -> str:
    """What stands for a value, however long it is."""
    return hashlib.sha256(value.encode()).hexdigest()[:_TOKEN]


def press_data(community: str, panel: str, field: str, value: str = "") -> str:
    """The data of a button, which can stand in an address, too."""
    token = token_of(value) if value else ""
    return f"mg-{base36(-int(community))}-{panel}-{field}-{token}"


def pressed(data: str) -> PanelPress | None:
    """What data of ours says; ``None`` for any other."""
    match = _FORM.fullmatch(data)
    return None if match is None else PanelPress(f"-{int(match[1], 36)}", match[2], match[3], match[4])


@dataclass(frozen=True, slots=True)
class PanelMessage:
    """A message of ours in a private chat."""

    text: str
    keyboard: InlineKeyboardMarkup | None = None


def panel_message(panel: Panel, group: Group, community: str, reader: Reader) -> PanelMessage:
    """A panel with what is set now; each choice opens a page of its own."""
    parts, rows = [reader.markup.inert(group.chat.title or ""), panel.notice], list[list[InlineKeyboardButton]]()
    for part in panel.parts:
        if isinstance(part, str):
            parts.append(part)
        elif part.field not in _NOT_HERE:
            parts.append(f"{part.title}\n{_chosen(part, group, reader)}")
            rows.append([_button(_label(part.title), press_data(community, panel.name, f"{OPENING}{part.field}"))])
    for button in panel.buttons:
        data = press_data(community, button.panel or panel.name, button.field)
        rows.append([_button(button.label, data, is_first=button.is_first)])
    return PanelMessage("\n\n".join(part for part in parts if part), _keyboard(rows))


def choice_message(
    panel: Panel, choice: PanelChoice, group: Group, community: str, reader: Reader, bot: str
) -> PanelMessage:
    """The page of one choice; ``bot`` is our account's name."""
    locale = reader.locale
    head = panel.parts[0] if isinstance(panel.parts[0], str) else ""
    rows = [
        [
            _button(
                f"{'✓ ' if value in choice.chosen else ''}{words}",
                press_data(community, panel.name, choice.field, value),
            )
        ]
        for value, words in values_of(choice, group, locale)
    ]
    parts = [head, panel.notice, choice.title]
    if choice.among is ChoiceOf.REVIEW_CHANNELS:
        parts.append(
            gettext(
                "The moderators' group must be private. The button adds Antiphon to it, or lets you choose it where "
                "Antiphon is already.",
                locale,
            )
        )
        url = f"https://t.me/{bot}?startgroup=review_{community}"
        rows.append([InlineKeyboardButton(gettext("Choose the moderators' group…", locale), url=url)])
        here = press_data(community, panel.name, REVIEW_HERE)
        rows.append([_button(gettext("This private chat", locale), here)])
    rows.append([_button(gettext("Back", locale), press_data(community, panel.name, "again"))])
    return PanelMessage("\n\n".join(part for part in parts if part), _keyboard(rows))


def form_message(form: Form, field: str, community: str, reader: Reader) -> PanelMessage:
    """The fields of a form that has several, to be typed one by one; ``field`` is the button's that opened it."""
    rows = [
        [_button(_numbered(form, each), press_data(community, form.panel, field, each.name))] for each in form.fields
    ]
    rows.append([_button(gettext("Back", reader.locale), press_data(community, form.panel, "again"))])
    return PanelMessage(reader.markup.heading(reader.markup.inert(form.title)), _keyboard(rows))


def question(field: FormField, data: str, reader: Reader, bot: str) -> PanelMessage:
    """A question whose answer sets one field; its link at the beginning says which."""
    locale = reader.locale
    title = f'<a href="https://t.me/{bot}?start={data}">{reader.markup.inert(field.label)}</a>'
    lines = [title, reader.markup.inert(field.description)]
    if field.value:
        lines.append(f"<pre>{html.escape(field.value[:_SHOWN_VALUE])}</pre>")
    lines.append(gettext("Answer this message with the text.", locale))
    if not field.is_needed:
        lines.append(gettext("A single - empties it.", locale))
    return PanelMessage("\n".join(line for line in lines if line))


def values_of(choice: PanelChoice, group: Group, locale: str) -> list[tuple[str, str]]:
    """The values that a choice offers, with their words."""
    if choice.among is ChoiceOf.ROWS:
        return list(choice.rows)
    if choice.among is ChoiceOf.WATCHED_CHANNELS:
        here = {str(group.chat.id): gettext("The whole group", locale)}
        return list((here | {value: value for value in choice.chosen if value not in here}).items())
    if choice.among is ChoiceOf.REVIEW_CHANNELS:
        return [(value, _place(value, group)) for value in choice.chosen]
    if choice.field in ("moderators", "managers", "volunteers"):
        names = group.administrators
        return list((names | {value: value for value in choice.chosen if value not in names}).items())
    return [(IN_REVIEW, gettext("Everybody in the review chat", locale))]


def value_by(token: str, choice: PanelChoice, group: Group, locale: str) -> str | None:
    """The value that a token stands for; ``None`` if it is offered no more."""
    return next((value for value, _ in values_of(choice, group, locale) if token_of(value) == token), None)


def toggled(choice: PanelChoice, value: str) -> tuple[str, ...]:
    """What is chosen after a press: one value in place of another, or more or fewer of several."""
    if value in choice.chosen:
        rest = tuple(each for each in choice.chosen if each != value)
        return rest if len(rest) >= choice.least else choice.chosen
    return (*choice.chosen, value) if choice.most > 1 else (value,)


def buttons(rows: Iterable[tuple[str, str]]) -> InlineKeyboardMarkup | None:
    """One button in each row: label and data."""
    return _keyboard([[_button(label, data)] for label, data in rows])


def _chosen(choice: PanelChoice, group: Group, reader: Reader) -> str:
    offered = dict(values_of(choice, group, reader.locale))
    names = [reader.markup.inert(offered.get(value, value)) for value in choice.chosen]
    return f"→ {', '.join(names) or '–'}"


def _place(channel: str, group: Group) -> str:
    return group.places.get(channel, channel)


def _label(title: str) -> str:
    strong = _STRONG.search(title)
    words = html.unescape(_TAG.sub("", title if strong is None else strong[1]))
    return f"{words[:_LABEL]}…"


def _numbered(form: Form, field: FormField) -> str:
    same = [each for each in form.fields if each.label == field.label]
    return field.label if len(same) == 1 else f"{field.label} {same.index(field) + 1}"


def _button(label: str, data: str, *, is_first: bool = False) -> InlineKeyboardButton:
    return InlineKeyboardButton(label, callback_data=data, style="primary" if is_first else None)


def _keyboard(rows: list[list[InlineKeyboardButton]]) -> InlineKeyboardMarkup | None:
    return InlineKeyboardMarkup(rows) if rows else None
