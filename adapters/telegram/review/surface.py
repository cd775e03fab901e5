"""Cards in a review chat: where they may be shown, shown once for each case, edited in place; and notices of them.

A card never goes back to an older version, never shows a word of a case in a chat that people other than moderators can
read, mentions nobody, and waits where a person waits for an answer.

It is shown in a private group of moderators, a topic in it, or one person's private chat; cases of another platform in
groups alone, since nobody there says whose private chat it is. What Telegram says of a chat is remembered for a minute
at most. Where it does not say what a chat is, nothing of a case is written there.

Telegram has no keys for sends and lets no bot read the messages of a chat. So two calls for one case without ``shown``
are one card as long as this process remembers the first. A process that ends between showing a card and storing its
place, and an answer that was lost, may leave a second one. Both do the same, and a decision on one makes the other
outdated.
"""

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from telegram import ChatFullInfo, ReplyParameters
from telegram.constants import ChatType, ParseMode
from telegram.error import BadRequest, Forbidden

from adapters.common.cards.shown_cards import ShownCards
from adapters.common.words.markup import no_address
from adapters.common.words.notices import notice_text
from adapters.telegram.connection import error_meanings
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.limiter import PATIENT, PROGRESS
from adapters.telegram.connection.refs import NAME, numbers_of
from adapters.telegram.review.layout import card_message
from adapters.telegram.speech import NO_PREVIEW, reader_of
from core.desk.rules.approval import CLOSED
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import MessageLook, Notice
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.i18n.catalogs import gettext
from core.i18n.sentences import sentence
from core.models import PostRef

_CHAT_SECONDS: Final = 60.0
_MOST_CHATS: Final = 2000
_CLOSED_CHATS: Final = (ChatType.PRIVATE, ChatType.GROUP, ChatType.SUPERGROUP)
_TRIES: Final = 2
_MOST_CARDS: Final = 2000
_LOOK_SECONDS: Final = 3600.0
"""How often cards are looked for, since Telegram tells no bot of a deleted message."""
_NO_MESSAGE: Final = ("message to react not found", "message_id_invalid")
_NOTICE_SECONDS: Final = 120.0
_MOST_NOTICES: Final = 1000


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """A chat, and a topic of it, where cards are shown."""

    chat: int
    topic: int | None


def _is_watched_itself() -> PlatformUnavailable:
    """The review chat is the group whose posts are reviewed."""
    return PlatformUnavailable(
        sentence("Cases are not shown in the group that they come from."), remedy=error_meanings.CHOOSE_ANOTHER
    )


def place_of(channel: str) -> ReviewPlace:
    """What ``CommunityPolicy.review_channel`` names.

    Raises:
        PlatformUnavailable: no chat of Telegram's.
    """
    try:
        numbers = numbers_of(PostRef(NAME, "", channel, "1"))
    except PlatformUnavailable as err:
        raise PlatformUnavailable(
            sentence("The review chat is not on Telegram."), remedy=error_meanings.CHOOSE_ANOTHER
        ) from err
    return ReviewPlace(numbers.chat, numbers.topic)


def shared_language(client: TelegramClient, community: str, channel: str) -> str:
    """The language of a community's cards in a place ("" for none), where it chose none.

    That of most people who were heard in its group and in the place; English before anybody was.
    """
    chats = list[int]()
    for named in (community, channel):
        with suppress(PlatformUnavailable):
            chats.append(place_of(named).chat)
    return client.shared_languages.of(*chats) or "en"


class ReviewPlaces:
    """Looks what the review chats are.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, client: TelegramClient, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._seconds_now = seconds_now
        self._open: dict[int, tuple[float, bool]] = {}

    async def require_closed(self, community: str, channel: str) -> ReviewPlace:
        """Refuse a place that others than moderators can read.

        Raises:
            PlatformUnavailable: it is open, gone, the watched group itself, or a private chat for another platform.
            PlatformBusy: Telegram does not say what it is.
            StoreUnavailable: nobody can say whether the cases of the group are reviewed elsewhere.
        """
        place = self.require_known_closed(community, channel)
        if is_of_other_platform(community):
            policy = await self._client.desk.policies.surely_of(str(place.chat))
            if policy.review_channel:  # the group has members, and its own cases are shown elsewhere
                raise _is_watched_itself()
        remembered = self._open.get(place.chat)
        if remembered is None or self._seconds_now() >= remembered[0]:
            if len(self._open) >= _MOST_CHATS:
                self._open.clear()
            self._open[place.chat] = (self._seconds_now() + _CHAT_SECONDS, await self._is_open(place.chat))
        return self.require_known_closed(community, channel)

    def require_known_closed(self, community: str, channel: str) -> ReviewPlace:
        """The same by what is known without asking; raises ``PlatformUnavailable`` alone."""
        place = place_of(channel)
        if str(place.chat) == community:
            raise _is_watched_itself()
        if is_of_other_platform(community) and place.chat > 0:
            raise PlatformUnavailable(
                sentence("Cases of another platform are not shown in a private chat."),
                remedy=sentence("Choose a private group of the moderators."),
            )
        if self._open.get(place.chat, (0.0, False))[1]:
            raise PlatformUnavailable(
                sentence("Others than moderators can read the review chat: cases are not shown there."),
                remedy=sentence(
                    "Make it a private group without a public name and without a channel, or choose another chat with "
                    "/setup."
                ),
            )
        return place

    def forget(self, chat: int) -> None:
        """Ask again at the next use: something changed there."""
        self._open.pop(chat, None)

    async def _is_open(self, chat: int) -> bool:
        try:
            return _can_be_read_by_others(await self._client.bot.get_chat(chat))
        except (BadRequest, Forbidden) as err:
            raise error_meanings.chat_gone() from err
        except error_meanings.FAULTS as err:
            raise error_meanings.of_card(err) from err


def is_of_other_platform(community: str) -> bool:
    """Whether a community is no chat, so that its cases are those of another platform; "" is none."""
    return bool(community) and not community.removeprefix("-").isdecimal()


def _can_be_read_by_others(chat: ChatFullInfo) -> bool:
    """Whether it is a channel, can be found by a name, or discusses a channel, so that anybody can join it."""
    has_name = chat.type != ChatType.PRIVATE and bool(chat.username or chat.active_usernames)
    return chat.type not in _CLOSED_CHATS or has_name or chat.linked_chat_id is not None


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
            if any(words in error_meanings.description_of(err) for words in _NO_MESSAGE):
                return MessageLook(frozenset(), frozenset({card}))
        except error_meanings.FAULTS as err:
            raise error_meanings.of_card(err) from err
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
        except error_meanings.FAULTS as err:
            raise error_meanings.of_card(err, is_progress=is_progress) from err
        shown = PostRef(NAME, card.community, channel, str(sent.message_id))
        self._sent[card.case_id, channel] = shown
        if len(self._sent) > _MOST_CARDS:
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
            except error_meanings.FAULTS as err:
                if error_meanings.is_message_gone(err) or "message can't be edited" in error_meanings.description_of(
                    err
                ):
                    return False
                if not error_meanings.is_unchanged(err):
                    raise error_meanings.of_card(err, is_progress=is_progress) from err
            shown.version, shown.is_progress = card.version, card.is_progress
            return True

    async def take_away(self, place: PostRef) -> None:
        numbers = numbers_of(place)
        with suppress(*error_meanings.FAULTS):
            await self._client.bot.delete_message(numbers.chat, numbers.message)

    async def _rights_changed(self, heard: UpdateEvent) -> bool:
        change = heard.update.my_chat_member
        if change is not None:
            self.places.forget(change.chat.id)
            self._changed |= self._communities.get(change.chat.id, set())
        return False

    def _language_of(self, card: Card, channel: str) -> str:
        return card.community_language or shared_language(self._client, card.community, channel)


class TelegramNotifier:
    """A ``core.desk.rules.platforms.Notifier`` over a client.

    A call to many mentions nobody, since Telegram has no roles and the message itself notifies all of the chat. A
    person who cannot be written to is mentioned in the review chat. Nobody is named where people other than moderators
    read. Telegram knows no keys: that two calls for one ``Notice.key`` are one message is remembered by this process
    alone.
    """

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._places = ReviewPlaces(client)
        self._said: OrderedDict[str, float] = OrderedDict()

    async def call(self, notice: Notice, role: str) -> None:
        """Say it below the card, for everybody in the review chat; ``role`` names nobody on Telegram."""
        await self._below_the_card(notice, "")

    async def tell(self, notice: Notice, user: str) -> None:
        """Tell a person in their private chat; a reviewer who never opened one is mentioned below the card."""
        if not (user.isascii() and user.isdecimal()):
            raise PlatformUnavailable(
                sentence("Telegram does not know this person."), remedy=sentence("Tell them yourself.")
            )
        if self._is_said(notice.key):
            return
        try:
            where = "" if notice.outcome is not None else await self._title(notice.community)
            words = self._words(notice, where)
            await self._client.bot.send_message(int(user), words, ParseMode.HTML, link_preview_options=NO_PREVIEW)
        except (Forbidden, BadRequest):  # they never began a chat with the bot, or blocked it
            if notice.outcome is None:
                you = gettext("For you", notice.language)
                await self._below_the_card(notice, f'<a href="tg://user?id={user}">{you}</a>: ')
        except error_meanings.FAULTS as err:
            raise self._failed(notice, err) from err
        else:
            self._keep(notice.key)

    async def _below_the_card(self, notice: Notice, mention: str) -> None:
        if self._is_said(notice.key):
            return
        place = await self._places.require_closed(notice.community, notice.card.channel)
        try:
            await self._client.bot.send_message(
                place.chat,
                f"{mention}{self._words(notice)}",
                ParseMode.HTML,
                message_thread_id=place.topic,
                link_preview_options=NO_PREVIEW,
                reply_parameters=ReplyParameters(numbers_of(notice.card).message, allow_sending_without_reply=True),
                rate_limit_args=PATIENT,
            )
        except error_meanings.FAULTS as err:
            raise self._failed(notice, err) from err
        self._keep(notice.key)

    def _failed(self, notice: Notice, err: BaseException) -> Exception:
        meant = error_meanings.of_send(err)
        if isinstance(meant, AmbiguousSend):
            self._keep(notice.key)
        return meant

    def _is_said(self, key: str) -> bool:
        return time.monotonic() < self._said.get(key, 0.0)

    def _keep(self, key: str) -> None:
        self._said[key] = time.monotonic() + _NOTICE_SECONDS
        if len(self._said) > _MOST_NOTICES:
            self._said.popitem(last=False)

    async def _title(self, community: str) -> str:
        return (await self._client.bot.get_chat(int(community))).title or ""

    def _words(self, notice: Notice, where: str = "") -> str:
        return notice_text(notice, reader_of(notice.language or "en"), where)
