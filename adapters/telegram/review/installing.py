"""Letting a client answer the buttons of cards and the messages that answer prompts.

``install`` is called once for each client, before it hears updates.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final
from weakref import WeakSet

import telegram
from telegram.constants import ChatType

from adapters.common.cards.acts import Target
from adapters.common.decisions.answering import answered
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.common.words.errors import explain
from adapters.telegram.connection.client import Heard, TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS
from adapters.telegram.connection.refs import channel_of, topic_of
from adapters.telegram.review.dialogs import fields_of, prompted
from adapters.telegram.review.ids import carried_by
from adapters.telegram.review.layout import Written
from adapters.telegram.review.press import TelegramPress
from adapters.telegram.review.private import PrivateWords, Spot, Whispering
from adapters.telegram.review.surface import TelegramReviewSurface
from adapters.telegram.speech.exact_text import MAX_CHARACTERS
from core.errors import AntiphonError, BadSettings, PlatformUnavailable, StoreUnavailable
from core.i18n.catalogs import gettext

_LOG = logging.getLogger(__name__)
_INSTALLED: Final[WeakSet[TelegramClient]] = WeakSet()


class Review:
    """Answers every press, and every answer to a prompt, of one client."""

    def __init__(self, client: TelegramClient, surface: TelegramReviewSurface) -> None:
        self._client, self._surface = client, surface
        self._whispering = Whispering()

    async def pressed(self, heard: Heard) -> bool:
        """Answer a press of a button of ours."""
        query = heard.update.callback_query
        carried = carried_by(query.data or "") if query is not None else None
        if query is None or carried is None or query.message is None:
            return False
        words = PrivateWords(self._client, _pressed_spot(query, query.message, heard), self._whispering)
        if carried.owner is not None and carried.owner != query.from_user.id:
            locale = query.from_user.language_code
            said = gettext("This answer is for another person. Press a button of the card.", locale)
            await words.warn(said)
            return True
        press = self._press(words, query.from_user, carried.target, is_on_card=carried.owner is None)
        await answered(press, PRESSED[carried.target.act])
        await words.settle()
        return True

    async def written(self, heard: Heard) -> bool:
        """Take a message that answers a prompt of ours."""
        message = heard.update.message
        carried = prompted(message, int(self._client.own_id())) if message is not None else None
        if message is None or carried is None or carried.target.act not in SUBMITTED:
            return False
        words = PrivateWords(self._client, _written_spot(message), self._whispering)
        user = message.from_user
        if user is None or user.id != carried.owner:
            said = gettext("Only the person whom it asks can answer this, under their own name.", _language(user))
            await self._tell_others(words, said)
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
        except AntiphonError as err:  # ``answered`` tells it, as far as it may be told here
            _LOG.info("An answer to a prompt is not taken: %s", type(err).__name__)  # its message may name somebody
        await answered(press, SUBMITTED[press.target.act])
        if (refused := press.words.refused) is not None:
            await press.words.tell_alone(explain(refused, press.locale, MAX_CHARACTERS))
        elif message.reply_to_message is not None:
            with suppress(*FAULTS):
                await self._client.bot.delete_message(message.chat.id, message.reply_to_message.message_id)

    async def _tell_others(self, words: PrivateWords, said: str) -> None:
        """Say something that names nobody; nothing where others than moderators could read it."""
        channel = channel_of(words.spot.chat, words.spot.topic)
        try:
            await self._surface.places.require_closed("", channel)
        except PlatformUnavailable as err:
            _LOG.warning("An answer to a prompt was not answered: %s", err.message)
        else:
            await words.write(Written(said))

    def _press(self, words: PrivateWords, user: telegram.User, target: Target, *, is_on_card: bool) -> TelegramPress:
        return TelegramPress(self._client, self._surface, words, target, is_on_card, user.language_code)


def _language(user: telegram.User | None) -> str | None:
    return None if user is None else user.language_code


def _pressed_spot(query: telegram.CallbackQuery, message: telegram.MaybeInaccessibleMessage, heard: Heard) -> Spot:
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


def install(client: TelegramClient, surface: TelegramReviewSurface | None = None) -> None:
    """Make a client answer the buttons of cards and the messages that answer prompts.

    Args:
        client: hears no updates yet.
        surface: the one that shows this client's cards, so that the two never overtake each other.

    Raises:
        BadSettings: it was done before; everything would be answered twice.
    """
    if client in _INSTALLED:
        raise BadSettings("The client answers cards already.", remedy="Install the review once for a client.")
    _INSTALLED.add(client)
    surface = surface or TelegramReviewSurface(client)
    surface.listen()
    review = Review(client, surface)
    client.listen("callback_query", review.pressed)
    client.listen("message", review.written)
