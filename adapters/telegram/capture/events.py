"""Capture on one client: what happens in groups, and the posts that somebody forwards in their private chat."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import telegram
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, ReactionTypeEmoji, ReplyParameters
from telegram.constants import ChatType

from adapters.common.capture.changes import PostChanges
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.requests import DraftRequests, Followers, run_request
from adapters.common.capture.watch import ChannelWatch
from adapters.common.words.errors import explain
from adapters.common.words.labels import language_for
from adapters.common.words.messages import no_words, type_it
from adapters.telegram.capture.commands import CounterCommand, answer_to, command_words
from adapters.telegram.capture.flaggers import DraftWish, Flaggers, KnownGroup, KnownGroups, person_of
from adapters.telegram.capture.posts import is_group, is_private, words_of
from adapters.telegram.capture.recent_messages import RecentMessages
from adapters.telegram.capture.sightings import SeenMessage
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS, of_question
from adapters.telegram.connection.refs import NAME, channel_of, revision_of
from adapters.telegram.speech.private_answers import TelegramAnswer
from core.desk.rules.policy import CommunityPolicy
from core.engine.ports import HateDetector
from core.errors import BadInput, NotAllowed, StoreUnavailable
from core.i18n.catalogs import gettext
from core.models import MessageWords, Part, PartKind

CHOICE: Final = "from:"
"""Begins the data of a button that names a group."""
_MOST_BUTTONS: Final = 10
_LABEL: Final = 60
_FORWARDED, _ELSEWHERE = "forwarded", "words from elsewhere"
_LOG = logging.getLogger(__name__)
_AS_PICTURE: Final = "\ufe0f"
_AGAIN_SECONDS: Final = 1.0
_FLAGGING_SECONDS: Final = 5.0
"""How long found posts may still be flagged when the work ends; that needs no connection."""
_CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""How far Telegram's clock may be ahead of this machine's; it says to the second only when something was written."""
_MOST_WAITING: Final = 150
"""How many messages may wait to be looked at: so many fewer than are handed out at once that commands come through."""


class PrivatePosts:
    """Hears what people send to their private chat with Antiphon."""

    def __init__(self, client: TelegramClient, flaggers: Flaggers, groups: KnownGroups, recent: RecentMessages) -> None:
        self._client = client
        self._flaggers = flaggers
        self._groups = groups
        self._recent = recent

    async def hear(self, heard: UpdateEvent) -> bool:
        """Flag a forwarded post, or the words behind the command; raises as ``Flaggers.about_message``."""
        message = heard.update.message
        user = None if message is None else message.from_user
        if message is None or user is None or message.chat.type != ChatType.PRIVATE:
            return False
        if self._typed(message) is None and message.forward_origin is None:
            return False
        answer = answer_to(self._client, heard, message)
        request = DraftWish(person_of(user), _ELSEWHERE, answer, user.language_code or "", is_late=heard.is_late)
        await run_request(answer, self._take_in(request, message))
        return True

    async def choose(self, heard: UpdateEvent) -> bool:
        """Take the words of the message that a button stands below for the group that it names."""
        query = heard.update.callback_query
        if query is None or not (query.data or "").startswith(CHOICE):
            return False
        await self._stop_waiting(query)
        shown = query.message
        if not isinstance(shown, telegram.Message) or shown.chat.id != query.from_user.id:
            return True
        locale = query.from_user.language_code or ""
        answer = TelegramAnswer(
            self._client,
            query.from_user.id,
            language_for(locale, None),
            heard.received_at,
            shown=shown.message_id,
        )
        request = DraftWish(person_of(query.from_user), _ELSEWHERE, answer, locale, is_late=heard.is_late)
        await run_request(
            answer, self._chosen(request, (query.data or "").removeprefix(CHOICE), shown.reply_to_message)
        )
        return True

    async def _take_in(self, request: DraftWish, message: telegram.Message) -> None:
        words = self._words(message, request.answer.reader.locale)
        for post in self._recent.forwarded(message):
            if await self._flaggers.may_flag(post.chat.id, request.by):
                there = DraftWish(request.by, _FORWARDED, request.answer, request.locale, is_late=request.is_late)
                return await self._flaggers.about_message(there, post)
        groups = await self._groups.of(request.by)
        if not groups:
            raise _nowhere(request.answer.reader.locale)
        if len(groups) > 1:
            return await self._ask(request, message, groups[:_MOST_BUTTONS])
        return await self._as_words(request, groups[0], message, words)

    async def _chosen(self, request: DraftWish, chat: str, message: telegram.Message | None) -> None:
        title = await self._client.title_of(int(chat)) if chat.removeprefix("-").isdecimal() else None
        if message is None or title is None:
            raise BadInput(
                gettext("The message with these words is gone.", request.answer.reader.locale),
                remedy=gettext("Forward the post again.", request.answer.reader.locale),
            )
        words = self._words(message, request.answer.reader.locale)
        await self._as_words(request, KnownGroup(int(chat), title), message, words)

    async def _as_words(
        self, request: DraftWish, group: KnownGroup, message: telegram.Message, words: MessageWords
    ) -> None:
        """Flag words for a group; two presses, or an update that is handled again, name the same words."""
        try:
            chat = await self._client.bot.get_chat(group.id)
        except FAULTS as err:
            raise of_question(err) from err
        number = f"words-{message.chat.id}-{message.message_id}"
        await self._flaggers.about_words(request, chat, words, number)

    async def _ask(self, request: DraftWish, message: telegram.Message, groups: list[KnownGroup]) -> None:
        """Ask which group the words are for, below the message with the words; in the private chat alone."""
        rows = [
            [InlineKeyboardButton(group.title[:_LABEL] or str(group.id), callback_data=f"{CHOICE}{group.id}")]
            for group in groups
        ]
        try:
            await self._client.bot.send_message(
                int(request.by.user),
                gettext("For which group should Antiphon draft a reply to this?", request.answer.reader.locale),
                reply_markup=InlineKeyboardMarkup(rows),
                reply_parameters=ReplyParameters(message.message_id, allow_sending_without_reply=False),
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
        except FAULTS as err:
            raise of_question(err) from err

    def _typed(self, message: telegram.Message) -> str | None:
        """The words behind the command, if somebody typed it: a forwarded command is words of somebody else."""
        if message.forward_origin is not None:
            return None
        return command_words(message, self._client.bot.username)

    def _words(self, message: telegram.Message, locale: str) -> MessageWords:
        typed = self._typed(message)
        words = words_of(message) if typed is None else MessageWords.of([Part(PartKind.OWN, typed)])
        if not words.text.strip():
            raise no_words(words, locale, type_it(locale))
        return words

    async def _stop_waiting(self, query: telegram.CallbackQuery) -> None:
        try:
            await self._client.bot.answer_callback_query(query.id)
        except FAULTS:  # it was pressed too long ago: nobody waits any more
            return


def _nowhere(locale: str) -> NotAllowed:
    return NotAllowed(
        gettext("Antiphon knows no group in which you may flag.", locale),
        remedy=gettext("Answer the post with /counter in its group, or ask a manager for the role volunteer.", locale),
    )


class WatchedEvents:
    """Tells ``ChannelWatch`` and ``PostChanges`` what happens in groups."""

    def __init__(
        self,
        client: TelegramClient,
        watching: ChannelWatch,
        changes: PostChanges,
        known: KnownPosts,
        recent: RecentMessages,
    ) -> None:
        self._client = client
        self._watching = watching
        self._changes = changes
        self._known = known
        self._recent = recent
        self._looks: dict[tuple[int, int], asyncio.Future[None]] = {}
        """The looks that have not ended, by chat and message."""

    def listen(self) -> None:
        """Begin to hear."""
        self._client.listen("message", self._written)
        self._client.listen("edited_message", self._edited)
        self._client.listen("message_reaction", self._reacted)

    async def _written(self, heard: UpdateEvent) -> bool:
        """Have a message looked at; raises ``StoreUnavailable`` where nobody knows whether its group is watched."""
        message = heard.update.message
        if message is not None and message.message_id > 0 and is_group(message.chat):
            self._leave(heard, message, self._look(await self._seen(message)))
        return False

    async def _edited(self, heard: UpdateEvent) -> bool:
        """Tell the desk of a flagged post's new words; others are looked at as a new message's.

        Raises:
            StoreUnavailable: as ``_written``, or the desk could not be told, and must be: Telegram lets nobody read a
                post again.
        """
        message = heard.update.edited_message
        if message is None or message.message_id <= 0 or not is_group(message.chat):
            return False
        seen = await self._seen(message)
        before = self._looks.get((message.chat.id, message.message_id))
        if before is None:
            self._leave(heard, message, await self._changed(seen))
        else:
            self._leave(heard, message, asyncio.ensure_future(self._changed_after(before, seen)))
        return False

    async def _changed_after(self, before: asyncio.Future[None], seen: SeenMessage) -> None:
        """Tell of an edit once it is known whether the message as it was before it becomes a case."""
        await before
        while True:
            try:
                look = await self._changed(seen)
                break
            except StoreUnavailable as err:
                _LOG.warning("An edit of a message waits: %s", err.message)
                await asyncio.sleep(_AGAIN_SECONDS)
        if look is not None:
            await look

    async def _changed(self, seen: SeenMessage) -> asyncio.Future[None] | None:
        message = seen.message
        words = words_of(message)
        await self._changes.told(seen.ref, seen.written_at, words.compared, revision_of(message))
        earlier = self._recent.find(message.chat.id, message.message_id)
        return self._look(seen) if earlier is None or words_of(earlier).text != words.text else None

    def _look(self, seen: SeenMessage) -> asyncio.Future[None] | None:
        """Have a message looked at beside the updates that come next; ``None`` if it is not looked at."""
        message, policy = seen.message, seen.policy
        if is_private(message.chat, policy):
            return None
        if _remembers(policy, message.chat) or message.media_group_id is not None:
            self._recent.add(message)
        return self._watching.take_written(seen, policy, channel_of(message.chat.id))

    def _leave(self, heard: UpdateEvent, message: telegram.Message, look: asyncio.Future[None] | None) -> None:
        """Let an update be dealt with once a look has ended."""
        if look is None:
            return
        heard.unfinished.append(look)
        place = (message.chat.id, message.message_id)
        self._looks[place] = look
        look.add_done_callback(lambda ended: self._looks.pop(place) if self._looks.get(place) is ended else None)

    async def _reacted(self, heard: UpdateEvent) -> bool:
        """Flag the message that somebody marked with the group's emoji, and take the reaction off it.

        Raises:
            StoreUnavailable: the flag could not be kept; the update is to be handled again.
        """
        change = heard.update.message_reaction
        if change is None or change.user is None or change.user.is_bot or not is_group(change.chat):
            return False
        policy = await self._client.desk.governance.policy(NAME, str(change.chat.id))
        if is_private(change.chat, policy) or not _is_set(change, policy.reaction):
            return False
        find = partial(self._find, change.chat, change.message_id, policy, is_late=heard.is_late)
        tell = partial(self._tell_unread, change.user, change.date, policy)
        if await self._watching.take_reaction(str(change.chat.id), person_of(change.user), find, "reaction", tell):
            await self._take_off(change.chat.id, change.message_id, change.user.id)
        return True

    async def _tell_unread(
        self, user: telegram.User, reacted_at: datetime, policy: CommunityPolicy, words: MessageWords
    ) -> None:
        """Say to whoever reacted, in their private chat, why nothing came of it."""
        locale = language_for(user.language_code, policy.language)
        answer = TelegramAnswer(self._client, user.id, locale, reacted_at)
        await answer.tell(explain(no_words(words, locale, type_it(locale)), locale, answer.limit))

    async def _find(
        self, chat: telegram.Chat, message: int, policy: CommunityPolicy, *, is_late: bool
    ) -> SeenMessage | None:
        original = self._recent.find(chat.id, message)
        if original is None:
            return None
        return SeenMessage(self._recent.with_words(original), policy, self._recent, is_late)

    async def _take_off(self, chat: int, message: int, user: int) -> None:
        """Remove a reaction, which shows who flags; without the right to delete messages it stays."""
        try:
            await self._client.bot.delete_message_reaction(chat, message, user_id=user)
        except FAULTS:
            return

    async def _seen(self, message: telegram.Message) -> SeenMessage:
        policy = await self._client.desk.policies.surely_of(str(message.chat.id))
        return SeenMessage(message, policy, self._recent)


def _remembers(policy: CommunityPolicy, chat: telegram.Chat) -> bool:
    """Whether a group wants that its messages are kept in memory for a while."""
    return bool(policy.reaction) or channel_of(chat.id) in policy.watched_channels


def _is_set(change: telegram.MessageReactionUpdated, wanted: str) -> bool:
    """Whether somebody set the wanted emoji now; groups' own emoji and paid reactions flag nothing."""
    return wanted != "" and _has(change.new_reaction, wanted) and not _has(change.old_reaction, wanted)


def _has(reactions: tuple[telegram.ReactionType, ...], wanted: str) -> bool:
    plain = wanted.replace(_AS_PICTURE, "")
    return any(
        isinstance(reaction, ReactionTypeEmoji) and reaction.emoji.replace(_AS_PICTURE, "") == plain
        for reaction in reactions
    )


class Capture:
    """All that takes posts in from one client; ``close`` ends its work."""

    def __init__(self, client: TelegramClient, detector: HateDetector | None) -> None:
        known_posts, recent = KnownPosts(_soon()), RecentMessages()
        self.following = Followers(client.desk, lambda: datetime.now(UTC))
        self.watching = ChannelWatch(client.desk, known_posts, client.own_id, detector, most_waiting=_MOST_WAITING)
        self.changes = PostChanges(client.desk, known_posts)
        flaggers = Flaggers(client, DraftRequests(client.desk, known_posts, self.following), recent)
        posts = PrivatePosts(client, flaggers, KnownGroups(client, flaggers), recent)
        client.listen("message", CounterCommand(client, flaggers).hear)
        client.listen("message", posts.hear)
        client.listen("callback_query", posts.choose)
        WatchedEvents(client, self.watching, self.changes, known_posts, recent).listen()

    @property
    def left_out(self) -> int:
        """How many posts were not looked at, because too much came at once."""
        return self.watching.lanes.left_out + self.watching.finds.left_out

    async def close(self) -> None:
        """Stop waiting and looking; what was found is flagged, and what was counted is kept."""
        await asyncio.gather(self.following.close(), self.watching.lanes.close())
        await self.watching.finds.close(_FLAGGING_SECONDS)
        await self.watching.looked_at.close()


def install(client: TelegramClient, *, detector: HateDetector | None = None) -> Capture:
    """Add the listeners to a client; called in its running loop.

    Args:
        detector: how likely a text is hateful; ``None`` leaves watched groups with their keywords.
    """
    return Capture(client, detector)


def _soon() -> datetime:
    """A time by which all that was written before this process began counts as old, though two clocks differ a bit."""
    return datetime.now(UTC) + _CLOCKS_DIFFER
