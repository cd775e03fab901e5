"""A press on Telegram, or the answer to a prompt: answered in the moderators' chat, in the person's language.

Owns which of Telegram's answers says what. Says nothing but a notice of Telegram's own before it is known that only
moderators can read along. What is said is decided in ``adapters.common.decisions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import Control
from adapters.common.decisions.press import Dialog, InPublic, Screen
from adapters.common.words.markup import Reader
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.refs import NAME, channel_of
from adapters.telegram.review.dialogs import prompt
from adapters.telegram.review.layout import card_message, screen_message
from adapters.telegram.review.private import PrivateWords
from adapters.telegram.review.refusals import chat_full
from adapters.telegram.review.surface import TelegramReviewSurface
from adapters.telegram.speech.languages import reader_language
from adapters.telegram.speech.markup import reader_of
from core.errors import PlatformBusy
from core.models import PostRef
from core.moderation.cards import Card, ProposedReply
from core.moderation.desk_ports import Casework
from core.moderation.roles import Person

_ROOM: Final = 3900
"""Of the 4,096 units of a message; the rest is for the person's name and for lines between parts."""
_CHOSEN: Final = frozenset({Act.REDRAFT_AS, Act.CLAIM_AS, Act.CLOSE_AS, Act.RETRACT_AS})
"""The acts whose buttons are the answers of a choice; what they carry is the value."""


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
        """What was chosen."""
        return (self.target.extra,) if self.target.act in _CHOSEN and self.target.extra else ()

    @property
    def casework(self) -> Casework:
        """Where the decision goes."""
        return self.client.desk.casework

    @property
    def by(self) -> Person:
        """Who it was."""
        return Person(NAME, str(self.words.spot.person), self.words.spot.name)

    @property
    def locale(self) -> str:
        """The language to answer them in, one of ``core.i18n.LANGUAGES``; the community's counts after ``listen``."""
        return reader_language(self.spoken, self._community_language)

    @property
    def reader(self) -> Reader:
        """The person as a reader of texts."""
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

    async def in_public(self, proposal: ProposedReply) -> InPublic:
        """The approved text and nothing else."""
        return InPublic(proposal.text)

    async def answer(self, screen: Screen) -> None:
        """Show this person a message, ephemerally where the server offers it."""
        if self._is_private:
            await self.words.write(screen_message(screen, self.words.spot.person))
        else:
            await self.words.warn(_in_plain_words(screen))

    async def answer_card(self, card: Card) -> None:
        """Show this person a card."""
        if self._is_private:
            await self.words.write(card_message(card, self.locale))

    async def replace(self, screen: Screen) -> None:
        """Show a message in place of the answer that was pressed, so that nothing in it can be pressed again."""
        await self._tell(screen, in_place=True)

    async def _tell(self, screen: Screen, *, in_place: bool) -> None:
        """Say what came of a decision: in a message, or over the chat where Telegram takes none just now."""
        try:
            if in_place and self._is_private and not self.is_on_card:
                await self.words.replace(screen_message(screen, self.words.spot.person))
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
        """Bring the card that was pressed up to date, if it was one. Only with what a reviewer sees of the case."""
        spot = self.words.spot
        if self.is_on_card and spot.message > 0:
            await self.surface.update(card, PostRef(NAME, card.community, self._channel, str(spot.message)))

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        """Say what came of it and what can be pressed next, and show the card as it is now."""
        screen = Screen((sentence,), controls, card.case_id, card.version)
        if not self.is_on_card and self.words.spot.query is not None:
            await self.replace(screen)
        elif controls or not await self.words.notice(sentence, is_alert=False):
            await self._tell(screen, in_place=False)
        await self.words.settle()
        await self.show(card)


def _in_plain_words(screen: Screen) -> str:
    return "\n".join(part for part in screen.parts if isinstance(part, str))
