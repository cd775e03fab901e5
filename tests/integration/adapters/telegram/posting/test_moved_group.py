"""A group with an approved reply becomes a supergroup: the community is the same, the reply is refused for certain."""

from datetime import UTC, datetime

import pytest
from telegram import Update

from adapters.telegram.connection.client import UpdateEvent
from adapters.telegram.manage.groups import GroupMoves
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.rules.approval import CaseState
from core.desk.store.cases import history
from tests.fakes.desk.people import KEEPER
from tests.fakes.machine.clock import FakeClock
from tests.fakes.telegram.sends import approve_all, send_once
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.wire import telegram_wire


@pytest.mark.parametrize("is_heard", [True, False])
async def test_an_approved_reply_to_an_earlier_post_is_refused_and_all_else_is_kept(
    server: TelegramServer, database: Database, clock: FakeClock, *, is_heard: bool
) -> None:
    """Whether Telegram's notes are heard before the send, or only the send's refusal tells of the new id."""
    governance = Governance(database, LiveRoles(database, {}))
    async with telegram_wire(server, governance) as wire:
        moves = GroupMoves(wire.client)
        moves.listen()
        wire.group = old = wire.town.add_group("Small", owner=wire.owner, kind="group")
        (case,) = await approve_all(database, wire, 1, clock)
        server.state.updates.drop_all()
        new = wire.town.migrate(old)
        for raw in server.state.updates.waiting() if is_heard else ():
            await wire.client.hear(UpdateEvent(Update.de_json(raw, wire.client.bot), raw, datetime.now(UTC)))
        await send_once(database, wire)
        await moves.close()
        assert wire.town.of_bot(old) == wire.town.of_bot(new) == []
    moves_of_case = await database.run("look", lambda session: history(session, case.id))
    assert moves_of_case[-1].to_state is CaseState.FAILED
    assert "The group became a supergroup" in moves_of_case[-1].reason
    assert await governance.communities("telegram") == (str(new),)
    lines = [line.reason for line in await CommunityDesk(database).history(f"telegram/{old}", KEEPER)]
    assert lines.count(f"its id on telegram is {new}; it was {old}") == 1
