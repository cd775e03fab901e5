"""The random histories: what moderators and managers decide, and who may."""

from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person
from core.desk.store.cases import Case
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR, OTHER_MODERATOR
from tests.torture.histories.steps import PEOPLE, SENDS, Steps
from tests.torture.world.platform import Outcome
from tests.torture.world.world import World

_MOSTLY: Final = st.sampled_from([True, True, False])
_SELDOM: Final = st.sampled_from([False, False, True])


class PeopleRules(Steps):
    @rule(number=st.integers(0, 5), by=st.sampled_from(PEOPLE), is_own=st.booleans())
    def approve(self, number: int, by: Any, is_own: bool) -> None:
        text = "We all live here, and most of us came from somewhere." if is_own else ""
        self.on_case(number, lambda world, case: world.approve(case, by, text), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def approve_what_another_was_shown(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.approve(case, shown_to=OTHER_MODERATOR), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def approve_at_once(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.approve_at_once(case), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def undo(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.undo(case), CaseState.APPROVED)

    @rule(number=st.integers(0, 5), reason=st.sampled_from(CloseReason), by=st.sampled_from(PEOPLE))
    def close_case(self, number: int, reason: CloseReason, by: Person) -> None:
        self.on_case(number, lambda world, case: world.close(case, reason, by))

    @rule(number=st.integers(0, 5), by=st.sampled_from(PEOPLE))
    def undo_closing(self, number: int, by: Person) -> None:
        self.on_case(number, lambda world, case: world.undo_closing(case, by), *CLOSED)

    @rule(
        number=st.integers(0, 5),
        reason=st.sampled_from(CloseReason),
        by=st.sampled_from(PEOPLE),
        seconds=st.sampled_from((0, 1, 14, 16)),
    )
    def change_mind(self, number: int, reason: CloseReason, by: Person, seconds: int) -> None:
        """A moderator closes a case, and somebody opens it again: the same person in time, or nobody."""

        async def work(world: World, case: Case) -> None:
            await world.close(case, reason)
            world.clock.advance(seconds)
            await world.undo_closing(await world.desk.queries.case(case.id), by)

        self.on_case(number, work, CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5), is_undone=st.booleans())
    def dismiss_what_is_edited(self, number: int, is_undone: bool) -> None:
        """A post is not hateful as it was; once it is edited it is looked at again, unless it already was."""

        async def work(world: World) -> None:
            case = await world.flag(number)
            await world.attempt(world.close(case, CloseReason.NOT_HATEFUL))
            if is_undone:
                await world.attempt(world.undo_closing(await world.desk.queries.case(case.id)))
            world.edit(number)
            await world.hear(number)

        self.do(work)

    @rule(number=st.integers(0, 5), outcome=st.sampled_from(SENDS))
    def retract(self, number: int, outcome: Outcome) -> None:
        self.misbehave([outcome], [])
        self.on_case(number, lambda world, case: world.retract(case), CaseState.POSTED)

    @rule(number=st.integers(0, 5))
    def look(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.look(case), CaseState.NEEDS_PERSON)

    @rule(is_back=_MOSTLY, person=st.sampled_from([MODERATOR, OTHER_MODERATOR]))
    def change_rights(self, is_back: bool, person: Any) -> None:
        self.do(lambda world: world.restore_rights(person) if is_back else world.revoke(person))

    @rule(is_back=_MOSTLY)
    def change_rights_there(self, is_back: bool) -> None:
        """On the platform, where Antiphon has to ask."""
        self.do(lambda world: world.regain_rights_there() if is_back else world.lose_rights_there())

    @rule(scope=st.sampled_from(["*", COMMUNITY_ID]), is_on=_SELDOM)
    def kill_switch(self, scope: str, is_on: bool) -> None:
        self.do(lambda world: world.pause(scope) if is_on else world.resume(scope))

    @rule(is_posting=_MOSTLY)
    def shadow_mode(self, is_posting: bool) -> None:
        self.do(lambda world: world.set_posting(is_posting))
