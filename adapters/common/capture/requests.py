"""A person asks about a post: what they may have, and the answers they get, at once and when there are drafts.

The flag is committed first, and anything is promised only after that. While a person waits for drafts only the desk is
asked; the platform is asked once, for their rights, before drafts are shown. Their answer is changed once, and never
after the time that the platform allows: drafts stay on the card in the review channel. The waits are forgotten when
the process ends. Whoever asks again for the same post then sees its drafts at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol, TypeAlias

from adapters.common.capture.answers import counted, ended, is_decided, taken_in, too_late, with_drafts
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.desk_access import DeskAccess
from adapters.common.words.errors import explain, log_failure, unforeseen
from adapters.common.words.markup import Reader
from core.desk.rules.approval import CLOSED
from core.desk.rules.case_cards import Card
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, Person
from core.errors import AntiphonError, NotAllowed, StoreUnavailable, Unavailable
from core.models import FlaggedPost

_LOG = logging.getLogger(__name__)
MOST_FOLLOWED: Final = 200
_SHORTEST_PAUSE_SECONDS: Final = 2.0
_USUAL_PAUSE_SECONDS: Final = 8.0
_LONGEST_PAUSE_SECONDS: Final = 15.0

ShowTo: TypeAlias = Callable[[Card], Awaitable[None]]
"""Changes the answer of the person who asked."""


class PrivateAnswer(Protocol):
    """An answer that only the person who asked can see; it is given once, and changed at most once."""

    @property
    def reader(self) -> Reader: ...

    @property
    def limit(self) -> int:
        """How many characters it may have."""
        ...

    @property
    def until(self) -> datetime:
        """The time after which it can no longer be changed."""
        ...

    @property
    def promise(self) -> str:
        """A sentence that says where and when the drafts appear."""
        ...

    @property
    def review_channel(self) -> str:
        """A mention of the review channel, if the reader may see it; "" otherwise."""
        ...

    async def give(self, text: str) -> None: ...

    async def change(self, text: str) -> None:
        """Say something else in its place."""
        ...


class Followers:
    """The people who wait for drafts, at most ``MOST_FOLLOWED`` of them.

    Args:
        now: the time by the platform's clock, aware.
    """

    def __init__(self, desk: DeskAccess, now: Callable[[], datetime]) -> None:
        self._desk = desk
        self._now = now
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def has_room(self) -> bool:
        return len(self._tasks) < MOST_FOLLOWED

    def follow(self, card: Card, by: Person, until: datetime, show: ShowTo) -> None:
        """Show the case once: when it has drafts, or else just before ``until``."""
        task = asyncio.create_task(self._follow(card, by, until, show))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop waiting."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, card: Card, by: Person, until: datetime, show: ShowTo) -> None:
        try:
            await show(await self._card_in_the_end(card, by, until))
        except AntiphonError as err:
            _LOG.warning("The drafts of a case could not be shown to who asked: %s", err.message)
        except Exception as err:
            log_failure("showing the drafts to who asked", err)

    async def _card_in_the_end(self, card: Card, by: Person, until: datetime) -> Card:
        """The case once it is decided, or as it is at the end of the wait."""
        casework = self._desk.casework
        while self._now() + timedelta(seconds=(pause := _pause_seconds(card))) < until:
            await asyncio.sleep(pause)
            try:
                card = await casework.look(card.case_id, by)
                if is_decided(card):
                    return await casework.card(card.case_id, by)
            except Unavailable as err:
                _LOG.warning("A case could not be read yet: %s", err.message)
        return await casework.card(card.case_id, by)


def _pause_seconds(card: Card) -> float:
    """When to look again: after a quarter of the expected time."""
    expected = None if card.waiting is None else card.waiting.expected_seconds
    if expected is None:
        return _USUAL_PAUSE_SECONDS
    return min(max(expected / 4, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)


class DraftRequests:
    """Takes in the posts that people ask about, and follows those that wait for drafts."""

    def __init__(self, desk: DeskAccess, known: KnownPosts, following: Followers) -> None:
        self._desk = desk
        self._known = known
        self._following = following

    async def take_in(
        self,
        post: FlaggedPost,
        written_at: datetime,
        by: Person,
        answer: PrivateAnswer,
        *,
        wants_drafts: bool,
        is_member: bool = False,
    ) -> None:
        """Commit the flag, then say what happens; with ``wants_drafts`` show an open case's drafts when they are there.

        Args:
            is_member: they may have no role: the community says whether they may flag, and how many must.

        Raises:
            NotAllowed: the post is private, or they flagged too many.
        """
        card = await commit(self._desk, self._known, post, written_at, is_member=is_member)
        if card is None:
            await answer.give(counted(answer.reader.locale))
            return
        if wants_drafts and card.drafts and is_decided(card) and card.state not in CLOSED:
            await answer.give(with_drafts(card, answer.reader, answer.limit, answer.review_channel))
            return
        is_followed = wants_drafts and not is_decided(card) and self._following.has_room
        channel, promise = answer.review_channel, answer.promise if is_followed else ""
        await answer.give(taken_in(card, answer.reader.locale, answer.limit, channel=channel, promise=promise))
        if is_followed:
            self._following.follow(card, by, answer.until, partial(_show_last, answer))


async def commit(
    desk: DeskAccess, known: KnownPosts, post: FlaggedPost, written_at: datetime, *, is_member: bool
) -> Card | None:
    """Commit a flag; ``None`` where there is no case yet, since more must flag the post: the filter may still find it.

    Raises:
        NotAllowed: as ``DraftRequests.take_in``.
    """
    if is_member:
        card = await desk.intake.take_member_flag(post)
        if card is not None:
            known.add(post.ref, written_at)
        return card
    if post.is_from_elsewhere:
        return await desk.intake.take_flag(post)
    with known.about_to_have(post.ref, written_at):
        return await desk.intake.take_flag(post)


async def _show_last(answer: PrivateAnswer, card: Card) -> None:
    """Say what happened to the case while its flagger waited."""
    locale = answer.reader.locale
    if card.drafts:
        await answer.change(with_drafts(card, answer.reader, answer.limit, answer.review_channel))
    elif is_decided(card):
        await answer.change(ended(card, locale, answer.limit))
    else:
        await answer.change(too_late(card, locale))


class PlainAnswer(PrivateAnswer, Protocol):
    """An answer that can also say a sentence in plain words."""

    async def tell(self, text: str) -> None:
        """Say what went wrong."""
        ...


async def run_request(answer: PlainAnswer, work: Awaitable[None]) -> None:
    """Do something, and tell the person who asked what went wrong with it.

    Raises:
        StoreUnavailable: the database does not answer; nothing was said, and it is to be asked again.
    """
    try:
        await work
    except StoreUnavailable:
        raise
    except AntiphonError as err:
        await answer.tell(explain(err, answer.reader.locale, answer.limit))
    except Exception:
        await answer.tell(unforeseen(answer.reader.locale))
        raise


async def may_have_drafts(desk: DeskAccess, community: str, by: Person, policy: CommunityPolicy) -> bool:
    """Whether somebody may have drafts; ``False`` where they may still flag.

    Raises:
        NotAllowed: they may do neither.
    """
    try:
        await desk.governance.require(desk.platform, community, by, OnCase.FLAG)
    except NotAllowed:
        if policy.members_flag:
            return False
        raise
    return True
