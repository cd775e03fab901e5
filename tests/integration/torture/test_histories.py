"""Random histories of a desk, on both databases: every promise holds after every step."""

from sqlalchemy import URL

from tests.fakes.machine.patience import SCALE
from tests.torture.histories.machine import run_histories
from tests.torture.world.ground import Ground


def test_random_histories_break_no_promise() -> None:
    """People, workers, a platform that loses answers, and crashes, in any order, on SQLite."""
    with Ground() as ground:
        run_histories(ground, examples=14 * SCALE, steps=25)
        assert ground.figures.steps > 150
        assert ground.sends > 0
        assert ground.figures.crashes > 0
        assert ground.figures.erasures > 0
        assert ground.figures.folded > 0
        assert ground.figures.undone > 0


def test_random_histories_break_no_promise_in_postgresql(postgresql: URL) -> None:
    """The same machine on the other database."""
    with Ground(postgresql) as ground:
        run_histories(ground, examples=3 * SCALE, steps=25)
        assert ground.figures.steps > 20
