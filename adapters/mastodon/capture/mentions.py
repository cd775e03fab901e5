"""What people write to our account: "@bot counter" in answer to a post, and all else.

Nobody is answered in public, and no bot is answered at all: two bots that answer each other never end. A person without
a role is told at most once a day what they may not do.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from mastodon.return_types import Status

from adapters.common.capture.answers import counted, taken_in
from adapters.common.capture.flags import Flag
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.requests import commit, may_have_drafts
from adapters.common.capture.wishes import COMMAND_NAMES, wish_in
from adapters.common.words.errors import explain, unforeseen
from adapters.common.words.languages import language_for
from adapters.mastodon.capture.sightings import SeenStatus, check_capturable, is_by_person, original_of
from adapters.mastodon.connection.client import MastodonClient, NotificationEvent
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.speech.plain_text import text_of
from adapters.mastodon.speech.private_answers import DirectAnswer
from core.desk.rules.roles import Person
from core.errors import AntiphonError, BadInput, NotAllowed, PlatformBusy, StoreUnavailable
from core.i18n.catalogs import gettext
from core.models import Priority, Wish

AGAIN_SECONDS: Final = 86_400.0
MOST_KEPT: Final = 5000


class ToldLately:
    """The people who were told, the latest ``most`` of them.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, *, most: int = MOST_KEPT, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds_now = most, seconds_now
        self._told: OrderedDict[str, float] = OrderedDict()

    def is_due(self, person: str) -> bool:
        """Whether somebody was not told within a day; from now on they were."""
        now, last = self._seconds_now(), self._told.get(person)
        if last is not None and now - last < AGAIN_SECONDS:
            return False
        self._told[person] = now
        self._told.move_to_end(person)
        if len(self._told) > self._most:
            self._told.popitem(last=False)
        return True


HOW: Final = "mention"
"""``FlaggedPost.flagged_how`` of what somebody asks about so."""
_FORM: Final = re.compile(
    rf"\A(?:[@＠]\S++\s++)*+[/!]?(?:{'|'.join(sorted(COMMAND_NAMES))})(?![\w-])[.:,!]?\s*(?P<words>.*)",
    re.IGNORECASE | re.DOTALL,
)
_NAME: Final = re.compile(r"(?<!\S)[@＠#＃]\S+")


def command_words(status: Status) -> str | None:
    """The words behind the command, if names alone stand before it; ``None`` for anything else."""
    match = _FORM.fullmatch(text_of(status).strip())
    return None if match is None else " ".join(_NAME.sub(" ", match["words"]).split())


class Mentions:
    """Hears who mentions our account."""

    def __init__(
        self,
        client: MastodonClient,
        known_posts: KnownPosts,
        statuses: Statuses,
    ) -> None:
        self._client, self._known, self._statuses = client, known_posts, statuses
        self._told = ToldLately()

    async def hear(self, heard: NotificationEvent) -> bool:
        """Flag the post that a command answers, or say how it is done.

        Raises:
            StoreUnavailable: the database does not answer; nothing was said, and it is to be handed out again.
            PlatformBusy: the same of the instance.
        """
        status = heard.status
        if not is_by_person(status, self._client.own_id):
            return False
        words, by = command_words(status), _person_of(status)
        if words is None and self._is_answer_to_us(status):
            return False  # people talk below a reply of ours
        policy = await self._client.desk.governance.policy(NAME, self._client.home)
        locale = language_for(policy.language or status.get("language"), None)
        answer = DirectAnswer(self._client, heard, locale)
        if words is None:
            return await self._help(answer, by, has_asked=_asks_for_help(status, locale))
        if heard.is_late:
            answer.preface = gettext("Antiphon was away when you asked, and takes it up now.", locale)
        try:
            gets_drafts = await may_have_drafts(self._client.desk, self._client.home, by, policy)
        except NotAllowed as err:
            if self._told.is_due(by.user):
                await answer.tell(explain(err, locale, answer.limit))
            return True
        try:
            await self._take_in(heard, by, answer, wish_in(words) if gets_drafts else None)
        except (StoreUnavailable, PlatformBusy):
            raise
        except AntiphonError as err:
            await answer.tell(explain(err, locale, answer.limit))
        except Exception:
            await answer.tell(unforeseen(locale))
            raise
        return True

    async def _take_in(self, heard: NotificationEvent, by: Person, answer: DirectAnswer, wish: Wish | None) -> None:
        """Flag the post that a mention answers; without a ``wish`` they only flag it."""
        locale = answer.locale
        post = await self._answered_by(heard.status, locale)
        check_capturable(post, self._client.own_id, locale)
        is_member = wish is None
        priority = Priority.FLAGGED if is_member else Priority.ASKED
        seen = SeenStatus(self._client, self._statuses, post, heard.is_late)
        flagged = await seen.post(Flag(by.user, HOW, priority, wish or Wish()))
        card = await commit(self._client.desk, self._known, flagged, seen.written_at, is_member=is_member)
        await answer.tell(counted(locale) if card is None else taken_in(card, locale, answer.limit))

    async def _answered_by(self, status: Status, locale: str) -> Status:
        """The post that a mention answers.

        Raises:
            BadInput: it answers none, or none that we are shown.
        """
        if not status.in_reply_to_id:
            raise BadInput(
                gettext("Your message answers no post, so nobody can tell which one you mean.", locale),
                remedy=gettext("Write it again as an answer to the post.", locale),
            )
        parent = await self._statuses.one(str(status.in_reply_to_id))
        if parent is None:
            raise BadInput(
                gettext("Antiphon is not shown this post: it is gone, or its author does not let it.", locale),
                remedy=gettext("Report it to the moderators if it should not stand there.", locale),
            )
        return original_of(parent)

    async def _help(self, answer: DirectAnswer, by: Person, *, has_asked: bool) -> bool:
        """Say how to ask, and to decide, to people with a role: who asks for help each time, others once a day."""
        roles = await self._client.desk.governance.roles_of(NAME, self._client.home, by)
        if not roles or not (self._told.is_due(by.user) or has_asked):
            return False
        ask = gettext(
            "To get drafts, answer the post, mention Antiphon's account, and write: {command}. Behind that you may "
            "name a kind of reply, a language, and how it should sound.",
            answer.locale,
            command=gettext("counter", answer.locale),
        )
        await answer.tell(f"{ask} {gettext('Drafts and decisions are on the dashboard.', answer.locale)}")
        return True

    def _is_answer_to_us(self, status: Status) -> bool:
        return str(status.get("in_reply_to_account_id") or "") == self._client.own_id


def _asks_for_help(status: Status, locale: str) -> bool:
    """Whether the whole message is the word for help, below names alone."""
    words = " ".join(_NAME.sub(" ", text_of(status)).split()).strip(".!?¿¡ ").casefold()
    return words in ("help", gettext("help", locale).casefold())


def _person_of(status: Status) -> Person:
    return Person(NAME, str(status.account.id), str(status.account.acct))
