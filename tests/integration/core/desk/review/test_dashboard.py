"""What the dashboard is told over a real desk: the queue, the record and the numbers."""

from dataclasses import replace
from datetime import timedelta

import pytest
from argon2 import PasswordHasher

from bot.compose.desk import Desk
from core.desk.communities.accounts import WebAccounts
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.review.dashboard import DeskOverview, DeskRecord, KeptPost
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.numbers import AFTER_HOURS, Numbers, Rates, Share
from core.desk.rules.preferences import HiddenCategories, Preferences
from core.desk.rules.roles import Person
from core.desk.schema import OutcomeRow
from core.desk.store.cases import Case
from core.desk.store.erasure import erase_case
from core.desk.store.suggestions import Preview
from core.desk.upkeep.retention import Expiry, RetentionPeriods
from core.errors import NotAllowed
from core.models import FlaggedPost, Intent, Kind, TargetGroup
from tests.fakes.desk.boards import posts_apart
from tests.fakes.desk.chores import DAY, NOW, other
from tests.fakes.desk.decisions import OWN_TEXT, approve, drafted, execute, take
from tests.fakes.desk.people import (
    ADMIN,
    AUDITOR,
    COMMUNITY,
    MANAGER,
    MODERATOR,
    PLATFORM,
    STRANGER,
    VOLUNTEER,
)
from tests.fakes.engine.suggestions import DRAFT_TEXTS, suggestion_for
from tests.fakes.machine.clock import FakeClock

pytestmark = pytest.mark.both_databases
_KEEPING = RetentionPeriods(24, 30, 12, 30)


@pytest.fixture
def overview(database: Database, desk: Desk) -> DeskOverview:
    return DeskOverview(database, desk.proposals, _KEEPING)


async def test_what_waits_is_sorted_by_need_gravity_and_age(
    overview: DeskOverview, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """What needs a decision comes before what is drafted, the gravest first, and of two alike the older one."""
    found = []
    for single, severity in zip(posts_apart(post, 4), (2, 5, 2, None), strict=True):
        is_drafted = severity is not None
        case = await (drafted(desk, queue, single, severity=severity) if is_drafted else desk.intake.flag(single))
        found.append(case.id)
        clock.advance(60)
    listed = await overview.queue((MODERATOR,))
    assert [one.case_id for one in listed.cases] == [found[1], found[0], found[2], found[3]]
    assert [one.severity for one in listed.cases] == [5, 2, 2, None]
    assert listed.total == 4
    assert listed.oldest == await overview.oldest((MODERATOR,)) == listed.cases[1].opened_at
    assert (await overview.queue((AUDITOR,))).total == 4
    for nobody in (VOLUNTEER, STRANGER):
        assert (await overview.queue((nobody,))).cases == ()
        assert await overview.oldest((nobody,)) is None
    assert (await overview.queue((MODERATOR,), platform="elsewhere")).total == 0


async def test_it_is_told_until_when_a_case_waits(
    overview: DeskOverview, database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """To the second at which the schedule closes it: undrafted, drafted, held, approved, and left to a person."""
    expiry, posts = Expiry(database, draft_hours=24, person_days=30), posts_apart(post, 5)
    undrafted, expected = (await desk.intake.flag(posts[0])).id, clock() + timedelta(days=1)
    assert (await overview.history(undrafted, MODERATOR)).waits_until == expected
    with pytest.raises(NotAllowed):
        await overview.history(undrafted, VOLUNTEER)
    clock.advance(DAY)
    await expiry.do(NOW)
    assert (await desk.queries.case(undrafted)).state is CaseState.EXPIRED
    assert (await overview.history(undrafted, MODERATOR)).waits_until is None

    open_cases = []
    for single in posts[1:4]:
        open_cases.append((await desk.intake.flag(single)).id)
        taken = await take(queue)
        assert (await overview.history(taken.case.id, MODERATOR)).waits_until is None, "it is being drafted"
        await queue.store(taken, suggestion_for(taken.case.post))
        clock.advance(60)
    lost = await desk.intake.flag(posts[4])
    await queue.give_up(await take(queue), "The engine has no draft to offer.")
    clock.advance(DAY - 600)
    await desk.decisions.hold(open_cases[1], MODERATOR)
    await approve(desk, await desk.queries.case(open_cases[2]))
    listed = {one.case_id: one.waits_until for one in (await overview.queue((MODERATOR,))).cases}
    assert listed == {
        case_id: (await overview.history(case_id, MODERATOR)).waits_until for case_id in (*open_cases, lost.id)
    }
    moments = [(until, case_id) for case_id, until in listed.items() if until is not None]
    assert len(moments) == 4 and len({until for until, _ in moments}) == 4
    for until, case_id in sorted(moments):
        state = (await desk.queries.case(case_id)).state
        clock.advance((until - clock()).total_seconds() - 1)
        await expiry.do(NOW)
        assert (await desk.queries.case(case_id)).state is state
        clock.advance(2)
        await expiry.do(NOW)
        assert (await desk.queries.case(case_id)).state is CaseState.EXPIRED


async def test_hidden_categories_are_left_out_of_one_queue_and_wait_in_all_others(
    overview: DeskOverview,
    database: Database,
    desk: Desk,
    queue: DraftQueue,
    post: FlaggedPost,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are counted; groups and threats add up, and since when the oldest waits is the same for everybody."""
    kinds = ((TargetGroup.WOMEN, 2), (TargetGroup.MIGRANTS, 5), (None, 1), (TargetGroup.MIGRANTS, 3))
    found = []
    for single, (group, severity) in zip(posts_apart(post, 4), kinds, strict=True):
        found.append((await drafted(desk, queue, single, target_group=group, severity=severity)).id)
        clock.advance(60)

    async def seen(hides: HiddenCategories) -> tuple[set[int], int]:
        listed = await overview.queue((MODERATOR,), hides=hides)
        assert listed.total == len(listed.cases)
        assert listed.oldest == await overview.oldest((MODERATOR,)) == all_.oldest
        return {found.index(one.case_id) for one in listed.cases}, listed.hidden

    all_ = await overview.queue((MODERATOR,))
    assert (all_.total, all_.hidden) == (4, 0)
    assert await seen(HiddenCategories(frozenset({TargetGroup.MIGRANTS}))) == ({0, 2}, 2)
    assert await seen(HiddenCategories(threats=True)) == ({0, 2, 3}, 1)
    assert await seen(HiddenCategories(frozenset({TargetGroup.WOMEN}), threats=True)) == ({2, 3}, 2)
    assert await seen(HiddenCategories(frozenset(TargetGroup), threats=True)) == ({2}, 3)
    assert (await overview.queue((AUDITOR,))).total == 4
    elsewhere = await overview.queue((MODERATOR,), platform="elsewhere", hides=HiddenCategories(frozenset(TargetGroup)))
    assert elsewhere.hidden == 0

    monkeypatch.setattr("core.desk.views.queue.PAGE", 2)
    threats = HiddenCategories(threats=True)
    for page, (told, cases) in enumerate(((0, [3, 0]), (1, [2]), (1, [2]), (1, [2]))):
        listed = await overview.queue((MODERATOR,), page=page, hides=threats)
        assert [found.index(one.case_id) for one in listed.cases] == cases
        assert (listed.page, listed.pages, listed.total, listed.hidden) == (told, 2, 3, 1)
    await execute(database, "UPDATE suggestions SET target_group = 'women'")
    none = await overview.queue((MODERATOR,), page=1, hides=HiddenCategories(frozenset({TargetGroup.WOMEN})))
    assert (none.cases, none.page, none.pages, none.total, none.hidden) == ((), 0, 1, 0, 4)


async def test_a_case_is_hidden_as_soon_as_its_group_is_known(
    overview: DeskOverview, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """While it is drafted, too; what is said of its new words then counts alone."""
    case = await desk.intake.flag(post)
    women = HiddenCategories(frozenset({TargetGroup.WOMEN}))
    assert (await overview.queue((MODERATOR,), hides=women)).hidden == 0
    taken = await take(queue)
    made = suggestion_for(taken.case.post)
    await queue.keep(taken, preview=Preview(replace(made.reading, target_group=TargetGroup.WOMEN)))
    assert (await overview.queue((MODERATOR,), hides=women)).hidden == 1
    await queue.store(taken, replace(made, reading=replace(made.reading, target_group=TargetGroup.MUSLIMS)))
    listed = await overview.queue((MODERATOR,), hides=women)
    assert [one.case_id for one in listed.cases] == [case.id]


async def test_preferences_are_kept_with_one_account(database: Database) -> None:
    """And with no other one; a category of a later version is not hidden, and a new password changes nothing."""
    who = {name: WebAccounts(database, hasher=PasswordHasher(time_cost=1, memory_cost=8)) for name in ("ane", "jon")}
    sessions = dict[str, str]()
    for name, accounts in who.items():
        await accounts.keep(name, "", (replace(MODERATOR, name=name),))
        sessions[name] = await accounts.use_link(await accounts.link(name))
    wanted = Preferences(
        "eu", False, True, HiddenCategories(frozenset({TargetGroup.LGBT, TargetGroup.DISABILITIES}), True)
    )
    await who["ane"].prefer(sessions["ane"], wanted)
    seen = await who["ane"].visitor(sessions["ane"])
    other = await who["jon"].visitor(sessions["jon"])
    assert seen is not None
    assert other is not None
    assert seen.wants == wanted
    assert other.wants == Preferences()
    await execute(database, "UPDATE accounts SET hides = 'lgbt a_later_group threats' WHERE name = 'ane'")
    await who["ane"].keep("ane", "", (MODERATOR,))
    kept = {one.name: one.wants.hides for one in await who["ane"].listed()}
    assert kept["ane"] == HiddenCategories(frozenset({TargetGroup.LGBT}), threats=True)


async def test_changes_are_numbered_and_told_to_those_who_may_read(
    overview: DeskOverview, desk: Desk, post: FlaggedPost
) -> None:
    """From any number on, each case once; a stranger hears the number alone."""
    first, second = [await desk.intake.flag(single) for single in posts_apart(post, 2)]
    start = await overview.changes((MODERATOR,), None)
    assert start.cases == ()
    await desk.decisions.close(first.id, first.version, MODERATOR, CloseReason.MISTAKE)
    later = await overview.changes((MODERATOR,), start.number)
    assert later.cases == (first.id,)
    assert later.number > start.number
    assert set((await overview.changes((MODERATOR,), 0)).cases) == {first.id, second.id}
    assert (await overview.changes((STRANGER,), start.number)).cases == ()


async def test_a_history_names_people_to_those_who_may_read(
    overview: DeskOverview, desk: Desk, post: FlaggedPost
) -> None:
    """With the note; nobody else reads it."""
    case = await desk.intake.flag(post)
    await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.MISTAKE, "sorted out by hand")
    moves = (await overview.history(case.id, AUDITOR)).moves
    assert moves[-1].by == MODERATOR.name
    assert moves[-1].note == "sorted out by hand"
    for nobody in (VOLUNTEER, STRANGER):
        with pytest.raises(NotAllowed):
            await overview.history(case.id, nobody)
        with pytest.raises(NotAllowed):
            await overview.check(case.id, nobody, "All of us live here.")


async def test_kept_posts_are_those_of_seven_days_with_the_group_of_the_newest_suggestion(
    overview: DeskOverview, database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Newest first, closed ones too; neither erased words, nor another community's, nor a post of no message here."""
    old, read, found, erased, pasted, abroad = posts_apart(post, 6)
    await desk.intake.flag(old)
    clock.advance(7 * DAY)
    kept = []
    for single in (
        read,
        replace(found, flagged_how="watched channel", score=0.987),
        erased,
        replace(pasted, is_from_elsewhere=True),
        replace(abroad, ref=replace(abroad.ref, community="elsewhere")),
    ):
        kept.append(await desk.intake.flag(single))
        clock.advance(60)

    async def erase(session: Session) -> None:
        await erase_case(session, kept[2].id)

    await database.run("erase a case", erase)
    await desk.decisions.close(kept[1].id, kept[1].version, MODERATOR, CloseReason.MISTAKE)
    assert [one.group for one in await overview.kept_posts(PLATFORM, COMMUNITY, MANAGER)] == [None, None]
    taken = await take(queue)
    while taken.case.id != kept[0].id:
        taken = await take(queue)
    await queue.store(taken, suggestion_for(taken.case.post))
    channel = post.ref.channel
    assert await overview.kept_posts(PLATFORM, COMMUNITY, MANAGER) == (
        KeptPost(kept[1].id, channel, found.text, "watched channel", 0.987, kept[1].created_at, None),
        KeptPost(kept[0].id, channel, read.text, post.flagged_how, None, kept[0].created_at, TargetGroup.MIGRANTS),
    )
    for nobody in (MODERATOR, AUDITOR, VOLUNTEER, STRANGER):
        with pytest.raises(NotAllowed):
            await overview.kept_posts(PLATFORM, COMMUNITY, nobody)
    assert len(await overview.kept_posts(PLATFORM, COMMUNITY, ADMIN)) == 2


class Week:
    """What happens on a desk, and what is counted of it."""

    def __init__(self, database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock) -> None:
        self.database, self.desk, self.post, self.clock = database, desk, post, clock
        self.queue, self.count = DraftQueue(database, "worker-1"), 0
        self.record = DeskRecord(database, LiveRoles(database, {}), _KEEPING)

    async def drafted(
        self, group: TargetGroup = TargetGroup.MIGRANTS, author: str = "", kind: Kind = Kind.REPLY
    ) -> Case:
        """Flag the next post, and draft it: the first draft by a model, the second of prepared sentences."""
        self.count += 1
        post = other(self.post, f"2{self.count}")
        await self.desk.intake.flag(replace(post, author=author or f"somebody-{self.count}"))
        taken = await take(self.queue)
        self.clock.advance(20)
        made = suggestion_for(taken.case.post)
        what = ((Intent.EMPATHETIC, "a-model"), (Intent.QUESTIONING, None))
        drafts = tuple(
            replace(draft, intent=intent, writer=writer, kind=kind)
            for draft, (intent, writer) in zip(made.drafts, what, strict=True)
        )
        return await self.queue.store(
            taken, replace(made, reading=replace(made.reading, target_group=group, language="en"), drafts=drafts)
        )

    async def approve(self, case: Case, rank: int | None, text: str | None = None) -> None:
        self.clock.advance(400)
        await approve(self.desk, case, reply=text, rank=rank)

    async def close(self, case: Case) -> None:
        """Close it without a reply."""
        self.clock.advance(400)
        await self.desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.SILENCE, "a note")

    async def counted(self, by: Person = MODERATOR, since: timedelta = timedelta(days=60)) -> Numbers:
        return await self.record.numbers(PLATFORM, COMMUNITY, by, since)


@pytest.fixture
def week(database: Database, desk: Desk, post: FlaggedPost, clock: FakeClock) -> Week:
    return Week(database, desk, post, clock)


def _named(rates: tuple[Rates, ...], name: str) -> Rates:
    return next(one for one in rates if one.name == name)


async def test_shares_are_of_what_people_decided(week: Week) -> None:
    """By group, language, intent and writer, against the same sums done by hand."""
    await week.approve(await week.drafted(), 1)
    await week.approve(await week.drafted(), 1, f"{DRAFT_TEXTS[0]} Truly.")
    await week.approve(await week.drafted(TargetGroup.JEWS), 2)
    await week.approve(await week.drafted(), None, OWN_TEXT)
    await week.close(await week.drafted(TargetGroup.JEWS))
    await week.drafted()
    undone = await week.drafted()
    await week.approve(undone, 1)
    await week.desk.decisions.undo(undone.id, undone.version + 1, MODERATOR)
    found = await week.counted(AUDITOR)
    assert (found.overall.approved, found.overall.edited) == (Share(4, 5), Share(2, 4))
    assert (found.overall.first, found.overall.by_chance) == (Share(2, 3), 0.5)
    assert _named(found.by_group, "migrants").approved == Share(3, 3)
    assert _named(found.by_group, "Jews").approved == Share(1, 2)
    assert [(one.name, one.approved) for one in found.by_language] == [("en", Share(4, 5))]
    assert _named(found.by_intent, "empathetic").approved == Share(2, 5)
    assert _named(found.by_intent, "empathetic").edited == Share(1, 2)
    assert _named(found.by_intent, "questioning").approved == Share(1, 5)
    assert _named(found.by_writer, "a-model").first == Share(2, 2)
    assert _named(found.by_writer, "").first == Share(0, 1)
    assert found.to_draft == ((10.0, 0), (30.0, 7), (60.0, 0), (300.0, 0), (1800.0, 0), (None, 0))
    assert sum(count for _, count in found.to_decision) == 6
    assert dict(found.to_decision)[1800.0] == 6
    each = suggestion_for(week.post).cost
    assert found.spent.times == 7
    assert found.spent.model_calls == 7 * each.model_calls
    assert found.spent.completion_tokens == 7 * each.completion_tokens


async def test_what_is_no_reply_is_compared_with_none(week: Week) -> None:
    """Words of support stand alone: their order says nothing, and no intent is theirs."""
    await week.approve(await week.drafted(kind=Kind.NOTICE), 1)
    found = await week.counted()
    assert (found.overall.approved, found.overall.first, found.by_intent) == (Share(1, 1), Share(0, 0), ())


async def test_what_came_after_is_told_once_the_time_is_over(week: Week) -> None:
    """Of cases that were closed by their author's later posts; of answered ones by what the follow-ups found."""
    for author in ("calm", "loud", "late"):
        await week.close(await week.drafted(author=author))
    answered = await week.drafted()
    await week.approve(answered, 1)
    assert [one.flagged_again for one in (await week.counted()).unanswered] == [Share(0, 0)] * 3
    week.clock.advance(3600)
    await week.drafted(author="loud")
    week.clock.advance(2 * 86400)
    await week.drafted(author="late")
    week.clock.advance(6 * 86400)

    async def look(session: Session) -> None:
        for hours, again in ((24, 0), (168, 2)):
            session.add(
                OutcomeRow(
                    case_id=answered.id,
                    after_hours=hours,
                    reply_stands=True,
                    original_stands=None if hours == 24 else False,
                    author_flagged_again=again,
                    at=session.moment,
                )
            )

    await week.database.run("look", look)
    found = await week.counted()
    assert [one.after_hours for one in found.unanswered] == list(AFTER_HOURS)
    assert [one.flagged_again for one in found.unanswered] == [Share(1, 3), Share(2, 3), Share(0, 0)]
    assert [one.flagged_again for one in found.answered] == [Share(0, 1), Share(1, 1), Share(0, 0)]
    assert [one.post_gone for one in found.answered] == [Share(0, 0), Share(1, 1), Share(0, 0)]
    assert found.answered[0].reply_gone == Share(0, 1)


async def test_what_was_erased_counts_as_far_as_it_is_kept(week: Week) -> None:
    """A suggestion of which nothing is left counts for the whole, and for no group that is known."""
    for document in ("{}", ""):
        case = await week.drafted()
        await week.close(case)
        await execute(week.database, f"UPDATE suggestions SET document = '{document}' WHERE case_id = '{case.id}'")
    found = await week.counted()
    assert (found.overall.approved, [one.name for one in found.by_group], found.spent.times) == (Share(0, 2), [""], 0)


async def test_every_page_is_read_once(week: Week, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a page ends with the last row."""
    for _ in range(4):
        await week.close(await week.drafted())
    for size in (1, 2, 3):
        monkeypatch.setattr("core.desk.views.numbers._PAGE", size)
        found = await week.counted()
        assert found.overall.approved == Share(0, 4)
        assert found.spent.times == 4


async def test_numbers_are_for_those_who_may_see_statistics(week: Week) -> None:
    """And of nobody's community but theirs."""
    for nobody in (VOLUNTEER, STRANGER):
        with pytest.raises(NotAllowed):
            await week.counted(nobody)
