"""The random histories: what moderators and managers decide, and who may."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from core.moderation.approval import CaseState
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR, OTHER_MODERATOR
from tests.torture.histories.steps import PEOPLE, SENDS, Steps
from tests.torture.world.platform import Outcome

_MOSTLY: Final = st.sampled_from([True, True, False])
_SELDOM: Final = st.sampled_from([False, False, True])


class PeopleRules(Steps):
    """What people do."""

    @rule(number=st.integers(0, 5), by=st.sampled_from(PEOPLE), is_own=st.booleans())
    def approve(self, number: int, by: Any, is_own: bool) -> None:
        text = "We all live here, and most of us came from somewhere." if is_own else ""
        self.on_case(number, lambda world, case: world.approve(case, by, text), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def approve_what_was_not_shown(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.approve(case, shown="Another text."), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def approve_at_once(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.approve_at_once(case), CaseState.IN_REVIEW)

    @rule(number=st.integers(0, 5))
    def undo(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.undo(case), CaseState.APPROVED)

    @rule(number=st.integers(0, 5), how=st.sampled_from(["decline", "withdraw"]))
    def close_case(self, number: int, how: str) -> None:
        self.on_case(number, lambda world, case: getattr(world, how)(case))

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
