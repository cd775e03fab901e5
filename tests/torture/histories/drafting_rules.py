"""The random histories: posts come in, fold into campaigns, and are drafted by workers that may be lost."""

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import rule

from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from tests.torture.histories.steps import COPIES, NUMBERS, Steps
from tests.torture.world.posts import author_of
from tests.torture.world.world import World


class DraftingRules(Steps):
    """What happens to a post before a person sees it."""

    @rule(number=NUMBERS, times=st.integers(1, 3), quotes=st.none() | NUMBERS)
    def flag(self, number: int, times: int, quotes: int | None) -> None:
        async def work(world: World) -> None:
            said_by = None if quotes is None else author_of(quotes)
            await asyncio.gather(*(world.flag(number, quotes=said_by) for _ in range(times)))

        self.do(work)

    @rule(number=NUMBERS, copies=st.integers(1, COPIES))
    def raid(self, number: int, copies: int) -> None:
        """Several people say nearly the same; the first case is decided for them, if it is open."""
        self.do(lambda world: world.raid(number, copies))

    @rule(number=NUMBERS)
    def split(self, number: int) -> None:
        self.on_case(number, lambda world, case: world.split(case), CaseState.FOLDED)

    @rule(
        number=NUMBERS, reason=st.sampled_from(CloseReason), seconds=st.sampled_from((1, 16)), is_undone=st.booleans()
    )
    def decide_for_all(self, number: int, reason: CloseReason, seconds: int, is_undone: bool) -> None:
        """What was decided about a campaign's lead case is decided for all of it, unless it is undone in time."""

        async def work(world: World, case: Case) -> None:
            lead = await world.desk.queries.case(await world.lead_of(case))
            await world.attempt(world.close(lead, reason))
            world.clock.advance(seconds)
            await world.close_folded()
            if is_undone:
                await world.undo_closing(await world.desk.queries.case(lead.id))
                await world.close_folded()

        self.on_case(number, work, CaseState.FOLDED)

    @rule(worker=st.integers(0, 1))
    def take(self, worker: int) -> None:
        self.do(lambda world: world.take(worker))

    @rule(worker=st.integers(0, 1), drafts=st.integers(0, 2))
    def draft(self, worker: int, drafts: int) -> None:
        async def work(world: World) -> None:
            if worker not in world.hands:
                await world.take(worker)
            await world.store(worker, drafts)

        self.do(work)

    @rule(worker=st.integers(0, 1), how=st.sampled_from(["keep", "release", "give_up"]))
    def end_drafting(self, worker: int, how: str) -> None:
        self.do(lambda world: getattr(world, how)(worker))

    @rule(number=st.integers(0, 3))
    def haunt(self, number: int) -> None:
        self.do(lambda world: world.haunt(number))

    @rule(number=st.integers(0, 5), claim=st.integers(0, 9))
    def redraft(self, number: int, claim: int) -> None:
        self.on_case(number, lambda world, case: world.redraft(case, claim), CaseState.IN_REVIEW)
