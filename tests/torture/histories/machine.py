"""Random histories of a desk: a Hypothesis state machine that asks every invariant after every step.

Each example is a world of its own, over a copy of a database in which the people are settled.
"""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.torture.histories.drafting_rules import DraftingRules
from tests.torture.histories.people_rules import PeopleRules
from tests.torture.histories.sending_rules import SendingRules
from tests.torture.histories.time_rules import TimeRules
from tests.torture.world.ground import Ground


class DeskMachine(DraftingRules, PeopleRules, SendingRules, TimeRules):
    """Everything that people, workers, the platform, time and bad luck do to a desk, in any order."""


def run_histories(ground: Ground, *, examples: int, steps: int) -> None:
    """Run random histories; the first that breaks a promise is shrunk and raised."""
    machine = type("Histories", (DeskMachine,), {"ground": ground})
    phases = (Phase.generate, Phase.shrink)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        derandomize=True,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    run_state_machine_as_test(machine, settings=chosen)
