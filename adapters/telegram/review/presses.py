"""Answers the buttons of cards and the messages that answer prompts, in the moderators' chat.

What one person is told there is a notice of the app's own, an ephemeral message, or an open answer. Everybody who can
read along must be a moderator: a server that offers no ephemeral messages shows the answer to all of the chat. Until it
is known that only moderators can read along, only a notice is shown. A press is answered last: until a message is known
to be sent, the notice over the chat is kept to say that none could be.

``adapters.common.decisions`` decides what is said. ``install`` is called once for each client, before it hears updates.
"""

import html
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import telegram
from telegram import ForceReply, InlineKeyboardMarkup, InputFile, ReplyParameters
from telegram.constants import ChatType, ParseMode
from telegram.error import BadRequest, RetryAfter

from adapters.common.cards.controls import Act, Control, Target
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.common.decisions.press import NOTE, TEXT, Dialog, Screen, TextFile, run_press
from adapters.common.words.errors import explain
from adapters.common.words.excerpts import shortened
from adapters.common.words.markup import Reader
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS, chat_full, is_unchanged
from adapters.telegram.connection.limiter import seconds_of
from adapters.telegram.connection.refs import HOST, NAME, carried_to, channel_of, topic_of
from adapters.telegram.review import layout
from adapters.telegram.review.layout import HtmlMessage
from adapters.telegram.review.surface import TelegramReviewSurface
from adapters.telegram.speech import BREAK, MARKUP, MAX_CHARACTERS, NO_PREVIEW, reader_language, reader_of
from core.desk.review.casework import Casework
from core.desk.rules.case_cards import Card
from core.desk.rules.roles import Person
from core.errors import AntiphonError, PlatformBusy, PlatformUnavailable, StoreUnavailable
from core.i18n.catalogs import gettext
from core.models import PostRef

_NOTICE: Final = 200
"""The longest text that Telegram shows of itself over a chat, in characters."""
_TAG: Final = re.compile(r"<[^<>]*>")
_MARKED: Final = ("<tg-time", "<a ", "<pre", "<tg-spoiler")
"""What a notice cannot show."""
_MAX_NOTE: Final = 500
_TITLE, _NAME, _PLACEHOLDER = 100, 40, 64
_ROOM: Final = 3900
"""Of the 4,096 units of a message; the rest is for the person's name and for lines between parts."""
_CHOSEN: Final = frozenset({Act.REDRAFT_AS, Act.CLAIM_AS, Act.CLOSE_AS, Act.RETRACT_AS})
"""The acts whose buttons are the answers of a choice; what they carry is the value."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a person pressed or wrote something.

    Attributes:
        chat: the chat, and ``topic`` its topic, or ``None``.
        message: the number of the pressed or written message; 0 for an ephemeral one.
        whisper: the number of an ephemeral message among such; ``None`` for one that all see.
        query: the press, which must be answered; ``None`` for something written.
        is_group: whether others are in the chat.
        person: who it was, and ``name`` what they call themselves.
    """

    chat: int
    topic: int | None
    message: int
    whisper: int | None
    query: str | None
    is_group: bool
    person: int
    name: str


class PrivateWords:
    """The answers to one press, or to one message."""

    def __init__(self, client: TelegramClient, spot: Spot) -> None:
        self.spot = spot
        self.refused: PlatformBusy | None = None
        """Why a message could not be sent, where Telegram asked to wait."""
        self._client = client
        self._has_settled = spot.query is None
        self._has_written = False

    async def notice(self, text: str, *, is_alert: bool) -> bool:
        """Show a sentence over the chat, to this person alone; whether that could be done.

        Below a message that was sent for the same press it is not shown so: what belongs to it stands beside it.

        Args:
            text: marked up; it cannot have more than a notice shows.
            is_alert: whether it stays until the person closes it.
        """
        plain = html.unescape(_TAG.sub("", text)).replace(BREAK, "")
        is_below = self._has_written and self.refused is None
        if self._has_settled or is_below or len(plain) > _NOTICE or any(tag in text for tag in _MARKED):
            return False
        return await self.settle(plain, is_alert=is_alert)

    async def warn(self, text: str) -> bool:
        """Say it over the chat, cut to what a notice shows, and nowhere else; whether that could be done."""
        plain = html.unescape(_TAG.sub("", text)).replace(BREAK, "")
        return await self.settle(shortened(plain, _NOTICE), is_alert=True)

    async def settle(self, text: str | None = None, *, is_alert: bool = False) -> bool:
        """Let the pressed button wait no longer, with a text over the chat or without; once."""
        if self._has_settled or self.spot.query is None:
            return False
        self._has_settled = True
        try:
            await self._client.bot.answer_callback_query(self.spot.query, text=text, show_alert=is_alert)
        except FAULTS as err:  # too late, or the line is down: what is to be said is said in a message
            _LOG.info("A press could not be answered: %s", type(err).__name__)
            return False
        return True

    async def write(self, written: HtmlMessage) -> None:
        """Send a message: ephemerally as the answer to a press, else openly, below what is answered.

        Raises:
            PlatformBusy: Telegram asks to wait; a press can still be answered by a notice that says so.
            TelegramError: it was not sent, or nobody knows.
        """
        with self._refusals():
            await self._write(written)

    async def ask(self, written: HtmlMessage, forced: ForceReply) -> None:
        """Send a message that this person answers: openly, since an ephemeral one cannot be. Raises as ``write``."""
        with self._refusals():
            await self._send(written, None, self._answered, forced)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Translate that Telegram asks to wait, and remember it."""
        try:
            yield
        except RetryAfter as err:
            self.refused = chat_full(seconds_of(err))
            raise self.refused from err
        self._has_written = True

    async def _write(self, written: HtmlMessage) -> None:
        spot = self.spot
        if spot.is_group and spot.query is not None and self._client.keeps_whispers:
            only_for = {"receiver_user_id": spot.person, "callback_query_id": spot.query}
            try:
                number = await self._send(written, {"ephemeral_message_parameters": only_for}, None)
            except BadRequest as err:  # not offered here, or too late
                _LOG.info("An answer could not be ephemeral: %s", type(err).__name__)
            else:
                if number:  # it stands there for everybody
                    self._client.keeps_whispers = False
                return
        if spot.is_group:
            written = replace(written, text=f"{MARKUP.small(MARKUP.inert(spot.name, 40))}\n{written.text}")
        await self._send(written, None, self._answered)

    @property
    def _answered(self) -> ReplyParameters | None:
        """What a message that all see stands below."""
        spot = self.spot
        return ReplyParameters(spot.message, allow_sending_without_reply=True) if spot.message > 0 else None

    async def _send(
        self,
        written: HtmlMessage,
        added: dict[str, Any] | None,
        answered: ReplyParameters | None,
        markup: InlineKeyboardMarkup | ForceReply | None = None,
    ) -> int:
        """Send it, with its own keyboard if no other is given; the number of the message, 0 for an ephemeral one."""
        bot, spot = self._client.bot, self.spot
        for file in written.files:
            await bot.send_document(
                spot.chat,
                InputFile(file.text.encode("utf-8", "replace"), file.name),
                message_thread_id=spot.topic,
                disable_content_type_detection=True,
                reply_parameters=answered,
                api_kwargs=added,
            )
        sent = await bot.send_message(
            spot.chat,
            written.text,
            ParseMode.HTML,
            message_thread_id=spot.topic,
            link_preview_options=NO_PREVIEW,
            reply_parameters=answered,
            reply_markup=markup or written.keyboard,
            api_kwargs=added,
        )
        return sent.message_id

    async def replace(self, written: HtmlMessage) -> None:
        """Put a message in place of the pressed answer; below it where that is gone. Raises as ``write``."""
        with self._refusals():
            try:
                await self._change(written)
            except BadRequest as err:
                if not is_unchanged(err):
                    await self._write(written)

    async def _change(self, written: HtmlMessage) -> None:
        spot = self.spot
        if spot.whisper is not None:
            await self._client.call(
                "editEphemeralMessageText",
                chat_id=spot.chat,
                receiver_user_id=spot.person,
                ephemeral_message_id=spot.whisper,
                text=written.text,
                parse_mode=ParseMode.HTML,
                link_preview_options=NO_PREVIEW,
                reply_markup=written.keyboard,
            )
        else:
            await self._client.bot.edit_message_text(
                written.text,
                spot.chat,
                spot.message,
                parse_mode=ParseMode.HTML,
                link_preview_options=NO_PREVIEW,
                reply_markup=written.keyboard,
            )

    async def tell_alone(self, text: str) -> None:
        """Say a sentence without a word of a case in this person's private chat, if they ever opened one."""
        try:
            await self._client.bot.send_message(self.spot.person, text, link_preview_options=NO_PREVIEW)
        except FAULTS as err:
            _LOG.warning("Who wrote something could not be told to wait: %s", type(err).__name__)


def prompt(dialog: Dialog, username: str, person: int, name: str, locale: str) -> tuple[layout.HtmlMessage, ForceReply]:
    """A dialog as a message that this person's app answers; the draft stands in a block to copy, or goes as a file.

    Args:
        username: the bot's.
        person: who is asked, and ``name`` what they call themselves.
    """
    data = layout.carried_data(dialog.target, person)
    title = f'<a href="https://{HOST}/{username}?start={data}">{MARKUP.inert(dialog.title, _TITLE)}</a>'
    request = gettext("Answer this message with the text.", locale)
    called = f'<a href="tg://user?id={person}">{MARKUP.inert(name, _NAME)}</a>'
    block = MARKUP.exact(dialog.text) if dialog.text else ""
    files = (TextFile("draft.txt", dialog.text),) if block is None else ()
    text = "\n".join(part for part in (title, f"{called}: {request}", block) if part)
    return layout.HtmlMessage(text, files=files), ForceReply(
        selective=True, input_field_placeholder=dialog.label[:_PLACEHOLDER]
    )


def fields_of(message: telegram.Message, act: Act) -> Mapping[str, str]:
    text = message.text or ""
    return {TEXT: text} if act is Act.EDIT else {NOTE: shortened(text, _MAX_NOTE)}


@dataclass
class TelegramPress:
    """Implements ``adapters.common.decisions.press.Press``.

    ``spoken`` is the language of the person's app; ``fields`` what they wrote as the answer to a prompt.
    """

    client: TelegramClient
    surface: TelegramReviewSurface
    words: PrivateWords
    target: Target
    is_on_card: bool
    spoken: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    room: int = _ROOM
    _is_private: bool = False
    _community_language: str | None = None

    @property
    def values(self) -> tuple[str, ...]:
        return (self.target.extra,) if self.target.act in _CHOSEN and self.target.extra else ()

    @property
    def casework(self) -> Casework:
        return self.client.desk.casework

    @property
    def by(self) -> Person:
        return Person(NAME, str(self.words.spot.person), self.words.spot.name)

    @property
    def locale(self) -> str:
        """The language to answer them in, one of ``core.i18n.LANGUAGES``; the community's counts after ``listen``."""
        return reader_language(self.spoken, self._community_language)

    @property
    def reader(self) -> Reader:
        return reader_of(self.locale)

    async def listen(self) -> None:
        """Find out which language the community speaks, and whether others than moderators can read along here.

        Raises:
            AntiphonError: the case cannot be read, this person may not read it, the chat is open, or Telegram does not
                say just now what it is.
        """
        if self._is_private:
            return
        card = await self.casework.card(self.target.case_id, self.by)
        self._community_language = await self.client.desk.policies.language_of(card.community)
        try:
            await self.surface.places.require_closed(card.community, self._channel)
        except PlatformBusy as err:
            raise chat_full(err.retry_after_seconds) from err
        self._is_private = True

    @property
    def _channel(self) -> str:
        return channel_of(self.words.spot.chat, self.words.spot.topic)

    async def think(self) -> None:
        """Do nothing yet: the button waits until the message went out, or a notice says why none did."""

    async def defer(self) -> None:
        """Do nothing yet: the notice that says what came of it ends the button's waiting."""

    async def answer(self, screen: Screen) -> None:
        """Show this person a message, ephemerally where the server offers it."""
        if self._is_private:
            await self.words.write(layout.screen_message(screen, self.words.spot.person))
        else:
            await self.words.warn(_in_plain_words(screen))

    async def answer_card(self, card: Card) -> None:
        if self._is_private:
            await self.words.write(layout.card_message(card, self.locale))

    async def replace(self, screen: Screen) -> None:
        await self._tell(screen, in_place=True)

    async def _tell(self, screen: Screen, *, in_place: bool) -> None:
        """Say what came of a decision: in a message, or over the chat where Telegram takes none just now."""
        try:
            if in_place and self._is_private and not self.is_on_card:
                await self.words.replace(layout.screen_message(screen, self.words.spot.person))
            else:
                await self.answer(screen)
        except PlatformBusy:
            if not await self.words.warn(_in_plain_words(screen)):
                raise

    async def ask(self, dialog: Dialog) -> None:
        """Send a prompt, which this person answers with a message."""
        spot = self.words.spot
        written, forced = prompt(dialog, self.client.bot.username, spot.person, spot.name, self.locale)
        if written.files:
            await self.answer(Screen((self.reader.markup.inert(dialog.title), *written.files)))
        await self.words.ask(replace(written, files=()), forced)

    async def say(self, *sentences: str) -> None:
        """Answer with sentences: over the chat where they are short, else in a message."""
        text = "\n".join(sentence for sentence in sentences if sentence)
        if not await self.words.notice(text, is_alert=True):
            await self.answer(Screen((text,)))

    async def show(self, card: Card) -> None:
        spot = self.words.spot
        if self.is_on_card and spot.message > 0:
            await self.surface.update(card, PostRef(NAME, card.community, self._channel, str(spot.message)))

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        screen = Screen((sentence,), controls, card.case_id, card.version)
        if not self.is_on_card and self.words.spot.query is not None:
            await self.replace(screen)
        elif controls or not await self.words.notice(sentence, is_alert=False):
            await self._tell(screen, in_place=False)
        await self.words.settle()
        await self.show(card)


def _in_plain_words(screen: Screen) -> str:
    return "\n".join(part for part in screen.parts if isinstance(part, str))


class CardPresses:
    """Answers every press, and every answer to a prompt, of one client."""

    def __init__(self, client: TelegramClient, surface: TelegramReviewSurface) -> None:
        self._client, self._surface = client, surface

    async def pressed(self, heard: UpdateEvent) -> bool:
        """Answer a press of a button of ours."""
        query = heard.update.callback_query
        carried = layout.carried_by(query.data or "") if query is not None else None
        if query is None or carried is None or query.message is None:
            return False
        words = PrivateWords(self._client, _pressed_spot(query, query.message, heard))
        if carried.owner is not None and carried.owner != query.from_user.id:
            locale = query.from_user.language_code
            notice = gettext("This answer is for another person. Press a button of the card.", locale)
            await words.warn(notice)
            return True
        press = self._press(words, query.from_user, carried.target, is_on_card=carried.owner is None)
        await run_press(press, PRESSED[carried.target.act])
        await words.settle()
        return True

    async def written(self, heard: UpdateEvent) -> bool:
        """Take a message that answers a prompt of ours."""
        message = heard.update.message
        carried = None if message is None else layout.carried_by(carried_to(message, int(self._client.own_id())))
        if message is None or carried is None or carried.target.act not in SUBMITTED:
            return False
        words = PrivateWords(self._client, _written_spot(message))
        user = message.from_user
        if user is None or user.id != carried.owner:
            notice = gettext("Only the person whom it asks can answer this, under their own name.", _language(user))
            await self._tell_others(words, notice)
        elif not message.text:
            await self._tell_others(words, gettext("Answer with a text.", _language(user)))
        else:
            press = self._press(words, user, carried.target, is_on_card=False)
            press.fields = fields_of(message, carried.target.act)
            await self._submit(press, message)
        return True

    async def _submit(self, press: TelegramPress, message: telegram.Message) -> None:
        """Take what was written, and the prompt away, so that it is answered once.

        Where Telegram takes no message of ours just now, the prompt stays to be answered again, and the person is told
        so in their private chat.

        Raises:
            StoreUnavailable: nobody read the text yet; the update is handled again.
        """
        try:
            await press.listen()
        except StoreUnavailable:
            raise
        except AntiphonError as err:  # ``run_press`` tells it, as far as it may be told here
            _LOG.info("An answer to a prompt is not taken: %s", type(err).__name__)  # its message may name somebody
        await run_press(press, SUBMITTED[press.target.act])
        if (refused := press.words.refused) is not None:
            await press.words.tell_alone(explain(refused, press.locale, MAX_CHARACTERS))
        elif message.reply_to_message is not None:
            with suppress(*FAULTS):
                await self._client.bot.delete_message(message.chat.id, message.reply_to_message.message_id)

    async def _tell_others(self, words: PrivateWords, text: str) -> None:
        """Say something that names nobody; nothing where others than moderators could read it."""
        channel = channel_of(words.spot.chat, words.spot.topic)
        try:
            await self._surface.places.require_closed("", channel)
        except PlatformUnavailable as err:
            _LOG.warning("An answer to a prompt was not answered: %s", err.message)
        else:
            await words.write(layout.HtmlMessage(text))

    def _press(self, words: PrivateWords, user: telegram.User, target: Target, *, is_on_card: bool) -> TelegramPress:
        return TelegramPress(self._client, self._surface, words, target, is_on_card, user.language_code)


def _language(user: telegram.User | None) -> str | None:
    return None if user is None else user.language_code


def _pressed_spot(
    query: telegram.CallbackQuery, message: telegram.MaybeInaccessibleMessage, heard: UpdateEvent
) -> Spot:
    raw = heard.raw["callback_query"]["message"]
    topic = topic_of(message) if isinstance(message, telegram.Message) else None
    whisper = raw.get("ephemeral_message_id")
    is_group = message.chat.type != ChatType.PRIVATE
    user = query.from_user
    return Spot(message.chat.id, topic, message.message_id, whisper, query.id, is_group, user.id, user.full_name)


def _written_spot(message: telegram.Message) -> Spot:
    user, chat = message.from_user, message.chat
    person, name = (user.id, user.full_name) if user is not None else (0, "")
    is_group = chat.type != ChatType.PRIVATE
    return Spot(chat.id, topic_of(message), message.message_id, None, None, is_group, person, name)


def install(client: TelegramClient, surface: TelegramReviewSurface) -> None:
    """Make a client answer the buttons of cards and the messages that answer prompts.

    Args:
        client: hears no updates yet.
        surface: the one that shows this client's cards, so that the two never overtake each other.
    """
    surface.listen()
    review = CardPresses(client, surface)
    client.listen("callback_query", review.pressed)
    client.listen("message", review.written)
