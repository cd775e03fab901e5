"""``antiphon doctor``: what a person sees while it looks."""

from tests.e2e.conftest import GUARD_SECONDS, Antiphon
from tests.fakes.engine.servers.chat import ChatServer


def test_each_check_is_said_as_soon_as_it_is_made(drafter: Antiphon, server: ChatServer) -> None:
    """While a model is waited for, which may take minutes, what was looked at before it is there already."""
    server.released.clear()
    with drafter.started("doctor") as process:
        assert process.stdout is not None
        assert server.asked.wait(GUARD_SECONDS)
        said = [process.stdout.readline() for _ in range(3)]
        assert process.poll() is None
        server.released.set()
        rest, complaints = process.communicate(timeout=GUARD_SECONDS)
    assert [line.startswith(("ok ", "BAD")) for line in said] == [True] * 3
    assert complaints == ""
    assert "language model" not in "".join(said)
    assert "ok  language model: server model answers with log-probabilities" in rest
