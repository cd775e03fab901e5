"""What comes in: each flagged post becomes one case, many share a commit, and a raid becomes a few cases.

A post is checked and captured, then folded into a campaign, queued, or left waiting for room. A full queue refuses
nothing: a post that does not fit is captured first, and waits visibly.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from typing import Final

from sqlalchemy import select

from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session, whole
from core.desk.rules.approval import REOPENED, CaseState
from core.desk.rules.case_cards import Card
from core.desk.rules.input_checks import check_text
from core.desk.rules.platforms import ChatPlatform
from core.desk.rules.policy import check_wish
from core.desk.rules.roles import OnCase, Person, may_on_case
from core.desk.runtime import metrics
from core.desk.runtime.logs import about
from core.desk.schema import CaseRow
from core.desk.store import campaigns, communities, flaggers, holds, jobs
from core.desk.store import cases as store
from core.desk.store.captures import NewCase, capture_all, lock_communities, new_case
from core.desk.store.people import known_pseudonym, pseudonym, require_on_case, roles_of
from core.desk.store.renewals import renew, reopen
from core.desk.views.cards import seen_after_flagging
from core.engine.wording.near_duplicates import Likeness, likeness_of
from core.errors import BadInput, Conflict, LimitReached, NotAllowed, StoreUnavailable
from core.i18n.sentences import sentence
from core.models import FlaggedPost, PostRef, Priority, Wish

_LOG = logging.getLogger(__name__)
_WINDOW: Final = timedelta(hours=1)
_MINUTE: Final = timedelta(minutes=1)


def check_flag(post: FlaggedPost) -> None:
    """Refuse a post that can never be answered.

    Raises:
        BadInput: it has no place or its text is broken.
        NotAllowed: it is not public.
    """
    if not (post.ref.platform.strip() and post.ref.message.strip()):
        raise BadInput("A flagged post needs its platform and message id.", remedy="Mend the adapter.")
    values = (*astuple(post.ref), post.root, post.author, post.author_name, post.flagged_by, post.flagged_how)
    for text in (
        *values,
        post.wish.tone,
        post.text,
        *(text for turn in post.thread for text in (turn.author, turn.text)),
        *(text for part in post.words.parts for text in (part.author, part.name, part.text)),
    ):
        check_text(text)
    check_wish(post.wish)
    if post.is_private:
        raise NotAllowed(
            sentence("Antiphon does not answer direct messages or private channels."),
            remedy=sentence("Report the message to the platform, or tell the moderators about it."),
        )


async def check_askers(session: Session, posts: Collection[FlaggedPost]) -> None:
    """Refuse a draft at once to a person who may only flag: anybody may flag, but only volunteers and above may ask.

    Raises:
        NotAllowed: with what they can do instead.
    """
    for post in posts:
        if post.priority is not Priority.ASKED:
            continue
        who = await known_pseudonym(session, post.ref.platform, post.flagged_by)
        place = await communities.id_of(session, post.ref.platform, post.ref.community)
        if who is None or not may_on_case(await roles_of(session, place, who), OnCase.FLAG):
            raise NotAllowed(
                sentence("A draft at once is for volunteers and moderators of the community."),
                remedy=sentence("Flag the post for the moderators instead, or ask a manager for the role volunteer."),
            )


async def check_flaggers(session: Session, posts: Sequence[FlaggedPost], flags_per_hour: int | None) -> None:
    """Refuse new posts of a person who flagged as many as they may in the last hour.

    Those who are not named, such as the administrators who hide behind their group, count for their community.

    Args:
        posts: flagged posts that have no case yet.

    Raises:
        LimitReached: the limit is reached; the remedy says in how many minutes one more may be flagged.
    """
    people = [
        (post.ref.platform, post.flagged_by, "" if post.flagged_by else post.ref.community)
        for post in posts
        if post.priority is not Priority.DETECTED
    ]
    if flags_per_hour is None:
        return
    for (platform, user, community), more in Counter(people).items():
        place = await communities.id_of(session, platform, community) if community else ""
        reached = await _flag_time(session, platform, user, place, flags_per_hour - more)
        if reached is not None:
            raise LimitReached(
                sentence(
                    "You flagged {count} posts in the last hour; one person may not flag more.", count=flags_per_hour
                ),
                remedy=sentence(
                    "Minutes to wait: {minutes}. Or ask a moderator to look.",
                    minutes=max(1, ceil((reached + _WINDOW - session.moment) / _MINUTE)),
                ),
            )


async def _flag_time(session: Session, platform: str, user: str, place: str, before: int) -> datetime | None:
    """When a person made the flag with ``before`` newer ones, in the last hour; ``None`` if there is no such flag.

    Args:
        place: the community that counts alone, for somebody who is not named; "" for every one.
    """
    if before < 0:
        return session.moment
    who = await known_pseudonym(session, platform, user)
    earlier = (
        select(CaseRow.created_at)
        .where(CaseRow.flagged_by == who, CaseRow.priority > int(Priority.DETECTED))
        .where(CaseRow.created_at > session.moment - _WINDOW)
        .order_by(CaseRow.created_at.desc())
        .offset(before)
        .limit(1)
    )
    return await session.scalar(earlier.where(CaseRow.community_id == place) if place else earlier)


async def is_enough(session: Session, post: FlaggedPost, flags_per_hour: int | None) -> bool:
    """Whether a person's flag makes a case, or joins one; a flag that does not is counted.

    Raises:
        NotAllowed: they have no role and the community wants no flags of members, or they flagged too many.
    """
    community = await communities.ensure(session, post.ref.platform, post.ref.community)
    who, policy = await pseudonym(session, post.ref.platform, post.flagged_by), communities.policy_of(community)
    if may_on_case(await roles_of(session, community.id, who), OnCase.FLAG):
        return True
    if not policy.members_flag:
        await require_on_case(session, community.id, Person(post.ref.platform, post.flagged_by), OnCase.FLAG)
    if await store.find_all(session, [post.ref]):
        return True
    await _check_number(session, who, flags_per_hour)
    if await flaggers.count_flag(session, post.ref, who) < policy.flaggers_needed:
        return False
    await flaggers.forget_flags(session, post.ref)
    return True


async def _check_number(session: Session, who: str, flags_per_hour: int | None) -> None:
    flagged = await flaggers.flagged_since(session, who, session.moment - _WINDOW)
    if flags_per_hour is not None and flagged >= flags_per_hour:
        raise NotAllowed(
            sentence("You flagged {count} posts in the last hour; one person may not flag more.", count=flags_per_hour),
            remedy=sentence("Try again later, or ask a moderator to look."),
        )


_ATTEMPTS: Final = 3


@dataclass(slots=True)
class _Flag:
    """A post, and the future that its caller waits for."""

    post: FlaggedPost
    answer: asyncio.Future[store.Case]


class Intake:
    """Takes flagged posts in, whether a person or a filter found them, over one database.

    Args:
        max_queued: how many cases of a community may wait for a draft; further ones stay captured.
        campaign_hours: how long near-identical posts fold into the first one's case; 0 folds none.
        batch: how many posts share one commit at most.
        flags_per_hour: how many posts one person may flag in an hour; ``None`` for any number.
        live_roles: asks the platform for the roles of a person who wants a draft at once; without it the stored roles
            decide.
        platforms: the platforms of this process, by name: a case keeps how long a reply may be there, since a process
            that drafts it may know none of them.
    """

    def __init__(
        self,
        database: Database,
        *,
        max_queued: int = 200,
        campaign_hours: float = 24.0,
        batch: int = 50,
        flags_per_hour: int | None = None,
        live_roles: LiveRoles | None = None,
        platforms: Mapping[str, ChatPlatform] | None = None,
    ) -> None:
        self._platforms = {} if platforms is None else platforms  # it may be empty now, and have some later
        self._live_roles = live_roles
        self._database = database
        self._flags_per_hour = flags_per_hour
        self._max_queued = max_queued
        self._window = timedelta(hours=campaign_hours)
        self._batch = batch
        self._waiting: deque[_Flag] = deque()
        self._commits: asyncio.Task[None] | None = None

    async def flag(self, post: FlaggedPost) -> store.Case:
        """Open the case of a post, and fold or queue it; a post that was flagged before keeps its case.

        Committed before it returns. Callers that wait at the same time share a commit, and one whose post cannot be
        kept fails alone. A cancelled caller gets its ``CancelledError`` when its commit is over.

        Raises:
            BadInput: the post has no place or its text is broken.
            NotAllowed: the post is not public, its flagger flagged too many in the last hour, or wants a draft at once
                (``Priority.ASKED``) without a role that allows it.
            PlatformUnavailable: the platform cannot say which roles the flagger has.
            StoreUnavailable: the database does not answer; flag the post again.
        """
        check_flag(post)
        if post.priority is Priority.ASKED and self._live_roles is not None:
            asker = Person(post.ref.platform, post.flagged_by)
            await self._live_roles.refresh_in(post.ref.platform, post.ref.community, asker)
        return await whole(self._flag(post))

    async def take_flag(self, post: FlaggedPost) -> Card:
        """Open the case of a post as ``flag`` does, remember who flagged it, and show them its card."""
        platform, user = post.ref.platform, post.flagged_by
        case = await self.flag(post)
        metrics.FLAGS.labels(platform, post.priority.name.lower()).inc()
        with about(case=case.id, platform=platform, community=post.ref.community):
            _LOG.info("flagged: the case is %s", case.state)

        async def work(session: Session) -> Card:
            if post.priority is not Priority.DETECTED:
                await flaggers.remember(session, case, user)
            return await seen_after_flagging(session, case.id, platform, user)

        return await self._database.run("show a flagged case", work)

    async def take_member_flag(self, post: FlaggedPost) -> Card | None:
        """Count the flag of a person who may have no role; ``None`` until there are enough for ``take_flag``."""
        return await self.take_flag(post) if await self._is_enough(post) else None

    async def _is_enough(self, post: FlaggedPost) -> bool:
        check_flag(post)
        asker = Person(post.ref.platform, post.flagged_by)
        if self._live_roles is not None:
            await self._live_roles.refresh_in(post.ref.platform, post.ref.community, asker)
        return await self._database.run("count a flag", lambda session: is_enough(session, post, self._flags_per_hour))

    async def _flag(self, post: FlaggedPost) -> store.Case:
        answer: asyncio.Future[store.Case] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Flag(post, answer))
        if self._commits is None:
            self._commits = asyncio.create_task(self._commit_all())
        return await answer

    async def _commit_all(self) -> None:
        """Commit until no caller waits."""
        flags: list[_Flag] = []
        try:
            while self._waiting:
                flags = [self._waiting.popleft() for _ in range(min(self._batch, len(self._waiting)))]
                await self._settle(flags)
        finally:
            self._commits = None
            for flag in (*flags, *self._waiting):  # a cancelled task must not leave its callers waiting for ever
                flag.answer.cancel()

    async def _settle(self, flags: Sequence[_Flag]) -> None:
        """Answer the waiting callers together, or one by one where their posts cannot be committed together."""
        try:
            cases = await self._together(flags)
        except StoreUnavailable as err:
            for flag in flags:
                flag.answer.set_exception(StoreUnavailable(err.message, remedy=err.remedy))
        except Exception as err:
            if len(flags) == 1:
                flags[0].answer.set_exception(err)
                return
            for flag in flags:
                await self._settle([flag])
        else:
            for flag in flags:
                flag.answer.set_result(cases[flag.post.ref])

    async def _together(self, flags: Sequence[_Flag]) -> dict[PostRef, store.Case]:
        """One commit for several posts, tried again where PostgreSQL undid it in favour of another transaction."""
        posts: dict[PostRef, FlaggedPost] = {}
        for flag in flags:
            earlier = posts.setdefault(flag.post.ref, flag.post)
            if flag.post.priority > earlier.priority:
                posts[flag.post.ref] = flag.post
        likeness = await asyncio.to_thread(lambda: {ref: likeness_of(post.text) for ref, post in posts.items()})
        for attempt in range(_ATTEMPTS):
            try:
                return await self._database.run("flag", lambda session: self._take_in(session, posts, likeness))
            except Conflict:
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable: the last attempt raises or returns")

    async def _take_in(
        self, session: Session, posts: Mapping[PostRef, FlaggedPost], likeness: Mapping[PostRef, Likeness]
    ) -> dict[PostRef, store.Case]:
        """The cases of the posts; new ones are captured, then folded, or queued where there is room."""
        ids = await lock_communities(session, list(posts))
        await check_askers(session, posts.values())
        cases = await store.find_all(session, posts)
        for ref, case in cases.items():
            post = posts[ref]
            await _hurry(session, case, post)
            cases[ref] = await _again(session, case, post)
        unknown = {ref: post for ref, post in posts.items() if ref not in cases}
        await check_flaggers(session, list(unknown.values()), self._flags_per_hour)
        new = [(new_case(post, ids, self._most_characters(ref)), likeness[ref]) for ref, post in unknown.items()]
        if new:
            cases |= {case.post.ref: case for case in await self._open(session, new)}
        return cases

    def _most_characters(self, ref: PostRef) -> int:
        platform = self._platforms.get(ref.platform)
        return 0 if platform is None else platform.max_characters

    async def _open(self, session: Session, new: Sequence[tuple[NewCase, Likeness]]) -> list[store.Case]:
        urgent = [case.id for case, _ in new if case.post.priority is Priority.ASKED]
        # A campaign has one case and one posted reply; no reply can be posted to a text that is on no platform.
        alike = [(case, likeness) for case, likeness in new if not case.post.is_from_elsewhere]
        folding = campaigns.Folds()
        if self._window:
            folding = await campaigns.fold(session, alike, self._window, apart=urgent)
        single = [case for case, _ in new if case.id not in folding.lead_of]
        queued = await self._with_room(session, single)
        remark = f"the queue is full ({self._max_queued} wait): captured, and queued when there is room"
        opened = [
            replace(
                case,
                campaign_id=folding.campaign_of.get(case.id),
                remark="" if case.id in queued or case.id in folding.lead_of else remark,
            )
            for case, _ in new
        ]
        captured = await capture_all(session, opened)
        await campaigns.write(session, folding)
        return await self._move(session, captured, folding, queued)

    async def _with_room(self, session: Session, new: Sequence[NewCase]) -> set[str]:
        """The ids of the cases that their communities' queues have room for, and of all that a person asked for."""
        waiting = await store.counts(session, CaseState.QUEUED, {case.community_id for case in new})
        queued = set[str]()
        for case in sorted(new, key=lambda case: -case.post.priority):
            before = waiting.get(case.community_id, 0)
            if before < self._max_queued or case.post.priority is Priority.ASKED:
                waiting[case.community_id] = before + 1
                queued.add(case.id)
        return queued

    async def _move(
        self, session: Session, captured: Sequence[store.Case], folding: campaigns.Folds, queued: set[str]
    ) -> list[store.Case]:
        """Fold and queue captured cases; returns all of them as they are afterwards."""
        by_lead: dict[str, list[store.Case]] = {}
        for case in captured:
            if case.id in folding.lead_of:
                by_lead.setdefault(folding.lead_of[case.id], []).append(case)
        moved: dict[str, store.Case] = {}
        for lead, cases in by_lead.items():
            reason = f"near-identical to the post of case {lead}, which stands for both"
            folded = await store.transition_all(session, cases, CaseState.FOLDED, actor="desk", reason=reason)
            moved |= {case.id: case for case in folded}
        waiting = [case for case in captured if case.id in queued]
        moved |= {case.id: case for case in await _queue(session, waiting, "waits for a draft")}
        return [moved.get(case.id, case) for case in captured]

    async def admit_waiting(self) -> int:
        """Queue captured cases where there is room again; returns how many. The scheduler calls it about once a minute.

        Also deletes the signatures of campaigns that no post can join any longer.
        """

        async def look(session: Session) -> list[str]:
            await campaigns.forget_ended(session, self._window)
            return sorted(await store.counts(session, CaseState.CAPTURED))

        crowded = await self._database.run("look for waiting cases", look)
        admitted = [
            await self._database.run("queue waiting cases", partial(self._admit, community_id=own)) for own in crowded
        ]
        return sum(admitted)

    async def _admit(self, session: Session, community_id: str) -> int:
        await communities.load(session, community_id, lock=True)
        room = self._max_queued - (await store.counts(session, CaseState.QUEUED, [community_id])).get(community_id, 0)
        cases = await store.waiting_for_room(session, community_id, room) if room > 0 else []
        await _queue(session, cases, "there is room in the queue")
        return len(cases)

    async def split_out(self, case_id: str, version: int, by: Person) -> store.Case:
        """Take a folded case out of its campaign, to be drafted on its own.

        Raises:
            NotAllowed: the person may not review here, or the case is not folded.
            Conflict: somebody else moved it first.
        """

        async def work(session: Session) -> store.Case:
            case = await store.load(session, case_id)
            who = await require_on_case(session, case.community_id, by, OnCase.REVIEW)
            case = await store.load_expected(session, case_id, version, CaseState.FOLDED, by)
            await campaigns.leave(session, case)
            return await store.transition(
                session, case_id, version, CaseState.QUEUED, actor=who, reason="taken out of its campaign"
            )

        return await self._database.run("split out", work)


async def _hurry(session: Session, case: store.Case, post: FlaggedPost) -> None:
    """Raise the priority of a case that somebody now needs sooner, and store their wishes for a draft not yet begun."""
    waits = case.state in (CaseState.CAPTURED, CaseState.QUEUED)
    if not (waits or case.state is CaseState.DRAFTING) or post.priority <= case.post.priority:
        return
    if waits:
        await store.set_priority(session, case.id, post.priority)
        if post.wish != Wish():
            await store.set_wish(session, case.id, post.wish)
    await jobs.hurry(session, case.id, store.DRAFT, post.priority)


async def _again(session: Session, case: store.Case, post: FlaggedPost) -> store.Case:
    """A known post that is flagged again: its new words are taken in, and a moderator opens its closed case.

    What a filter finds again opens no case that a person closed.
    """
    if not post.compared or post.is_from_elsewhere:
        return case
    case = await holds.lock(session, case.id)
    is_by_person = post.priority is not Priority.DETECTED
    renewed = await renew(session, case, post.compared, post.revision, is_flagged_again=is_by_person)
    if renewed is not None:
        case = renewed
    if case.state not in REOPENED or not is_by_person:
        return case
    who = await known_pseudonym(session, post.ref.platform, post.flagged_by)
    if who is None or not may_on_case(await roles_of(session, case.community_id, who), OnCase.REVIEW):
        return case
    try:
        return await reopen(session, case, who)
    except NotAllowed:  # its words were erased
        return case


async def _queue(session: Session, cases: Sequence[store.Case], reason: str) -> list[store.Case]:
    return await store.transition_all(session, cases, CaseState.QUEUED, actor="desk", reason=reason) if cases else []
