"""Statuses as capture looks at them: which of them may become cases, and what is kept of one that does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mastodon.return_types import Context, Status

from adapters.common.capture.flagged_posts import Conversation, Flag, Remark, arranged
from adapters.common.words.messages import no_words
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.refs import ref_of, revision_of
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.speech.plain_text import PUBLIC, words_of
from core.errors import NotAllowed, PlatformUnavailable
from core.i18n.catalogs import gettext
from core.models import FlaggedPost, MessageWords, PostRef


def original_of(status: Status) -> Status:
    """What somebody wrote: of a boost, the status that was boosted."""
    boosted: Status | None = status.get("reblog")
    return boosted or status


def is_public(status: Status) -> bool:
    """Whether everybody may read a status."""
    return str(status.visibility) in PUBLIC


def is_by_person(status: Status, own_id: str) -> bool:
    """Whether a person wrote a status, as far as its account says: it is not marked as automated, and not ours."""
    return not status.account.get("bot") and str(status.account.id) != own_id


def check_capturable(status: Status, own_id: str, locale: str) -> None:
    """Refuse a status that cannot become a case.

    Raises:
        NotAllowed: not everybody may read it, or its author is nobody who can be answered.
        BadInput: it has no words.
    """
    if not is_public(status):
        raise NotAllowed(
            gettext("Antiphon takes nothing that was written to followers, or to some people only.", locale),
            remedy=gettext("Report the post to the moderators, and stand by the person it was sent to.", locale),
        )
    if not is_by_person(status, own_id):
        is_ours = str(status.account.id) == own_id
        raise NotAllowed(
            gettext("This message is Antiphon's own.", locale)
            if is_ours
            else gettext("No person wrote this message: bots and system messages are not answered.", locale),
            remedy=gettext("Report it to the moderators if it should not stand there.", locale),
        )
    words = words_of(status)
    if not words.text.strip():
        raise no_words(words, locale, gettext("Report it to the moderators if it should not stand there.", locale))


_MOST_ANSWERS: Final = 2
"""So many answers to the status are kept where there is room."""


def conversation_of(status: Status, around: Context | None, own_id: str) -> Conversation:
    """The conversation of a status; its root is the first status, which the instance may not know."""
    above, below = ([], []) if around is None else (list(around.ancestors), list(around.descendants))
    place = len(above)
    parents = _remarks(reversed(list(enumerate(above))), own_id)
    answers = [each for each in enumerate(below, place + 1) if str(each[1].in_reply_to_id) == str(status.id)]
    thread = arranged(place, parents, _remarks(answers, own_id)[:_MOST_ANSWERS])
    return Conversation(thread, _root(status, above))


def _root(status: Status, above: list[Status]) -> str:
    first = above[0] if above else status
    return str(first.in_reply_to_id or first.id)


def _remarks(numbered: Iterable[tuple[int, Status]], own_id: str) -> list[Remark]:
    return [
        Remark(number, str(status.account.id), words_of(status).text)
        for number, status in numbered
        if is_public(status) and is_by_person(status, own_id) and not _calls(status, own_id)
    ]


def _calls(status: Status, account_id: str) -> bool:
    return any(str(named.id) == account_id for named in status.get("mentions") or ())


@dataclass(frozen=True, slots=True)
class SeenStatus:
    """Implements ``adapters.common.capture.watch.Sighting``.

    Attributes:
        is_late: we were away when it was flagged.
        may_lack_thread: it is kept without its conversation where the instance does not tell that, since nobody would
            flag it again.
    """

    client: MastodonClient
    statuses: Statuses
    status: Status
    is_late: bool = False
    may_lack_thread: bool = False

    @property
    def ref(self) -> PostRef:
        return ref_of(self.status, self.client.home)

    @property
    def may_have_words(self) -> bool:
        return bool(words_of(self.status).parts)

    async def words(self) -> MessageWords:
        """All its words, its content warning included."""
        return words_of(self.status)

    @property
    def written_at(self) -> datetime:
        written: datetime = self.status.created_at
        return written

    @property
    def is_by_person(self) -> bool:
        """Whether a person wrote it, as far as its account says."""
        return is_by_person(self.status, self.client.own_id)

    @property
    def is_private(self) -> bool:
        """Whether not everybody may read it."""
        return not is_public(self.status)

    async def post(self, flag: Flag) -> FlaggedPost:
        """The status with the conversation around it; of a private one nothing but the status itself.

        Raises:
            PlatformBusy: the instance does not tell the conversation now.
            PlatformUnavailable: it refuses to.
        """
        words, account = words_of(self.status), self.status.account
        author, name = words.author_of(str(account.id), str(account.acct))
        if self.is_private:
            how, soon = flag.how, flag.priority
            return FlaggedPost(self.ref, words.text, author, flag.by, how, (), soon, is_private=True)
        around = conversation_of(self.status, await self._around(), self.client.own_id)
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
            revision=revision_of(self.status),
            author_name=name,
            is_late=self.is_late,
            words=words,
        )

    async def _around(self) -> Context | None:
        try:
            return await self.statuses.around(str(self.status.id))
        except PlatformUnavailable:
            if self.may_lack_thread:
                return None
            raise
