"""A double click on the confirmation of an approval: over the wire, with the real desk and its database behind it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.review.casework import Casework
from core.desk.rules.case_cards import Approval
from core.desk.rules.roles import Person, Role
from core.desk.schema import Change
from core.desk.store import communities, people
from core.desk.store.cases import Case
from core.models import FlaggedPost, PostRef
from tests.fakes.desk.decisions import drafted, one_row
from tests.fakes.discord.messages import buttons_of, texts_of
from tests.fakes.discord.review import ReviewClient
from tests.fakes.discord.server import DiscordServer, DiscordState, connected
from tests.fakes.discord.server.commands import invoke
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.ports.governance import FakeGovernance

PRESSES = 2
MODERATOR = Person("discord", str(OWNER_ID), "owner")
POST = FlaggedPost(
    PostRef("discord", str(GUILD_ID), str(CHANNEL_ID), "1"), "They do not belong here.", "7", "8", "by hand"
)


@pytest.fixture
async def drafted_case(database: Database, desk: Desk, queue: DraftQueue) -> Case:
    """A post of the server, with drafts, before a moderator of a community that posts."""

    async def settle(session: Session) -> None:
        found = await communities.ensure(session, "discord", str(GUILD_ID))
        await people.grant(session, found.id, MODERATOR, {Role.MODERATOR}, by="test")
        await communities.change(session, found.id, actor="test", reason="posting on", what=Change.POSTING)

    await database.run("settle", settle)
    return await drafted(desk, queue, POST)


def _meet_at(front: Casework, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold every confirmation until all have reached the desk, so that none comes before another."""
    approve, barrier = front.approve, asyncio.Barrier(PRESSES)

    async def at_once(proposal_id: str, by: Person) -> Approval:
        await barrier.wait()
        return await approve(proposal_id, by)

    monkeypatch.setattr(front, "approve", at_once)


async def _press(server: DiscordServer, message: dict[str, Any], label: str) -> dict[str, Any]:
    """Press a button; the interaction, with what will be answered to it."""
    data = {"custom_id": buttons_of(message["components"])[label], "component_type": 2}
    event = invoke(server.state, data, kind=3) | {"message": message}
    await server.gateway.send("INTERACTION_CREATE", event)
    return server.state.interactions[event["token"]]


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(GUARD_SECONDS):
        while not is_so():  # noqa: ASYNC110 - the fake tells nobody
            await asyncio.sleep(0.01)


def _said(*interactions: dict[str, Any]) -> str:
    answers = [answer for interaction in interactions for answer in interaction["answers"]]
    return "\n".join(text for answer in answers for text in texts_of(answer.get("components") or []))


@pytest.mark.both_databases
async def test_two_presses_of_one_message_at_the_same_moment_are_one_approval(
    database: Database, drafted_case: Case, front: Casework, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A double click does no harm: one reply waits to be sent, and both presses hear so."""
    assert isinstance(front, Casework)
    client = ReviewClient(front, FakeGovernance())
    async with DiscordServer(DiscordState(FakeClock())).running() as server, connected(client):
        shown = await client.surface.show(await front.card(drafted_case.id, MODERATOR), str(CHANNEL_ID), None)
        asked = await _press(server, server.state.messages[int(shown.message)], "Approve draft 1…")
        await _until(lambda: "Exactly this would be posted" in _said(asked))
        _meet_at(front, monkeypatch)
        presses = await asyncio.gather(
            *(_press(server, asked["original"], "Yes, post this reply") for _ in range(PRESSES))
        )
        await _until(lambda: all(_said(press) for press in presses))
        assert server.complaints == []
    assert await one_row(database, "SELECT count(*) FROM approvals") == (1,)
    assert await one_row(database, "SELECT count(*) FROM outbox") == (1,)
    approved = "SELECT count(*) FROM audit WHERE to_state = 'approved'"
    assert await one_row(database, approved) == (1,)
    said = [_said(press) for press in presses]
    assert all("approved" in one for one in said)
    assert sum("You approved this reply." in one for one in said) == 1
