"""Messages of Telegram as capture looks at them, and what is kept of one that becomes a case."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import telegram

from adapters.common.capture.flagged_posts import Flag
from adapters.telegram.capture.posts import Author, author_of, is_private, words_of
from adapters.telegram.capture.recent_messages import RecentMessages, conversation_of
from adapters.telegram.connection.refs import ref_of, revision_of, topic_of
from core.desk.rules.policy import CommunityPolicy
from core.models import FlaggedPost, MessageWords, PostRef


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """Implements ``adapters.common.capture.watch.Sighting``; ``policy`` is that of the message's group.

    With ``is_late`` Antiphon was away when somebody flagged it.

    Raises:
        ValueError: ``ref`` and ``post`` of an ephemeral message, which has no number to be named by.
    """

    message: telegram.Message
    policy: CommunityPolicy
    recent: RecentMessages
    is_late: bool = False

    @property
    def ref(self) -> PostRef:
        return ref_of(self.message.chat.id, self.message.message_id, topic_of(self.message))

    @property
    def may_have_words(self) -> bool:
        return bool(words_of(self.message).parts)

    async def words(self) -> MessageWords:
        return words_of(self.message)

    @property
    def written_at(self) -> datetime:
        return self.message.date

    @property
    def is_by_person(self) -> bool:
        """Whether somebody wrote it who can be told from others."""
        return author_of(self.message) is not None

    @property
    def is_private(self) -> bool:
        """Whether nothing may be taken from where it is."""
        return is_private(self.message.chat, self.policy)

    async def post(self, flag: Flag) -> FlaggedPost:
        """The message with the conversation around it; of a private place nothing but the message itself."""
        sender, words = author_of(self.message) or Author("", ""), words_of(self.message)
        author, name = words.author_of(sender.id, sender.name)
        if self.is_private:
            how, soon = flag.how, flag.priority
            return FlaggedPost(self.ref, words.text, author, flag.by, how, (), soon, is_private=True)
        around = conversation_of(self.message, self.recent)
        return FlaggedPost(
            self.ref,
            words.text,
            author,
            flag.by,
            flag.how,
            around.thread,
            flag.priority,
            root=around.root,
            wish=flag.wish,
            revision=revision_of(self.message),
            author_name=name,
            is_late=self.is_late,
            words=words,
        )
