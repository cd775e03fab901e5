"""Who may flag in a group, in which groups a person may flag, and how a person's wish becomes a flag."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Final

import telegram

from adapters.common.capture.flagged_posts import Flag, post_from_elsewhere
from adapters.common.capture.requests import DraftRequests, may_have_drafts, run_request
from adapters.common.cards.controls import ANONYMOUS
from adapters.common.words.labels import language_for
from adapters.telegram.capture.posts import AnyChat, check_capturable, check_group
from adapters.telegram.capture.recent_messages import RecentMessages
from adapters.telegram.capture.sightings import SeenMessage
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.refs import NAME, channel_of
from adapters.telegram.speech.private_answers import TelegramAnswer
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, Person
from core.errors import NotAllowed, PlatformUnavailable
from core.i18n.catalogs import gettext
from core.models import MessageWords, PostRef, Priority, Wish


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
    """Takes in what people ask about."""

    def __init__(self, client: TelegramClient, asking: DraftRequests, recent: RecentMessages) -> None:
        self._client = client
        self._asking = asking
        self._recent = recent

    async def about_message(self, request: DraftWish, message: telegram.Message) -> None:
        """Flag a message of a group.

        Raises:
            StoreUnavailable: the database does not answer; nothing was said, and it is to be asked again.
        """
        await run_request(request.answer, self._flag_message(request, message))

    async def about_words(self, request: DraftWish, chat: AnyChat, words: MessageWords, number: str) -> None:
        """Flag words that are no message of the group; raises as ``about_message``.

        Args:
            number: names the words, the same if the same update is handled again.
        """
        await run_request(request.answer, self._flag_words(request, chat, words, number))

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
        if gets_drafts and not await may_have_drafts(self._client.desk, str(message.chat.id), request.by, policy):
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


_MOST_ASKED: Final = 30
"""How many groups Telegram is asked about for one forwarded post."""


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """A group, by its id and its name."""

    id: int
    title: str


class KnownGroups:
    """The groups that the application knows."""

    def __init__(self, client: TelegramClient, flaggers: Flaggers) -> None:
        self._client = client
        self._flaggers = flaggers

    async def of(self, person: Person) -> list[KnownGroup]:
        """The groups in which somebody may ask for drafts; one that cannot be asked about now is left out.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        named = await self._client.desk.governance.communities(NAME)
        chats = [int(name) for name in named if name.removeprefix("-").isdecimal()]
        groups = await asyncio.gather(*(self._if_allowed(chat, person) for chat in chats[:_MOST_ASKED]))
        return [group for group in groups if group is not None]

    async def _if_allowed(self, chat: int, person: Person) -> KnownGroup | None:
        try:
            if not await self._flaggers.may_flag(chat, person):
                return None
        except PlatformUnavailable:
            return None
        title = await self._client.title_of(chat)
        return None if title is None else KnownGroup(chat, title)
