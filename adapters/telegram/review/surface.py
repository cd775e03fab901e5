"""Cards in a review chat: shown once for each case, and edited in place.

A card never goes back to an older version, never shows a word of a case in a chat that people other than moderators can
read, mentions nobody, and waits where a person waits for an answer.

Telegram has no keys for sends and lets no bot read the messages of a chat. So two calls for one case without ``shown``
are one card as long as this process remembers the first. A process that ends between showing a card and storing its
place, and an answer that was lost, may leave a second one. Both do the same, and a decision on one makes the other
outdated.
"""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from telegram.constants import ParseMode
from telegram.error import BadRequest

from adapters.common.cards.shown_cards import ShownCards
from adapters.common.words.markup import no_address
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS, description_of, is_message_gone, is_unchanged
from adapters.telegram.connection.limiter import PATIENT, PROGRESS
from adapters.telegram.connection.refs import NAME, numbers_of
from adapters.telegram.review.layout import card_message
from adapters.telegram.review.places import ReviewPlaces, is_of_other_platform, place_of, shared_language
from adapters.telegram.review.private_words import NO_PREVIEW
from adapters.telegram.review.refusals import of_card
from core.desk.rules.approval import CLOSED
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import MessageLook
from core.errors import PlatformBusy, PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef

_TRIES: Final = 2
_REMEMBERED: Final = 2000
_LOOK_SECONDS: Final = 3600.0
"""How often cards are looked for, since Telegram tells no bot of a deleted message."""
_NO_MESSAGE: Final = ("message to react not found", "message_id_invalid")


class TelegramReviewSurface:
    """A ``core.desk.rules.platforms.ReviewSurface`` over a client.

    A card has many readers: it speaks the language that the community chose, or else that of most people heard there.

    Args:
        elsewhere: gives the addresses of other platforms' posts.
    """

    def __init__(self, client: TelegramClient, *, elsewhere: Callable[[PostRef], str] = no_address) -> None:
        self._elsewhere = elsewhere
        self.places = ReviewPlaces(client)
        self._client = client
        self._shown = ShownCards()
        self._sent: OrderedDict[tuple[str, str], PostRef] = OrderedDict()
        self._communities: defaultdict[int, set[str]] = defaultdict(set)
        self._changed: set[str] = set()
        self._looked: dict[str, float] = {}

    def listen(self) -> None:
        """Hear when our rights in a review chat change."""
        self._client.listen("my_chat_member", self._rights_changed)

    def changed(self) -> frozenset[str]:
        """The communities whose review chat let us in, or shut us out, since the last call."""
        changed, self._changed = frozenset(self._changed), set()
        return changed

    def unheard(self) -> frozenset[str]:
        """Every community with a review chat, once an hour: Telegram tells no bot of deleted messages."""
        now = time.monotonic()
        all_communities = {community for communities in self._communities.values() for community in communities}
        due = {each for each in all_communities if now >= self._looked.get(each, 0.0)}
        self._looked |= dict.fromkeys(due, now + _LOOK_SECONDS)
        return frozenset(due)

    async def look(self, cards: Sequence[PostRef]) -> MessageLook:
        """Look at the first of the cards, by taking a reaction of ours away that is not there, which shows nothing."""
        card = cards[0]
        await self.places.require_closed(card.community, card.channel)
        numbers = numbers_of(card)
        try:
            await self._client.bot.set_message_reaction(numbers.chat, numbers.message)
        except BadRequest as err:
            if any(words in description_of(err) for words in _NO_MESSAGE):
                return MessageLook(frozenset(), frozenset({card}))
        except FAULTS as err:
            raise of_card(err) from err
        return MessageLook(frozenset({card}), frozenset())

    async def check(self, community: str, channel: str) -> None:
        """Look whether cards may be shown in a chat; ``core.desk.rules.platforms.ReviewSurface`` says the rest."""
        if is_of_other_platform(community):
            place = await self.places.require_closed(community, channel)
        else:
            place = self.places.require_known_closed(community, channel)
        self._communities[place.chat].add(community)

    def community_of(self, channel: str) -> str:
        """The chat itself, also of a topic; Telegram lets us list no chats, so it may be one that we are not in."""
        return str(place_of(channel).chat)

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or edit the one that is there; ``core.desk.rules.platforms.ReviewSurface`` says the rest."""
        standing = shown or self._sent.get((card.case_id, channel))
        leftover: PostRef | None = None
        if standing is not None and standing.channel != channel and card.state not in CLOSED:
            standing, leftover = None, standing
        if standing is not None:
            try:
                await self._check_readers(card, standing.channel)
                if await self._edit(card, standing) or (shown is not None and card.state in CLOSED):
                    return standing
            except PlatformBusy:
                raise
            except PlatformUnavailable:
                if standing.channel == channel:
                    raise
                leftover = standing  # An earlier chat is gone, or open to others by now.
        place = await self._show_anew(card, channel, is_progress=shown is None and card.is_progress)
        if leftover is not None:
            await self.take_away(leftover)
        return place

    async def update(self, card: Card, place: PostRef) -> None:
        """Replace the card that is there; one that is gone stays gone. Raises as ``show``.

        A card that cannot be changed at this moment is left to ``show``, which follows every change of a case.
        """
        await self._check_readers(card, place.channel)
        with suppress(PlatformBusy):
            await self._edit(card, place)

    async def _show_anew(self, card: Card, channel: str, *, is_progress: bool) -> PostRef:
        """Send the card without a word of the post, so that no notification holds one, and fill it in."""
        place_of(channel)
        await self._check_readers(card, channel)
        for _ in range(_TRIES):
            place = await self._send(card, channel, is_progress=is_progress)
            if await self._edit(card, place, is_new=True):
                return place
        raise PlatformUnavailable(
            sentence("A card is deleted as soon as it is shown."),
            remedy=sentence("Let no other bot delete messages in the review chat."),
        )

    async def _check_readers(self, card: Card, channel: str) -> None:
        """Refuse to show a card that has words of a post where others than moderators can read them."""
        if card.post.text:
            place = await self.places.require_closed(card.community, channel)
            self._communities[place.chat].add(card.community)

    async def _send(self, card: Card, channel: str, *, is_progress: bool) -> PostRef:
        language, place = self._language_of(card, channel), place_of(channel)
        written = card_message(card, language, covers_all=True, elsewhere=self._elsewhere)
        try:
            sent = await self._client.bot.send_message(
                place.chat,
                written.text,
                ParseMode.HTML,
                message_thread_id=place.topic,
                link_preview_options=NO_PREVIEW,
                reply_markup=written.keyboard,
                rate_limit_args=PROGRESS if is_progress else PATIENT,
            )
        except FAULTS as err:
            raise of_card(err, is_progress=is_progress) from err
        shown = PostRef(NAME, card.community, channel, str(sent.message_id))
        self._sent[card.case_id, channel] = shown
        if len(self._sent) > _REMEMBERED:
            self._sent.popitem(last=False)
        return shown

    async def _edit(self, card: Card, place: PostRef, *, is_new: bool = False) -> bool:
        """Edit the message; returns whether it is still there.

        A new card lacks its words until then, so it has the room that is kept for what a person waits for.
        """
        shown = self._shown.of(f"{place.channel} {place.message}")
        async with shown.lock:
            if card.version < shown.version:
                return True
            language, numbers = self._language_of(card, place.channel), numbers_of(place)
            written = card_message(card, language, elsewhere=self._elsewhere)
            is_progress = card.is_progress and shown.is_progress
            try:
                await self._client.bot.edit_message_text(
                    written.text,
                    numbers.chat,
                    numbers.message,
                    parse_mode=ParseMode.HTML,
                    link_preview_options=NO_PREVIEW,
                    reply_markup=written.keyboard,
                    rate_limit_args=None if is_new else PROGRESS if is_progress else PATIENT,
                )
            except FAULTS as err:
                if is_message_gone(err) or "message can't be edited" in description_of(err):
                    return False
                if not is_unchanged(err):
                    raise of_card(err, is_progress=is_progress) from err
            shown.version, shown.is_progress = card.version, card.is_progress
            return True

    async def take_away(self, place: PostRef) -> None:
        numbers = numbers_of(place)
        with suppress(*FAULTS):
            await self._client.bot.delete_message(numbers.chat, numbers.message)

    async def _rights_changed(self, heard: UpdateEvent) -> bool:
        change = heard.update.my_chat_member
        if change is not None:
            self.places.forget(change.chat.id)
            self._changed |= self._communities.get(change.chat.id, set())
        return False

    def _language_of(self, card: Card, channel: str) -> str:
        return card.community_language or shared_language(self._client, card.community, channel)
