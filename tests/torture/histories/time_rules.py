"""The random histories: time passes, chores are done, and people are erased."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.histories.steps import ERASABLE, NUMBERS, Steps
from tests.torture.world.keepers import Keeping
from tests.torture.world.posts import author_of
from tests.torture.world.world import World


class TimeRules(Steps):
    """What the schedule does."""

    @rule(seconds=st.sampled_from((1, 16, 16, 61, 130, 3_700, 90_000)))
    def advance(self, seconds: int) -> None:
        assert self.world is not None
        self.world.clock.advance(seconds)

    @rule(what=st.sampled_from(Keeping))
    def keep_order(self, what: Keeping) -> None:
        self.do(lambda world: world.keep_order(what))

    @rule(days=st.sampled_from((29, 31, 400)))
    def nobody_comes(self, days: int) -> None:
        """For a month, or a year; the schedule goes on."""

        async def work(world: World) -> None:
            for _ in range(1 + days // 365):
                world.clock.advance(days * 24 * 3600)
                for what in (Keeping.EXPIRY, Keeping.FOLDED, Keeping.RETENTION):
                    await world.attempt(world.keep_order(what))

        self.do(work)

    @rule(user=st.sampled_from(ERASABLE))
    def erase(self, user: str) -> None:
        self.do(lambda world: world.erase(user))

    @rule(number=NUMBERS, copies=st.integers(1, 2), drafts=st.integers(0, 1))
    def erase_who_leads(self, number: int, copies: int, drafts: int) -> None:
        """A campaign goes on without the post that stood for it."""

        async def work(world: World) -> None:
            await world.raid(number, copies)
            await world.take(0)
            if drafts:
                await world.store(0, drafts)
            await world.erase(author_of(number))

        self.do(work)
