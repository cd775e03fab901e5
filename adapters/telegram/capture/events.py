"""Capture on one client: ``/counter`` and what else happens in groups, and the posts that somebody forwards in private.

A ``/counter`` that the group sees is deleted first, where Antiphon may, since it tells who flags. A person is answered
in the group only ephemerally. Telegram hands over the answered message with the command, words included, also in
privacy mode.
"""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import telegram
from telegram.constants import ChatType

from adapters.common.capture import requests
from adapters.common.capture.flagged_posts import Flag, post_from_elsewhere
from adapters.common.capture.known_posts import KnownPosts, PostChanges
from adapters.common.capture.watch import ChannelWatch
from adapters.common.cards.controls import ANONYMOUS
from adapters.common.words.errors import explain
from adapters.common.words.labels import language_for
from adapters.common.words.messages import no_words, type_it
from adapters.telegram.capture.posts import (
    AnyChat,
    RecentMessages,
    SeenMessage,
    answered_by,
    check_capturable,
    check_group,
    is_group,
    is_private,
    words_of,
)
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.error_meanings import FAULTS, of_question
from adapters.telegram.connection.refs import NAME, channel_of, revision_of
from adapters.telegram.speech import NO_PREVIEW, Answers, TelegramAnswer, ephemeral_command_of, is_ephemeral
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, Person
from core.engine.ports import HateDetector
from core.errors import BadInput, NotAllowed, PlatformUnavailable, StoreUnavailable
from core.i18n.catalogs import gettext
from core.models import MessageWords, Part, PartKind, PostRef, Priority, Wish

_FORM: Final = re.compile(
    rf"/(?:{'|'.join(sorted(requests.COMMAND_NAMES))})(?:@(?P<bot>\w+))?(?:\s+(?P<words>.*))?",
    re.IGNORECASE | re.DOTALL,
)
_MOST_ASKED: Final = 30
"""How many groups Telegram is asked about for one forwarded post."""
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


def command_words(message: telegram.Message, own_name: str) -> str | None:
    """The words behind the command; ``None`` for any other message, and for another bot's command.

    Args:
        own_name: our account's name, without the @.
    """
    is_command = any(
        entity.type == telegram.MessageEntity.BOT_COMMAND and entity.offset == 0 for entity in message.entities
    )
    match = _FORM.fullmatch(message.text or "") if is_command else None
    if match is None or (match["bot"] or own_name).lower() != own_name.lower():
        return None
    return (match["words"] or "").strip()


def answer_to(client: TelegramClient, heard: UpdateEvent, message: telegram.Message) -> TelegramAnswer:
    """Where who sent a message is answered; nobody is where they hide behind the group, or a channel."""
    user = None if message.sender_chat is not None else message.from_user
    return TelegramAnswer(
        client,
        None if user is None or user.is_bot else user.id,
        language_for(None if user is None else user.language_code, None),
        message.date,
        command=ephemeral_command_of(message, heard.raw["message"]),
    )


class CounterCommand:
    def __init__(self, client: TelegramClient, flaggers: Flaggers) -> None:
        self._client = client
        self._flaggers = flaggers
        self._answers = Answers()

    async def hear(self, heard: UpdateEvent) -> bool:
        """Flag the message that the command answers, or the words behind it; raises as ``Flaggers.about_message``."""
        message = heard.update.message
        if message is None or not is_group(message.chat):
            return False
        words = command_words(message, self._client.bot.username)
        if words is None:
            return False
        answer = self._answers.of(heard.update.update_id, answer_to(self._client, heard, message))
        if is_ephemeral(message):
            await answer.acknowledge()
        else:
            await self._client.put_away(message)
        asker = _asker(message)
        if asker is not None:
            await self._take_in(heard, message, words, asker, answer)
        self._answers.done(heard.update.update_id)
        return True

    async def _take_in(
        self, heard: UpdateEvent, message: telegram.Message, words: str, by: Person, answer: TelegramAnswer
    ) -> None:
        locale = (message.from_user.language_code if message.from_user is not None else None) or ""
        post = answered_by(message)
        if post is not None:
            request = DraftWish(by, f"/{requests.COMMAND}", answer, locale, requests.wish_in(words), heard.is_late)
            await self._flaggers.about_message(request, post)
        elif words and by.user:
            request = DraftWish(by, "words from elsewhere", answer, locale, is_late=heard.is_late)
            typed = MessageWords.of([Part(PartKind.OWN, words)])
            await self._flaggers.about_words(request, message.chat, typed, f"words-{heard.update.update_id}")
        else:
            await requests.run_request(answer, _refused(answer))


async def _refused(answer: TelegramAnswer) -> None:
    locale = answer.reader.locale
    raise BadInput(
        gettext("Telegram does not say which post you mean.", locale),
        remedy=gettext(
            "Answer the post with /counter, forward it to Antiphon in a private chat, or type its words behind "
            "/counter.",
            locale,
        ),
    )


def _asker(message: telegram.Message) -> Person | None:
    """Who gave a command: a person, nobody by name for an administrator behind the group, ``None`` for all others."""
    if message.sender_chat is not None:
        return Person(NAME, "") if message.sender_chat.id == message.chat.id else None
    user = message.from_user
    return None if user is None or user.is_bot else person_of(user)


@dataclass(frozen=True, slots=True)
class DraftWish:
    """A wish for drafts.

    Attributes:
        by: who has it; their ``user`` is "" for an administrator who hides behind the group's name.
        how: the way it came, for the case.
        answer: where they are answered.
        locale: the language of their app, "" where it is not known.
        wish: what the reply should be like.
        is_late: Antiphon was away when they asked.
    """

    by: Person
    how: str
    answer: TelegramAnswer
    locale: str = ""
    wish: Wish = field(default_factory=Wish)
    is_late: bool = False


def person_of(user: telegram.User) -> Person:
    return Person(NAME, str(user.id), user.full_name)


class Flaggers:
    def __init__(self, client: TelegramClient, asking: requests.DraftRequests, recent: RecentMessages) -> None:
        self._client = client
        self._asking = asking
        self._recent = recent

    async def about_message(self, request: DraftWish, message: telegram.Message) -> None:
        """Flag a message of a group.

        Raises:
            StoreUnavailable: the database does not answer; nothing was said, and it is to be asked again.
        """
        await requests.run_request(request.answer, self._flag_message(request, message))

    async def about_words(self, request: DraftWish, chat: AnyChat, words: MessageWords, number: str) -> None:
        """Flag words that are no message of the group; raises as ``about_message``.

        Args:
            number: names the words, the same if the same update is handled again.
        """
        await requests.run_request(request.answer, self._flag_words(request, chat, words, number))

    async def may_flag(self, chat: int, by: Person) -> bool:
        """Whether somebody may ask for drafts in a group; raises as ``Governance.require``."""
        try:
            await self._client.desk.governance.require(NAME, str(chat), by, OnCase.FLAG)
        except NotAllowed:
            return False
        return True

    async def _flag_message(self, request: DraftWish, message: telegram.Message) -> None:
        policy = await self._policy(request, message.chat)
        message = self._recent.with_words(message)
        check_capturable(message, policy, self._client.own_id(), request.answer.reader.locale)
        is_member, gets_drafts = False, bool(request.by.user)
        if gets_drafts and not await requests.may_have_drafts(
            self._client.desk, str(message.chat.id), request.by, policy
        ):
            is_member, gets_drafts = True, False
        priority = Priority.ASKED if gets_drafts else Priority.FLAGGED
        seen = SeenMessage(message, policy, self._recent, request.is_late)
        how = request.how if request.by.user else ANONYMOUS
        post = await seen.post(Flag(request.by.user, how, priority, request.wish if gets_drafts else Wish()))
        await self._asking.take_in(
            post, message.date, request.by, request.answer, wants_drafts=gets_drafts, is_member=is_member
        )

    async def _flag_words(self, request: DraftWish, chat: AnyChat, words: MessageWords, number: str) -> None:
        policy = await self._policy(request, chat)
        check_group(chat, policy, request.answer.reader.locale)
        await self._client.desk.governance.require(NAME, str(chat.id), request.by, OnCase.FLAG)
        ref = PostRef(NAME, str(chat.id), channel_of(chat.id), number)
        flag = Flag(request.by.user, request.how, Priority.ASKED, request.wish)
        post = post_from_elsewhere(ref, words.text, flag, words)
        post = replace(post, is_late=request.is_late)
        await self._asking.take_in(post, request.answer.asked_at, request.by, request.answer, wants_drafts=True)

    async def _policy(self, request: DraftWish, chat: AnyChat) -> CommunityPolicy:
        """The policy of a group as it is now; the answer speaks the language that the person and it agree on."""
        policy = await self._client.desk.governance.policy(NAME, str(chat.id))
        request.answer.speak(language_for(request.locale, policy.language))
        if request.is_late:
            request.answer.preface = gettext(
                "Antiphon was away when you asked, and takes it up now.", request.answer.reader.locale
            )
        return policy


class PrivatePosts:
    """Hears what people send to their private chat with Antiphon."""

    def __init__(self, client: TelegramClient, flaggers: Flaggers, recent: RecentMessages) -> None:
        self._client = client
        self._flaggers = flaggers
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
        await requests.run_request(answer, self._take_in(request, message))
        return True

    async def choose(self, heard: UpdateEvent) -> bool:
        """Take the words of the message that a button stands below for the group that it names."""
        query = heard.update.callback_query
        if query is None or not (query.data or "").startswith(CHOICE):
            return False
        await self._client.settle(query)
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
        await requests.run_request(
            answer, self._chosen(request, (query.data or "").removeprefix(CHOICE), shown.reply_to_message)
        )
        return True

    async def _take_in(self, request: DraftWish, message: telegram.Message) -> None:
        words = self._words(message, request.answer.reader.locale)
        for post in self._recent.forwarded(message):
            if await self._flaggers.may_flag(post.chat.id, request.by):
                there = DraftWish(request.by, _FORWARDED, request.answer, request.locale, is_late=request.is_late)
                return await self._flaggers.about_message(there, post)
        groups = await self._groups_of(request.by)
        if not groups:
            raise _nowhere(request.answer.reader.locale)
        if len(groups) > 1:
            return await self._ask(request, message, groups[:_MOST_BUTTONS])
        return await self._as_words(request, groups[0][0], message, words)

    async def _groups_of(self, person: Person) -> list[tuple[int, str]]:
        """The groups in which somebody may ask for drafts, by id and title, but one that cannot be asked about now.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        named = await self._client.desk.governance.communities(NAME)
        chats = [int(name) for name in named if name.removeprefix("-").isdecimal()][:_MOST_ASKED]
        titles = await asyncio.gather(*(self._title_if_allowed(chat, person) for chat in chats))
        return [(chat, title) for chat, title in zip(chats, titles, strict=True) if title is not None]

    async def _title_if_allowed(self, chat: int, person: Person) -> str | None:
        try:
            return await self._client.title_of(chat) if await self._flaggers.may_flag(chat, person) else None
        except PlatformUnavailable:
            return None

    async def _chosen(self, request: DraftWish, chat: str, message: telegram.Message | None) -> None:
        title = await self._client.title_of(int(chat)) if chat.removeprefix("-").isdecimal() else None
        if message is None or title is None:
            raise BadInput(
                gettext("The message with these words is gone.", request.answer.reader.locale),
                remedy=gettext("Forward the post again.", request.answer.reader.locale),
            )
        words = self._words(message, request.answer.reader.locale)
        await self._as_words(request, int(chat), message, words)

    async def _as_words(self, request: DraftWish, group: int, message: telegram.Message, words: MessageWords) -> None:
        """Flag words for a group; two presses, or an update that is handled again, name the same words."""
        try:
            chat = await self._client.bot.get_chat(group)
        except FAULTS as err:
            raise of_question(err) from err
        number = f"words-{message.chat.id}-{message.message_id}"
        await self._flaggers.about_words(request, chat, words, number)

    async def _ask(self, request: DraftWish, message: telegram.Message, groups: list[tuple[int, str]]) -> None:
        """Ask which group the words are for, below the message with the words; in the private chat alone."""
        rows = [
            [telegram.InlineKeyboardButton(title[:_LABEL] or str(group), callback_data=f"{CHOICE}{group}")]
            for group, title in groups
        ]
        try:
            await self._client.bot.send_message(
                int(request.by.user),
                gettext("For which group should Antiphon draft a reply to this?", request.answer.reader.locale),
                reply_markup=telegram.InlineKeyboardMarkup(rows),
                reply_parameters=telegram.ReplyParameters(message.message_id, allow_sending_without_reply=False),
                link_preview_options=NO_PREVIEW,
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
        is_watched = channel_of(message.chat.id) in policy.watched_channels
        if policy.reaction or is_watched or message.media_group_id is not None:
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
        with suppress(*FAULTS):
            await self._client.bot.delete_message_reaction(chat, message, user_id=user)

    async def _seen(self, message: telegram.Message) -> SeenMessage:
        policy = await self._client.desk.policies.surely_of(str(message.chat.id))
        return SeenMessage(message, policy, self._recent)


def _is_set(change: telegram.MessageReactionUpdated, wanted: str) -> bool:
    """Whether somebody set the wanted emoji now; groups' own emoji and paid reactions flag nothing."""
    return wanted != "" and _has(change.new_reaction, wanted) and not _has(change.old_reaction, wanted)


def _has(reactions: tuple[telegram.ReactionType, ...], wanted: str) -> bool:
    plain = wanted.replace(_AS_PICTURE, "")
    return any(
        isinstance(reaction, telegram.ReactionTypeEmoji) and reaction.emoji.replace(_AS_PICTURE, "") == plain
        for reaction in reactions
    )


class Capture:
    """All that takes posts in from one client; ``close`` ends its work.

    Args:
        detector: how likely a text is hateful; ``None`` leaves watched groups with their keywords.
    """

    def __init__(self, client: TelegramClient, detector: HateDetector | None = None) -> None:
        # what was written before this process began counts as old, though two clocks differ a bit
        known_posts, recent = KnownPosts(datetime.now(UTC) + _CLOCKS_DIFFER), RecentMessages()
        self.following = requests.Followers(client.desk, lambda: datetime.now(UTC))
        self.watching = ChannelWatch(client.desk, known_posts, client.own_id, detector, most_waiting=_MOST_WAITING)
        self.changes = PostChanges(client.desk, known_posts)
        flaggers = Flaggers(client, requests.DraftRequests(client.desk, known_posts, self.following), recent)
        posts = PrivatePosts(client, flaggers, recent)
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
