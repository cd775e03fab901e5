"""A group becomes a supergroup: Telegram's own word for it is believed, and nobody else's."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from telegram import Update

from adapters.telegram.connection.client import UpdateEvent
from adapters.telegram.manage.groups import GroupMoves
from adapters.telegram.platform import TelegramRoles
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import PlatformUnavailable, StoreUnavailable
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.telegram.panels import PanelTown
from tests.fakes.telegram.server.state import JSON

SET_UP = CommunityPolicy(review_channel="-1009999")


@pytest.fixture
async def moves(town: PanelTown) -> AsyncIterator[GroupMoves]:
    """Listening; a small group is set up."""
    made = GroupMoves(town.wire.client)
    made.listen()
    town.group = town.server.town.add_group("Small", owner=town.owner, members=[town.moderator], kind="group")
    town.governance.policies[str(town.group)] = SET_UP
    yield made
    await made.close()


def _moves(governance: FakeGovernance) -> list[tuple[object, ...]]:
    return [one for one in governance.done if one[0] == "moved"]


async def _hear(town: PanelTown, raw: dict[str, Any]) -> bool:
    client = town.wire.client
    return await client.hear(UpdateEvent(Update.de_json(raw, client.bot), raw, datetime.now(UTC)))


def _notes(town: PanelTown) -> tuple[int, list[JSON]]:
    """The new id, and what Telegram tells of it."""
    town.server.state.updates.drop_all()
    new = town.server.town.migrate(town.group)
    return new, list(town.server.state.updates.waiting())


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0,), (1,), (0, 0, 1)])
async def test_telegrams_note_is_taken_in_either_chat_and_any_order(
    town: PanelTown, moves: GroupMoves, order: tuple[int, ...]
) -> None:
    """What was remembered of the settings under either id is forgotten."""
    new, notes = _notes(town)
    policies = town.wire.client.desk.policies
    assert await policies.of(str(new)) == CommunityPolicy()
    for number in order:
        assert await _hear(town, notes[number])
    assert set(_moves(town.governance)) == {("moved", "telegram", str(town.group), str(new))}
    assert await policies.of(str(new)) == SET_UP


async def test_what_cannot_be_kept_is_handled_again(town: PanelTown, moves: GroupMoves) -> None:
    """The update waits for the database."""
    _, notes = _notes(town)
    town.governance.is_down = True
    with pytest.raises(StoreUnavailable):
        await _hear(town, notes[0])
    town.governance.is_down = False
    assert await _hear(town, notes[0])


@pytest.mark.parametrize(
    "changes",
    [
        {"migrate_to_chat_id": 5001},
        {"chat": {"id": 5001, "type": "private", "first_name": "Odile"}},
        {"chat": {"id": -1001000000077, "type": "supergroup", "title": "Other"}},
        {"chat": {"id": -1001000000077, "type": "channel", "title": "Other"}},
        {"message_id": 0},
        {"forward_origin": {"type": "hidden_user", "date": 1, "sender_user_name": "Somebody"}},
    ],
)
async def test_nothing_else_is_believed(town: PanelTown, moves: GroupMoves, changes: JSON) -> None:
    """Of another kind of chat, forwarded, or with an id that is no group's."""
    _, notes = _notes(town)
    raw = notes[0] | {"message": notes[0]["message"] | changes}
    await _hear(town, raw)
    edited = {"update_id": 7, "edited_message": notes[0]["message"] | {"edit_date": 1}}
    await _hear(town, edited)
    typed = {name: value for name, value in notes[0]["message"].items() if name != "migrate_to_chat_id"}
    await _hear(town, {"update_id": 8, "message": typed | {"text": '{"migrate_to_chat_id": -1007}'}})
    assert _moves(town.governance) == []


async def test_a_refused_call_tells_of_it_too(town: PanelTown, moves: GroupMoves) -> None:
    """As where the notes were never heard; what could not be kept is kept at the next refusal, and then no more."""
    new, _ = _notes(town)
    town.governance.is_down = True
    for is_down in (True, False, False):
        town.governance.is_down = is_down
        with pytest.raises(Exception, match="migrated"):
            await town.wire.client.bot.delete_message(town.group, 1)
        await asyncio.gather(*moves._tasks)
    assert _moves(town.governance) == [("moved", "telegram", str(town.group), str(new))]


async def test_roles_are_asked_where_the_group_is_now(town: PanelTown, moves: GroupMoves) -> None:
    """So that people decide about cases from before."""
    roles = TelegramRoles(town.wire.client)
    _notes(town)
    assert await roles.roles(str(town.group), str(town.owner)) == {Role.ADMIN, Role.MANAGER}
    with pytest.raises(PlatformUnavailable):
        await roles.roles("-1", str(town.owner))
