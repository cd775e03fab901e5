"""Capture on one client: mentions of our account, and the edits, the deletions and the feeds that it asks for.

The instance tells nobody of edits and deletions, so it is asked about the posts that have an open case. In a watched
feed, what is new is looked at once, and how far the feed was read is kept. Also which statuses may become cases, and
the private answers to people who wrote to us.
"""

import asyncio
import hashlib
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mastodon.return_types import Context, Status

from adapters.common.capture.flagged_posts import Conversation, Flag, Remark, arranged, flagged
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.requests import COMMAND_NAMES, commit, counted, may_have_drafts, taken_in, wish_in
from adapters.common.capture.watch import ChannelWatch
from adapters.common.desk_access import DeskAccess
from adapters.common.words.errors import explain, log_failure, unforeseen
from adapters.common.words.excerpts import shortened
from adapters.common.words.labels import language_for
from adapters.common.words.markup import visible_lines
from adapters.common.words.messages import no_words
from adapters.mastodon.connection.client import MastodonClient, NotificationEvent
from adapters.mastodon.connection.error_meanings import FAULTS, RateLimit, is_gone, of_question, of_send
from adapters.mastodon.connection.refs import NAME, ref_of, revision_of
from adapters.mastodon.connection.statuses import AT_ONCE, FEED_PAGE, Statuses, is_feed, last_of, page_of, why_closed
from adapters.mastodon.connection.updates import FIRST, newest
from adapters.mastodon.speech import PUBLIC, text_of, words_of
from core import errors
from core.desk.rules.platforms import UpdateInbox
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Person
from core.engine.ports import HateDetector
from core.i18n.catalogs import gettext
from core.i18n.sentences import sentence
from core.models import FlaggedPost, MessageWords, PostRef, Priority, Wish

DIRECT: Final = "direct"
BREAK: Final = "\u2060"
_ACCT: Final = re.compile(r"\w[\w.-]*(?:@[\w.-]*\w)?")
"""The name of an account, as its home instance writes it."""
_SIGN: Final = re.compile("(?<=[@#:*\uff20\uff03\uff1a])(?=\\S)")
"""Behind what begins or goes on whatever an instance makes something of."""
_PAUSES_SECONDS: Final = (1.0, 5.0)
"""How long is waited where the instance is busy, before what is said is given up."""
_LONGEST_PAUSE_SECONDS: Final = 30.0
_MOST_BELOW: Final = 2
"""So many answers to the status are kept where there is room."""
AGAIN_SECONDS: Final = 86_400.0
MOST_KEPT: Final = 5000
HOW: Final = "mention"
"""``FlaggedPost.flagged_how`` of what somebody asks about so."""
_FORM: Final = re.compile(
    rf"\A(?:[@＠]\S++\s++)*+[/!]?(?:{'|'.join(sorted(COMMAND_NAMES))})(?![\w-])[.:,!]?\s*(?P<words>.*)",
    re.IGNORECASE | re.DOTALL,
)
_NAME: Final = re.compile(r"(?<!\S)[@＠#＃]\S+")
_LOG = logging.getLogger(__name__)
LOOK_SECONDS: Final = 60.0
MOST_FOLLOWED: Final = 1000
_MOST_QUESTIONS: Final = 10
"""In one look."""
_GONE: Final = "gone"
_MOST_PAGES: Final = 8
"""In one look: with the questions for notifications no more than an instance answers (``connection.updates``)."""
_MOST_SEEN: Final = 10_000
_HALT_SECONDS: Final = 60.0
Bookmarks = Callable[[str], UpdateInbox]
"""Keeps how far a feed was read, by its name."""
_FLAGGING_SECONDS: Final = 5.0
"""How long found posts may still be flagged when the work ends; that needs no connection."""


class DirectAnswer:
    """An answer that only the person who wrote to us can see: one direct status, below what they wrote.

    This is the only place that writes to people. It asks for the visibility ``direct`` alone, names only the person who
    is answered, holds no word of a post, and takes back at once what an instance showed to others after all. What is
    refused, or cannot be said so, is logged, and raises nothing.

    Args:
        heard: what is answered.
        locale: the language to speak.
    """

    def __init__(self, client: MastodonClient, heard: NotificationEvent, locale: str) -> None:
        self._client, self._account, self._below = client, heard.status.account, str(heard.status.id)
        self._key = hashlib.sha256(f"answer {heard.number} {self._account.id}".encode()).hexdigest()[:32]
        self.locale = locale
        self.preface = ""
        """A line of ours above whatever is said."""

    @property
    def limit(self) -> int:
        """In characters, as the home instance takes them in one status."""
        return self._client.instance.max_characters - len(str(self._account.acct)) - len(self.preface) - 4

    async def tell(self, text: str) -> None:
        message = "\n\n".join(filter(None, [self.preface, shortened(inert(text), self.limit)]))
        try:
            for pause_seconds in _PAUSES_SECONDS:
                try:
                    return await self._say(message)
                except errors.PlatformBusy as err:
                    await asyncio.sleep(max(pause_seconds, min(err.retry_after_seconds, _LONGEST_PAUSE_SECONDS)))
            await self._say(message)
        except errors.AntiphonError as err:
            _LOG.warning("Who wrote to us on Mastodon could not be answered in private: %s", err.message)

    async def _say(self, text: str) -> None:
        name = str(self._account.acct)
        if not _ACCT.fullmatch(name):
            raise _not_private()
        try:
            answer = await self._client.call(
                lambda api: api.status_post(
                    f"@{name}\n{text}",
                    in_reply_to_id=self._below,
                    visibility=DIRECT,
                    sensitive=True,
                    language=self.locale,
                    idempotency_key=self._key,
                )
            )
        except FAULTS as err:
            raise of_send(err) from err
        if not isinstance(answer, Status):
            raise _not_private()
        if answer.visibility != DIRECT or {str(each.id) for each in answer.mentions} - {str(self._account.id)}:
            _LOG.error("An instance showed a direct status to others than it was for; it is deleted.")
            await self._take_back(str(answer.id))
            raise _not_private()

    async def _take_back(self, status_id: str) -> None:
        try:
            await self._client.call(lambda api: api.status_delete(status_id))
        except FAULTS as err:
            if not is_gone(err):
                raise of_question(err) from err


def inert(text: str) -> str:
    """A text of which an instance makes no mention, hashtag, link or emoji.

    A word joiner behind their signs, which nobody sees, ends each of them: it is none of the characters that these may
    consist of (``MENTION_RE`` and ``HASHTAG_RE`` of Mastodon's app/models/account.rb and tag.rb). Characters that turn
    the direction of what follows, or that nobody sees, are left out, and so are empty lines.
    """
    return _SIGN.sub(BREAK, "\n".join(visible_lines(text)))


def _not_private() -> errors.PlatformUnavailable:
    """Something would have reached others, so it was not said."""
    return errors.PlatformUnavailable(
        sentence("An answer could not be given to one person alone on Mastodon, and so was not given."),
        remedy=sentence("Tell the person who runs Antiphon."),
    )


def original_of(status: Status) -> Status:
    """What somebody wrote: of a boost, the status that was boosted."""
    boosted: Status | None = status.get("reblog")
    return boosted or status


def is_public(status: Status) -> bool:
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
        raise errors.NotAllowed(
            gettext("Antiphon takes nothing that was written to followers, or to some people only.", locale),
            remedy=gettext("Report the post to the moderators, and stand by the person it was sent to.", locale),
        )
    if not is_by_person(status, own_id):
        is_ours = str(status.account.id) == own_id
        raise errors.NotAllowed(
            gettext("This message is Antiphon's own.", locale)
            if is_ours
            else gettext("No person wrote this message: bots and system messages are not answered.", locale),
            remedy=gettext("Report it to the moderators if it should not stand there.", locale),
        )
    words = words_of(status)
    if not words.text.strip():
        raise no_words(words, locale, gettext("Report it to the moderators if it should not stand there.", locale))


def conversation_of(status: Status, around: Context | None, own_id: str) -> Conversation:
    """The conversation of a status; its root is the first status, which the instance may not know."""
    above, below = ([], []) if around is None else (list(around.ancestors), list(around.descendants))
    place = len(above)
    parents = _remarks(reversed(list(enumerate(above))), own_id)
    answers = [each for each in enumerate(below, place + 1) if str(each[1].in_reply_to_id) == str(status.id)]
    thread = arranged(place, parents, _remarks(answers, own_id)[:_MOST_BELOW])
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
        return not is_public(self.status)

    async def post(self, flag: Flag) -> FlaggedPost:
        """The status with the conversation around it; of a private one nothing but the status itself.

        Raises:
            PlatformBusy: the instance does not tell the conversation now.
            PlatformUnavailable: it refuses to.
        """
        words, account = words_of(self.status), self.status.account
        author, around = words.author_of(str(account.id), str(account.acct)), None
        if not self.is_private:
            around = conversation_of(self.status, await self._around(), self.client.own_id)
        revision = revision_of(self.status)
        return flagged(self.ref, words, author, flag, around, revision=revision, is_late=self.is_late)

    async def _around(self) -> Context | None:
        try:
            return await self.statuses.around(str(self.status.id))
        except errors.PlatformUnavailable:
            if self.may_lack_thread:
                return None
            raise


class RecentRecipients:
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


def command_words(status: Status) -> str | None:
    """The words behind the command, if names alone stand before it; ``None`` for anything else."""
    match = _FORM.fullmatch(text_of(status).strip())
    return None if match is None else " ".join(_NAME.sub(" ", match["words"]).split())


class Mentions:
    def __init__(
        self,
        client: MastodonClient,
        known_posts: KnownPosts,
        statuses: Statuses,
    ) -> None:
        self._client, self._known, self._statuses = client, known_posts, statuses
        self._told = RecentRecipients()

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
        except errors.NotAllowed as err:
            if self._told.is_due(by.user):
                await answer.tell(explain(err, locale, answer.limit))
            return True
        try:
            await self._take_in(heard, by, answer, wish_in(words) if gets_drafts else None)
        except (errors.StoreUnavailable, errors.PlatformBusy):
            raise
        except errors.AntiphonError as err:
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
            raise errors.BadInput(
                gettext("Your message answers no post, so nobody can tell which one you mean.", locale),
                remedy=gettext("Write it again as an answer to the post.", locale),
            )
        parent = await self._statuses.one(str(status.in_reply_to_id))
        if parent is None:
            raise errors.BadInput(
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


class Originals:
    """Follows the posts of open cases."""

    def __init__(self, client: MastodonClient, statuses: Statuses) -> None:
        self._client, self._statuses = client, statuses
        self._revisions: dict[PostRef, str] = {}
        """What the desk knows, by the revision of each post."""
        self._next = 0
        self._questions = 0

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                await self.look()
            except errors.Unavailable as err:
                _LOG.warning("Edits and deletions on Mastodon could not be looked for: %s", err.message)
            except Exception as err:
                log_failure("looking for edits and deletions on Mastodon", err)
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Look at as many posts as one look takes, and go on behind them the next time.

        Raises:
            Unavailable: the instance or the database does not answer.
        """
        refs = await self._followed_posts()
        self._revisions = {ref: revision for ref, revision in self._revisions.items() if ref in refs}
        self._questions = 0
        left = refs[self._next % max(1, len(refs)) :] + refs[: self._next % max(1, len(refs))]
        while left and self._questions < _MOST_QUESTIONS:
            now, left = left[:AT_ONCE], left[AT_ONCE:]
            self._next += await self._compare(now)

    async def _followed_posts(self) -> list[PostRef]:
        posts = await self._client.desk.casework.posts(NAME, MOST_FOLLOWED)
        return [ref for ref in posts if ref.community == self._client.home and ref.message.isalnum()]

    async def _compare(self, refs: Sequence[PostRef]) -> int:
        """Tell the desk what some posts say now; returns for how many of them that is known."""
        self._questions += 1
        statuses = await self._statuses.many([ref.message for ref in refs])
        for count, ref in enumerate(refs):
            status = None if statuses is None else statuses.get(ref.message)
            if status is None:  # a status that is left out of many may still be there
                if self._questions >= _MOST_QUESTIONS:
                    return count
                self._questions += 1
                status = await self._statuses.one(ref.message)
            await self._tell(self._client.desk, ref, status)
        return len(refs)

    async def _tell(self, desk: DeskAccess, ref: PostRef, status: Status | None) -> None:
        revision = _GONE if status is None else revision_of(status)
        if self._revisions.get(ref) == revision:
            return
        if status is None:
            await desk.casework.original_changed(ref, None)
        else:
            await desk.casework.original_changed(ref, words_of(status).compared, revision=revision)
        self._revisions[ref] = revision


class WatchedFeeds:
    """Reads the feeds that the policy names.

    Args:
        bookmarks: only their cursors are used.
        look_seconds: how long after one look the next begins.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: MastodonClient,
        statuses: Statuses,
        watching: ChannelWatch,
        bookmarks: Bookmarks,
        *,
        look_seconds: float = LOOK_SECONDS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._statuses, self._watching, self._bookmarks = client, statuses, watching, bookmarks
        self._look_seconds, self._sleep = look_seconds, sleep
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._explained: dict[tuple[str, str], str] = {}
        """What the log was told last of a feed, by its name and by who says so."""
        self._turn = 0

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            pause = self._look_seconds
            try:
                await self.look()
            except RateLimit as err:
                pause = max(pause, err.seconds or _HALT_SECONDS)
            except errors.AntiphonError as err:
                _LOG.warning("The watched feeds of Mastodon could not be looked at: %s", err.message)
            except Exception as err:
                log_failure("looking at the watched feeds of Mastodon", err)
            await self._sleep(pause)

    async def look(self) -> None:
        """Look at what is new in as many feeds as one look takes, the others in the next.

        Raises:
            StoreUnavailable: the database does not answer.
            Halted: the instance asks to wait.
        """
        policy = await self._client.desk.policies.surely_of(self._client.home)
        feeds = self.explain(policy)
        pages = 0
        for _ in range(len(feeds)):
            if pages >= _MOST_PAGES:
                return
            name = feeds[self._turn % len(feeds)]
            pages += await self._read(name, policy, _MOST_PAGES - pages)
            self._turn += 1

    def explain(self, policy: CommunityPolicy) -> list[str]:
        """The feeds that are watched; of one that cannot be read, or not whole, the log says why, once."""
        for name in policy.watched_channels:
            self._explain(name, "instance", why_closed(self._client.instance, name))
        return [name for name in policy.watched_channels if is_feed(name)]

    async def _read(self, name: str, policy: CommunityPolicy, most: int) -> int:
        """Read on in a feed; returns how many pages were asked for."""
        bookmark = self._bookmarks(name)
        cursor = await bookmark.cursor()
        try:
            if cursor is None:
                await bookmark.keep([], await last_of(self._client, name) or FIRST)
                return 1
            for count in range(1, most + 1):
                page = await page_of(self._client, name, cursor)
                self._explain(name, "answer", "")
                if page:
                    await self._look_at(page, policy, name)
                    cursor = newest(str(status.id) for status in page)
                    await bookmark.keep([], cursor)
                if len(page) < FEED_PAGE:
                    return count
        except RateLimit:
            raise
        except FAULTS as err:
            why = of_question(err).message
            self._explain(name, "answer", f"{name} is watched, but could not be read: {why}")
            return 1
        return most

    async def _look_at(self, page: Sequence[Status], policy: CommunityPolicy, name: str) -> None:
        """Have each status of a page looked at, oldest first, and wait until what is found is flagged."""
        looks = [self.take(status, policy, name) for status in map(original_of, reversed(page))]
        await asyncio.gather(*filter(None, looks))

    def take(self, status: Status, policy: CommunityPolicy, name: str) -> asyncio.Future[None] | None:
        """Have a status of a feed looked at, unless this process did so before, wherever it came from.

        Returns:
            What ends once it was looked at and, where it is a find, flagged; ``None`` if it is not looked at.
        """
        if not self._is_new(str(status.id)):
            return None
        seen = SeenStatus(self._client, self._statuses, status, may_lack_thread=True)
        return self._watching.take_written(seen, policy, name)

    def _is_new(self, id_: str) -> bool:
        """Whether a status was not looked at by this process yet."""
        if id_ in self._seen:
            return False
        self._seen[id_] = None
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        return True

    def _explain(self, name: str, by: str, why: str) -> None:
        if why and self._explained.get((name, by)) != why:
            _LOG.warning("Mastodon: %s", why)
        self._explained[name, by] = why


class Capture:
    """All that takes posts in from one open client; ``run`` looks again and again, ``close`` ends its work.

    Args:
        bookmarks: keeps how far each watched feed was read.
        detector: how likely a text is hateful; ``None`` leaves watched feeds with their keywords.
    """

    def __init__(self, client: MastodonClient, bookmarks: Bookmarks, detector: HateDetector | None = None) -> None:
        self._client = client
        known_posts, statuses = KnownPosts(datetime.now(UTC)), Statuses(client)
        self.watching = ChannelWatch(client.desk, known_posts, lambda: client.own_id, detector)
        self.originals = Originals(client, statuses)
        self.feeds = WatchedFeeds(client, statuses, self.watching, bookmarks)
        client.listen(Mentions(client, known_posts, statuses).hear)

    @property
    def left_out(self) -> int:
        """How many posts were not looked at, because too much came at once."""
        return self.watching.lanes.left_out + self.watching.finds.left_out

    async def notes(self) -> tuple[str, ...]:
        """Why a watched feed cannot be read, or not whole, for the person who runs Antiphon."""
        policy = await self._client.desk.policies.of(self._client.home)
        return tuple(filter(None, (why_closed(self._client.instance, name) for name in policy.watched_channels)))

    async def run(self) -> None:
        """Look at watched feeds, and for edits and deletions, until cancelled; raises nothing."""
        await asyncio.gather(self.originals.run(), self.feeds.run())

    async def close(self) -> None:
        """Stop looking; what was found is flagged, and what was counted is kept."""
        await self.watching.lanes.close()
        await self.watching.finds.close(_FLAGGING_SECONDS)
        await self.watching.looked_at.close()
