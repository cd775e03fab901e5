"""Mastodon as a place to talk: what was flagged there, and our replies, posted once and taken away again.

There is no answer where the instance's operator has not agreed, or to an author whose profile asks for no bots. A reply
is never shown to more people than the post it answers, never scheduled, and never repeated without its key. An instance
limits how many statuses may be deleted; here is how many may be deleted now.
"""

import asyncio
import logging
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final, TypeVar, cast

from mastodon import Mastodon
from mastodon.errors import MastodonAPIError
from mastodon.return_types import Account, Status

from adapters.mastodon import speech
from adapters.mastodon.connection import error_meanings, statuses
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.refs import NAME, full_name_of, instance_of, status_id_of
from adapters.mastodon.speech import plain_text, words_of
from core.desk.rules.approval import ApprovedReply
from core.desk.rules.case_cards import InPublic
from core.desk.rules.policy import NO_RULES, CommunityPolicy, PlaceRules, without_consent
from core.errors import PlaceClosed, PlatformBusy, PlatformUnavailable, StoreUnavailable, TextRefused
from core.i18n.sentences import sentence
from core.models import PostRef, SentReply

_PAGE: Final = 40


def send_reply(api: Mastodon, *, text: str, under: str, warning: str, language: str | None, key: str) -> Status:
    """Post a status that nobody may quote; a server that knows no such wish posts it without."""
    send = partial(
        api.status_post,
        text,
        in_reply_to_id=under,
        visibility=statuses.REPLY_VISIBILITY,
        spoiler_text=warning or None,
        sensitive=bool(warning),
        language=language,
        idempotency_key=key,
    )
    try:
        return cast(Status, send(quote_approval_policy="nobody"))
    except MastodonAPIError as err:
        if not error_meanings.refuses_quote_policy(err):
            raise
    return cast(Status, send())


def revoke_quotes(api: Mastodon, *, status_id: str) -> None:
    """Take a status of ours out of the posts that quote it, as many as one page holds."""
    for quoting in api.status_quotes(status_id, limit=_PAGE):
        api.status_quote_revoke(status_id, quoting.id)


MOST_DELETIONS: Final = 30
WINDOW_SECONDS: Final = 30 * 60.0
"""Thirty deletions within thirty minutes for each account (docs.joinmastodon.org/api/rate-limits)."""


class Deletions:
    """The deletions of one account in the last half hour.

    Args:
        ticks: seconds that only grow.
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._made = deque[float]()

    def check(self) -> None:
        """Refuse one more while there were too many.

        Raises:
            PlatformBusy: not now; ``retry_after_seconds`` says when.
        """
        now = self._ticks()
        while self._made and now - self._made[0] >= WINDOW_SECONDS:
            self._made.popleft()
        if len(self._made) >= MOST_DELETIONS:
            raise PlatformBusy(
                sentence("An instance lets one account delete {count} posts in half an hour.", count=MOST_DELETIONS),
                remedy=sentence("It is tried again later by itself."),
                retry_after_seconds=self._made[0] + WINDOW_SECONDS - now,
            )

    def begin(self) -> None:
        """Count one that begins now; refuses as ``check`` does."""
        self.check()
        self._made.append(self._ticks())


_NO_BOT: Final = re.compile(r"(?<![^\W_])#?no[-_ ]?bots?(?![^\W_])", re.IGNORECASE)
"""The custom of the fediverse: "#nobot" in a profile, also written "#NoBots" or "no bots"."""


def wants_no_bots(account: Account) -> bool:
    """Whether somebody's name, profile text or one of its fields asks bots to stay away."""
    return any(_NO_BOT.search(words) for words in _words(account))


def _words(account: Account) -> Iterator[str]:
    yield str(account.display_name or "")
    yield plain_text(str(account.note or ""))
    for field in account.get("fields") or ():
        yield plain_text(str(field.get("name") or ""))
        yield plain_text(str(field.get("value") or ""))


_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)

_PAGES: Final = 25
_SKEW: Final = timedelta(seconds=60)


class MastodonPlatform:
    """All that one bot account sees from its home instance.

    Args:
        client: shared with the other parts, and closed by the part that runs it.
        timeout_seconds: how long one step may take: the questions before a change, the change, and between them, in a
            retraction, the quotes. All must fit into the time that the outbox gives a call, so that it hears what came
            of it.
        ticks: seconds that only grow.
    """

    def __init__(
        self,
        client: MastodonClient,
        *,
        timeout_seconds: float = 9.0,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._timeout_seconds = timeout_seconds
        self._statuses = statuses.Statuses(client)
        self._deletions = Deletions(ticks)

    @property
    def name(self) -> str:
        return NAME

    @property
    def max_characters(self) -> int:
        """The longest reply that the instance takes, to anybody; each is counted again when it is posted."""
        return speech.most_characters(self._client.instance)

    @property
    def resend_seconds(self) -> float:
        """How long the same key certainly posts once; 0 where the home instance runs other software."""
        return self._client.instance.key_seconds

    async def read(self, ref: PostRef) -> str | None:
        """The words of a post that its author can edit, as they read now (``FlaggedPost.compared``).

        ``None`` if it is gone, or its author shows it to us no more.

        Of our own replies, what was approved, without what stands around it.

        Raises:
            PlatformUnavailable: the instance cannot be asked, or the account is now on another one.
        """
        status_id = self._id_of(ref)
        status = await self._answer(self._statuses.one(status_id))
        if status is None:
            return None
        return speech.words_of_ours(status) if self._is_ours(status) else words_of(status).compared

    def check(self, ref: PostRef, text: str, quote: str, policy: CommunityPolicy) -> None:
        """Refuse what the instance would refuse, trim or change, and what would call or tag somebody.

        The author's name and content warning are counted when their post is answered.

        Raises:
            TextRefused: it is such a text.
            PlaceClosed: the account is on another instance than when the post was flagged.
        """
        self._id_of(ref)
        self._check_text(text, quote)

    def _check_text(self, text: str, quote: str) -> None:
        if quote:
            raise TextRefused(
                sentence("A reply on the fediverse shows no words of the post."),
                remedy=sentence("Approve it again without them."),
            )
        instance = self._client.instance
        speech.check_exact(text, instance)
        speech.check_mute(text)
        speech.check_length(text, "", speech.Frame(), instance)

    async def in_public(self, ref: PostRef, text: str) -> InPublic:
        """The whole status, with the author's name, the hashtag of the place and a content warning, as ``post`` has it.

        Raises:
            TextRefused: it is too long so.
            PlatformBusy: the instance, or the database, cannot be asked now.
            PlatformUnavailable: the post is gone.
        """
        parent, instance = await self._answer(self._statuses.one(self._id_of(ref))), self._client.instance
        if parent is None:
            raise error_meanings.gone()
        public = speech.public_reply(
            text, parent, (await self._policy_of(ref)).places.get(ref.channel, NO_RULES), instance
        )
        speech.check_length(text, public.warning, public.frame, instance)
        about = (
            sentence(
                "It takes {count} of the {most} characters that the instance allows.",
                count=public.frame.length(text, public.warning, instance),
                most=instance.max_characters,
            ),
        )
        audience = sentence("Everybody can read it; it is in no public feed (“quiet public”).")
        account = f"@{full_name_of(self._client.account, self._client.home)}"
        return InPublic(public.text, public.warning, about, account, audience)

    async def post(self, reply: ApprovedReply) -> SentReply:
        """Post ``reply.text`` under the post that it answers, with one request that carries ``reply.key``.

        Around it stands only what ``public_reply`` says, which was shown before the approval.

        Raises:
            PlatformBusy: the instance asks to wait, or was not reached: nothing was posted.
            PlatformUnavailable: nothing was posted: it must not be, the instance refused it, or it would not show
                exactly this text.
            AmbiguousSend: it may be there, or is there in other words.
        """
        status_id, instance = self._id_of(reply.in_reply_to), self._client.instance
        self._check_text(reply.text, reply.quote)
        rules = await self._rules_of(reply.in_reply_to)
        parent = await self._answer(self._answerable(status_id, reply.in_reply_to.channel))
        public = speech.public_reply(reply.text, parent, rules, instance)
        speech.check_length(reply.text, public.warning, public.frame, instance)
        made = await self._change(
            partial(
                send_reply,
                text=public.text,
                under=status_id,
                warning=public.warning,
                language=public.language,
                key=reply.key,
            )
        )
        speech.check_shown(made, reply.text, public, parent)
        return SentReply(replace(reply.in_reply_to, message=str(made.id)), made.created_at)

    async def find_reply(self, reply: ApprovedReply) -> SentReply | None:
        """Our reply, looked up among what our account wrote since the approval, the latest first.

        No instance tells the key of a status: ours answers this post with exactly this text.

        Raises:
            PlatformUnavailable: the instance cannot be asked, or too much was written since.
        """
        status_id, since = self._id_of(reply.in_reply_to), reply.approved_at - _SKEW
        before: str | None = None
        for _ in range(_PAGES):
            page = await self._answer(self._page(before))
            for status in page:
                if status.created_at >= since and _is(status, reply, status_id):
                    return SentReply(replace(reply.in_reply_to, message=str(status.id)), status.created_at)
            if not page or page[-1].created_at < since:
                return None
            before = str(page[-1].id)
        raise PlatformUnavailable(
            sentence("Too much was written since."), remedy=sentence("Look for the reply on the instance.")
        )

    async def retract(self, ref: PostRef) -> None:
        """Revoke the quotes of our own reply and delete it; one that is already gone is not an error.

        Raises:
            PlatformBusy: it is certainly still there; try again later. Thirty are deleted within half an hour.
            PlatformUnavailable: it is still there, because it is not ours or the instance refused.
            AmbiguousSend: it may still be there.
        """
        status_id = self._id_of(ref)
        self._deletions.check()
        status = await self._answer(self._statuses.one(status_id))
        if status is None:
            return
        if not self._is_ours(status):
            raise PlatformUnavailable(
                sentence("This message is not Antiphon's."), remedy=sentence("Delete it as a moderator.")
            )
        if status.get("quotes_count") != 0:  # software that does not count them may have some
            await self._revoke_quotes(status_id)
        self._deletions.begin()
        try:
            await self._change(lambda api: api.status_delete(status_id))
        except PlatformUnavailable as err:
            if not error_meanings.is_gone(err.__cause__):
                raise

    async def close(self) -> None:
        """Do nothing: the part that runs the client closes it."""

    def _id_of(self, ref: PostRef) -> str:
        """The id of a post at the home instance; another instance has other ids."""
        if ref.community != self._client.home and ref.platform == NAME:
            raise PlaceClosed(
                sentence("Antiphon's account is on another instance now than when the post was flagged."),
                remedy=sentence("Flag the post again."),
            )
        return status_id_of(ref)

    async def _rules_of(self, ref: PostRef) -> PlaceRules:
        """What holds for the author's instance, which has agreed to replies."""
        rules = (await self._policy_of(ref)).places.get(ref.channel, NO_RULES)
        if not rules.consent:
            raise PlatformUnavailable(
                without_consent(ref.channel), remedy=sentence("Ask those who run it, and note their yes.")
            )
        return rules

    async def _policy_of(self, ref: PostRef) -> CommunityPolicy:
        """What the community set, as it is at this moment."""
        self._client.desk.policies.forget(ref.community)
        try:
            return await self._client.desk.policies.surely_of(ref.community)
        except StoreUnavailable as err:
            raise PlatformBusy(err.said, remedy=err.remedy) from err

    async def _answerable(self, status_id: str, channel: str) -> Status:
        """A status that may be answered.

        Raises:
            PlatformUnavailable: it is gone, or must not be.
        """
        status = await self._statuses.one(status_id)
        if status is None:
            raise error_meanings.gone()
        if instance_of(status.account, self._client.home) != channel:
            raise PlatformUnavailable(
                sentence("The post's author is on another instance than was noted."),
                remedy=sentence("Flag the post again."),
            )
        statuses.check_status(status, self._client.own_id)
        if wants_no_bots(status.account):
            statuses.refuse_opted_out()
        await self._check_relationship(str(status.account.id))
        return status

    async def _check_relationship(self, account: str) -> None:
        """Refuse an author who blocks us; without ``read:follows`` nobody says, and the instance hides their posts."""
        try:
            relationships = await self._client.call(lambda api: api.account_relationships(account))
        except error_meanings.FAULTS as err:
            if error_meanings.status_of(err) != 403:
                raise
            return
        for each in relationships:
            statuses.check_relationship(each)

    async def _page(self, before: str | None) -> list[Status]:
        """What our account wrote before a status, the latest first."""
        own = self._client.own_id
        return await self._client.call(
            lambda api: list(api.account_statuses(own, exclude_reblogs=True, max_id=before, limit=_PAGE))
        )

    async def _revoke_quotes(self, status_id: str) -> None:
        """Take our words out of the posts that quote them; those that cannot be, lose them when the reply goes."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._client.call(partial(revoke_quotes, status_id=status_id))
        except error_meanings.FAULTS as err:
            if error_meanings.is_gone(err):  # the server has no quotes
                return
            _LOG.warning("the quotes of a reply could not be revoked before it is deleted: %s", type(err).__name__)

    async def _answer(self, question: Awaitable[_T]) -> _T:
        """The answer to a question, in time; ``PlatformBusy`` where there is none now, and nothing was changed."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await question
        except error_meanings.FAULTS as err:
            raise error_meanings.of_question(err) from err

    async def _change(self, ask: Callable[[Mastodon], _T]) -> _T:
        """Make a change, and say what came of it where it failed."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._client.call(ask)
        except error_meanings.FAULTS as err:
            raise error_meanings.of_send(err) from err

    def _is_ours(self, status: Status) -> bool:
        return str(status.account.id) == self._client.own_id


def _is(status: Status, reply: ApprovedReply, status_id: str) -> bool:
    return str(status.in_reply_to_id) == status_id and speech.words_of_ours(status) == reply.text
