"""Posts that are found without a command: watched channels, the flag reaction and a platform's own alerts.

A message is looked at only where a manager said so. A find is flagged like any other post, through the intake.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final, Protocol, TypeAlias

from adapters.common.capture.flagged_posts import Flag
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.lanes import Lanes
from adapters.common.desk_access import DeskAccess
from core.desk.rules.careful_watch import careful_threshold
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, Person
from core.engine.ports import HateDetector
from core.engine.wording.keywords import has_keyword
from core.engine.wording.target_groups import groups_named
from core.errors import AntiphonError, NotAllowed, StoreUnavailable
from core.models import FlaggedPost, MessageWords, PostRef, Priority, TargetGroup

BY_KEYWORD: Final = "keyword"
BY_FILTER: Final = "watched channel"
"""How a post of a watched channel was flagged (``FlaggedPost.flagged_how``)."""
TOLD_SECONDS: Final = 60.0


class LookedAt:
    """How many messages the filter looked at, by community; ``close`` tells the desk the last counts.

    Args:
        every_seconds: how long counts wait, so that many messages share one transaction.
    """

    def __init__(self, desk: DeskAccess, *, every_seconds: float = TOLD_SECONDS) -> None:
        self._desk = desk
        self._every_seconds = every_seconds
        self._counts = Counter[str]()
        self._telling: asyncio.Task[None] | None = None

    def add(self, community: str) -> None:
        self._counts[community] += 1
        if self._telling is None:
            self._telling = asyncio.create_task(self._tell_later())

    async def tell(self) -> None:
        """Tell the desk what was counted; what it cannot take now is told with the next."""
        counts, self._counts = self._counts, Counter[str]()
        if not counts:
            return
        try:
            await self._desk.governance.looked_at(self._desk.platform, counts)
        except AntiphonError as err:
            self._counts.update(counts)
            _LOG.warning("counts of what was looked at wait for the database: %s", err.message)

    async def close(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)
        await self.tell()

    async def _tell_later(self) -> None:
        """Tell the desk every ``every_seconds``, until there is nothing to tell."""
        while self._counts:
            await asyncio.sleep(self._every_seconds)
            await self.tell()
        self._telling = None


def is_about(text: str, groups: tuple[TargetGroup, ...]) -> bool:
    """Whether a text names one of the groups, or, if "others" is among them, no known group at all."""
    if not groups:
        return True
    named = groups_named(text)
    return bool(named & set(groups)) or (TargetGroup.OTHER in groups and not named)


_LOG = logging.getLogger(__name__)
_MOST_FOUND: Final = 10_000
"""How many found posts may wait to be flagged, over all communities: some minutes of a raid without a database."""
_AT_ONCE: Final = 50
"""How many are flagged at once; the desk takes those that wait together into one commit."""


class Sighting(Protocol):
    """A message that was written, or that a reaction or an alert points at."""

    @property
    def ref(self) -> PostRef: ...

    @property
    def may_have_words(self) -> bool:
        """Whether it is worth reading; ``False`` for a message that surely holds none."""
        ...

    async def words(self) -> MessageWords:
        """All its words, those of files and titles included, as far as the platform shows them."""
        ...

    @property
    def written_at(self) -> datetime: ...

    @property
    def is_by_person(self) -> bool:
        """Whether an identifiable person wrote it: not a bot, a webhook or the platform itself."""
        ...

    @property
    def is_private(self) -> bool:
        """Whether only some people of the community can read it where it is."""
        ...

    async def post(self, flag: Flag) -> FlaggedPost:
        """The message as a flagged post, with the conversation around it."""
        ...


_Flagging: TypeAlias = asyncio.Future[None]
"""Ends once a found post is flagged, or its flag was refused."""
Find: TypeAlias = Callable[[], Awaitable[Sighting | None]]
"""Reads the message that a reaction or an alert points at; ``None`` if it is private or cannot be read."""

TellUnread: TypeAlias = Callable[[MessageWords], Awaitable[None]]
"""Says what of a message without words was not read."""


class ChannelWatch:
    """Looks at messages, in order within each channel.

    Args:
        own_id: our account's id on the platform; it is the flagger of what a machine found.
        detector: tells how likely a text is hateful; with ``None`` only keywords are used.
        again_seconds: how long a found post waits between attempts while the database is away; nobody would flag it
            again.
        most_waiting: how many messages may wait to be looked at, over all communities.
    """

    def __init__(
        self,
        desk: DeskAccess,
        known: KnownPosts,
        own_id: Callable[[], str],
        detector: HateDetector | None,
        *,
        again_seconds: float = 1.0,
        most_waiting: int = 1000,
    ) -> None:
        self._desk = desk
        self._known = known
        self._own_id = own_id
        self._detector = detector
        self._again_seconds = again_seconds
        self.lanes = Lanes("posts to look at", most_waiting=most_waiting)
        self.finds = Lanes("found posts to flag", most_waiting=_MOST_FOUND, at_once=_AT_ONCE)
        self.looked_at = LookedAt(desk)

    async def written(self, sighting: Sighting, watched_as: str) -> None:
        """Look at a new message, or one with new words, if its channel is watched.

        Args:
            watched_as: the id by which a community watches the channel; a thread is watched with its channel.
        """
        if self._may_be_found(sighting):
            self._look_later(sighting, await self._desk.policies.of(sighting.ref.community), watched_as)

    def take_written(self, sighting: Sighting, policy: CommunityPolicy, watched_as: str) -> asyncio.Future[None] | None:
        """As ``written``, for a platform whose events wait until they are dealt with.

        Returns:
            What ends once the message was looked at and, where it is a find, its flag is committed, and is cancelled
            where ``close`` came before; ``None`` if it is not looked at: its channel is not watched, or too much came
            at once.
        """
        look = self._look_later(sighting, policy, watched_as) if self._may_be_found(sighting) else None
        return None if look is None else asyncio.ensure_future(_until_flagged(look))

    def _may_be_found(self, sighting: Sighting) -> bool:
        return sighting.is_by_person and sighting.may_have_words and not self._known.is_known(sighting.ref)

    def _look_later(
        self, sighting: Sighting, policy: CommunityPolicy, watched_as: str
    ) -> asyncio.Future[_Flagging | None] | None:
        if watched_as not in policy.watched_channels:
            return None
        return self.lanes.follow(sighting.ref.channel, partial(self._look, sighting, policy))

    def reacted(self, community: str, channel: str, by: Person, find: Find) -> None:
        """Flag the message that a person marked with the community's emoji, if they may flag."""
        self.lanes.submit(channel, partial(self._look_at_reaction, community, by, find))

    async def take_reaction(self, community: str, by: Person, find: Find, how: str, tell: TellUnread) -> bool:
        """As ``reacted``, for a platform whose events wait until they are dealt with: the flag is committed on return.

        Where members without a role may flag, theirs counts as they do with a command.

        Args:
            tell: says to whoever reacted, and may flag, that the message holds no words.

        Returns:
            Whether the flag counts.

        Raises:
            Unavailable: the platform or the database does not answer; nothing was flagged.
        """
        try:
            policy = await self._desk.policies.of(community)
            if not policy.members_flag:
                await self._desk.governance.require(self._desk.platform, community, by, OnCase.FLAG)
            sighting = await find()
            if sighting is None:
                return False
            if not await self._is_readable(sighting):
                if sighting.is_by_person:
                    await tell(await sighting.words())
                return False
            post = await sighting.post(Flag(by.user, how, Priority.FLAGGED))
            if policy.members_flag:
                if await self._desk.intake.take_member_flag(post) is not None:
                    self._known.add(post.ref, sighting.written_at)
            else:
                with self._known.about_to_have(post.ref, sighting.written_at):
                    await self._desk.intake.take_flag(post)
        except NotAllowed:
            return False
        return True

    async def alerted(self, community: str, channel: str, how: str, find: Find) -> None:
        """Flag a message that the platform's own filter calls hateful, in a community that has moderators."""
        policy = await self._desk.policies.of(community)
        if policy.review_channel:
            self.lanes.submit(channel, partial(self._look_at_alert, how, find))

    async def _look(self, sighting: Sighting, policy: CommunityPolicy) -> _Flagging | None:
        if sighting.is_private or self._known.is_known(sighting.ref):
            return None
        text = (await sighting.words()).text
        if not text.strip():
            return None
        # Not in the event loop: a text of a stranger may take some ten milliseconds.
        is_keyword = bool(policy.keywords) and await asyncio.to_thread(has_keyword, text, policy.keywords)
        if is_keyword:
            return await self._flag_later(sighting, Flag(self._own_id(), BY_KEYWORD, Priority.DETECTED))
        score = await self._score_of_a_find(sighting.ref.community, text, policy)
        if score is None:
            return None
        return await self._flag_later(sighting, Flag(self._own_id(), BY_FILTER, Priority.DETECTED), score)

    async def _score_of_a_find(self, community: str, text: str, policy: CommunityPolicy) -> float | None:
        """The score of a text that the filter finds; ``None`` for all others.

        A find is in a language that the filter reads and about a group that the community looks out for, and its score
        is above the threshold of the policy and of the moderators' labels. The desk is asked for these labels only
        where the policy's threshold is passed.
        """
        detector = self._detector
        language = None if detector is None else await detector.language_of(text, policy.language)
        if detector is None or language is None:
            return None
        self.looked_at.add(community)
        if policy.groups and not await asyncio.to_thread(is_about, text, policy.groups):
            return None
        score = await detector.score(text, language)
        if score <= detector.threshold(policy.one_in):
            return None
        labels = await self._desk.labels.of(community)
        return score if score > careful_threshold(policy.one_in, labels, detector.threshold) else None

    async def _look_at_reaction(self, community: str, by: Person, find: Find) -> None:
        try:
            await self._desk.governance.require(self._desk.platform, community, by, OnCase.FLAG)
        except NotAllowed:
            return
        await self._flag_named(Flag(by.user, "reaction", Priority.FLAGGED), find)

    async def _look_at_alert(self, how: str, find: Find) -> None:
        await self._flag_named(Flag(self._own_id(), how, Priority.DETECTED), find)

    async def _flag_named(self, flag: Flag, find: Find) -> None:
        sighting = await find()
        if sighting is not None:
            await self._flag_later(sighting, flag)

    async def _flag_later(self, sighting: Sighting, flag: Flag, score: float | None = None) -> _Flagging | None:
        """Flag a post, unless no person wrote it or it has no words; the next look does not wait for it."""
        if not await self._is_readable(sighting):
            return None
        post = replace(await sighting.post(flag), score=score)
        self._known.add(post.ref, sighting.written_at)
        return self.finds.follow(post.ref, partial(self._flag, post))

    async def _is_readable(self, sighting: Sighting) -> bool:
        """Whether a person wrote words."""
        return sighting.is_by_person and bool((await sighting.words()).text.strip())

    async def _flag(self, post: FlaggedPost) -> None:
        while True:
            try:
                await self._desk.intake.take_flag(post)
            except StoreUnavailable as err:
                _LOG.warning("a found post waits for the database: %s", err.message)
                await asyncio.sleep(self._again_seconds)
            else:
                return


async def _until_flagged(look: asyncio.Future[_Flagging | None]) -> None:
    flagging = await look
    if flagging is not None:
        await flagging
